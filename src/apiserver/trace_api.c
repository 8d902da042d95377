#include "apiserver/trace_api.h"

#include "apiserver/errors.h"
#include "apiserver/respond.h"
#include "client/trace_spans.h"

enum { SPANS_BYTES_MAX = 1 << 20 };

static struct str_list words(struct request *request, const char *parameter)
{
    struct str_list list = {0};
    struct str text;

    if (http_query_find(request->arena, request->exchange->query, str_of(parameter), &text)) {
        for (struct str item; str_next(&text, ',', &item);) {
            if (item.n > 0) {
                *LIST_ADD(request->arena, &list) = item;
            }
        }
    }
    return list;
}

struct reading {
    const char *directory;
    struct trace_wanted wanted;
    struct arena *arena;
    struct trace_span_list spans;
    struct status *status;
};

static void read_rings(void *arg)
{
    struct reading *reading = arg;

    reading->status = trace_rings_read(reading->directory, &reading->wanted, reading->arena, &reading->spans);
}

static struct status *get_spans(struct request *request)
{
    OWNED(buf_done) struct buf json = {0};
    struct reading reading = {
        .directory = arena_cstr(request->arena, request->server->options->trace_dir),
        .wanted = {.uids = words(request, "uid"), .trace_ids = words(request, "trace")},
        .arena = request->arena,
    };

    task_offload(read_rings, &reading);
    TRY(reading.status);
    trace_spans_encode(&json, &reading.spans);
    return respond_bytes(request, 200, STR("application/json"), buf_str(&json));
}

static struct status *post_spans(struct request *request)
{
    struct trace_span_list spans;
    struct str body;

    TRY(http_read_all(request->exchange, SPANS_BYTES_MAX, &body));
    TRY(trace_spans_decode(request->arena, body, TRACE_SPANS_MAX, &spans));
    LIST_EACH(span, &spans)
    {
        if (span->step > TRACE_SEND_REQUEST) {
            return error_bad_request("step %d is not kubectl's to tell", (int)span->step);
        }
    }
    LIST_EACH(span, &spans)
    {
        trace_emit(span);
    }
    return respond_bytes(request, 200, STR("application/json"), STR("{}"));
}

static struct status *serve_spans(struct request *request)
{
    if (str_is(request->exchange->method, "GET")) {
        return get_spans(request);
    }
    return str_is(request->exchange->method, "POST") ? post_spans(request) : error_method_not_allowed();
}

static struct status *open_trace(struct apiserver *server)
{
    if (server->options->trace_dir.n > 0) {
        apiserver_handle(server, "/c8s/trace/spans", serve_spans);
    }
    return NULL;
}

const struct apiserver_extension trace_api_extension = {.name = "trace", .open = open_trace};
