#include "test.h"

#include "base/task.h"
#include "net/http1.h"
#include "net/http_server.h"
#include "net/pipe.h"

#include <string.h>

/* Heads */

static void parses(const char *head, int code, const char *error)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct http1_head parsed;
    struct http1_body body;
    size_t scanned = 0, size;

    CHECK_OK(http1_find_head(str_of(head), &scanned, &size));
    CHECK_INT(size, strlen(head));
    struct status *status = http1_parse_request(arena, str_of(head), &parsed);

    if (status == NULL) {
        status = http1_request_body(&parsed, &body);
    }
    if (error == NULL) {
        CHECK_OK(status);
        return;
    }
    CHECK(status != NULL);
    CHECK_INT(status->code, code);
    CHECK_ERROR(status, error);
}

TEST("net/http1/refuses heads that could be read in two ways")
{
    parses("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, NULL);
    parses("GET / HTTP/1.1\nHost: a\n\n", 0, NULL);
    parses("GET / HTTP/1.0\r\n\r\n", 0, NULL);
    parses("GET / HTTP/1.1\r\n\r\n", 400, "missing required Host header");
    parses("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "too many Host headers");
    parses("GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505, "malformed HTTP version");
    parses("GET /\r\nHost: a\r\n\r\n", 400, "malformed HTTP request");
    parses("GE T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed HTTP version");
    parses("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid method");
    parses("GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n", 400, "invalid header name");
    parses("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n", 400, "invalid header name");
    parses("GET / HTTP/1.1\r\nHost: a\r\nA: b\001\r\n\r\n", 400, "invalid header value");
    parses("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "bad Content-Length");
    parses("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400, "bad Content-Length");
    parses("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
           "unexpected Transfer-Encoding");
    parses("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501,
           "unsupported transfer encoding");
}

TEST("net/http1/bounds heads that do not end")
{
    OWNED(buf_done) struct buf head = {0};
    size_t scanned = 0, size = 1;

    buf_add_str(&head, STR("GET / HTTP/1.1\r\n"));
    for (int i = 0; i < 20; i++) {
        buf_printf(&head, "A%d: %0*d\r\n", i, 4000, 1);
        struct status *status = http1_find_head(buf_str(&head), &scanned, &size);

        CHECK_INT(size, 0);
        if (status != NULL) {
            CHECK_INT(status->code, 431);
            CHECK_ERROR(status, "too large");
            return;
        }
    }
    CHECK(false);
}

/* Chunks */

static struct status *unchunk(const char *wire, size_t piece, char *out, size_t *ret_size, bool *ret_done)
{
    struct http1_body body = {.kind = HTTP1_BODY_CHUNKED};
    size_t at = 0, size = strlen(wire), used, given;

    *ret_size = 0;
    while (at < size && !body.is_done) {
        TRY(http1_body_take(&body, (struct str){wire + at, MIN(piece, size - at)}, out + *ret_size, 3, &used, &given));
        at += used;
        *ret_size += given;
    }
    *ret_done = body.is_done;
    return NULL;
}

TEST("net/http1/reads chunks in whatever pieces they come")
{
    char out[64];
    size_t size;
    bool done;

    for (size_t piece = 1; piece < 30; piece++) {
        CHECK_OK(unchunk("5\r\nhello\r\n00a;x=y\r\n, big worl\r\n1\r\nd\r\n0\r\nTrailer: x\r\n\r\n", piece, out, &size,
                         &done));
        CHECK(done);
        CHECK_STR(((struct str){out, size}), "hello, big world");
    }
    CHECK_OK(unchunk("5\r\nhel", 100, out, &size, &done));
    CHECK(!done);
    CHECK_ERROR(unchunk("5\r\nhellox\r\n", 100, out, &size, &done), "malformed chunked encoding");
    CHECK_ERROR(unchunk("-5\r\nhello\r\n", 100, out, &size, &done), "malformed chunked encoding");
    CHECK_ERROR(unchunk("\r\nhello\r\n", 100, out, &size, &done), "malformed chunked encoding");
    CHECK_ERROR(unchunk("ffffffffffffffffff\r\n", 100, out, &size, &done), "malformed chunked encoding");
}

/* The server, over pipes and on a virtual clock */

struct heard {
    bool cancelled;
    int calls;
};

static void answers(struct http_exchange *exchange, void *arg)
{
    struct heard *heard = arg;
    struct str body = {0};

    heard->calls++;
    if (str_is(exchange->path, "/echo")) {
        struct status *status = http_read_all(exchange, 100, &body);

        if (status != NULL) {
            int code = status->code;

            status_free(status);
            CHECK_OK(http_respond(exchange, code, NULL, STR("")));
            return;
        }
        CHECK_OK(http_respond(exchange, 200, NULL, body));
    } else if (str_is(exchange->path, "/stream")) {
        CHECK_OK(http_start(exchange, 200, NULL));
        CHECK_OK(http_write(exchange, STR("one")));
        CHECK_OK(http_write(exchange, exchange->query));
    } else if (str_is(exchange->path, "/wait")) {
        heard->cancelled = !task_sleep(1000 * ENV_SECOND);
    } else if (str_is(exchange->path, "/upgrade")) {
        struct http_headers headers = {0};
        struct stream *stream;
        char bytes[5];

        http_header_add(exchange->arena, &headers, STR("upgrade"), STR("test"));
        CHECK_OK(http_upgrade(exchange, &headers, &stream));
        CHECK_OK(stream_read_all(stream, bytes, 5, TASK_FOREVER));
        CHECK_OK(stream_write(stream, bytes, 5, TASK_FOREVER));
        stream_close(stream);
    } else {
        CHECK_OK(http_respond(exchange, 404, NULL, STR("no")));
    }
}

struct talk {
    struct heard heard;
    struct http_server *server;
    struct stream *client;
};

static void talk_begin(struct talk *talk)
{
    struct stream *end;

    memset(&talk->heard, 0, sizeof(talk->heard));
    talk->server = http_server_new(answers, &talk->heard);
    pipe_new(1 << 20, &talk->client, &end);
    http_server_serve(talk->server, end, false, STR("@"));
}

static void talk_end(struct talk *talk)
{
    stream_close(talk->client);
    http_server_free(talk->server);
}

/* Sends, and checks that exactly `wanted` comes back; "#" stands for a date. */
static void says(struct talk *talk, const char *sent, const char *wanted)
{
    CHECK_OK(stream_write(talk->client, sent, strlen(sent), TASK_FOREVER));
    OWNED(buf_done) struct buf all = {0};
    size_t size = strlen(wanted) + 28 * (strchr(wanted, '#') != NULL), got;

    while (all.n < size) {
        CHECK_OK(stream_read(talk->client, buf_reserve(&all, 1), 1, env_mono() + ENV_SECOND, &got));
        CHECK(got == 1);
        all.n++;
    }
    size_t date = str_find(buf_str(&all), STR("Date: "));

    if (date != SIZE_MAX) {
        memmove(all.p + date + 7, all.p + date + 6 + 29, all.n - date - 6 - 29);
        all.p[date + 6] = '#';
        all.n -= 28;
    }
    CHECK_STR(buf_str(&all), wanted);
}

static void ends(struct talk *talk)
{
    char byte;
    size_t got;

    CHECK_OK(stream_read(talk->client, &byte, 1, env_mono() + 1000 * ENV_SECOND, &got));
    CHECK_INT(got, 0);
}

static void keeps_alive(void *arg)
{
    struct talk talk;

    (void)arg;
    talk_begin(&talk);
    says(&talk, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: #\r\n\r\nhello");
    says(&talk, "GET /stream?two HTTP/1.1\r\nHost: a\r\n\r\n",
         "HTTP/1.1 200 OK\r\nDate: #\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
    says(&talk, "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nDate: #\r\n\r\n");
    /* a body that is not read is skipped */
    says(&talk, "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
         "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nDate: #\r\n\r\nno");
    says(&talk, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
         "HTTP/1.1 100 Continue\r\n\r\n");
    says(&talk, "hi", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: #\r\n\r\nhi");
    says(&talk, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\nConnection: close\r\n\r\n",
         "HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\nDate: #\r\nConnection: close\r\n\r\n");
    ends(&talk);
    CHECK_INT(talk.heard.calls, 6);
    talk_end(&talk);
}

TEST("net/http1/serves request after request on one connection")
{
    test_run_task(keeps_alive, NULL);
}

static void pipelines(void *arg)
{
    struct talk talk;

    (void)arg;
    talk_begin(&talk);
    says(&talk, "GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /2 HTTP/1.0\r\n\r\n",
         "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nDate: #\r\nConnection: keep-alive\r\n\r\nno");
    says(&talk, "", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nDate: #\r\nConnection: close\r\n\r\nno");
    ends(&talk);
    talk_end(&talk);
}

TEST("net/http1/serves requests sent ahead in turn")
{
    test_run_task(pipelines, NULL);
}

static void cancels(void *arg)
{
    struct talk talk;

    (void)arg;
    talk_begin(&talk);
    CHECK_OK(stream_write(talk.client, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n", 31, TASK_FOREVER));
    task_sleep(ENV_SECOND);
    CHECK_INT(http_server_request_count(talk.server), 1);
    stream_close(TAKE(talk.client));
    task_sleep(ENV_SECOND);
    CHECK(talk.heard.cancelled);
    CHECK_INT(http_server_request_count(talk.server), 0);
    CHECK_INT(http_server_connection_count(talk.server), 0);
    talk_end(&talk);
}

TEST("net/http1/cancels the handler whose client leaves")
{
    test_run_task(cancels, NULL);
}

static void upgrades(void *arg)
{
    struct talk talk;

    (void)arg;
    talk_begin(&talk);
    says(&talk, "GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nfir",
         "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n");
    says(&talk, "st", "first");
    ends(&talk);
    talk_end(&talk);
}

TEST("net/http1/hands over an upgraded connection with what was read of it")
{
    test_run_task(upgrades, NULL);
}

static void refuses(void *arg)
{
    struct talk talk;

    (void)arg;
    talk_begin(&talk);
    says(&talk, "GET / HTTP/1.1\r\n\r\n",
         "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
         "400 Bad Request: missing required Host header");
    ends(&talk);
    CHECK_INT(talk.heard.calls, 0);
    talk_end(&talk);
    talk_begin(&talk);
    CHECK_OK(stream_write(talk.client, "GET / HTTP", 10, TASK_FOREVER));
    int64_t start = env_mono();

    ends(&talk); /* the rest never comes */
    CHECK_INT((env_mono() - start) / ENV_SECOND, 32);
    talk_end(&talk);
}

TEST("net/http1/refuses what is no request and ends what never becomes one")
{
    test_run_task(refuses, NULL);
}

static void stops(void *arg)
{
    struct talk talk;

    (void)arg;
    talk_begin(&talk);
    CHECK_OK(stream_write(talk.client, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n", 31, TASK_FOREVER));
    task_sleep(ENV_SECOND);
    int64_t start = env_mono();

    http_server_stop(talk.server, 10 * ENV_SECOND);
    CHECK_INT((env_mono() - start) / ENV_SECOND, 10);
    CHECK(talk.heard.cancelled);
    CHECK_INT(http_server_connection_count(talk.server), 0);
    talk_end(&talk);
}

TEST("net/http1/stops with a grace")
{
    test_run_task(stops, NULL);
}

/* Text */

TEST("net/http/unescapes paths and queries")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str got;

    CHECK_OK(http_unescape(arena, STR("a%2Fb+c%20"), false, &got));
    CHECK_STR(got, "a/b+c ");
    CHECK_ERROR(http_unescape(arena, STR("a%2"), false, &got), "invalid URL escape \"%2\"");
    CHECK_ERROR(http_unescape(arena, STR("%zzz"), false, &got), "invalid URL escape \"%zz\"");
    CHECK(http_query_find(arena, STR("a=1&&b=x+y%3d&b=2"), STR("b"), &got));
    CHECK_STR(got, "x y=");
    got = STR("kept");
    CHECK(!http_query_find(arena, STR("a=1"), STR("b"), &got));
    CHECK_STR(got, "kept");
    CHECK_STR(http_escape(arena, STR("a b/~é")), "a%20b%2F~%C3%A9");
}
