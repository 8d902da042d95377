#include "net_test.h"

#include "base/env.h"
#include "base/limits.h"
#include "base/task.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/pipe.h"
#include "net/websocket.h"

#include <string.h>
#include <unistd.h>

static const char *const protocols[] = {"v5.example", "v4.example", NULL};

/* Frames, byte by byte, against an end that is served by hand */

static struct websocket *server_fed(struct stream **ret_other, const char *bytes, size_t size)
{
    struct stream *stream;

    pipe_new(4 << 20, &stream, ret_other);
    CHECK_OK(stream_write(*ret_other, bytes, size, TASK_FOREVER));
    return websocket_over(stream, false);
}

static void reads_frames(void *arg)
{
    /* the examples of RFC 6455, 5.7: "Hello" masked, whole; then fragmented around a ping, each masked with zeros */
    static const char bytes[] = "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"
                                "\x02\x83\0\0\0\0Hel"
                                "\x89\x81\0\0\0\0p"
                                "\x80\x82\0\0\0\0lo"
                                "\x88\x82\0\0\0\0\x03\xe8";
    struct stream *other;
    struct websocket *socket = server_fed(&other, bytes, sizeof(bytes) - 1);
    OWNED(buf_done) struct buf message = {0};
    enum websocket_kind kind;
    bool more;
    char answer[7];

    (void)arg;
    CHECK_OK(websocket_read(socket, &message, &kind, &more));
    CHECK_STR(buf_str(&message), "Hello");
    CHECK(more && kind == WEBSOCKET_TEXT);
    CHECK_OK(websocket_read(socket, &message, &kind, &more));
    CHECK_STR(buf_str(&message), "Hello");
    CHECK(more && kind == WEBSOCKET_BINARY);
    CHECK_OK(websocket_read(socket, &message, &kind, &more));
    CHECK(!more);
    CHECK_OK(stream_read_all(other, answer, 3, TASK_FOREVER)); /* the pong */
    CHECK(memcmp(answer, "\x8a\x01p", 3) == 0);
    CHECK_OK(stream_read_all(other, answer, 4, TASK_FOREVER)); /* the close, with the code that came */
    CHECK(memcmp(answer, "\x88\x02\x03\xe8", 4) == 0);
    websocket_close(socket, WEBSOCKET_NORMAL, STR(""));
    stream_close(other);
}

TEST("net/websocket/reads frames, fragments, pings and the end")
{
    test_run_task(reads_frames, NULL);
}

struct bad {
    const char *bytes;
    size_t size;
    const char *error;
    int code;
};

static void refuses(void *arg)
{
    const struct bad *bad = arg;
    struct stream *other;
    struct websocket *socket = server_fed(&other, bad->bytes, bad->size);
    OWNED(buf_done) struct buf message = {0};
    enum websocket_kind kind;
    bool more;
    unsigned char answer[4];

    CHECK_ERROR(websocket_read(socket, &message, &kind, &more), bad->error);
    websocket_close(socket, WEBSOCKET_NORMAL, STR(""));
    CHECK_OK(stream_read_all(other, answer, 4, TASK_FOREVER));
    CHECK_INT(answer[0], 0x88);
    CHECK_INT(answer[2] << 8 | answer[3], bad->code);
    stream_close(other);
}

#define BAD(bytes, error, code) {bytes, sizeof(bytes) - 1, error, code}

TEST("net/websocket/ends the connection when its rules are broken")
{
    static const struct bad rows[] = {
        BAD("\x81\x01x", "incorrect mask flag", 1002),
        BAD("\xc1\x80\0\0\0\0", "reserved bits", 1002),
        BAD("\x80\x80\0\0\0\0", "out of place", 1002),
        BAD("\x01\x80\0\0\0\0\x81\x80\0\0\0\0", "out of place", 1002),
        BAD("\x09\x80\0\0\0\0", "control frame", 1002),
        BAD("\x89\xfe\0\x7e\0\0\0\0", "control frame", 1002),
        BAD("\x8b\x80\0\0\0\0", "unknown opcode", 1002),
        BAD("\x83\x80\0\0\0\0", "out of place", 1002),
        BAD("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", "read limit exceeded", 1009),
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bad row = rows[i];

        test_run_task(refuses, &row);
    }
}

static void sends_sizes(void *arg)
{
    static const size_t sizes[] = {0, 1, 125, 126, 65535, 65536, LIMIT_WEBSOCKET_MESSAGE_BYTES - 1};
    struct stream *a, *b;
    OWNED(buf_done) struct buf body = {0}, message = {0};

    (void)arg;
    pipe_new(4 << 20, &a, &b);
    struct websocket *client = websocket_over(a, true), *server = websocket_over(b, false);

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        enum websocket_kind kind;
        bool more;

        buf_clear(&body);
        memset(buf_reserve(&body, sizes[i]), 'a' + (int)i, sizes[i]);
        body.n = sizes[i];
        for (int way = 0; way < 2; way++) {
            CHECK_OK(websocket_write(way ? client : server, WEBSOCKET_BINARY, STR("\1"), buf_str(&body)));
            CHECK_OK(websocket_read(way ? server : client, &message, &kind, &more));
            CHECK(more && message.n == sizes[i] + 1 && message.p[0] == 1);
            CHECK(sizes[i] == 0 || memcmp(message.p + 1, body.p, sizes[i]) == 0);
        }
    }
    websocket_close(client, WEBSOCKET_NORMAL, STR("done"));
    enum websocket_kind kind;
    bool more = true;

    CHECK_OK(websocket_read(server, &message, &kind, &more));
    CHECK(!more);
    CHECK_ERROR(websocket_write(server, WEBSOCKET_TEXT, STR(""), STR("late")), "close sent");
    websocket_close(server, WEBSOCKET_NORMAL, STR(""));
}

TEST("net/websocket/carries messages of all sizes both ways")
{
    test_run_task(sends_sizes, NULL);
}

/* Handshakes over a server */

static void echoes(struct http_exchange *exchange, void *arg)
{
    struct websocket *socket;
    OWNED(buf_done) struct buf message = {0};
    enum websocket_kind kind;
    bool more = true;
    struct status *status = websocket_accept(exchange, protocols, &socket);

    (void)arg;
    if (status != NULL) {
        CHECK_OK(http_respond(exchange, 400, NULL, status->message));
        status_free(status);
        return;
    }
    while (more) {
        CHECK_OK(websocket_read(socket, &message, &kind, &more));
        if (more) {
            CHECK_OK(websocket_write(socket, kind, websocket_protocol(socket), buf_str(&message)));
        }
    }
    websocket_close(socket, WEBSOCKET_NORMAL, STR(""));
}

static void shakes_hands(void *arg)
{
    static const char *const others[] = {"v9.example", NULL};
    static const char *const old[] = {"v9.example", "v4.example", NULL};
    struct arena *arena = arena_new();
    struct listener *listener;
    struct http_server *server = http_server_new(echoes, NULL);
    struct str address = arena_printf(arena, "unix:@c8s-websocket-test-%d", (int)getpid());
    struct http_request request = {.method = STR("GET"), .target = STR("/exec?x=y")};
    struct http_response *response;
    struct websocket *socket;
    OWNED(buf_done) struct buf message = {0};
    enum websocket_kind kind;
    bool more;
    struct str body;

    (void)arg;
    CHECK_OK(listener_open(address, 0600, &listener));
    http_server_listen(server, listener, NULL);
    struct http_client *client = http_client_new(&(struct http_client_options){.address = address});

    CHECK_OK(websocket_dial(client, &request, old, &socket));
    CHECK_STR(websocket_protocol(socket), "v4.example");
    CHECK_OK(websocket_write(socket, WEBSOCKET_TEXT, STR(""), STR(" hello")));
    CHECK_OK(websocket_read(socket, &message, &kind, &more));
    CHECK_STR(buf_str(&message), "v4.example hello");
    websocket_close(socket, WEBSOCKET_NORMAL, STR(""));

    CHECK_ERROR(websocket_dial(client, &request, others, &socket), "bad handshake (400 Bad Request): none of the offered");
    CHECK_OK(http_do(client, &request, &response)); /* no upgrade at all */
    CHECK_INT(response->code, 400);
    CHECK_OK(http_response_read_all(response, arena, 1000, &body));
    CHECK_STR(body, "a WebSocket of version 13 is wanted");
    http_response_close(response);
    http_client_free(client);
    http_server_free(server);
    arena_free(arena);
}

TEST("net/websocket/agrees on a protocol, or says why not")
{
    run_on_loop(shakes_hands, NULL);
}
