#include "client/trace_spans.h"

#include "schema/value.h"

static const char *const outcomes[] = {[TRACE_OK] = "ok", [TRACE_SKIPPED] = "skipped", [TRACE_FAILED] = "failed"};

/* The texts of a span, by their JSON names. */
static const struct {
    const char *name;
    size_t offset;
} texts[] = {
    {"uid", offsetof(struct trace_span, uid)},       {"traceID", offsetof(struct trace_span, trace_id)},
    {"object", offsetof(struct trace_span, object)}, {"child", offsetof(struct trace_span, child)},
    {"detail", offsetof(struct trace_span, detail)},
};

static struct str *text_of(struct trace_span *span, size_t i)
{
    return (struct str *)(void *)((char *)span + texts[i].offset);
}

static struct value *span_value(struct arena *arena, struct trace_span span)
{
    struct value *value = value_object(arena);

    value_set(arena, value, STR("step"), value_int(arena, span.step));
    value_set(arena, value, STR("outcome"), value_string(arena, str_of(outcomes[span.outcome])));
    value_set(arena, value, STR("start"), value_int(arena, span.start));
    value_set(arena, value, STR("end"), value_int(arena, span.end));
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (text_of(&span, i)->n > 0) {
            value_set(arena, value, str_of(texts[i].name), value_string(arena, *text_of(&span, i)));
        }
    }
    return value;
}

void trace_spans_encode(struct buf *out, const struct trace_span_list *spans)
{
    struct arena *arena = arena_new();
    struct value *root = value_object(arena), *list = value_array(arena);

    LIST_EACH(span, spans)
    {
        value_add(arena, list, span_value(arena, *span));
    }
    value_set(arena, root, STR("spans"), list);
    value_write_json(out, root, VALUE_JSON_PLAIN);
    arena_free(arena);
}

static struct status *wrong(size_t i, const char *what)
{
    return status_new(STATUS_BAD_REQUEST, "spans[%zu].%s", i, what);
}

static struct status *span_decode(size_t i, const struct value *value, struct trace_span *ret)
{
    const struct value *step = value_find(value, STR("step")), *start = value_find(value, STR("start"));
    const struct value *end = value_find(value, STR("end"));
    struct str outcome = value_str_at(value, "outcome");

    if (!value_is(step, VALUE_INT) || step->integer < 1 || step->integer >= TRACE_STEP_COUNT) {
        return wrong(i, "step: a number from 1 to 46 is wanted");
    }
    if (!value_is(start, VALUE_INT) || !value_is(end, VALUE_INT)) {
        return wrong(i, "start, end: nanoseconds since 1970 are wanted");
    }
    size_t number = 0;

    while (number < COUNT_OF(outcomes) && !str_is(outcome, outcomes[number])) {
        number++;
    }
    if (number == COUNT_OF(outcomes)) {
        return wrong(i, "outcome: ok, skipped or failed is wanted");
    }
    *ret = (struct trace_span){.step = (enum trace_step)step->integer, .outcome = (enum trace_outcome)number,
                               .start = start->integer, .end = end->integer};
    for (size_t t = 0; t < COUNT_OF(texts); t++) {
        *text_of(ret, t) = value_str(value_find(value, str_of(texts[t].name)));
    }
    return NULL;
}

struct status *trace_spans_decode(struct arena *arena, struct str json, size_t max, struct trace_span_list *ret)
{
    struct value *root;
    struct trace_span_list spans = {0};

    TRY(value_read_json(arena, json, &root, NULL));
    const struct value *list = value_find(root, STR("spans"));

    if (!value_is(list, VALUE_ARRAY)) {
        return status_new(STATUS_BAD_REQUEST, "spans: an array is wanted");
    }
    if (list->array.len > max) {
        return status_new(STATUS_BAD_REQUEST, "spans: %u are more than %zu", list->array.len, max);
    }
    for (size_t i = 0; i < list->array.len; i++) {
        TRY(span_decode(i, list->array.items[i], LIST_ADD(arena, &spans)));
    }
    *ret = spans;
    return NULL;
}
