/* Pods that do not tolerate a NoExecute taint of their node go, those that do for a time when it is over. */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "api/tolerations.h"
#include "base/buf.h"
#include "base/env.h"
#include "controller/pod_util.h"
#include "schema/json.h"

/* When a pod has to leave, ns since 1970: INT64_MAX never, INT64_MIN at once. */
static int64_t leaves_at(const struct core_v1_node *node, const struct core_v1_pod *pod, int64_t now)
{
    int64_t leaves = INT64_MAX;

    LIST_EACH(taint, &node->spec.taints)
    {
        int64_t since = taint->time_added != NULL ? taint->time_added->seconds * ENV_SECOND : now;
        bool tolerated = false;

        if (!str_is(taint->effect, "NoExecute")) {
            continue;
        }
        LIST_EACH(toleration, &pod->spec.tolerations)
        {
            if (toleration_tolerates(toleration, taint)) {
                tolerated = true;
                if (toleration->toleration_seconds != NULL) {
                    int64_t seconds = MAX(*toleration->toleration_seconds, 0);

                    leaves = MIN(leaves, since + MIN(seconds, INT64_C(1000000000)) * ENV_SECOND);
                }
            }
        }
        if (!tolerated) {
            return INT64_MIN;
        }
    }
    return leaves;
}

static void plan_eviction(const struct world *world, struct plan *plan, const struct core_v1_pod *pod)
{
    OWNED(buf_done) struct buf patch = {0};
    struct core_v1_pod_condition condition = {
        .type = STR("DisruptionTarget"),
        .status = STR("True"),
        .reason = STR("DeletionByTaintManager"),
        .message = STR("Taint manager: deleting due to NoExecute taint"),
        .observed_generation = pod->metadata.generation,
        .last_transition_time = {.seconds = world->now / ENV_SECOND, .is_set = true},
    };

    plan_event(plan, &core_v1_pod_kind, pod, "Normal", "TaintManagerEviction", "Marking for deletion Pod %.*s/%.*s",
               STR_ARG(pod->metadata.namespace), STR_ARG(pod->metadata.name));
    buf_printf(&patch, "{\"metadata\":{\"uid\":\"%.*s\"},\"status\":{\"conditions\":[", STR_ARG(pod->metadata.uid));
    json_encode(&core_v1_pod_condition_type, &condition, &patch);
    buf_printf(&patch, "]}}");
    plan_patch(plan, &core_v1_pod_kind, pod, arena_str(plan->arena, buf_str(&patch)));
    plan_last(plan)->subresource = STR("status");
    plan_last(plan)->strategic = true;
    plan_last(plan)->may_fail = true;
    plan_delete(plan, &core_v1_pod_kind, pod);
}

static bool has_no_execute(const struct core_v1_node *node)
{
    LIST_EACH(taint, &node->spec.taints)
    {
        if (str_is(taint->effect, "NoExecute")) {
            return true;
        }
    }
    return false;
}

static struct status *taint_eviction_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_node *node = world_find(world, &core_v1_node_kind, key);

    if (node == NULL || !has_no_execute(node)) {
        return NULL;
    }
    struct object_pointers pods = world_all(world, &core_v1_pod_kind);

    for (size_t i = 0; i < pods.len; i++) {
        const struct core_v1_pod *pod = pods.items[i];

        if (!str_eq(pod->spec.node_name, node->metadata.name) || pod->metadata.deletion_timestamp != NULL) {
            continue;
        }
        int64_t leaves = leaves_at(node, pod, world->now);

        if (leaves <= world->now) {
            plan_eviction(world, plan, pod);
        } else if (leaves != INT64_MAX) {
            plan_requeue_after(plan, leaves - world->now);
        }
    }
    return NULL;
}

static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;

    if (pod->spec.node_name.n > 0) {
        *LIST_ADD(world->arena, ret) = pod->spec.node_name;
    }
}

const struct controller taint_eviction_controller = {
    .name = "taint-eviction-controller",
    .account = "node-controller",
    .kind = &core_v1_node_kind,
    .watches = {{&core_v1_pod_kind, map_pod}},
    .workers = 2,
    .plan = taint_eviction_plan,
};
