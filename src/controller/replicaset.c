/* ReplicaSet -> Pods: as many as wanted, adopted, released, created in slow-start batches, deleted in stock's order. */
#include "controller/controllers.h"

#include "api/apps_v1.h"
#include "base/env.h"
#include "controller/controller_ref.h"
#include "controller/pod_template.h"
#include "controller/pod_util.h"
#include "schema/copy.h"
#include "schema/selectors.h"
#include "schema/map_of.h"
#include "schema/type.h"

#include <stdlib.h>

/* No more than this many pods are made or deleted in one pass. */
enum { BURST_PODS = 500 };

struct pods {
    const struct core_v1_pod **items;
    size_t len;
};

static int32_t wanted_of(const struct apps_v1_replica_set *set)
{
    return set->spec.replicas ? *set->spec.replicas : 1;
}

enum { CREATIONS = 1, DELETIONS }; /* batches */

static void create_pods(struct plan *plan, const struct apps_v1_replica_set *set, int32_t count)
{
    for (int32_t i = 0; i < MIN(count, (int32_t)BURST_PODS); i++) {
        struct core_v1_pod *pod =
            pod_template_pod(plan->arena, &set->spec.template, &apps_v1_replica_set_kind, set);

        pod_template_create(plan, pod, CREATIONS, &apps_v1_replica_set_kind, set);
        plan_span(plan, plan_last(plan), TRACE_PODS_ADJUSTED, &apps_v1_replica_set_kind, set, "%d created", count);
    }
}

/* The active pods of this set and of all other sets of its owner: crowded nodes are thinned out first. */
static struct pods related_pods(const struct world *world, const struct apps_v1_replica_set *set)
{
    const struct meta_v1_owner_reference *owner = controller_ref_find(&set->metadata);
    struct object_pointers sets = {0};
    struct pods related = {0};

    if (owner != NULL) {
        sets = world_owned(world, &apps_v1_replica_set_kind, owner->uid);
    } else {
        *LIST_ADD(world->arena, &sets) = set;
    }
    for (size_t i = 0; i < sets.len; i++) {
        const struct object *one = sets.items[i];
        struct object_pointers pods = world_owned(world, &core_v1_pod_kind, one->metadata.uid);

        for (size_t n = 0; n < pods.len; n++) {
            if (pod_is_active(pods.items[n])) {
                *LIST_ADD(world->arena, &related) = pods.items[n];
            }
        }
    }
    return related;
}

static int32_t pods_on_node(const struct pods *pods, struct str node)
{
    int32_t count = 0;

    LIST_EACH(pod, pods)
    {
        count += str_eq((*pod)->spec.node_name, node);
    }
    return count;
}

static void delete_pods(const struct world *world, struct plan *plan, const struct apps_v1_replica_set *set,
                        const struct pods *active, int32_t count)
{
    struct pod_ranked *ranked = ARENA_ARRAY(plan->arena, struct pod_ranked, active->len);
    struct pods related = related_pods(world, set);

    for (size_t i = 0; i < active->len; i++) {
        ranked[i] = (struct pod_ranked){active->items[i], pods_on_node(&related, active->items[i]->spec.node_name),
                                        world->now};
    }
    if ((size_t)count < active->len) {
        qsort(ranked, active->len, sizeof(*ranked), pod_deletion_order);
    }
    for (int32_t i = 0; i < MIN(count, (int32_t)BURST_PODS); i++) {
        pod_template_delete(plan, ranked[i].pod, DELETIONS, &apps_v1_replica_set_kind, set);
        plan_span(plan, plan_last(plan), TRACE_PODS_ADJUSTED, &apps_v1_replica_set_kind, set, "%d deleted", count);
    }
}

/* The ReplicaFailure condition follows what happened to the last plan. */
static void set_failure(const struct world *world, const struct apps_v1_replica_set *set, int32_t missing,
                        struct apps_v1_replica_set_status *status)
{
    bool failed = world->failure != NULL && missing != 0;
    struct timestamp now = {.seconds = world->now / ENV_SECOND, .is_set = true};

    LIST_EACH(condition, &set->status.conditions)
    {
        if (!str_is(condition->type, "ReplicaFailure")) {
            *LIST_ADD(world->arena, &status->conditions) = *condition;
        } else if (failed) {
            *LIST_ADD(world->arena, &status->conditions) = *condition; /* keeps its time */
            return;
        }
    }
    if (failed) {
        *LIST_ADD(world->arena, &status->conditions) = (struct apps_v1_replica_set_condition){
            .type = STR("ReplicaFailure"),
            .status = STR("True"),
            .reason = missing > 0 ? STR("FailedCreate") : STR("FailedDelete"),
            .message = arena_str(world->arena, world->failure->message),
            .last_transition_time = now,
        };
    }
}

static bool has_labels(const struct str_map *labels, const struct str_map *wanted)
{
    LIST_EACH(pair, wanted)
    {
        struct str value = str_map_get(labels, pair->key);

        if (value.p == NULL || !str_eq(value, pair->value)) {
            return false;
        }
    }
    return true;
}

static void plan_status(const struct world *world, struct plan *plan, const struct apps_v1_replica_set *set,
                        const struct pods *active, int32_t terminating)
{
    struct apps_v1_replica_set_status status = {
        .replicas = (int32_t)active->len,
        .observed_generation = set->metadata.generation,
        .terminating_replicas = ARENA_NEW(plan->arena, int32_t),
    };

    *status.terminating_replicas = terminating;
    LIST_EACH(pod, active)
    {
        int64_t wait;

        status.fully_labeled_replicas += has_labels(&(*pod)->metadata.labels, &set->spec.template.metadata.labels);
        status.ready_replicas += pod_is_ready(*pod);
        if (pod_is_available(*pod, set->spec.min_ready_seconds, world->now, &wait)) {
            status.available_replicas++;
        } else if (wait > 0) {
            plan_requeue_after(plan, wait);
        }
    }
    set_failure(world, set, wanted_of(set) - (int32_t)active->len, &status);
    if (schema_equal(&apps_v1_replica_set_status_type, &status, &set->status)) {
        return;
    }
    struct apps_v1_replica_set *changed = ARENA_NEW(plan->arena, struct apps_v1_replica_set);

    *changed = *set;
    changed->status = status;
    plan_update_status(plan, &apps_v1_replica_set_kind, changed);
    plan_span(plan, plan_last(plan), TRACE_REPLICASET_STATUS, &apps_v1_replica_set_kind, set, "%d of %d ready",
              status.ready_replicas, wanted_of(set));
}

static int32_t terminating_of(const struct world *world, const struct apps_v1_replica_set *set)
{
    struct object_pointers owned = world_owned(world, &core_v1_pod_kind, set->metadata.uid);
    int32_t count = 0;

    for (size_t i = 0; i < owned.len; i++) {
        const struct core_v1_pod *pod = owned.items[i];

        count += pod->metadata.deletion_timestamp != NULL && !pod_is_finished(pod);
    }
    return count;
}

static struct object_pointers active_of(struct arena *arena, struct object_pointers pods)
{
    struct object_pointers active = {ARENA_ARRAY(arena, const void *, pods.len), 0};

    for (size_t i = 0; i < pods.len; i++) {
        if (pod_is_active(pods.items[i])) {
            active.items[active.len++] = pods.items[i];
        }
    }
    return active;
}

static struct status *replicaset_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct apps_v1_replica_set *set = world_find(world, &apps_v1_replica_set_kind, key);
    struct label_selector selector;

    if (set == NULL) {
        return NULL;
    }
    TRY(label_selector_of(plan->arena, set->spec.selector, &selector));
    struct object_pointers owned = controller_ref_claim(
        plan, &apps_v1_replica_set_kind, (const struct object *)set, &selector, &core_v1_pod_kind,
        active_of(plan->arena,
                  world_claimable(world, &core_v1_pod_kind, set->metadata.uid, set->metadata.namespace)));
    struct pods active = {(const struct core_v1_pod **)owned.items, owned.len};
    int32_t missing = wanted_of(set) - (int32_t)active.len;

    if (missing != 0 || set->status.observed_generation != set->metadata.generation) {
        plan_trace(plan, TRACE_REPLICAS_COMPARED, &apps_v1_replica_set_kind, set, "%d wanted, %zu there",
                   wanted_of(set), active.len);
    }
    if (set->metadata.deletion_timestamp == NULL && missing > 0) {
        create_pods(plan, set, missing);
    } else if (set->metadata.deletion_timestamp == NULL && missing < 0) {
        delete_pods(world, plan, set, &active, -missing);
    }
    plan_status(world, plan, set, &active, terminating_of(world, set));
    return NULL;
}

/* A pod concerns the set that owns it; an orphan all sets of its namespace that may adopt it. */
static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;
    const struct meta_v1_owner_reference *owner = controller_ref_find(&pod->metadata);

    if (owner != NULL) {
        if (str_is(owner->kind, "ReplicaSet")) {
            *LIST_ADD(world->arena, ret) =
                world_key(world->arena, pod->metadata.namespace, owner->name);
        }
        return;
    }
    struct object_pointers sets = world_in_namespace(world, &apps_v1_replica_set_kind, pod->metadata.namespace);

    for (size_t i = 0; i < sets.len; i++) {
        const struct object *set = sets.items[i];

        *LIST_ADD(world->arena, ret) =
            world_key(world->arena, pod->metadata.namespace, set->metadata.name);
    }
}

const struct controller replicaset_controller = {
    .name = "replicaset-controller",
    .account = "replicaset-controller",
    .kind = &apps_v1_replica_set_kind,
    .watches = {{&core_v1_pod_kind, map_pod}},
    .observed = TRACE_REPLICASET_OBSERVED,
    .plan = replicaset_plan,
};
