#include "base/env.h"
#include "schema/value.h"
#include "trace/pod_trace.h"

/* "1.2ms", as people read times: three digits at most. */
static struct str took(struct arena *arena, int64_t ns)
{
    if (ns < 1000 * ENV_US) {
        return arena_printf(arena, "%lldus", (long long)(ns / ENV_US));
    }
    if (ns < 1000 * ENV_MS) {
        return arena_printf(arena, "%.*fms", ns < 10 * ENV_MS ? 2 : ns < 100 * ENV_MS ? 1 : 0, (double)ns / (double)ENV_MS);
    }
    return arena_printf(arena, "%.*fs", ns < 10 * ENV_SECOND ? 2 : 1, (double)ns / (double)ENV_SECOND);
}

static int64_t origin(const struct pod_trace *trace)
{
    int64_t first = INT64_MAX;

    for (int step = 1; step < TRACE_STEP_COUNT; step++) {
        const struct trace_span *span = trace->lines[step].span;

        first = span != NULL && span->start < first ? span->start : first;
    }
    return first;
}

static void add_span(struct buf *out, struct arena *arena, struct str head, const struct trace_span *span, int64_t zero)
{
    struct str at = arena_printf(arena, "+%.*s", STR_ARG(took(arena, span->start - zero)));

    buf_printf(out, "%.*s %9.*s %8.*s  %s%s%.*s\n", STR_ARG(head), STR_ARG(at),
               STR_ARG(took(arena, span->end - span->start)),
               span->outcome == TRACE_FAILED    ? "FAILED"
               : span->outcome == TRACE_SKIPPED ? "skipped"
                                                : "",
               span->outcome != TRACE_OK && span->detail.n > 0 ? ": " : "", STR_ARG(span->detail));
}

static void add_line(struct buf *out, struct arena *arena, const struct pod_trace_line *line, int64_t zero)
{
    struct str head = arena_printf(arena, "%4d  %-18s %-22s", (int)line->step, trace_step_lane(line->step),
                                   trace_step_name(line->step));

    if (line->span != NULL) {
        add_span(out, arena, head, line->span, zero);
    } else {
        buf_printf(out, "%.*s %9s %8s  %s%s\n", STR_ARG(head), "-", "-", line->skipped != NULL ? "skipped: " : "not recorded",
                   line->skipped != NULL ? line->skipped : "");
    }
}

static void add_child(struct buf *out, struct arena *arena, const struct trace_span *child, int64_t zero)
{
    add_span(out, arena, arena_printf(arena, "      %-18s   %-20.*s", "", STR_ARG(child->child)), child, zero);
}

struct str pod_trace_text(const struct pod_trace *trace, struct arena *arena)
{
    OWNED(buf_done) struct buf out = {0};
    int64_t zero = origin(trace);
    int last = trace->failed != 0 ? (int)trace->failed : TRACE_STEP_COUNT - 1;

    buf_printf(&out, "STEP  %-18s %-22s %9s %8s  WHAT\n", "LANE", "NAME", "AT", "TOOK");
    for (int step = 1; step <= last; step++) {
        add_line(&out, arena, &trace->lines[step], zero);
        LIST_EACH(child, &trace->lines[step].children)
        {
            add_child(&out, arena, child, zero);
        }
    }
    return arena_str(arena, buf_str(&out));
}

static struct value *span_value(struct arena *arena, const struct trace_span *span)
{
    static const char *const outcomes[] = {[TRACE_OK] = "ok", [TRACE_SKIPPED] = "skipped", [TRACE_FAILED] = "failed"};
    struct value *value = value_object(arena);

    value_set(arena, value, STR("step"), value_int(arena, span->step));
    value_set(arena, value, STR("lane"), value_string(arena, str_of(trace_step_lane(span->step))));
    value_set(arena, value, STR("name"), value_string(arena, str_of(trace_step_name(span->step))));
    if (span->child.n > 0) {
        value_set(arena, value, STR("part"), value_string(arena, span->child));
    }
    value_set(arena, value, STR("outcome"), value_string(arena, str_of(outcomes[span->outcome])));
    value_set(arena, value, STR("start"), value_int(arena, span->start));
    value_set(arena, value, STR("duration"), value_int(arena, span->end - span->start));
    value_set(arena, value, STR("object"), value_string(arena, span->object));
    value_set(arena, value, STR("detail"), value_string(arena, span->detail));
    return value;
}

static struct value *line_value(struct arena *arena, const struct pod_trace_line *line)
{
    struct trace_span nothing = {.step = line->step, .outcome = TRACE_SKIPPED};

    if (line->span == NULL && line->skipped == NULL) {
        return NULL;
    }
    if (line->span == NULL) {
        nothing.detail = str_of(line->skipped);
    }
    struct value *value = span_value(arena, line->span != NULL ? line->span : &nothing);
    struct value *children = value_array(arena);

    LIST_EACH(child, &line->children)
    {
        value_add(arena, children, span_value(arena, child));
    }
    if (line->children.len > 0) {
        value_set(arena, value, STR("children"), children);
    }
    return value;
}

void pod_trace_json(struct buf *out, const struct pod_trace *trace)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *root = value_object(arena), *steps = value_array(arena);
    int last = trace->failed != 0 ? (int)trace->failed : TRACE_STEP_COUNT - 1;

    for (int step = 1; step <= last; step++) {
        struct value *line = line_value(arena, &trace->lines[step]);

        if (line != NULL) {
            value_add(arena, steps, line);
        }
    }
    value_set(arena, root, STR("steps"), steps);
    value_write_json(out, root, VALUE_JSON_PLAIN | VALUE_JSON_INDENT);
}
