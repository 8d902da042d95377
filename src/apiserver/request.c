#include "apiserver/request.h"

#include "base/env.h"
#include "base/trace.h"

struct str request_header(const struct request *request, const char *name)
{
    return http_header_find(&request->exchange->headers, str_of(name));
}

void request_warn(struct request *request, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str text = arena_vprintf(request->arena, format, args);

    va_end(args);
    if (!str_list_has(&request->warnings, text)) {
        *LIST_ADD(request->arena, &request->warnings) = text;
    }
}

struct str request_field_manager(const struct request *request, struct str asked)
{
    struct str agent, rest;

    if (asked.n != 0) {
        return asked;
    }
    str_cut(request_header(request, "user-agent"), '/', &agent, &rest);
    if (agent.n == 0) {
        return STR("unknown");
    }
    /* Stock counts characters; a user agent is hardly ever other than ASCII. */
    return str_sub(agent, 0, 128);
}

/* Reads, heartbeats and events come all the time. */
static bool is_step(const struct request *request)
{
    const struct request_info *info = &request->info;
    unsigned verb = verb_of(info->verb);
    bool writes = (verb & (VERB_CREATE | VERB_UPDATE | VERB_PATCH | VERB_DELETE | VERB_DELETECOLLECTION)) != 0;

    return info->is_resource && writes && !str_is(info->resource, "leases") && !str_is(info->resource, "events");
}

void request_trace(struct request *request, const struct trace_span *given)
{
    struct trace_span span = *given;

    if (span.outcome != TRACE_FAILED && !is_step(request)) {
        return;
    }
    span.end = span.end == 0 ? env_wall() : span.end;
    span.child = arena_str(request->arena, span.child);
    span.detail = arena_str(request->arena, span.detail);
    *LIST_ADD(request->arena, &request->spans) = span;
}

void request_trace_emit(struct request *request)
{
    const struct request_info *info = &request->info;
    struct str object = info->is_resource
                            ? arena_printf(request->arena, "%.*s/%.*s/%.*s", STR_ARG(info->resource),
                                           STR_ARG(info->namespace), STR_ARG(info->name))
                            : info->path;

    LIST_EACH(span, &request->spans) {
        span->uid = request->uid;
        span->trace_id = request->trace_id;
        span->object = object;
        trace_emit(span);
    }
    request->spans = (struct request_spans){0};
}
