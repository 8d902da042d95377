#include "trace/pod_trace.h"

/* Whose spans a step has. */
enum owner { OF_REQUEST, OF_DEPLOYMENT, OF_REPLICASET, OF_POD };

static enum owner owner_of(enum trace_step step)
{
    if (step <= TRACE_RESPOND) {
        return OF_REQUEST;
    }
    if (step == TRACE_DEPLOYMENT_OBSERVED || step == TRACE_REPLICASET_ENSURED || step == TRACE_DEPLOYMENT_STATUS) {
        return OF_DEPLOYMENT;
    }
    return step <= TRACE_DEPLOYMENT_STATUS ? OF_REPLICASET : OF_POD;
}

/* One join's inputs. */
struct join {
    const struct trace_span_list *spans;
    const struct pod_trace_chain *chain;
    struct str trace_id;
    int64_t pod_made; /* when step 25 or the pod's own write says it came to be; INT64_MAX: unknown */
};

static bool is_of(const struct join *join, const struct trace_span *span, enum owner owner)
{
    switch (owner) {
    case OF_REQUEST:
        return join->trace_id.n > 0 && str_eq(span->trace_id, join->trace_id);
    case OF_DEPLOYMENT:
        return join->chain->deployment_uid.n > 0 && str_eq(span->uid, join->chain->deployment_uid);
    case OF_REPLICASET:
        return join->chain->replicaset_uid.n > 0 && str_eq(span->uid, join->chain->replicaset_uid);
    case OF_POD:
        return join->chain->pod_uid.n > 0 && str_eq(span->uid, join->chain->pod_uid);
    }
    return false;
}

static bool is_before_pod(enum trace_step step)
{
    return step >= TRACE_DEPLOYMENT_OBSERVED && step <= TRACE_PODS_ADJUSTED;
}

static bool is_after_pod(enum trace_step step)
{
    return step == TRACE_REPLICASET_STATUS || step == TRACE_DEPLOYMENT_STATUS;
}

/* Spans are by start. A failed try does not count once one succeeded. */
static const struct trace_span *choose(const struct join *join, enum trace_step step)
{
    const struct trace_span *chosen = NULL;
    enum owner owner = owner_of(step);

    LIST_EACH(span, join->spans)
    {
        if (span->step != step || span->child.n > 0 || !is_of(join, span, owner)) {
            continue;
        }
        if (is_before_pod(step)) {
            chosen = chosen == NULL || span->start <= join->pod_made ? span : chosen;
        } else if (is_after_pod(step)) {
            chosen = chosen == NULL || chosen->start < join->pod_made ? span : chosen;
        } else if (chosen == NULL || chosen->outcome == TRACE_FAILED ||
                   (chosen->outcome == TRACE_SKIPPED && span->outcome != TRACE_SKIPPED)) {
            chosen = span;
        }
    }
    return chosen;
}

static void add_children(const struct join *join, struct pod_trace_line *line, struct arena *arena)
{
    enum owner owner = owner_of(line->step);

    LIST_EACH(span, join->spans)
    {
        if (span->step == line->step && span->child.n > 0 && is_of(join, span, owner) &&
            (line->span == NULL || (span->start >= line->span->start && span->end <= line->span->end))) {
            *LIST_ADD(arena, &line->children) = *span;
        }
    }
}

/* A step of parts alone (containers, admission plugins): the one that failed stands for it, else the first; and for itself
 * when it is the only. */
static void lift_part(struct pod_trace_line *line)
{
    if (line->span != NULL || line->children.len == 0) {
        return;
    }
    line->span = &line->children.items[0];
    LIST_EACH(part, &line->children)
    {
        if (part->outcome == TRACE_FAILED) {
            line->span = part;
        }
    }
    line->children.len = line->children.len == 1 ? 0 : line->children.len;
}

static const char *not_applying(const struct pod_trace_chain *chain, enum trace_step step)
{
    if (step >= TRACE_DEPLOYMENT_OBSERVED && step <= TRACE_DEPLOYMENT_STATUS && chain->replicaset_uid.n == 0) {
        return "the pod was made by itself";
    }
    if (owner_of(step) == OF_DEPLOYMENT && chain->deployment_uid.n == 0) {
        return "the ReplicaSet was made by itself";
    }
    return NULL;
}

struct str pod_trace_origin(const struct trace_span_list *spans, struct str uid)
{
    LIST_EACH(span, spans)
    {
        if (span->step == TRACE_STORAGE_WRITE && str_eq(span->uid, uid) && span->trace_id.n > 0) {
            return span->trace_id;
        }
    }
    return STR("");
}

static int64_t first_of_pod(const struct trace_span_list *spans, struct str uid)
{
    LIST_EACH(span, spans)
    {
        if (uid.n > 0 && str_eq(span->uid, uid)) {
            return span->start;
        }
    }
    return INT64_MAX;
}

/* A failure is where the flow ended, unless a later step was begun after it and went well: it was tried again, or was no
 * hindrance. That the server answers a refused request is no such step. */
static bool is_the_end(const struct pod_trace *trace, int failed)
{
    for (int step = failed + 1; step < TRACE_STEP_COUNT; step++) {
        const struct trace_span *later = trace->lines[step].span;

        if (later != NULL && later->outcome == TRACE_OK && step != TRACE_RESPOND &&
            later->start > trace->lines[failed].span->start) {
            return false;
        }
    }
    return true;
}

static enum trace_step where_failed(const struct pod_trace *trace)
{
    for (int step = 1; step < TRACE_STEP_COUNT; step++) {
        const struct trace_span *span = trace->lines[step].span;

        if (span != NULL && span->outcome == TRACE_FAILED && is_the_end(trace, step)) {
            return (enum trace_step)step;
        }
    }
    return 0;
}

static struct pod_trace join_all(const struct join *join, struct arena *arena)
{
    struct pod_trace trace = {0};

    for (int step = 1; step < TRACE_STEP_COUNT; step++) {
        struct pod_trace_line *line = &trace.lines[step];

        line->step = (enum trace_step)step;
        line->span = choose(join, line->step);
        add_children(join, line, arena);
        lift_part(line);
        line->skipped = line->span == NULL ? not_applying(join->chain, line->step) : NULL;
    }
    trace.failed = where_failed(&trace);
    return trace;
}

struct pod_trace pod_trace_join(const struct trace_span_list *spans, const struct pod_trace_chain *chain,
                                struct arena *arena)
{
    struct str root = chain->deployment_uid.n > 0   ? chain->deployment_uid
                      : chain->replicaset_uid.n > 0 ? chain->replicaset_uid
                                                    : chain->pod_uid;
    struct join join = {
        .spans = spans,
        .chain = chain,
        .trace_id = pod_trace_origin(spans, root),
        .pod_made = first_of_pod(spans, chain->pod_uid),
    };

    return join_all(&join, arena);
}

struct pod_trace pod_trace_of_request(const struct trace_span_list *spans, struct str trace_id, struct arena *arena)
{
    static const struct pod_trace_chain nothing = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct join join = {.spans = spans, .chain = &nothing, .trace_id = trace_id, .pod_made = INT64_MAX};
    struct pod_trace trace = join_all(&join, arena);

    for (int step = TRACE_DEPLOYMENT_OBSERVED; step < TRACE_STEP_COUNT; step++) {
        trace.lines[step].skipped = NULL;
    }
    return trace;
}
