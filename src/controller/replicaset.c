/* ReplicaSet -> Pods. */
#include "controller/controllers.h"

#include "controller/replicas.h"
#include "schema/copy.h"

static struct status *replicaset_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct apps_v1_replica_set *set = world_find(world, &apps_v1_replica_set_kind, key);
    struct replicas of = {&apps_v1_replica_set_kind, (const struct object *)set, set};
    struct apps_v1_replica_set_status status;

    if (set == NULL) {
        return NULL;
    }
    TRY(replicas_plan(world, plan, &of, &status));
    if (schema_equal(&apps_v1_replica_set_status_type, &status, &set->status)) {
        return NULL;
    }
    struct apps_v1_replica_set *changed = ARENA_NEW(plan->arena, struct apps_v1_replica_set);

    *changed = *set;
    changed->status = status;
    plan_update_status(plan, &apps_v1_replica_set_kind, changed);
    plan_span(plan, plan_last(plan), TRACE_REPLICASET_STATUS, &apps_v1_replica_set_kind, set, "%d of %d ready",
              status.ready_replicas, set->spec.replicas != NULL ? *set->spec.replicas : 1);
    return NULL;
}

static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    replicas_map_pod(world, &apps_v1_replica_set_kind, object, ret);
}

const struct controller replicaset_controller = {
    .name = "replicaset-controller",
    .account = "replicaset-controller",
    .kind = &apps_v1_replica_set_kind,
    .watches = {{&core_v1_pod_kind, map_pod}},
    .observed = TRACE_REPLICASET_OBSERVED,
    .plan = replicaset_plan,
};
