/* Nodes whose kubelet has fallen silent get conditions Unknown; nodes get the taints of their conditions; pods on nodes
 * that are not ready are not ready either. A heartbeat is a renewed Lease or a posted Ready condition. */
#include "controller/controllers.h"

#include "api/coordination_v1.h"
#include "api/core_v1.h"
#include "api/pod_condition.h"
#include "base/buf.h"
#include "base/env.h"
#include "controller/node_taints.h"
#include "controller/pod_util.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/object.h"

#define LEASES "kube-node-lease"

/* The last heartbeat by the node's own clock, ns since 1970. */
static int64_t heartbeat_of(const struct world *world, const struct core_v1_node *node)
{
    const struct core_v1_node_condition *ready = node_taints_condition(node, "Ready");
    const struct coordination_v1_lease *lease =
        world_find_in(world, &coordination_v1_lease_kind, STR(LEASES), node->metadata.name);
    int64_t last = (ready != NULL ? ready->last_heartbeat_time.seconds : node->metadata.creation_timestamp.seconds) *
                   ENV_SECOND;

    if (lease != NULL && lease->spec.renew_time != NULL) {
        last = MAX(last, lease->spec.renew_time->seconds * ENV_SECOND + lease->spec.renew_time->nanos);
    }
    return last;
}

/* When that came here, by our clock: the two need not agree. */
static int64_t heard_at(const struct world *world, const struct core_v1_node *node, struct plan *plan)
{
    int64_t heartbeat = heartbeat_of(world, node);

    plan->memory[0] = heartbeat;
    plan->memory[1] = heartbeat == world->memory[0] ? world->memory[1] : world->now;
    return plan->memory[1];
}

static int64_t grace_of(const struct world *world, const struct core_v1_node *node)
{
    return node_taints_condition(node, "Ready") != NULL ? world->settings->node_grace
                                                      : world->settings->node_startup_grace;
}

/* Everything the kubelet should have said is unknown. True when that is news. */
static bool doubt(struct arena *arena, struct core_v1_node *node, int64_t now)
{
    static const char *const types[] = {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"};
    struct timestamp time = {.seconds = now / ENV_SECOND, .is_set = true};
    bool changed = false;

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct core_v1_node_condition *condition =
            (struct core_v1_node_condition *)(uintptr_t)node_taints_condition(node, types[i]);

        if (condition == NULL) {
            *LIST_ADD(arena, &node->status.conditions) = (struct core_v1_node_condition){
                .type = str_of(types[i]),
                .status = STR("Unknown"),
                .reason = STR("NodeStatusNeverUpdated"),
                .message = STR("Kubelet never posted node status."),
                .last_heartbeat_time = node->metadata.creation_timestamp,
                .last_transition_time = time,
            };
            changed = true;
        } else if (!str_is(condition->status, "Unknown")) {
            condition->status = STR("Unknown");
            condition->reason = STR("NodeStatusUnknown");
            condition->message = STR("Kubelet stopped posting node status.");
            condition->last_transition_time = time;
            changed = true;
        }
    }
    return changed;
}

static void plan_taints(struct plan *plan, const struct core_v1_node *node, const struct taints *taints)
{
    OWNED(buf_done) struct buf patch = {0};

    buf_printf(&patch, "{\"metadata\":{\"resourceVersion\":\"%.*s\"},\"spec\":{\"taints\":",
               STR_ARG(node->metadata.resource_version));
    if (taints->len == 0) {
        buf_printf(&patch, "null");
    } else {
        json_encode_field(type_field(&core_v1_node_spec_type, STR("taints")), taints, &patch);
    }
    buf_printf(&patch, "}}");
    plan_patch(plan, &core_v1_node_kind, node, arena_str(plan->arena, buf_str(&patch)));
}

/* Nobody reports for the pods of a silent node any more. */
static void plan_pods_not_ready(const struct world *world, struct plan *plan, const struct core_v1_node *node)
{
    struct object_pointers pods = world_all(world, &core_v1_pod_kind);

    for (size_t i = 0; i < pods.len; i++) {
        const struct core_v1_pod *pod = pods.items[i];

        if (!str_eq(pod->spec.node_name, node->metadata.name) || !pod_is_ready(pod)) {
            continue;
        }
        struct core_v1_pod *changed = schema_copy(plan->arena, &core_v1_pod_type, pod);
        struct core_v1_pod_condition *ready =
            (struct core_v1_pod_condition *)(uintptr_t)pod_condition_find(&changed->status, STR("Ready"));

        ready->status = STR("False");
        ready->last_transition_time = (struct timestamp){.seconds = world->now / ENV_SECOND, .is_set = true};
        plan_update_status(plan, &core_v1_pod_kind, changed);
        plan_last(plan)->may_fail = true;
        plan_event(plan, &core_v1_pod_kind, pod, "Warning", "NodeNotReady", "Node is not ready");
    }
}

static bool is_ready(const struct core_v1_node *node)
{
    const struct core_v1_node_condition *ready = node_taints_condition(node, "Ready");

    return ready != NULL && str_is(ready->status, "True");
}

static bool had_taint(const struct core_v1_node *node, const char *key)
{
    LIST_EACH(taint, &node->spec.taints)
    {
        if (str_is(taint->key, key)) {
            return true;
        }
    }
    return false;
}

static struct status *node_lifecycle_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_node *node = world_find(world, &core_v1_node_kind, key);

    if (node == NULL || node->metadata.deletion_timestamp != NULL) {
        return NULL;
    }
    int64_t wait = heard_at(world, node, plan) + grace_of(world, node) - world->now;

    if (wait > 0) {
        plan_requeue_after(plan, wait);
    } else {
        struct core_v1_node *doubted = schema_copy(plan->arena, &core_v1_node_type, node);

        if (doubt(plan->arena, doubted, world->now)) {
            plan_update_status(plan, &core_v1_node_kind, doubted);
            return NULL; /* the taints follow when the conditions are seen */
        }
    }
    struct taints taints = node_taints_wanted(plan->arena, node, world->now);

    if (node_taints_equal(node, &taints)) {
        return NULL;
    }
    plan_taints(plan, node, &taints);
    /* Once, when the taint comes. */
    if (!is_ready(node) && !had_taint(node, TAINT_NOT_READY) && !had_taint(node, TAINT_UNREACHABLE)) {
        plan_event(plan, &core_v1_node_kind, node, "Normal", "NodeNotReady", "Node %.*s status is now: NodeNotReady",
                   STR_ARG(node->metadata.name));
        plan_pods_not_ready(world, plan, node);
    }
    return NULL;
}

static void map_lease(const struct world *world, const void *object, struct str_list *ret)
{
    const struct object *lease = object;

    if (str_is(lease->metadata.namespace, LEASES)) {
        *LIST_ADD(world->arena, ret) = lease->metadata.name;
    }
}

static void map_nothing(const struct world *world, const void *object, struct str_list *ret)
{
}

const struct controller node_lifecycle_controller = {
    .name = "node-controller",
    .account = "node-controller",
    .kind = &core_v1_node_kind,
    .watches = {{&coordination_v1_lease_kind, map_lease}, {&core_v1_pod_kind, map_nothing}},
    .workers = 2,
    .plan = node_lifecycle_plan,
};
