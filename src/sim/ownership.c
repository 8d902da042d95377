#include "sim/ownership.h"

#include "api/kinds.h"
#include "api/pod_condition.h"
#include "schema/int_or_string.h"

const struct object *object_by_uid(const struct history *history, const struct kind *kind, struct str uid)
{
    size_t at = 0;

    for (const struct history_object *object; (object = history_next(history, &at)) != NULL;) {
        if (object->kind == kind && str_eq(object->object->metadata.uid, uid)) {
            return object->object;
        }
    }
    return NULL;
}

const struct meta_v1_owner_reference *controller_of(const struct object *object)
{
    LIST_EACH(owner, &object->metadata.owner_references)
    {
        if (owner->controller != NULL && *owner->controller) {
            return owner;
        }
    }
    return NULL;
}

const struct apps_v1_deployment *deployment_of_pod(const struct history *history, const struct core_v1_pod *pod)
{
    const struct meta_v1_owner_reference *owner = controller_of((const struct object *)pod);
    const struct object *set = owner != NULL ? object_by_uid(history, &apps_v1_replica_set_kind, owner->uid) : NULL;
    const struct meta_v1_owner_reference *above = set != NULL ? controller_of(set) : NULL;

    return above != NULL ? (const void *)object_by_uid(history, &apps_v1_deployment_kind, above->uid) : NULL;
}

bool pod_counts(const struct core_v1_pod *pod)
{
    return pod->metadata.deletion_timestamp == NULL && !str_is(pod->status.phase, "Failed") &&
           !str_is(pod->status.phase, "Succeeded");
}

bool pod_counts_ready(const struct core_v1_pod *pod)
{
    const struct core_v1_pod_condition *ready = pod_condition_find(&pod->status, STR("Ready"));

    return ready != NULL && str_is(ready->status, "True");
}

/* The UIDs of the Deployment's ReplicaSets. */
static struct str_list sets_of(const struct history *history, const struct apps_v1_deployment *deployment,
                               struct arena *arena)
{
    struct str_list uids = {0};
    size_t at = 0;

    for (const struct history_object *object; (object = history_next(history, &at)) != NULL;) {
        if (object->kind == &apps_v1_replica_set_kind) {
            const struct meta_v1_owner_reference *owner = controller_of(object->object);

            if (owner != NULL && str_eq(owner->uid, deployment->metadata.uid)) {
                *LIST_ADD(arena, &uids) = object->object->metadata.uid;
            }
        }
    }
    return uids;
}

struct tally tally_of(const struct history *history, const struct apps_v1_deployment *deployment)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str_list sets = sets_of(history, deployment, arena);
    struct tally tally = {0};
    size_t at = 0;

    for (const struct history_object *object; (object = history_next(history, &at)) != NULL;) {
        const struct core_v1_pod *pod = (const void *)object->object;
        const struct meta_v1_owner_reference *owner = controller_of(object->object);

        if (object->kind != &core_v1_pod_kind || owner == NULL || !pod_counts(pod)) {
            continue;
        }
        LIST_EACH(uid, &sets)
        {
            if (str_eq(*uid, owner->uid)) {
                tally.active++;
                tally.ready += pod_counts_ready(pod);
            }
        }
    }
    return tally;
}

int32_t tally_bound(const struct apps_v1_deployment *deployment, bool surge, int32_t replicas)
{
    const struct apps_v1_rolling_update_deployment *rolling = deployment->spec.strategy.rolling_update;
    const struct int_or_string *bound = rolling == NULL ? NULL : surge ? rolling->max_surge : rolling->max_unavailable;
    int32_t number = 0;

    if (bound != NULL) {
        int_or_string_scaled(bound, replicas, surge, &number);
    }
    return number;
}

bool tally_is_as_asked(const struct apps_v1_deployment *deployment)
{
    int32_t replicas = *deployment->spec.replicas;

    return deployment->status.observed_generation == deployment->metadata.generation &&
           deployment->status.replicas == replicas && deployment->status.updated_replicas == replicas &&
           deployment->status.available_replicas == replicas;
}
