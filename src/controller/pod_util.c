#include "controller/pod_util.h"

#include "api/pod_condition.h"
#include "base/attr.h"
#include "base/env.h"
#include "schema/map_of.h"

bool pod_is_finished(const struct core_v1_pod *pod)
{
    return str_is(pod->status.phase, "Succeeded") || str_is(pod->status.phase, "Failed");
}

bool pod_is_active(const struct core_v1_pod *pod)
{
    return !pod_is_finished(pod) && pod->metadata.deletion_timestamp == NULL;
}

bool pod_is_ready(const struct core_v1_pod *pod)
{
    const struct core_v1_pod_condition *ready = pod_condition_find(&pod->status, STR("Ready"));

    return ready != NULL && str_is(ready->status, "True");
}

bool pod_is_available(const struct core_v1_pod *pod, int32_t min_ready_seconds, int64_t now, int64_t *ret_wait)
{
    if (ret_wait != NULL) {
        *ret_wait = 0;
    }
    if (!pod_is_ready(pod)) {
        return false;
    }
    if (min_ready_seconds == 0) {
        return true;
    }
    const struct timestamp *since = &pod_condition_find(&pod->status, STR("Ready"))->last_transition_time;
    int64_t wait = (since->seconds + min_ready_seconds) * ENV_SECOND - now;

    if (!since->is_set || wait <= 0) {
        return since->is_set;
    }
    if (ret_wait != NULL) {
        *ret_wait = wait;
    }
    return false;
}

static int phase_rank(const struct core_v1_pod *pod)
{
    return str_is(pod->status.phase, "Running") ? 2 : str_is(pod->status.phase, "Unknown") ? 1 : 0;
}

static int64_t deletion_cost(const struct core_v1_pod *pod)
{
    int64_t cost;

    return str_to_i64(str_map_get(&pod->metadata.annotations, STR("controller.kubernetes.io/pod-deletion-cost")), &cost)
               ? cost
               : 0;
}

static bool is_sidecar(const struct core_v1_pod *pod, struct str name)
{
    LIST_EACH(container, &pod->spec.init_containers)
    {
        if (str_eq(container->name, name)) {
            return container->restart_policy != NULL && str_is(*container->restart_policy, "Always");
        }
    }
    return false;
}

static int32_t max_restarts(const struct core_v1_pod *pod)
{
    int32_t most = 0;

    LIST_EACH(container, &pod->status.container_statuses)
    {
        most = MAX(most, container->restart_count);
    }
    return most;
}

static int32_t max_sidecar_restarts(const struct core_v1_pod *pod)
{
    int32_t most = 0;

    LIST_EACH(container, &pod->status.init_container_statuses)
    {
        most = is_sidecar(pod, container->name) ? MAX(most, container->restart_count) : most;
    }
    return most;
}

static struct timestamp ready_since(const struct core_v1_pod *pod)
{
    const struct core_v1_pod_condition *ready = pod_condition_find(&pod->status, STR("Ready"));

    return ready != NULL && str_is(ready->status, "True") ? ready->last_transition_time : (struct timestamp){0};
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* The power of two of an age; -1 for none. */
static int magnitude(struct timestamp since, int64_t now)
{
    int64_t age = now - since.seconds * ENV_SECOND;

    return age <= 0 ? -1 : 63 - __builtin_clzll((unsigned long long)age);
}

/* Younger first; 2: of one magnitude, so that which goes is left to chance. */
static int younger_first(struct timestamp a, struct timestamp b, int64_t now)
{
    if (a.is_set == b.is_set && a.seconds == b.seconds) {
        return 0;
    }
    if (now == 0 || !a.is_set || !b.is_set) {
        return a.is_set && b.is_set ? ORDER(b.seconds, a.seconds) : a.is_set ? 1 : -1;
    }
    int order = magnitude(a, now) - magnitude(b, now);

    return order == 0 ? 2 : ORDER(order, 0);
}

int pod_deletion_order(const void *first, const void *second)
{
    const struct pod_ranked *x = first, *y = second;
    const struct core_v1_pod *a = x->pod, *b = y->pod;
    int order;

    if ((order = ORDER(a->spec.node_name.n > 0, b->spec.node_name.n > 0)) != 0 ||
        (order = ORDER(phase_rank(a), phase_rank(b))) != 0 ||
        (order = ORDER(pod_is_ready(a), pod_is_ready(b))) != 0 ||
        (order = ORDER(deletion_cost(a), deletion_cost(b))) != 0 ||
        (order = ORDER(y->same_node, x->same_node)) != 0) {
        return order;
    }
    if ((pod_is_ready(a) && (order = younger_first(ready_since(a), ready_since(b), x->now)) != 0) ||
        (order = ORDER(max_restarts(b), max_restarts(a))) != 0 ||
        (order = ORDER(max_sidecar_restarts(b), max_sidecar_restarts(a))) != 0 ||
        (order = younger_first(a->metadata.creation_timestamp, b->metadata.creation_timestamp, x->now)) != 0) {
        return order == 2 ? str_cmp(a->metadata.uid, b->metadata.uid) : order;
    }
    return str_cmp(a->metadata.uid, b->metadata.uid); /* so that one cluster gives one order */
}
