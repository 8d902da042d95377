#include "test.h"

#include "base/task.h"
#include "net/http2.h"
#include "net/http_call.h"
#include "net/http_server.h"
#include "net/pipe.h"

#include <string.h>

/* A client made of http2.h alone, that does what no good one does; over pipes and on a virtual clock. */
struct rude {
    struct http2 *http2;
    struct http_server *server;
    int cancelled, calls;
    bool is_stubborn;
};

static void serves(struct http_exchange *exchange, void *arg)
{
    struct rude *rude = arg;

    rude->calls++;
    rude->cancelled += !task_sleep(1000 * ENV_SECOND);
    for (int i = 0; rude->is_stubborn && i < 100; i++) {
        task_yield();
    }
    status_free(http_respond(exchange, 200, NULL, STR("late")));
}

static void on_stream(void *arg, struct http2_stream *stream)
{
    (void)arg, (void)stream;
}

static void on_quiet(void *arg)
{
    (void)arg;
}

static void on_over(void *arg)
{
    struct rude *rude = arg;

    rude->http2 = NULL;
}

static const struct http2_ops ops = {on_stream, on_stream, on_quiet, on_over};

static void rude_begin(struct rude *rude)
{
    struct stream *ours, *theirs;

    pipe_new(1 << 20, &ours, &theirs);
    rude->server = http_server_new(serves, rude);
    http_server_serve(rude->server, theirs, false, STR("@"));
    rude->http2 = http2_new(false, ours, 0, &ops, rude);
    http2_begin(rude->http2, STR(""));
}

static struct http2_stream *opens(struct rude *rude, const struct http_headers *headers)
{
    struct http_request request = {.method = STR("GET"), .target = STR("/"), .headers = *headers};
    struct http2_stream *stream;

    CHECK_OK(http2_request(rude->http2, &request, STR("http"), STR("localhost"), NULL, &stream));
    return stream;
}

static const struct http_headers none;

static void resets_run(void *arg)
{
    struct rude rude = {0};
    int opened = 0;

    (void)arg;
    rude_begin(&rude);
    while (rude.http2 != NULL && opened < 5000) {
        struct http2_stream *stream = opens(&rude, &none);

        opened++;
        task_sleep(ENV_US);
        http2_release(stream);
        task_sleep(ENV_US);
    }
    CHECK(opened >= 1000 && opened < 1100);
    task_sleep(100 * ENV_SECOND);
    CHECK(rude.http2 == NULL);
    CHECK_INT(rude.cancelled, rude.calls);
    CHECK_INT(http_server_connection_count(rude.server), 0);
    http_server_free(rude.server);
}

TEST("net/http2/ends a connection that opens streams only to reset them")
{
    test_run_task(resets_run, NULL);
}

static void slow_resets_run(void *arg)
{
    struct rude rude = {0};

    (void)arg;
    rude_begin(&rude);
    for (int i = 0; i < 3000; i++) {
        struct http2_stream *stream = opens(&rude, &none);

        task_sleep(25 * ENV_MS);
        http2_release(stream);
        task_sleep(25 * ENV_MS);
    }
    CHECK(rude.http2 != NULL);
    CHECK_INT(rude.cancelled, 3000);
    http2_close(rude.http2);
    task_sleep(100 * ENV_SECOND);
    CHECK_INT(http_server_connection_count(rude.server), 0);
    http_server_free(rude.server);
}

TEST("net/http2/lets a client end its watches, as many as it likes in time")
{
    test_run_task(slow_resets_run, NULL);
}

static void headers_run(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct http_headers many = {0};
    struct rude rude = {0};

    (void)arg;
    rude_begin(&rude);
    for (int i = 0; i < 200; i++) {
        http_header_add(arena, &many, arena_printf(arena, "x-%d", i), STR("value"));
    }
    struct http2_stream *stream = opens(&rude, &many);

    CHECK_OK(http2_wait_head(stream, env_mono() + ENV_SECOND));
    CHECK_INT(stream->code, 431);
    http2_release(stream);
    CHECK_INT(rude.calls, 0);
    task_sleep(89 * ENV_SECOND);
    CHECK(rude.http2 != NULL);
    task_sleep(3 * ENV_SECOND); /* nothing goes on: the server ends it */
    CHECK(rude.http2 == NULL);
    CHECK_INT(http_server_connection_count(rude.server), 0);
    http_server_free(rude.server);
}

TEST("net/http2/refuses too many headers, and ends what is idle")
{
    test_run_task(headers_run, NULL);
}

static void garbage_run(void *arg)
{
    struct stream *ours, *theirs;
    struct rude rude = {0};
    char bytes[1000] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    size_t got = 1, total = 0;

    (void)arg;
    memset(bytes + 24, 0x55, sizeof(bytes) - 24);
    pipe_new(1 << 20, &ours, &theirs);
    rude.server = http_server_new(serves, &rude);
    http_server_serve(rude.server, theirs, false, STR("@"));
    CHECK_OK(stream_write(ours, bytes, sizeof(bytes), TASK_FOREVER));
    while (got > 0) {
        CHECK_OK(stream_read(ours, bytes, sizeof(bytes), env_mono() + 100 * ENV_SECOND, &got));
        total += got;
    }
    CHECK(total > 0); /* SETTINGS and GOAWAY */
    stream_close(ours);
    task_sleep(10 * ENV_SECOND);
    CHECK_INT(http_server_connection_count(rude.server), 0);
    http_server_free(rude.server);
}

TEST("net/http2/ends a connection that speaks something else")
{
    test_run_task(garbage_run, NULL);
}

static void silence_run(void *arg)
{
    struct stream *ours, *theirs;
    struct link sessions;
    struct http_request request = {.method = STR("GET"), .target = STR("/")};
    struct http2_session_options options = {
        .scheme = STR("http"), .authority = STR("a"), .idle_timeout = ENV_SECOND, .is_watched = true};
    struct http_response *response;
    int64_t start = env_mono();

    (void)arg;
    list_init(&sessions);
    pipe_new(1 << 20, &ours, &theirs);
    struct http_call_failure failure =
        http2_session_call(http2_session_new(ours, &options, &sessions), &request, &response);

    CHECK_INT((env_mono() - start) / ENV_SECOND, 45);
    CHECK(list_empty(&sessions));
    CHECK(!failure.is_untouched);
    CHECK_ERROR(failure.status, "http2: connection closed");
    stream_close(theirs);
}

TEST("net/http2/gives up a server that is silent for long")
{
    test_run_task(silence_run, NULL);
}
