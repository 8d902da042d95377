/* Pods whose node is no more, and pods that are being deleted and never had one, are failed and deleted: nobody else
 * will. The latter go at once, unless that failed half-way. */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "base/buf.h"
#include "base/env.h"
#include "controller/pod_util.h"
#include "schema/json.h"
#include "schema/timestamp.h"

/* A node may be made again under its name, or not be seen yet. */
#define QUARANTINE (40 * ENV_SECOND)

#define UNSCHEDULED_WAIT (20 * ENV_SECOND)

static const int64_t no_grace = 0;

static void add_disruption(const struct world *world, const struct core_v1_pod *pod, struct buf *patch)
{
    struct core_v1_pod_condition condition = {
        .type = STR("DisruptionTarget"),
        .status = STR("True"),
        .reason = STR("DeletionByPodGC"),
        .message = STR("PodGC: node no longer exists"),
        .observed_generation = pod->metadata.generation,
        .last_transition_time = {.seconds = world->now / ENV_SECOND, .is_set = true},
    };

    buf_printf(patch, ",\"conditions\":[");
    json_encode(&core_v1_pod_condition_type, &condition, patch);
    buf_printf(patch, "]");
}

static void plan_end(const struct world *world, struct plan *plan, const struct core_v1_pod *pod)
{
    OWNED(buf_done) struct buf patch = {0};

    if (!pod_is_finished(pod)) {
        buf_printf(&patch, "{\"metadata\":{\"uid\":\"%.*s\"},\"status\":{\"phase\":\"Failed\"",
                   STR_ARG(pod->metadata.uid));
        if (pod->spec.node_name.n > 0) {
            add_disruption(world, pod, &patch);
        }
        buf_printf(&patch, "}}");
        plan_patch(plan, &core_v1_pod_kind, pod, arena_str(plan->arena, buf_str(&patch)));
        plan_last(plan)->subresource = STR("status");
        plan_last(plan)->strategic = true;
        plan_last(plan)->may_fail = true;
    }
    plan_delete(plan, &core_v1_pod_kind, pod);
    plan_last(plan)->grace_seconds = &no_grace;
}

static bool is_left_over(const struct core_v1_pod *pod)
{
    return pod->spec.node_name.n == 0 && pod->metadata.deletion_timestamp != NULL;
}

static void plan_left_over(const struct world *world, const struct core_v1_pod *pod, struct plan *plan)
{
    int64_t wait = timestamp_nanos(*pod->metadata.deletion_timestamp) + UNSCHEDULED_WAIT - world->now;

    if (wait > 0) {
        plan_requeue_after(plan, wait);
    } else {
        plan_end(world, plan, pod);
    }
}

/* The key is a node's name, or NAMESPACE/NAME of a pod that has none. The first look at a node that is missing only notes
 * the time for the second. */
static struct status *pod_gc_plan(const struct world *world, struct str key, struct plan *plan)
{
    if (str_contains(key, STR("/"))) {
        const struct core_v1_pod *pod = world_find(world, &core_v1_pod_kind, key);

        if (pod != NULL && is_left_over(pod)) {
            plan_left_over(world, pod, plan);
        }
        return NULL;
    }
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
    } else if (is_left_over(pod)) {
        *LIST_ADD(world->arena, ret) = world_key(world->arena, pod->metadata.namespace, pod->metadata.name);
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
