#include "certs.h"
#include "net_test.h"

#include "base/buf.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/pipe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MUCH = 3 << 20 };

/* A server that does what its paths say */

struct served {
    int calls, cancelled, last_version;
    bool was_verified;
};

static void streams_much(struct http_exchange *exchange)
{
    char piece[10007];
    size_t at = 0;

    CHECK_OK(http_start(exchange, 200, NULL));
    while (at < MUCH) {
        size_t size = MIN(sizeof(piece), MUCH - at);

        for (size_t i = 0; i < size; i++) {
            piece[i] = (char)((at + i) * 7);
        }
        CHECK_OK(http_write(exchange, (struct str){piece, size}));
        at += size;
    }
}

static void ticks(struct http_exchange *exchange, struct served *served)
{
    CHECK_OK(http_start(exchange, 200, NULL));
    for (int i = 0;; i++) {
        struct status *status = http_write(exchange, arena_printf(exchange->arena, "tick %d\n", i));

        if (status != NULL || !task_sleep(10 * ENV_MS)) {
            status_free(status);
            served->cancelled++;
            return;
        }
    }
}

static void upgrades(struct http_exchange *exchange)
{
    struct http_headers headers = {0};
    struct stream *stream;
    char bytes[5];

    http_header_add(exchange->arena, &headers, STR("upgrade"), STR("test"));
    CHECK_OK(http_upgrade(exchange, &headers, &stream));
    CHECK_OK(stream_read_all(stream, bytes, 5, TASK_FOREVER));
    CHECK_OK(stream_write(stream, bytes, 5, TASK_FOREVER));
    stream_close(stream);
}

static void serves(struct http_exchange *exchange, void *arg)
{
    struct served *served = arg;
    struct http_headers headers = {0}, trailers = {0};
    struct str body;

    served->calls++;
    served->last_version = exchange->version;
    served->was_verified = exchange->peer.is_verified;
    if (str_is(exchange->path, "/echo")) {
        CHECK_OK(http_read_all(exchange, MUCH, &body));
        http_header_add(exchange->arena, &headers, STR("x-method"), exchange->method);
        http_header_add(exchange->arena, &headers, STR("x-bad"), STR("a\r\nb: c"));
        CHECK_OK(http_respond(exchange, 200, &headers, body));
    } else if (str_is(exchange->path, "/much")) {
        streams_much(exchange);
    } else if (str_is(exchange->path, "/ticks")) {
        ticks(exchange, served);
    } else if (str_is(exchange->path, "/wait")) {
        served->cancelled += !task_sleep(1000 * ENV_SECOND);
    } else if (str_is(exchange->path, "/trailers")) {
        CHECK_OK(http_read_all(exchange, MUCH, &body));
        CHECK_OK(http_start(exchange, 200, NULL));
        CHECK_OK(http_write(exchange, body));
        http_header_add(exchange->arena, &trailers, STR("grpc-status"), STR("0"));
        CHECK_OK(http_end(exchange, &trailers));
    } else if (str_is(exchange->path, "/unread")) {
        CHECK_OK(http_respond(exchange, 403, NULL, STR("not for you")));
    } else if (str_is(exchange->path, "/upgrade")) {
        upgrades(exchange);
    } else {
        CHECK_OK(http_respond(exchange, 404, NULL, STR("")));
    }
}

/* Client and server, connected in each of the ways there are */

enum way { TCP, TLS, TLS_HTTP2, UNIX, UNIX_HTTP2 };

struct world {
    struct served served;
    struct certs certs;
    struct arena *arena;
    struct http_server *server;
    struct http_client *client;
    struct tls_context *server_tls, *client_tls;
    struct str address;
};

static void world_listen(struct world *world)
{
    struct listener *listener;

    CHECK_OK(listener_open(world->address, 0600, &listener));
    if (!str_has_prefix(world->address, STR("unix:"))) {
        world->address = arena_printf(world->arena, "%s", listener_name(listener).text);
    }
    http_server_listen(world->server, listener, world->server_tls);
}

static void world_begin(struct world *world, enum way way)
{
    memset(world, 0, sizeof(*world));
    world->arena = arena_new();
    world->server = http_server_new(serves, &world->served);
    world->address = way >= UNIX ? arena_printf(world->arena, "unix:@c8s-test-%d", (int)getpid()) : STR("127.0.0.1:0");
    if (way == TLS || way == TLS_HTTP2) {
        certs_make(world->arena, &world->certs);
        CHECK_OK(tls_server_new(&(struct tls_server_options){.certificate = world->certs.server,
                                                             .key = world->certs.server_key,
                                                             .client_ca = world->certs.ca,
                                                             .offers_http2 = way == TLS_HTTP2},
                                &world->server_tls));
        CHECK_OK(tls_client_new(&(struct tls_client_options){.ca = world->certs.ca,
                                                             .certificate = world->certs.client,
                                                             .key = world->certs.client_key,
                                                             .offers_http2 = true},
                                &world->client_tls));
    }
    world_listen(world);
    world->client = http_client_new(
        &(struct http_client_options){.address = world->address,
                                      .tls = world->client_tls,
                                      .protocol = way == UNIX_HTTP2 ? HTTP_CLIENT_2 : HTTP_CLIENT_AUTO});
}

static void world_end(struct world *world)
{
    http_client_free(world->client);
    http_server_free(world->server);
    tls_context_unref(world->server_tls);
    tls_context_unref(world->client_tls);
    arena_free(world->arena);
}

/* Asks and checks the whole answer. */
static void asks(struct world *world, const char *method, const char *target, struct str body, int code,
                 struct str wanted)
{
    struct http_request request = {.method = str_of(method), .target = str_of(target), .body = body,
                                   .deadline = env_mono() + 20 * ENV_SECOND};
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct http_response *response;
    struct str got;

    CHECK_OK(http_do(world->client, &request, &response));
    CHECK_INT(response->code, code);
    CHECK_OK(http_response_read_all(response, arena, MUCH, &got));
    CHECK_INT(got.n, wanted.n);
    CHECK(str_eq(got, wanted));
    http_response_close(response);
}

static void asks_often(struct world *world, int version)
{
    asks(world, "POST", "/echo", STR("hello"), 200, STR("hello"));
    asks(world, "GET", "/none?x=y", STR(""), 404, STR(""));
    asks(world, "HEAD", "/much", STR(""), 200, STR(""));
    asks(world, "GET", "/echo", STR(""), 200, STR(""));
    CHECK_INT(world->served.calls, 4);
    CHECK_INT(world->served.last_version, version);
    CHECK_INT(http_server_connection_count(world->server), 1);
    char *much = malloc(MUCH);

    for (size_t i = 0; i < MUCH; i++) {
        much[i] = (char)(i * 7);
    }
    asks(world, "GET", "/much", STR(""), 200, (struct str){much, MUCH});
    asks(world, "PUT", "/echo", (struct str){much, MUCH}, 200, (struct str){much, MUCH});
    /* the server answers without reading what was sent */
    asks(world, "PUT", "/unread", (struct str){much, MUCH}, 403, STR("not for you"));
    asks(world, "GET", "/none", STR(""), 404, STR(""));
    free(much);
}

static void way_run(void *arg)
{
    const enum way *way = arg;
    struct world world;

    world_begin(&world, *way);
    asks_often(&world, *way == TLS_HTTP2 || *way == UNIX_HTTP2 ? 20 : 11);
    CHECK(world.served.was_verified == (*way == TLS || *way == TLS_HTTP2));
    world_end(&world);
}

#define TEST_WAY(title, value)              \
    TEST(title)                             \
    {                                       \
        run_on_loop(way_run, &(enum way){value}); \
    }

TEST_WAY("net/http_client/asks over TCP", TCP)
TEST_WAY("net/http_client/asks over TLS", TLS)
TEST_WAY("net/http_client/asks over TLS with HTTP/2", TLS_HTTP2)
TEST_WAY("net/http_client/asks over a unix socket", UNIX)
TEST_WAY("net/http_client/asks over a unix socket with HTTP/2", UNIX_HTTP2)

/* Headers and trailers */

static void trailers_run(void *arg)
{
    struct world world;
    struct http_response *response;
    struct str body;

    (void)arg;
    world_begin(&world, UNIX_HTTP2);
    struct http_request request = {.method = STR("POST"), .target = STR("/trailers"), .body = STR("message")};

    http_header_add(world.arena, &request.headers, STR("te"), STR("trailers"));
    CHECK_OK(http_do(world.client, &request, &response));
    CHECK_OK(http_response_read_all(response, world.arena, 100, &body));
    CHECK_STR(body, "message");
    CHECK_STR(http_header_find(&response->trailers, STR("grpc-status")), "0");
    CHECK(http_header_find(&response->headers, STR("date")).n > 20);
    http_response_close(response);
    request.target = STR("/echo");
    CHECK_OK(http_do(world.client, &request, &response));
    CHECK_STR(http_header_find(&response->headers, STR("x-bad")), "a  b: c");
    CHECK_STR(http_header_find(&response->headers, STR("x-method")), "POST");
    http_response_close(response);
    world_end(&world);
}

TEST("net/http_client/gets trailers over HTTP/2")
{
    run_on_loop(trailers_run, NULL);
}

/* Many watches */

struct watcher {
    struct world *world;
    int seen;
};

static void watches(void *arg)
{
    struct watcher *watcher = arg;
    struct http_request request = {.method = STR("GET"), .target = STR("/ticks")};
    struct http_response *response;
    char bytes[100];
    size_t got;

    CHECK_OK(http_do(watcher->world->client, &request, &response));
    while (watcher->seen < 3) {
        CHECK_OK(http_response_read(response, bytes, sizeof(bytes), env_mono() + 20 * ENV_SECOND, &got));
        CHECK(got > 0);
        watcher->seen++;
    }
    http_response_close(response);
}

static void watches_run(void *arg)
{
    const enum way *way = arg;
    struct world world;
    struct task_group group;
    struct watcher watchers[300] = {0};

    world_begin(&world, *way);
    task_group_init(&group);
    for (size_t i = 0; i < COUNT_OF(watchers); i++) {
        watchers[i].world = &world;
        task_group_spawn(&group, "watch", watches, &watchers[i]);
    }
    task_sleep(100 * ENV_MS);
    CHECK(http_server_connection_count(world.server) <= (*way == TLS_HTTP2 ? 2 : 300));
    task_group_wait(&group);
    for (int i = 0; i < 200 && http_server_request_count(world.server) > 0; i++) {
        task_sleep(10 * ENV_MS);
    }
    CHECK_INT(world.served.cancelled, 300);
    CHECK_INT(http_server_request_count(world.server), 0);
    world_end(&world);
}

TEST("net/http_client/watches much at once over one connection or two")
{
    run_on_loop(watches_run, &(enum way){TLS_HTTP2});
}

TEST("net/http_client/watches much at once over many connections")
{
    run_on_loop(watches_run, &(enum way){TCP});
}

/* Upgrades, deadlines, cancelling */

static void upgrade_run(void *arg)
{
    struct world world;
    struct http_request request = {.method = STR("GET"), .target = STR("/upgrade"), .wants_upgrade = true};
    struct http_response *response;
    char bytes[5];

    (void)arg;
    world_begin(&world, TLS_HTTP2);
    asks(&world, "GET", "/echo", STR(""), 200, STR(""));
    http_header_add(world.arena, &request.headers, STR("upgrade"), STR("test"));
    CHECK_OK(http_do(world.client, &request, &response));
    CHECK_INT(response->code, 101);
    CHECK_STR(http_header_find(&response->headers, STR("upgrade")), "test");
    CHECK_OK(stream_write(response->upgraded, "bytes", 5, TASK_FOREVER));
    CHECK_OK(stream_read_all(response->upgraded, bytes, 5, TASK_FOREVER));
    CHECK(memcmp(bytes, "bytes", 5) == 0);
    http_response_close(response);
    CHECK_INT(world.served.last_version, 11);
    world_end(&world);
}

TEST("net/http_client/upgrades over a connection of its own")
{
    run_on_loop(upgrade_run, NULL);
}

static void waits(void *arg)
{
    struct world *world = arg;
    struct http_request request = {.method = STR("GET"), .target = STR("/wait")};
    struct http_response *response;
    struct status *status = http_do(world->client, &request, &response);

    CHECK(status_is(status, STATUS_CANCELLED));
    status_free(status);
}

static void deadline_run(void *arg)
{
    const enum way *way = arg;
    struct world world;
    struct http_request request = {.method = STR("GET"), .target = STR("/wait"), .deadline = env_mono() + 100 * ENV_MS};
    struct http_response *response;
    struct task_group group;

    world_begin(&world, *way);
    request.deadline = env_mono() + 100 * ENV_MS;
    CHECK_ERROR(http_do(world.client, &request, &response), "context deadline exceeded");
    task_group_init(&group);
    task_group_spawn(&group, "waits", waits, &world);
    task_sleep(100 * ENV_MS);
    CHECK_INT(http_server_request_count(world.server), 1);
    task_group_cancel(&group);
    task_sleep(100 * ENV_MS);
    CHECK_INT(world.served.cancelled, 2);
    world_end(&world);
}

TEST("net/http_client/gives up at the deadline and when cancelled, over HTTP/1.1")
{
    run_on_loop(deadline_run, &(enum way){TCP});
}

TEST("net/http_client/gives up at the deadline and when cancelled, over HTTP/2")
{
    run_on_loop(deadline_run, &(enum way){UNIX_HTTP2});
}

/* Servers that go and come */

static void restart_run(void *arg)
{
    const enum way *way = arg;
    struct world world;
    struct http_request request = {.method = STR("GET"), .target = STR("/echo")};
    struct http_response *response;

    world_begin(&world, *way);
    for (int i = 0; i < 3; i++) {
        asks(&world, "POST", "/echo", STR("x"), 200, STR("x"));
        http_server_free(world.server);
        struct status *status = http_do(world.client, &request, &response);

        CHECK(status_is(status, STATUS_SERVICE_UNAVAILABLE));
        CHECK_ERROR(status, "connect: connection refused");
        world.server = http_server_new(serves, &world.served);
        world_listen(&world);
    }
    asks(&world, "POST", "/echo", STR("x"), 200, STR("x"));
    world_end(&world);
}

TEST("net/http_client/connects again after the server went, over HTTP/1.1")
{
    run_on_loop(restart_run, &(enum way){TCP});
}

TEST("net/http_client/connects again after the server went, over HTTP/2")
{
    run_on_loop(restart_run, &(enum way){TLS_HTTP2});
}

static void stop_run(void *arg)
{
    struct world world;
    struct http_request request = {.method = STR("GET"), .target = STR("/ticks")};
    struct http_response *response;
    char bytes[100];
    size_t got;

    (void)arg;
    world_begin(&world, UNIX_HTTP2);
    CHECK_OK(http_do(world.client, &request, &response));
    CHECK_OK(http_response_read(response, bytes, sizeof(bytes), TASK_FOREVER, &got));
    http_server_stop(world.server, 200 * ENV_MS);
    CHECK_INT(world.served.cancelled, 1);
    struct status *status = NULL;

    for (int i = 0; i < 1000 && status == NULL; i++) { /* what was sent before is still there */
        status = http_response_read(response, bytes, sizeof(bytes), env_mono() + 5 * ENV_SECOND, &got);
        CHECK(status != NULL || got > 0);
    }
    CHECK_ERROR(status, "http2");
    http_response_close(response);
    world_end(&world);
}

TEST("net/http2/breaks off what still goes on when the server stops")
{
    run_on_loop(stop_run, NULL);
}

/* On a virtual clock, over pipes */

static struct status *dial_pipe(void *arg, int64_t deadline, struct stream **ret)
{
    struct stream **other = arg;

    (void)deadline;
    pipe_new(64 << 10, ret, other);
    return NULL;
}

static void plain_dial_run(void *arg)
{
    struct stream *silent = NULL;
    struct http_client *client = http_client_new(
        &(struct http_client_options){.dial = dial_pipe, .dial_arg = &silent, .protocol = HTTP_CLIENT_1});
    struct http_request request = {.method = STR("GET"), .target = STR("/"), .deadline = env_mono() + 5 * ENV_SECOND};
    struct http_response *response;
    char bytes[35];

    (void)arg;
    CHECK_ERROR(http_do(client, &request, &response), "context deadline exceeded");
    CHECK_INT(env_mono() / ENV_SECOND, 5);
    CHECK_OK(stream_read_all(silent, bytes, 35, TASK_FOREVER));
    CHECK_STR(((struct str){bytes, 35}), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream_close(silent);
    http_client_free(client);
}

TEST("net/http_client/waits no longer than asked for a silent server")
{
    test_run_task(plain_dial_run, NULL);
}

/* Splicing */

struct spliced {
    struct stream *a, *b;
    bool done;
};

static void splices(void *arg)
{
    struct spliced *spliced = arg;

    stream_splice(spliced->a, spliced->b);
    spliced->done = true;
}

static void splice_run(void *arg)
{
    struct spliced spliced = {0};
    struct stream *left, *right;
    struct task_group group;
    char bytes[8];
    size_t got;

    (void)arg;
    pipe_new(3, &left, &spliced.a);
    pipe_new(5, &right, &spliced.b);
    task_group_init(&group);
    task_group_spawn(&group, "splice", splices, &spliced);
    CHECK_OK(stream_write(left, "over", 4, TASK_FOREVER));
    CHECK_OK(stream_read_all(right, bytes, 4, TASK_FOREVER));
    CHECK_OK(stream_write(right, "and back", 8, TASK_FOREVER));
    CHECK_OK(stream_read_all(left, bytes, 8, TASK_FOREVER));
    CHECK(memcmp(bytes, "and back", 8) == 0);
    CHECK(!spliced.done);
    CHECK_OK(stream_write(right, "last", 4, TASK_FOREVER));
    stream_close(right);
    CHECK_OK(stream_read_all(left, bytes, 4, TASK_FOREVER));
    CHECK_OK(stream_read(left, bytes, 1, TASK_FOREVER, &got));
    CHECK_INT(got, 0);
    task_group_wait(&group);
    CHECK(spliced.done);
    stream_close(left);
}

TEST("net/stream/splices two streams until one ends")
{
    test_run_task(splice_run, NULL);
}
