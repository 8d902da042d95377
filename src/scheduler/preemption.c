#include "scheduler/preemption.h"

#include "schema/timestamp.h"

#include <stdlib.h>

/* So many nodes are tried at most: more choice is not worth the time. */
enum { CANDIDATES_MAX = 100 };

struct candidate {
    const struct node_info *node;
    struct {
        const struct pod_info **items;
        size_t len;
    } victims; /* the most important first */
};

int32_t preemption_priority(const struct core_v1_pod *pod)
{
    return pod->spec.priority != NULL ? *pod->spec.priority : 0;
}

static struct timestamp start_of(const struct core_v1_pod *pod)
{
    return pod->status.start_time != NULL ? *pod->status.start_time : pod->metadata.creation_timestamp;
}

/* Of higher priority, or for longer at work. */
static int more_important(const void *a, const void *b)
{
    const struct core_v1_pod *x = (*(struct pod_info *const *)a)->pod, *y = (*(struct pod_info *const *)b)->pod;
    int32_t first = preemption_priority(x), second = preemption_priority(y);

    return first != second ? (first < second) - (first > second) : timestamp_cmp(start_of(x), start_of(y));
}

/* Takes off all pods of lower priority, then puts back, the most important first, those without which it fits too. */
static bool try_node(const struct snapshot *snapshot, const struct pod_info *pod, const struct node_info *node,
                     struct arena *arena, struct candidate *ret, struct reasons *why)
{
    struct node_info *copy = node_info_copy(arena, node);
    struct pod_info **lower = ARENA_ARRAY(arena, struct pod_info *, node->pod_count);
    size_t count = 0;

    for (size_t i = 0; i < node->pod_count; i++) {
        if (preemption_priority(node->pods[i]->pod) < preemption_priority(pod->pod)) {
            lower[count++] = node->pods[i];
            node_info_remove(copy, node->pods[i]);
        }
    }
    if (count == 0) {
        *LIST_ADD(arena, why) = STR("No preemption victims found for incoming pod");
        return false;
    }
    struct reasons reasons;

    if (cycle_try(snapshot, pod, copy, arena, &reasons) != VERDICT_FITS) {
        LIST_EACH(reason, &reasons)
        {
            *LIST_ADD(arena, why) = *reason;
        }
        return false;
    }
    if (count > 1) {
        qsort(lower, count, sizeof(struct pod_info *), more_important);
    }
    ret->node = node;
    for (size_t i = 0; i < count; i++) {
        node_info_add(copy, lower[i]);
        if (cycle_try(snapshot, pod, copy, arena, &reasons) != VERDICT_FITS) {
            node_info_remove(copy, lower[i]);
            *LIST_ADD(arena, &ret->victims) = lower[i];
        }
    }
    return true;
}

static int64_t priority_sum(const struct candidate *candidate)
{
    int64_t sum = 0;

    LIST_EACH(victim, &candidate->victims)
    {
        sum += (int64_t)preemption_priority((*victim)->pod) + INT64_C(2147483648); /* fewer weigh less, below 0 too */
    }
    return sum;
}

/* The first start among the victims of the highest priority: who has worked longest loses most. */
static struct timestamp earliest_start(const struct candidate *candidate)
{
    return candidate->victims.len > 0 ? start_of(candidate->victims.items[0]->pod) : (struct timestamp){0};
}

static int32_t highest(const struct candidate *candidate)
{
    return candidate->victims.len > 0 ? preemption_priority(candidate->victims.items[0]->pod) : INT32_MIN;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (highest(a) != highest(b)) {
        return highest(a) < highest(b);
    }
    if (priority_sum(a) != priority_sum(b)) {
        return priority_sum(a) < priority_sum(b);
    }
    if (a->victims.len != b->victims.len) {
        return a->victims.len < b->victims.len;
    }
    return timestamp_cmp(earliest_start(a), earliest_start(b)) > 0;
}

/* Pods that it has made leave its nominated node are still on their way out. */
static bool waits_for_victims(const struct snapshot *snapshot, const struct core_v1_pod *pod)
{
    const struct node_info *node = snapshot_find_node(snapshot, pod->status.nominated_node_name);

    for (size_t i = 0; node != NULL && i < node->pod_count; i++) {
        if (node->pods[i]->pod->metadata.deletion_timestamp != NULL &&
            preemption_priority(node->pods[i]->pod) < preemption_priority(pod)) {
            return true;
        }
    }
    return false;
}

static const char *not_eligible(const struct snapshot *snapshot, const struct core_v1_pod *pod)
{
    if (pod->spec.preemption_policy != NULL && str_is(*pod->spec.preemption_policy, "Never")) {
        return "not eligible due to preemptionPolicy=Never.";
    }
    return waits_for_victims(snapshot, pod) ? "not eligible due to a terminating pod on the nominated node." : NULL;
}

void preemption_find(const struct snapshot *snapshot, const struct pod_info *pod, const struct decision *decision,
                     struct arena *arena, struct preemption *ret)
{
    const char *reason = not_eligible(snapshot, pod->pod);
    struct candidate best = {0};
    struct reasons why = {0};
    size_t found = 0;

    *ret = (struct preemption){0};
    if (decision->verdict_count == 0) {
        return;
    }
    for (size_t i = 0; i < decision->verdict_count && reason == NULL && found < CANDIDATES_MAX; i++) {
        struct candidate candidate = {0};

        if (decision->verdicts[i].verdict == VERDICT_UNRESOLVABLE) {
            *LIST_ADD(arena, &why) = STR("Preemption is not helpful for scheduling");
        } else if (try_node(snapshot, pod, decision->verdicts[i].node, arena, &candidate, &why)) {
            best = found++ == 0 || is_better(&candidate, &best) ? candidate : best;
        }
    }
    if (found > 0) {
        ret->node = best.node;
        ret->victims.items = best.victims.items;
        ret->victims.len = best.victims.len;
        return;
    }
    ret->message =
        reason != NULL
            ? arena_printf(arena, " no new claims to deallocate, preemption: %s", reason)
            : arena_printf(arena, " no new claims to deallocate, preemption: 0/%zu nodes are available: %.*s.",
                           decision->verdict_count, STR_ARG(cycle_histogram(arena, &why)));
}
