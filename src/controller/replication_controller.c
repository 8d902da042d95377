/* ReplicationController -> Pods: the older form of a ReplicaSet. */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "controller/replicas.h"
#include "schema/copy.h"

static struct apps_v1_replica_set *as_set(struct arena *arena, const struct core_v1_replication_controller *from)
{
    struct apps_v1_replica_set *set = ARENA_NEW(arena, struct apps_v1_replica_set);

    set->metadata = from->metadata;
    set->spec.replicas = from->spec.replicas;
    set->spec.min_ready_seconds = from->spec.min_ready_seconds;
    set->spec.selector = ARENA_NEW(arena, struct meta_v1_label_selector);
    set->spec.selector->match_labels = from->spec.selector;
    if (from->spec.template != NULL) {
        set->spec.template = *from->spec.template;
    }
    set->status.observed_generation = from->status.observed_generation;
    LIST_EACH(condition, &from->status.conditions)
    {
        *LIST_ADD(arena, &set->status.conditions) =
            (struct apps_v1_replica_set_condition){.type = condition->type,
                                                   .status = condition->status,
                                                   .last_transition_time = condition->last_transition_time,
                                                   .reason = condition->reason,
                                                   .message = condition->message};
    }
    return set;
}

static struct core_v1_replication_controller_status status_from(struct arena *arena,
                                                                const struct apps_v1_replica_set_status *from)
{
    struct core_v1_replication_controller_status status = {.replicas = from->replicas,
                                                           .fully_labeled_replicas = from->fully_labeled_replicas,
                                                           .ready_replicas = from->ready_replicas,
                                                           .available_replicas = from->available_replicas,
                                                           .observed_generation = from->observed_generation};

    LIST_EACH(condition, &from->conditions)
    {
        *LIST_ADD(arena, &status.conditions) =
            (struct core_v1_replication_controller_condition){.type = condition->type,
                                                              .status = condition->status,
                                                              .last_transition_time = condition->last_transition_time,
                                                              .reason = condition->reason,
                                                              .message = condition->message};
    }
    return status;
}

static struct status *replication_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_replication_controller *object =
        world_find(world, &core_v1_replication_controller_kind, key);
    struct apps_v1_replica_set_status found;

    if (object == NULL) {
        return NULL;
    }
    struct replicas of = {&core_v1_replication_controller_kind, (const struct object *)object,
                          as_set(plan->arena, object)};

    TRY(replicas_plan(world, plan, &of, &found));
    struct core_v1_replication_controller_status status = status_from(plan->arena, &found);

    if (schema_equal(&core_v1_replication_controller_status_type, &status, &object->status)) {
        return NULL;
    }
    struct core_v1_replication_controller *changed = ARENA_NEW(plan->arena, struct core_v1_replication_controller);

    *changed = *object;
    changed->status = status;
    plan_update_status(plan, &core_v1_replication_controller_kind, changed);
    return NULL;
}

static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    replicas_map_pod(world, &core_v1_replication_controller_kind, object, ret);
}

const struct controller replication_controller = {
    .name = "replication-controller",
    .account = "replication-controller",
    .kind = &core_v1_replication_controller_kind,
    .watches = {{&core_v1_pod_kind, map_pod}},
    .plan = replication_plan,
};
