#include "net_test.h"

#include "base/buf.h"
#include "net/fd_stream.h"
#include "net/pipe.h"
#include "net/socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct copy {
    struct stream *stream;
    size_t size;
};

/* Byte i of what the tests send. */
static char pattern(size_t i)
{
    return (char)(i * 7 + i / 251);
}

static void writes(void *arg)
{
    struct copy *copy = arg;
    char *bytes = malloc(copy->size);

    for (size_t i = 0; i < copy->size; i++) {
        bytes[i] = pattern(i);
    }
    CHECK_OK(stream_write(copy->stream, bytes, copy->size, TASK_FOREVER));
    stream_shut(copy->stream);
    free(bytes);
}

static void reads(void *arg)
{
    struct copy *copy = arg;
    char bytes[1000];
    size_t at = 0, got;

    for (;;) {
        CHECK_OK(stream_read(copy->stream, bytes, sizeof(bytes), TASK_FOREVER, &got));
        for (size_t i = 0; i < got; i++) {
            CHECK(bytes[i] == pattern(at + i));
        }
        at += got;
        if (got == 0) {
            break;
        }
        task_yield(); /* slower than the writer */
    }
    CHECK_INT(at, copy->size);
}

/* Both ways at once, more than the buffers between hold. */
static void copies(struct stream *a, struct stream *b)
{
    struct copy at_a = {a, 3 << 20}, at_b = {b, 3 << 20};
    struct task_group group;

    task_group_init(&group);
    task_group_spawn(&group, "write a", writes, &at_a);
    task_group_spawn(&group, "write b", writes, &at_b);
    task_group_spawn(&group, "read a", reads, &at_a);
    task_group_spawn(&group, "read b", reads, &at_b);
    task_group_wait(&group);
}

static void pipe_copies(void *arg)
{
    struct stream *a, *b;
    char byte;
    size_t got;

    (void)arg;
    pipe_new(1000, &a, &b);
    copies(a, b);
    CHECK_OK(stream_read(a, &byte, 1, TASK_FOREVER, &got));
    CHECK_INT(got, 0);
    stream_close(a);
    CHECK_ERROR(stream_write(b, "x", 1, TASK_FOREVER), "write: broken pipe");
    stream_close(b);
}

TEST("net/pipe/carries bytes both ways on a virtual clock")
{
    test_run_task(pipe_copies, NULL);
}

static void pipe_waits(void *arg)
{
    struct stream *a, *b;
    char bytes[8];
    size_t got;

    (void)arg;
    pipe_new(4, &a, &b);
    CHECK_ERROR(stream_read(a, bytes, 1, env_mono() + ENV_SECOND, &got), "i/o timeout");
    CHECK_INT(env_mono(), ENV_SECOND);
    CHECK_ERROR(stream_write(a, "12345", 5, env_mono() + ENV_SECOND), "i/o timeout");
    CHECK_OK(stream_read_all(b, bytes, 4, TASK_FOREVER));
    stream_close(a);
    CHECK_ERROR(stream_read_all(b, bytes, 1, TASK_FOREVER), "unexpected EOF");
    stream_close(b);
}

TEST("net/pipe/waits until the deadline")
{
    test_run_task(pipe_waits, NULL);
}

static void connects(struct str address, const char *wanted_peer)
{
    struct listener *listener;
    struct stream *client, *server;
    struct socket_name peer;
    char dialled[128];

    CHECK_OK(listener_open(address, 0600, &listener));
    struct socket_name name = listener_name(listener);

    snprintf(dialled, sizeof(dialled), "%s%s", listener_port(listener) != 0 ? "" : "unix:", name.text);
    CHECK_OK(socket_dial(str_of(dialled), env_mono() + 10 * ENV_SECOND, &client));
    CHECK_OK(listener_accept(listener, env_mono() + 10 * ENV_SECOND, &server, &peer));
    CHECK(str_has_prefix(str_of(peer.text), str_of(wanted_peer)));
    CHECK_STR(str_of(socket_peer_name(client).text), name.text);
    copies(client, server);
    uid_t uid = 77777;
    pid_t pid = 0;

    CHECK(socket_peer_user(server, &uid, &pid) == (listener_port(listener) == 0));
    CHECK(listener_port(listener) != 0 || (uid == getuid() && pid == getpid()));
    stream_close(client);
    stream_close(server);
    listener_close(listener);
}

static void sockets(void *arg)
{
    char directory[] = "/tmp/c8s-net-XXXXXX", path[64];
    struct stat stat;

    (void)arg;
    connects(STR("127.0.0.1:0"), "127.0.0.1:");
    connects(STR("unix:@c8s-net-test"), "@");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof(path), "unix://%s/socket", directory);
    connects(str_of(path), "@");
    CHECK(lstat(path + 7, &stat) != 0); /* removed */
    connects(str_of(path), "@");
    CHECK_INT(rmdir(directory), 0);
}

TEST("net/socket/TCP and unix sockets carry bytes both ways")
{
    run_on_loop(sockets, NULL);
}

static void stale_path(void *arg)
{
    char directory[] = "/tmp/c8s-net-XXXXXX", address[64];
    struct listener *first, *second;

    (void)arg;
    CHECK(mkdtemp(directory) != NULL);
    snprintf(address, sizeof(address), "unix:%s/socket", directory);
    CHECK_OK(listener_open(str_of(address), 0600, &first));
    CHECK_ERROR(listener_open(str_of(address), 0600, &second), "address already in use");
    pid_t child = fork();

    if (child == 0) {
        char other[80];

        snprintf(other, sizeof(other), "unix:%s/other", directory);
        _exit(listener_open(str_of(other), 0600, &second) != NULL); /* leaves its path behind */
    }
    task_sleep(200 * ENV_MS);
    snprintf(address, sizeof(address), "unix:%s/other", directory);
    CHECK_OK(listener_open(str_of(address), 0640, &second));
    listener_close(first);
    listener_close(second);
    CHECK_INT(rmdir(directory), 0);
}

TEST("net/socket/a path is taken over from a dead listener only")
{
    run_on_loop(stale_path, NULL);
}

static void fails(void *arg)
{
    struct listener *listener;
    struct stream *stream;
    char address[32];

    (void)arg;
    CHECK_OK(listener_open(STR("127.0.0.1:0"), 0, &listener));
    snprintf(address, sizeof(address), "127.0.0.1:%d", listener_port(listener));
    CHECK_ERROR(listener_accept(listener, env_mono() + ENV_MS, &stream, NULL), "timed out");
    listener_close(listener);
    CHECK_ERROR(socket_dial(str_of(address), env_mono() + 10 * ENV_SECOND, &stream), "connect: connection refused");
    CHECK_ERROR(socket_dial(STR("unix:/no/such/socket"), TASK_FOREVER, &stream),
                "dial unix /no/such/socket: connect: no such file or directory");
    CHECK_ERROR(socket_dial(STR("127.0.0.1"), TASK_FOREVER, &stream), "missing port in address");
    CHECK_ERROR(listener_open(STR("localhost:1"), 0, &listener), "must be an IP address");
    CHECK_OK(listener_open(STR("127.0.0.1:0"), 0, &listener));
    snprintf(address, sizeof(address), "localhost:%d", listener_port(listener));
    CHECK_OK(socket_dial(str_of(address), env_mono() + 10 * ENV_SECOND, &stream));
    stream_close(stream);
    listener_close(listener);
}

TEST("net/socket/says what failed in Go's words")
{
    run_on_loop(fails, NULL);
}

TEST("net/socket/splits host and port")
{
    struct str host;
    int port;

    CHECK(socket_split(STR("[::1]:80"), &host, &port) && str_is(host, "::1") && port == 80);
    CHECK(socket_split(STR(":6443"), &host, &port) && host.n == 0 && port == 6443);
    CHECK(socket_split(STR("a.b:1"), &host, &port) && str_is(host, "a.b"));
    CHECK(!socket_split(STR("::1"), &host, &port));
    CHECK(!socket_split(STR("a:65536"), &host, &port));
    CHECK(!socket_split(STR("a:"), &host, &port));
}
