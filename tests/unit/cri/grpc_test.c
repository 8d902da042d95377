#include "test.h"

#include "base/env.h"
#include "base/mem.h"
#include "base/task.h"
#include "cri/grpc.h"
#include "cri/grpc_client.h"
#include "cri/grpc_wire.h"
#include "schema/cri_v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An HTTP client whose server is a handler in the same task: requests and answers as they are on the wire, without
 * one. `spoil` may change the answer before the client sees it. */
struct direct {
    struct http_client http;
    http_handler *handler;
    void *arg;
    void (*spoil)(struct http_response *response, struct buf *body);
    char timeout[32]; /* what the last request said */
};

struct direct_response {
    struct http_response response;
    struct buf body;
    size_t at;
};

struct direct_exchange {
    struct http_exchange exchange;
    struct str body;
    struct direct_response *response;
};

static struct status *exchange_read(struct http_exchange *exchange, void *bytes, size_t size, size_t *ret_size)
{
    struct direct_exchange *direct = CONTAINER_OF(exchange, struct direct_exchange, exchange);

    *ret_size = MIN(MIN(size, direct->body.n), (size_t)3); /* frames are cut anywhere */
    if (*ret_size > 0) {
        memcpy(bytes, direct->body.p, *ret_size);
    }
    direct->body = str_from(direct->body, *ret_size);
    return NULL;
}

static void copy_headers(struct arena *arena, const struct http_headers *from, struct http_headers *to)
{
    for (size_t i = 0; from != NULL && i < from->len; i++) {
        *LIST_ADD(arena, to) = (struct http_header){arena_str(arena, from->items[i].name),
                                                    arena_str(arena, from->items[i].value)};
    }
}

static struct status *exchange_start(struct http_exchange *exchange, int code, const struct http_headers *headers)
{
    struct http_response *response = &CONTAINER_OF(exchange, struct direct_exchange, exchange)->response->response;

    response->code = code;
    copy_headers(response->arena, headers, &response->headers);
    return NULL;
}

static struct status *exchange_write(struct http_exchange *exchange, struct str bytes)
{
    buf_add_str(&CONTAINER_OF(exchange, struct direct_exchange, exchange)->response->body, bytes);
    return NULL;
}

static struct status *exchange_end(struct http_exchange *exchange, const struct http_headers *trailers)
{
    struct http_response *response = &CONTAINER_OF(exchange, struct direct_exchange, exchange)->response->response;

    copy_headers(response->arena, trailers, &response->trailers);
    return NULL;
}

static const struct http_exchange_ops exchange_ops = {
    .read = exchange_read, .start = exchange_start, .write = exchange_write, .end = exchange_end};

static struct status *response_read(struct http_response *response, void *bytes, size_t size, int64_t deadline,
                                    size_t *ret_size)
{
    struct direct_response *direct = CONTAINER_OF(response, struct direct_response, response);

    (void)deadline;
    *ret_size = MIN(MIN(size, direct->body.n - direct->at), (size_t)7);
    if (*ret_size > 0) {
        memcpy(bytes, direct->body.p + direct->at, *ret_size);
    }
    direct->at += *ret_size;
    return NULL;
}

static void response_close(struct http_response *response)
{
    struct direct_response *direct = CONTAINER_OF(response, struct direct_response, response);

    buf_done(&direct->body);
    arena_free(response->arena);
    free(direct);
}

static const struct http_response_ops response_ops = {.read = response_read, .close = response_close};

static struct status *direct_call(struct http_client *http, const struct http_request *request,
                                  struct http_response **ret)
{
    struct direct *direct = CONTAINER_OF(http, struct direct, http);
    struct direct_response *response = MEM_NEW(struct direct_response);
    struct direct_exchange call = {
        .exchange = {.ops = &exchange_ops, .arena = arena_new(), .method = request->method, .path = request->target,
                     .headers = request->headers, .version = 20},
        .body = request->body,
        .response = response,
    };
    struct str timeout = http_header_find(&request->headers, STR("grpc-timeout"));

    snprintf(direct->timeout, sizeof(direct->timeout), "%.*s", STR_ARG(timeout));
    response->response = (struct http_response){.ops = &response_ops, .arena = arena_new()};
    direct->handler(&call.exchange, direct->arg);
    arena_free(call.exchange.arena);
    if (direct->spoil != NULL) {
        direct->spoil(&response->response, &response->body);
    }
    *ret = &response->response;
    return NULL;
}

static void direct_free(struct http_client *http)
{
    (void)http;
}

static const struct http_client_ops direct_ops = {.call = direct_call, .free = direct_free};

static struct status *version(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_version_request *asked = request;
    struct cri_v1_version_response *answer = response;

    if (str_is(asked->version, "bad")) {
        return status_new(STATUS_NOT_FOUND, "no such version: 100%% \xc3\xa9\n");
    }
    answer->version = arena_printf(arena, "%.*s of %s", STR_ARG(asked->version), (const char *)arg);
    return NULL;
}

static struct status *events(void *arg, struct arena *arena, const void *request,
                             struct status *(*send)(void *sink, const void *response), void *sink)
{
    (void)arg, (void)request;
    for (int i = 0; i < 3; i++) {
        struct cri_v1_container_event_response event = {.container_id = arena_printf(arena, "c%d", i), .created_at = i};

        TRY(send(sink, &event));
    }
    return status_new(STATUS_SERVICE_UNAVAILABLE, "shutting down");
}

static char whose[] = "me";
static const struct grpc_method method_rows[] = {
    {.rpc = &cri_v1_runtime_service_version_rpc, .handle = version},
    {.rpc = &cri_v1_runtime_service_get_container_events_rpc, .stream = events},
};
static struct grpc_methods methods = {method_rows, COUNT_OF(method_rows), whose};

static struct status *call_version(struct direct *direct, struct arena *arena, const char *asked,
                                   struct cri_v1_version_response *answer, int64_t deadline)
{
    struct grpc_client *client = grpc_client_over(&direct->http);
    struct cri_v1_version_request request = {.version = str_of(asked)};
    struct status *bad = grpc_call(client, arena, &cri_v1_runtime_service_version_rpc, &request, answer, deadline);

    grpc_client_free(client);
    return bad;
}

static void calls(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct direct direct = {{&direct_ops}, grpc_serve, &methods, NULL, ""};
    struct cri_v1_version_response answer = {0};
    struct status *bad;

    (void)arg;
    CHECK_OK(call_version(&direct, arena, "v1", &answer, TASK_FOREVER));
    CHECK_STR(answer.version, "v1 of me");
    CHECK_STR(str_of(direct.timeout), "");
    CHECK_OK(call_version(&direct, arena, "v1", &answer, env_mono() + 5 * ENV_MS));
    CHECK_STR(str_of(direct.timeout), "5000000n");
    bad = call_version(&direct, arena, "bad", &answer, TASK_FOREVER);
    CHECK(status_is(bad, STATUS_NOT_FOUND));
    CHECK_STR(bad->message, "no such version: 100% \xc3\xa9\n");
    CHECK_STR(grpc_error_text(arena, bad), "rpc error: code = NotFound desc = no such version: 100% \xc3\xa9\n");
    status_free(bad);
}

TEST("cri/grpc/calls a method and hears of its error")
{
    test_run_task(calls, NULL);
}

static void streams(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct direct direct = {{&direct_ops}, grpc_serve, &methods, NULL, ""};
    struct grpc_client *client = grpc_client_over(&direct.http);
    struct cri_v1_get_events_request request = {0};
    struct grpc_stream *stream;
    bool more;

    (void)arg;
    CHECK_OK(grpc_stream_open(client, &cri_v1_runtime_service_get_container_events_rpc, &request, &stream));
    for (int i = 0; i < 3; i++) {
        struct cri_v1_container_event_response event = {0};

        CHECK_OK(grpc_stream_next(stream, arena, &event, &more));
        CHECK(more);
        CHECK_INT(event.created_at, i);
        CHECK_STR(event.container_id, arena_printf(arena, "c%d", i).p);
    }
    struct cri_v1_container_event_response event = {0};

    for (int i = 0; i < 2; i++) { /* again and again */
        struct status *bad = grpc_stream_next(stream, arena, &event, &more);

        CHECK(status_is(bad, STATUS_SERVICE_UNAVAILABLE));
        status_free(bad);
    }
    grpc_stream_close(stream);
    grpc_client_free(client);
}

TEST("cri/grpc/reads a stream up to its end")
{
    test_run_task(streams, NULL);
}

static void cut_short(struct http_response *response, struct buf *body)
{
    (void)response;
    body->n--;
}

static void without_trailers(struct http_response *response, struct buf *body)
{
    (void)body;
    response->trailers.len = 0;
}

static void twice(struct http_response *response, struct buf *body)
{
    OWNED(buf_done) struct buf copy = {0};

    (void)response;
    buf_add_str(&copy, buf_str(body));
    buf_add_str(body, buf_str(&copy));
}

static void empty(struct http_response *response, struct buf *body)
{
    (void)response;
    body->n = 0;
}

static void compressed(struct http_response *response, struct buf *body)
{
    (void)response;
    body->p[0] = 1;
}

static void huge(struct http_response *response, struct buf *body)
{
    (void)response;
    body->p[1] = 0x7f;
}

static void no_message(struct http_response *response, struct buf *body)
{
    (void)response;
    body->p[5] = 0x0c; /* an end of a group that never began */
}

static void bad_gateway(struct http_response *response, struct buf *body)
{
    (void)body;
    response->code = 502;
}

static void a_page(struct http_response *response, struct buf *body)
{
    (void)body;
    response->headers.items[0].value = STR("text/html");
}

static void status_first(struct http_response *response, struct buf *body)
{
    body->n = 0;
    response->trailers.len = 0;
    http_header_add(response->arena, &response->headers, STR("grpc-status"), STR("8"));
    http_header_add(response->arena, &response->headers, STR("grpc-message"), STR("too%20many%2"));
}

static void spoiled(void *arg)
{
    static const struct {
        void (*spoil)(struct http_response *response, struct buf *body);
        enum status_reason reason;
        const char *message;
    } rows[] = {
        {cut_short, STATUS_INTERNAL_ERROR, "unexpected EOF"},
        {without_trailers, STATUS_INTERNAL_ERROR, "server closed the stream without sending trailers"},
        {twice, STATUS_INTERNAL_ERROR, "cardinality violation: expected <EOF>"},
        {empty, STATUS_INTERNAL_ERROR, "cardinality violation: received no response message"},
        {compressed, STATUS_METHOD_NOT_ALLOWED, "Decompressor is not installed"},
        {huge, STATUS_TOO_MANY_REQUESTS, "grpc: received message larger than max ("},
        {no_message, STATUS_INTERNAL_ERROR, "grpc: failed to unmarshal the received message"},
        {bad_gateway, STATUS_SERVICE_UNAVAILABLE, "unexpected HTTP status code received from server: 502"},
        {a_page, STATUS_UNKNOWN, "transport: received unexpected content-type \"text/html\""},
        {status_first, STATUS_TOO_MANY_REQUESTS, "too many%2"},
    };

    (void)arg;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct direct direct = {{&direct_ops}, grpc_serve, &methods, rows[i].spoil, ""};
        struct cri_v1_version_response answer = {0};
        struct status *bad = call_version(&direct, arena, "v1", &answer, TASK_FOREVER);

        CHECK(bad != NULL);
        CHECK_INT(bad->reason, rows[i].reason);
        CHECK_ERROR(bad, rows[i].message);
    }
}

TEST("cri/grpc/takes a broken answer for what it is")
{
    test_run_task(spoiled, NULL);
}

static void unknown(void *arg)
{
    static const struct {
        const char *path, *type, *body, *timeout, *code, *message;
        size_t size;
        int http;
    } rows[] = {
        {"/runtime.v1.RuntimeService/Nope", "application/grpc", "", "", "12",
         "unknown method Nope for service runtime.v1.RuntimeService", 0, 200},
        {"/x.Y/Z", "application/grpc+proto", "", "", "12", "unknown service x.Y", 0, 200},
        {"/x", "application/grpc", "", "", "12", "malformed method name: \"/x\"", 0, 200},
        {"/runtime.v1.RuntimeService/Version", "application/json", "", "", "", "", 0, 415},
        {"/runtime.v1.RuntimeService/Version", "application/grpc", "", "", "13", "unexpected EOF", 0, 200},
        {"/runtime.v1.RuntimeService/Version", "application/grpc", "\0\0\0\0\0\0", "", "13", "unexpected EOF", 6, 200},
        {"/runtime.v1.RuntimeService/Version", "application/grpc", "\0\0\0\0\0\0\0\0\0\0", "", "13",
         "cardinality violation: more than one message for a unary method", 10, 200},
        {"/runtime.v1.RuntimeService/Version", "application/grpc", "\1\0\0\0\0", "", "12",
         "grpc: Decompressor is not installed for grpc-encoding", 5, 200},
        {"/runtime.v1.RuntimeService/Version", "application/grpc", "\0\0\0\0\0", "5x", "13",
         "malformed grpc-timeout: \"5x\"", 5, 200},
    };

    (void)arg;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct direct direct = {{&direct_ops}, grpc_serve, &methods, NULL, ""};
        struct http_request request = {
            .method = STR("POST"), .target = str_of(rows[i].path), .body = {rows[i].body, rows[i].size}};
        struct http_response *response;

        http_header_add(arena, &request.headers, STR("content-type"), str_of(rows[i].type));
        if (rows[i].timeout[0] != '\0') {
            http_header_add(arena, &request.headers, STR("grpc-timeout"), str_of(rows[i].timeout));
        }
        CHECK_OK(direct_call(&direct.http, &request, &response));
        CHECK_INT(response->code, rows[i].http);
        CHECK_STR(http_header_find(&response->trailers, STR("grpc-status")), rows[i].code);
        CHECK_STR(http_header_find(&response->trailers, STR("grpc-message")), rows[i].message);
        http_response_close(response);
    }
}

TEST("cri/grpc/answers a bad request with its code")
{
    test_run_task(unknown, NULL);
}

TEST("cri/grpc_wire/formats and reads timeouts")
{
    static const struct {
        int64_t nanoseconds;
        const char *text;
    } rows[] = {{1, "1n"},
                {99999999, "99999999n"},
                {100000000, "100000u"},
                {2 * ENV_SECOND + 1, "2000001u"},
                {3600 * ENV_SECOND, "3600000m"},
                {360000 * ENV_SECOND, "360000S"},
                {-5, "0n"}};
    int64_t nanoseconds;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();

        CHECK_STR(grpc_timeout_format(arena, rows[i].nanoseconds), rows[i].text);
        CHECK(grpc_timeout_parse(str_of(rows[i].text), &nanoseconds));
        CHECK(nanoseconds >= rows[i].nanoseconds);
    }
    static const char *const bad[] = {"", "5", "S", "-5S", "123456789S", "99999999H", "5s", "1.5S"};

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CHECK(!grpc_timeout_parse(str_of(bad[i]), &nanoseconds));
    }
}
