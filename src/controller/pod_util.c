#include "controller/pod_util.h"

#include "base/attr.h"
#include "base/env.h"
#include "schema/str_map.h"

bool pod_is_active(const struct core_v1_pod *pod)
{
    return !str_is(pod->status.phase, "Succeeded") && !str_is(pod->status.phase, "Failed") &&
           pod->metadata.deletion_timestamp == NULL;
}

const struct core_v1_pod_condition *pod_condition_find(const struct core_v1_pod *pod, const char *type)
{
    LIST_EACH(condition, &pod->status.conditions)
    {
        if (str_is(condition->type, type)) {
            return condition;
        }
    }
    return NULL;
}

bool pod_is_ready(const struct core_v1_pod *pod)
{
    const struct core_v1_pod_condition *ready = pod_condition_find(pod, "Ready");

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
    const struct timestamp *since = &pod_condition_find(pod, "Ready")->last_transition_time;
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

static int32_t max_restarts(const struct core_v1_pod *pod)
{
    int32_t most = 0;

    LIST_EACH(container, &pod->status.container_statuses)
    {
        most = MAX(most, container->restart_count);
    }
    return most;
}

static int64_t ready_since(const struct core_v1_pod *pod)
{
    const struct core_v1_pod_condition *ready = pod_condition_find(pod, "Ready");

    return ready != NULL && ready->last_transition_time.is_set ? ready->last_transition_time.seconds : INT64_MAX;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int pod_deletion_order(const void *first, const void *second)
{
    const struct core_v1_pod_ranked *x = first, *y = second;
    const struct core_v1_pod *a = x->pod, *b = y->pod;
    int order;

    if ((order = ORDER(a->spec.node_name.n > 0, b->spec.node_name.n > 0)) != 0 ||
        (order = ORDER(phase_rank(a), phase_rank(b))) != 0 ||
        (order = ORDER(pod_is_ready(a), pod_is_ready(b))) != 0 ||
        (order = ORDER(deletion_cost(a), deletion_cost(b))) != 0 ||
        (order = ORDER(y->same_node, x->same_node)) != 0) {
        return order;
    }
    if (pod_is_ready(a) && (order = ORDER(ready_since(b), ready_since(a))) != 0) {
        return order; /* younger service first */
    }
    if ((order = ORDER(max_restarts(b), max_restarts(a))) != 0) {
        return order;
    }
    if ((order = ORDER(b->metadata.creation_timestamp.seconds, a->metadata.creation_timestamp.seconds)) != 0) {
        return order;
    }
    return str_cmp(a->metadata.uid, b->metadata.uid); /* so that one cluster gives one order */
}
