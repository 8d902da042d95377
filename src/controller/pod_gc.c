/* Pods whose node is no more are failed and deleted: nobody else will. */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "base/buf.h"
#include "base/env.h"
#include "controller/pod_util.h"
#include "schema/json.h"

/* A node may be made again under its name, or not be seen yet. */
#define QUARANTINE (40 * ENV_SECOND)

static const int64_t no_grace = 0;

static void plan_end(const struct world *world, struct plan *plan, const struct core_v1_pod *pod)
{
    OWNED(buf_done) struct buf patch = {0};
    struct core_v1_pod_condition condition = {
        .type = STR("DisruptionTarget"),
        .status = STR("True"),
        .reason = STR("DeletionByPodGC"),
        .message = STR("PodGC: node no longer exists"),
        .observed_generation = pod->metadata.generation,
        .last_transition_time = {.seconds = world->now / ENV_SECOND, .is_set = true},
    };

    if (!pod_is_finished(pod)) {
        buf_printf(&patch, "{\"metadata\":{\"uid\":\"%.*s\"},\"status\":{\"phase\":\"Failed\",\"conditions\":[",
                   STR_ARG(pod->metadata.uid));
        json_encode(&core_v1_pod_condition_type, &condition, &patch);
        buf_printf(&patch, "]}}");
        plan_patch(plan, &core_v1_pod_kind, pod, arena_str(plan->arena, buf_str(&patch)));
        plan_last(plan)->subresource = STR("status");
        plan_last(plan)->strategic = true;
        plan_last(plan)->may_fail = true;
    }
    plan_delete(plan, &core_v1_pod_kind, pod);
    plan_last(plan)->grace_seconds = &no_grace;
}

/* The key is a node's name. The first look only notes the time for the second. */
static struct status *pod_gc_plan(const struct world *world, struct str key, struct plan *plan)
{
    if (world_find(world, &core_v1_node_kind, key) != NULL) {
        return NULL;
    }
    struct object_pointers pods = world_all(world, &core_v1_pod_kind);
    int64_t missing_since = world->memory[0] != 0 ? world->memory[0] : world->now;
    int64_t wait = missing_since + QUARANTINE - world->now;
    bool any = false;

    for (size_t i = 0; i < pods.len; i++) {
        const struct core_v1_pod *pod = pods.items[i];

        if (str_eq(pod->spec.node_name, key)) {
            any = true;
            if (wait <= 0) {
                plan_end(world, plan, pod);
            }
        }
    }
    if (any && wait > 0) {
        plan->memory[0] = missing_since;
        plan_requeue_after(plan, wait);
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

const struct controller pod_gc_controller = {
    .name = "pod-garbage-collector",
    .account = "pod-garbage-collector",
    .kind = &core_v1_node_kind,
    .watches = {{&core_v1_pod_kind, map_pod}},
    .serial = true,
    .plan = pod_gc_plan,
};
