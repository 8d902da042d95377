#include "controller/replicas.h"

#include "base/env.h"
#include "controller/controller_ref.h"
#include "controller/pod_template.h"
#include "controller/pod_util.h"
#include "schema/selectors.h"
#include "schema/map_of.h"
#include "schema/object.h"
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

static void create_pods(struct plan *plan, const struct replicas *of, int32_t count)
{
    for (int32_t i = 0; i < MIN(count, (int32_t)BURST_PODS); i++) {
        struct core_v1_pod *pod =
            pod_template_pod(plan->arena, &of->set->spec.template, of->kind, of->object);

        pod_template_create(plan, pod, CREATIONS, of->kind, of->object);
        plan_span(plan, plan_last(plan), TRACE_PODS_ADJUSTED, of->kind, of->object, "%d created", count);
    }
}

/* The active pods of this set and of all other sets of its owner: crowded nodes are thinned out first. */
static struct pods related_pods(const struct world *world, const struct replicas *of)
{
    const struct meta_v1_owner_reference *owner = controller_ref_find(&of->set->metadata);
    struct object_pointers sets = {0};
    struct pods related = {0};

    if (owner != NULL) {
        sets = world_owned(world, of->kind, owner->uid);
    } else {
        *LIST_ADD(world->arena, &sets) = of->object;
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

static void delete_pods(const struct world *world, struct plan *plan, const struct replicas *of,
                        const struct pods *active, int32_t count)
{
    struct pod_ranked *ranked = ARENA_ARRAY(plan->arena, struct pod_ranked, active->len);
    struct pods related = related_pods(world, of);

    for (size_t i = 0; i < active->len; i++) {
        ranked[i] = (struct pod_ranked){active->items[i], pods_on_node(&related, active->items[i]->spec.node_name),
                                        world->now};
    }
    if ((size_t)count < active->len) {
        qsort(ranked, active->len, sizeof(*ranked), pod_deletion_order);
    }
    for (int32_t i = 0; i < MIN(count, (int32_t)BURST_PODS); i++) {
        pod_template_delete(plan, ranked[i].pod, DELETIONS, of->kind, of->object);
        plan_span(plan, plan_last(plan), TRACE_PODS_ADJUSTED, of->kind, of->object, "%d deleted", count);
    }
}

/* The ReplicaFailure condition follows what happened to the last plan. */
static void set_failure(const struct world *world, const struct apps_v1_replica_set *set, int32_t missing,
                        struct apps_v1_replica_set_status *status)
{
    bool failed = world->failure != NULL && missing != 0 &&
                  world->failed_verb == (missing > 0 ? PLAN_CREATE : PLAN_DELETE);
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

static struct apps_v1_replica_set_status status_of(const struct world *world, struct plan *plan,
                                                   const struct apps_v1_replica_set *set, const struct pods *active)
{
    struct apps_v1_replica_set_status status = {
        .replicas = (int32_t)active->len,
        .observed_generation = set->metadata.generation,
        .terminating_replicas = ARENA_NEW(plan->arena, int32_t),
    };

    *status.terminating_replicas = terminating_of(world, set);
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
    return status;
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

struct status *replicas_plan(const struct world *world, struct plan *plan, const struct replicas *of,
                             struct apps_v1_replica_set_status *ret_status)
{
    const struct apps_v1_replica_set *set = of->set;
    struct label_selector selector;

    TRY(label_selector_of(plan->arena, set->spec.selector, &selector));
    struct object_pointers owned = controller_ref_claim(
        plan, of->kind, of->object, &selector, &core_v1_pod_kind,
        active_of(plan->arena,
                  world_claimable(world, &core_v1_pod_kind, set->metadata.uid, set->metadata.namespace)));
    struct pods active = {(const struct core_v1_pod **)owned.items, owned.len};
    int32_t missing = wanted_of(set) - (int32_t)active.len;

    if (missing != 0 || set->status.observed_generation != set->metadata.generation) {
        plan_trace(plan, TRACE_REPLICAS_COMPARED, of->kind, of->object, "%d wanted, %zu there", wanted_of(set),
                   active.len);
    }
    if (set->metadata.deletion_timestamp == NULL && missing > 0) {
        create_pods(plan, of, missing);
    } else if (set->metadata.deletion_timestamp == NULL && missing < 0) {
        delete_pods(world, plan, of, &active, -missing);
    }
    *ret_status = status_of(world, plan, set, &active);
    return NULL;
}

static void add_key(const struct world *world, const struct core_v1_pod *pod, struct str name, struct str_list *ret)
{
    *LIST_ADD(world->arena, ret) = world_key(world->arena, pod->metadata.namespace, name);
}

void replicas_map_pod(const struct world *world, const struct kind *kind, const struct core_v1_pod *pod,
                      struct str_list *ret)
{
    const struct meta_v1_owner_reference *owner = controller_ref_find(&pod->metadata);

    if (owner != NULL) {
        if (str_eq(owner->kind, kind->kind)) {
            add_key(world, pod, owner->name, ret);
        }
        return;
    }
    struct object_pointers sets = world_in_namespace(world, kind, pod->metadata.namespace);

    for (size_t i = 0; i < sets.len; i++) {
        add_key(world, pod, ((const struct object *)sets.items[i])->metadata.name, ret);
    }
}
