#include "kubectl/trace.h"

#include "base/base64.h"
#include "base/env.h"
#include "client/trace_spans.h"
#include "kubectl/request.h"

#include <stdarg.h>
#include <string.h>

struct kubectl_trace {
    struct str id; /* 32 hex digits */
    struct trace_span_list spans;
    int64_t request_start;
    bool has_written; /* something was asked for that changes the cluster */
    struct str uid, object;
};

void trace_begin(struct kubectl *k)
{
    unsigned char bytes[16];

    env_random(bytes, sizeof(bytes));
    k->trace = ARENA_NEW(k->arena, struct kubectl_trace);
    k->trace->id = hex_encode(k->arena, (struct str){(char *)bytes, sizeof(bytes)});
}

struct str trace_parent(struct kubectl *k)
{
    return arena_printf(k->arena, "00-%.*s-%.*s-01", STR_ARG(k->trace->id), STR_ARG(str_sub(k->trace->id, 8, 24)));
}

int64_t trace_now(void)
{
    return env_wall();
}

static void add(struct kubectl *k, enum trace_step step, int64_t start, const struct status *failure, struct str detail)
{
    if (k->trace->spans.len < TRACE_SPANS_MAX) {
        *LIST_ADD(k->arena, &k->trace->spans) = (struct trace_span){
            .step = step,
            .outcome = failure != NULL ? TRACE_FAILED : TRACE_OK,
            .start = start,
            .end = env_wall(),
            .trace_id = k->trace->id,
            .detail = failure != NULL ? arena_str(k->arena, failure->message) : detail,
        };
    }
}

void trace_step(struct kubectl *k, enum trace_step step, int64_t start, const struct status *failure, const char *format,
                ...)
{
    va_list args;

    va_start(args, format);
    add(k, step, start, failure, arena_vprintf(k->arena, format, args));
    va_end(args);
}

static bool is_write(const char *method)
{
    return strcmp(method, "GET") != 0;
}

void trace_request(struct kubectl *k, const char *method, struct str path, size_t body_bytes)
{
    if (is_write(method)) {
        k->trace->has_written = true;
        trace_step(k, TRACE_ENCAPSULATE_REQUEST, env_wall(), NULL, "%s %.*s, %zu bytes", method, STR_ARG(path),
                   body_bytes);
        k->trace->request_start = env_wall();
    }
}

void trace_answer(struct kubectl *k, const char *method, const struct status *failure, int code)
{
    if (is_write(method)) {
        trace_step(k, TRACE_SEND_REQUEST, k->trace->request_start, failure, "answered %d", code);
    }
}

void trace_object(struct kubectl *k, const struct kind *kind, const struct value *object)
{
    struct str namespace = value_str_at(object, "metadata.namespace"), name = value_str_at(object, "metadata.name");

    k->trace->uid = value_str_at(object, "metadata.uid");
    k->trace->object = arena_printf(k->arena, "%.*s/%.*s%s%.*s", STR_ARG(kind->plural), STR_ARG(namespace),
                                    namespace.n > 0 ? "/" : "", STR_ARG(name));
}

void trace_end(struct kubectl *k)
{
    OWNED(buf_done) struct buf body = {0};
    struct http_request request = {.method = STR("POST"), .target = STR("/c8s/trace/spans")};
    struct http_response *response;

    if (k->client == NULL || !k->trace->has_written) {
        return;
    }
    LIST_EACH(span, &k->trace->spans)
    {
        span->uid = k->trace->uid;
        span->object = k->trace->object;
    }
    trace_spans_encode(&body, &k->trace->spans);
    request.body = buf_str(&body);
    request.deadline = env_mono() + ENV_SECOND; /* the trace must not hold anyone up */
    http_header_add(k->arena, &request.headers, STR("content-type"), ACCEPT_JSON);
    struct status *status = client_request(k->client, &request, &response);

    if (status == NULL) {
        http_response_close(response);
    }
    status_free(status);
}
