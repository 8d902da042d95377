#include "cri/grpc.h"

#include "base/env.h"
#include "base/task.h"
#include "cri/grpc_wire.h"
#include "schema/protobuf.h"


static struct status *find_method(const struct grpc_methods *methods, struct str path,
                                  const struct grpc_method **ret_method)
{
    struct str service, name;

    for (size_t i = 0; i < methods->len; i++) {
        if (str_eq(methods->items[i].rpc->path, path)) {
            *ret_method = &methods->items[i];
            return NULL;
        }
    }
    if (path.n < 2 || !str_cut(str_from(path, 1), '/', &service, &name)) {
        return status_new(STATUS_METHOD_NOT_ALLOWED, "malformed method name: \"%.*s\"", STR_ARG(path));
    }
    for (size_t i = 0; i < methods->len; i++) {
        if (str_has_prefix(str_from(methods->items[i].rpc->path, 1), service)) {
            return status_new(STATUS_METHOD_NOT_ALLOWED, "unknown method %.*s for service %.*s", STR_ARG(name),
                              STR_ARG(service));
        }
    }
    return status_new(STATUS_METHOD_NOT_ALLOWED, "unknown service %.*s", STR_ARG(service));
}

/* The one message of the request, whole, in the exchange's arena. */
static struct status *read_request(struct http_exchange *exchange, struct str *ret_message)
{
    enum { PIECE = 16384 };
    struct grpc_frames frames = {0};
    struct str message, kept = {0};
    size_t size = 1, count = 0;
    struct status *bad = NULL;

    while (bad == NULL && size > 0) {
        bad = http_read(exchange, buf_reserve(&frames.bytes, PIECE), PIECE, &size);
        if (bad != NULL) {
            break;
        }
        frames.bytes.n += size;
        for (bool has = true; has;) {
            bad = grpc_frame_next(&frames, &message, &has);
            if (bad != NULL || !has) {
                break;
            }
            kept = count++ == 0 ? arena_str(exchange->arena, message) : kept;
        }
        if (bad == NULL && count > 1) {
            bad = status_new(STATUS_INTERNAL_ERROR, "cardinality violation: more than one message for a unary method");
        }
    }
    if (bad == NULL && (count == 0 || frames.bytes.n > 0)) {
        bad = status_new(STATUS_INTERNAL_ERROR, "unexpected EOF");
    }
    buf_done(&frames.bytes);
    *ret_message = kept;
    return bad;
}

static struct status *start(struct http_exchange *exchange)
{
    struct http_headers headers = {0};

    if (exchange->is_started) {
        return NULL;
    }
    http_header_add(exchange->arena, &headers, STR("content-type"), STR("application/grpc"));
    return http_start(exchange, 200, &headers);
}

struct sink {
    struct http_exchange *exchange;
    const struct type *type;
};

static struct status *send_message(void *arg, const void *response)
{
    struct sink *sink = arg;
    OWNED(buf_done) struct buf out = {0};

    TRY(start(sink->exchange));
    grpc_frame_add(&out, sink->type, response);
    return http_write(sink->exchange, buf_str(&out));
}

static struct status *run(struct http_exchange *exchange, const struct grpc_methods *methods)
{
    const struct grpc_method *method = NULL;
    struct str message;

    TRY(find_method(methods, exchange->path, &method));
    if (method->rpc->request_stream) {
        return status_new(STATUS_METHOD_NOT_ALLOWED, "%.*s: streams of requests are not served",
                          STR_ARG(exchange->path));
    }
    TRY(read_request(exchange, &message));
    struct arena *arena = exchange->arena;
    void *request = arena_alloc(arena, method->rpc->request->size);
    struct status *bad = protobuf_decode(arena, method->rpc->request, message, request);

    if (bad != NULL) {
        bad = status_while(bad, "grpc: error unmarshalling request");
        bad->reason = STATUS_INTERNAL_ERROR;
        return bad;
    }
    struct sink sink = {exchange, method->rpc->response};

    if (method->stream != NULL) {
        TRY(start(exchange)); /* who opens a stream learns that it is open, however long nothing comes */
        return method->stream(methods->arg, arena, request, send_message, &sink);
    }
    void *response = arena_alloc(arena, method->rpc->response->size);

    TRY(method->handle(methods->arg, arena, request, response));
    return send_message(&sink, response);
}

static void cancel(void *task)
{
    task_cancel(task);
}

/* Headers and trailers always come apart: clients take a status in the headers only when nothing at all follows. */
static void finish(struct http_exchange *exchange, struct status *result)
{
    struct arena *arena = exchange->arena;
    struct http_headers trailers = {0};
    struct status *bad = start(exchange);

    http_header_add(arena, &trailers, STR("grpc-status"), arena_printf(arena, "%d", (int)grpc_code_of(result)));
    if (result != NULL && result->message.n > 0) {
        http_header_add(arena, &trailers, STR("grpc-message"), grpc_message_escape(arena, result->message));
    }
    if (bad == NULL) {
        bad = http_end(exchange, &trailers);
    }
    status_free(bad); /* the client is gone */
    status_free(result);
}

void grpc_serve(struct http_exchange *exchange, void *methods)
{
    struct str type = http_header_find(&exchange->headers, STR("content-type"));
    struct str timeout = http_header_find(&exchange->headers, STR("grpc-timeout"));
    struct env_timer *timer = NULL;
    struct http_headers none = {0};
    int64_t nanoseconds;

    if (!str_is(exchange->method, "POST") || !str_has_prefix(type, STR("application/grpc"))) {
        status_free(http_respond(exchange, str_is(exchange->method, "POST") ? 415 : 405, &none,
                                 STR("gRPC is spoken here\n")));
        return;
    }
    if (timeout.p != NULL && !grpc_timeout_parse(timeout, &nanoseconds)) {
        finish(exchange, status_new(STATUS_INTERNAL_ERROR, "malformed grpc-timeout: \"%.*s\"", STR_ARG(timeout)));
        return;
    }
    if (timeout.p != NULL) {
        timer = env_timer(nanoseconds, cancel, task_current());
    }
    struct status *result = run(exchange, methods);

    env_timer_stop(timer);
    finish(exchange, result);
}
