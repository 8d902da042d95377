/* PodDisruptionBudget -> its status: how many of its pods may be evicted now. */
#include "controller/controllers.h"

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "api/policy_v1.h"
#include "base/env.h"
#include "controller/controller_ref.h"
#include "controller/pod_util.h"
#include "schema/copy.h"
#include "schema/int_or_string.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/selectors.h"

/* An eviction that was granted and has not led to a deletion by then has come to nothing. */
#define DELETED_WITHIN (120 * ENV_SECOND)

struct pods {
    const struct core_v1_pod **items;
    size_t len;
};

static struct status *find_pods(const struct world *world, const struct policy_v1_pod_disruption_budget *budget,
                                struct pods *ret)
{
    struct object_pointers all = world_in_namespace(world, &core_v1_pod_kind, budget->metadata.namespace);
    struct label_selector selector;

    TRY(label_selector_of(world->arena, budget->spec.selector, &selector));
    for (size_t i = 0; i < all.len; i++) {
        const struct core_v1_pod *pod = all.items[i];

        if (label_selector_matches_map(&selector, &pod->metadata.labels)) {
            *LIST_ADD(world->arena, ret) = pod;
        }
    }
    return NULL;
}

struct scale {
    struct str uid; /* of the controller; empty: not found */
    int32_t replicas;
};

static int32_t replicas_or_one(const int32_t *replicas)
{
    return replicas != NULL ? *replicas : 1;
}

/* The size of what a pod belongs to: of the Deployment, where there is one. */
static struct scale scale_of(const struct world *world, const struct core_v1_pod *pod)
{
    const struct meta_v1_owner_reference *owner = controller_ref_find(&pod->metadata);
    struct str namespace = pod->metadata.namespace;

    if (owner != NULL && str_is(owner->kind, "StatefulSet")) {
        const struct apps_v1_stateful_set *set =
            world_find_in(world, &apps_v1_stateful_set_kind, namespace, owner->name);

        return set != NULL ? (struct scale){set->metadata.uid, replicas_or_one(set->spec.replicas)} : (struct scale){0};
    }
    if (owner != NULL && str_is(owner->kind, "ReplicationController")) {
        const struct core_v1_replication_controller *set =
            world_find_in(world, &core_v1_replication_controller_kind, namespace, owner->name);

        return set != NULL ? (struct scale){set->metadata.uid, replicas_or_one(set->spec.replicas)} : (struct scale){0};
    }
    if (owner == NULL || !str_is(owner->kind, "ReplicaSet")) {
        return (struct scale){0};
    }
    const struct apps_v1_replica_set *set = world_find_in(world, &apps_v1_replica_set_kind, namespace, owner->name);
    const struct meta_v1_owner_reference *above = set != NULL ? controller_ref_find(&set->metadata) : NULL;
    const struct apps_v1_deployment *deployment =
        above != NULL && str_is(above->kind, "Deployment")
            ? world_find_in(world, &apps_v1_deployment_kind, namespace, above->name)
            : NULL;

    if (deployment != NULL) {
        return (struct scale){deployment->metadata.uid, replicas_or_one(deployment->spec.replicas)};
    }
    return set != NULL ? (struct scale){set->metadata.uid, replicas_or_one(set->spec.replicas)} : (struct scale){0};
}

static int32_t expected_scale(const struct world *world, const struct pods *pods)
{
    struct str_list seen = {0};
    int32_t sum = 0;

    LIST_EACH(pod, pods)
    {
        struct scale scale = scale_of(world, *pod);
        bool is_new = scale.uid.n > 0;

        LIST_EACH(uid, &seen)
        {
            is_new = is_new && !str_eq(*uid, scale.uid);
        }
        if (is_new) {
            *LIST_ADD(world->arena, &seen) = scale.uid;
            sum += scale.replicas;
        }
    }
    return sum;
}

/* How many there should be, and how many of them must be healthy. */
static void find_bounds(const struct world *world, const struct policy_v1_pod_disruption_budget *budget,
                        const struct pods *pods, struct policy_v1_pod_disruption_budget_status *ret)
{
    const struct int_or_string *least = budget->spec.min_available, *most = budget->spec.max_unavailable;
    int32_t number;

    if (most != NULL) {
        ret->expected_pods = expected_scale(world, pods);
        ret->desired_healthy = int_or_string_scaled(most, ret->expected_pods, true, &number)
                                   ? MAX(ret->expected_pods - number, 0)
                                   : ret->expected_pods;
    } else if (least != NULL) {
        ret->expected_pods = least->is_string ? expected_scale(world, pods) : (int32_t)pods->len;
        ret->desired_healthy =
            int_or_string_scaled(least, ret->expected_pods, true, &number) ? number : ret->expected_pods;
    }
}

/* Evictions that have been granted and may still lead to deletions. */
static struct timestamp_map still_disrupted(const struct world *world, struct plan *plan,
                                            const struct policy_v1_pod_disruption_budget *budget,
                                            const struct pods *pods)
{
    struct timestamp_map kept = {0};

    LIST_EACH(entry, &budget->status.disrupted_pods)
    {
        int64_t left = entry->value.seconds * ENV_SECOND + DELETED_WITHIN - world->now;

        LIST_EACH(pod, pods)
        {
            if (str_eq((*pod)->metadata.name, entry->key) && (*pod)->metadata.deletion_timestamp == NULL && left > 0) {
                *LIST_ADD(plan->arena, &kept) = *entry;
                plan_requeue_after(plan, left);
            }
        }
    }
    return kept;
}

static bool is_disrupted(const struct timestamp_map *disrupted, struct str name)
{
    return map_of_find(disrupted->items, disrupted->len, sizeof(*disrupted->items), name, NULL);
}

static void set_condition(const struct world *world, const struct policy_v1_pod_disruption_budget *budget,
                          struct policy_v1_pod_disruption_budget_status *status)
{
    bool allowed = status->disruptions_allowed > 0;
    struct meta_v1_condition wanted = {
        .type = STR("DisruptionAllowed"),
        .status = allowed ? STR("True") : STR("False"),
        .reason = allowed ? STR("SufficientPods") : STR("InsufficientPods"),
        .observed_generation = budget->metadata.generation,
        .last_transition_time = {.seconds = world->now / ENV_SECOND, .is_set = true},
    };

    LIST_EACH(condition, &budget->status.conditions)
    {
        if (!str_eq(condition->type, wanted.type)) {
            *LIST_ADD(world->arena, &status->conditions) = *condition;
        } else if (str_eq(condition->status, wanted.status)) {
            wanted.last_transition_time = condition->last_transition_time;
        }
    }
    *LIST_ADD(world->arena, &status->conditions) = wanted;
}

static struct status *disruption_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct policy_v1_pod_disruption_budget *budget =
        world_find(world, &policy_v1_pod_disruption_budget_kind, key);
    struct policy_v1_pod_disruption_budget_status status = {0};
    struct pods pods = {0};

    if (budget == NULL) {
        return NULL;
    }
    TRY(find_pods(world, budget, &pods));
    status.observed_generation = budget->metadata.generation;
    find_bounds(world, budget, &pods, &status);
    status.disrupted_pods = still_disrupted(world, plan, budget, &pods);
    LIST_EACH(pod, &pods)
    {
        status.current_healthy += (*pod)->metadata.deletion_timestamp == NULL && pod_is_ready(*pod) &&
                                  !is_disrupted(&status.disrupted_pods, (*pod)->metadata.name);
    }
    status.disruptions_allowed =
        status.expected_pods > 0 ? MAX(status.current_healthy - status.desired_healthy, 0) : 0;
    set_condition(world, budget, &status);
    if (schema_equal(&policy_v1_pod_disruption_budget_status_type, &status, &budget->status)) {
        return NULL;
    }
    struct policy_v1_pod_disruption_budget *changed = ARENA_NEW(plan->arena, struct policy_v1_pod_disruption_budget);

    *changed = *budget;
    changed->status = status;
    plan_update_status(plan, &policy_v1_pod_disruption_budget_kind, changed);
    return NULL;
}

static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;
    struct object_pointers budgets =
        world_in_namespace(world, &policy_v1_pod_disruption_budget_kind, pod->metadata.namespace);

    for (size_t i = 0; i < budgets.len; i++) {
        const struct policy_v1_pod_disruption_budget *budget = budgets.items[i];
        struct label_selector selector;
        struct status *status = label_selector_of(world->arena, budget->spec.selector, &selector);

        if (status == NULL && label_selector_matches_map(&selector, &pod->metadata.labels)) {
            *LIST_ADD(world->arena, ret) =
                world_key(world->arena, budget->metadata.namespace, budget->metadata.name);
        }
        status_free(status);
    }
}

/* The size of something changed: all budgets of the namespace may be of its pods. */
static void map_scale(const struct world *world, const void *object, struct str_list *ret)
{
    struct str namespace = ((const struct object *)object)->metadata.namespace;
    struct object_pointers budgets = world_in_namespace(world, &policy_v1_pod_disruption_budget_kind, namespace);

    for (size_t i = 0; i < budgets.len; i++) {
        *LIST_ADD(world->arena, ret) =
            world_key(world->arena, namespace, ((const struct object *)budgets.items[i])->metadata.name);
    }
}

const struct controller disruption_controller = {
    .name = "controllermanager",
    .account = "disruption-controller",
    .kind = &policy_v1_pod_disruption_budget_kind,
    .watches = {{&core_v1_pod_kind, map_pod},
                {&apps_v1_deployment_kind, map_scale},
                {&apps_v1_replica_set_kind, map_scale},
                {&apps_v1_stateful_set_kind, map_scale},
                {&core_v1_replication_controller_kind, map_scale}},
    .workers = 1,
    .plan = disruption_plan,
};
