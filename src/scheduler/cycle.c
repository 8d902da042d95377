#include "scheduler/cycle.h"

#include "base/buf.h"

#include <stdlib.h>

/* The first plugin that rejects a node ends its filtering, as in stock. */
static void filter_node(struct attempt *attempt, void *const *states, struct node_verdict *ret)
{
    for (size_t i = 0; i < plugins_default_count; i++) {
        const struct plugin *plugin = plugins_default[i];

        if (plugin->filter == NULL) {
            continue;
        }
        attempt->state = states[i];
        ret->verdict = plugin->filter(attempt, ret->node, &ret->reasons);
        if (ret->verdict != VERDICT_FITS) {
            ret->plugin = plugin->name;
            return;
        }
    }
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str cycle_histogram(struct arena *arena, struct reasons *all)
{
    struct str *reasons = all->items;
    size_t count = all->len;
    struct reasons parts = {0};
    OWNED(buf_done) struct buf out = {0};

    if (count > 1) {
        qsort(reasons, count, sizeof(*reasons), by_text);
    }
    for (size_t i = 0; i < count;) {
        size_t same = 1;

        while (i + same < count && str_eq(reasons[i], reasons[i + same])) {
            same++;
        }
        *LIST_ADD(arena, &parts) = arena_printf(arena, "%zu %.*s", same, STR_ARG(reasons[i]));
        i += same;
    }
    if (parts.len > 1) {
        qsort(parts.items, parts.len, sizeof(*parts.items), by_text);
    }
    LIST_EACH(part, &parts)
    {
        buf_printf(&out, "%s%.*s", part == parts.items ? "" : ", ", STR_ARG(*part));
    }
    return arena_str(arena, buf_str(&out));
}

static struct str failure_message(const struct decision *decision, struct arena *arena)
{
    struct reasons all = {0};
    size_t nodes = decision->verdict_count;

    if (nodes == 0) {
        return STR("no nodes available to schedule pods");
    }
    for (size_t i = 0; i < nodes; i++) {
        LIST_EACH(reason, &decision->verdicts[i].reasons)
        {
            *LIST_ADD(arena, &all) = *reason;
        }
    }
    return arena_printf(arena, "0/%zu nodes are available: %.*s.", nodes, STR_ARG(cycle_histogram(arena, &all)));
}

enum verdict cycle_try(const struct snapshot *snapshot, const struct pod_info *pod, const struct node_info *node,
                       struct arena *arena, struct reasons *ret)
{
    struct attempt attempt = {
        .pod = pod, .snapshot = snapshot, .nodes = snapshot_nodes(snapshot, arena), .arena = arena};
    struct node_verdict verdict = {.node = node};
    void **states = ARENA_ARRAY(arena, void *, plugins_default_count);

    for (size_t i = 0; i < attempt.nodes.len; i++) {
        if (str_eq(attempt.nodes.items[i]->name, node->name)) {
            attempt.nodes.items[i] = node;
        }
    }
    for (size_t i = 0; i < plugins_default_count; i++) {
        if (plugins_default[i]->prepare_filter != NULL) {
            states[i] = plugins_default[i]->prepare_filter(&attempt);
        }
    }
    filter_node(&attempt, states, &verdict);
    *ret = verdict.reasons;
    return verdict.verdict;
}

void cycle_filter(const struct snapshot *snapshot, const struct pod_info *pod, struct arena *arena,
                  struct decision *ret)
{
    struct attempt attempt = {
        .pod = pod, .snapshot = snapshot, .nodes = snapshot_nodes(snapshot, arena), .arena = arena};
    void **states = ARENA_ARRAY(arena, void *, plugins_default_count);

    for (size_t i = 0; i < plugins_default_count; i++) {
        if (plugins_default[i]->prepare_filter != NULL) {
            states[i] = plugins_default[i]->prepare_filter(&attempt);
        }
    }
    *ret = (struct decision){.verdicts = ARENA_ARRAY(arena, struct node_verdict, attempt.nodes.len),
                             .verdict_count = attempt.nodes.len};
    for (size_t i = 0; i < attempt.nodes.len; i++) {
        ret->verdicts[i].node = attempt.nodes.items[i];
        filter_node(&attempt, states, &ret->verdicts[i]);
        ret->fit_count += ret->verdicts[i].verdict == VERDICT_FITS;
    }
    if (ret->fit_count == 0) {
        ret->message = failure_message(ret, arena);
    }
}

/* Adds one plugin's weighted scores to the nodes that fit. */
static void add_scores(struct attempt *attempt, const struct plugin *plugin, struct decision *decision)
{
    int64_t *scores = ARENA_ARRAY(attempt->arena, int64_t, decision->fit_count);
    size_t n = 0;

    for (size_t i = 0; i < decision->verdict_count; i++) {
        if (decision->verdicts[i].verdict == VERDICT_FITS) {
            scores[n++] = plugin->score(attempt, decision->verdicts[i].node);
        }
    }
    if (plugin->normalize != NULL) {
        plugin->normalize(attempt, scores, n);
    }
    n = 0;
    for (size_t i = 0; i < decision->verdict_count; i++) {
        if (decision->verdicts[i].verdict == VERDICT_FITS) {
            decision->verdicts[i].score += scores[n++] * plugin->weight;
        }
    }
}

/* One of those with the highest score, by `tie`. */
static void pick(struct decision *decision, uint64_t tie)
{
    int64_t best = INT64_MIN;
    size_t equals = 0;

    for (size_t i = 0; i < decision->verdict_count; i++) {
        const struct node_verdict *verdict = &decision->verdicts[i];

        if (verdict->verdict == VERDICT_FITS && verdict->score > best) {
            best = verdict->score;
            equals = 0;
        }
        equals += verdict->verdict == VERDICT_FITS && verdict->score == best;
    }
    size_t wanted = (size_t)(tie % equals);

    for (size_t i = 0; i < decision->verdict_count; i++) {
        const struct node_verdict *verdict = &decision->verdicts[i];

        if (verdict->verdict == VERDICT_FITS && verdict->score == best && wanted-- == 0) {
            decision->node = verdict->node;
            return;
        }
    }
}

static struct node_list candidates_of(const struct decision *decision, struct arena *arena)
{
    struct node_list list = {ARENA_ARRAY(arena, const struct node_info *, decision->fit_count), 0};

    for (size_t i = 0; i < decision->verdict_count; i++) {
        if (decision->verdicts[i].verdict == VERDICT_FITS) {
            list.items[list.len++] = decision->verdicts[i].node;
        }
    }
    return list;
}

void cycle_score(const struct snapshot *snapshot, const struct pod_info *pod, uint64_t tie, struct arena *arena,
                 struct decision *decision)
{
    struct attempt attempt = {
        .pod = pod, .snapshot = snapshot, .nodes = snapshot_nodes(snapshot, arena), .arena = arena};

    if (decision->fit_count == 0) {
        return;
    }
    if (decision->fit_count > 1) {
        attempt.candidates = candidates_of(decision, arena);
        for (size_t i = 0; i < plugins_default_count; i++) {
            const struct plugin *plugin = plugins_default[i];

            if (plugin->weight > 0) {
                attempt.state = plugin->prepare_score != NULL ? plugin->prepare_score(&attempt) : NULL;
                add_scores(&attempt, plugin, decision);
            }
        }
    }
    pick(decision, tie);
    decision->message = arena_printf(arena, "%zu of %zu nodes fit, %.*s chosen", decision->fit_count,
                                     decision->verdict_count, STR_ARG(decision->node->name));
}

void cycle_decide(const struct snapshot *snapshot, const struct pod_info *pod, uint64_t tie, struct arena *arena,
                  struct decision *ret)
{
    cycle_filter(snapshot, pod, arena, ret);
    cycle_score(snapshot, pod, tie, arena, ret);
}
