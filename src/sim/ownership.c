#include "sim/ownership.h"

#include "api/kinds.h"
#include "api/pod_condition.h"
#include "schema/int_or_string.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

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

int64_t cpu_on_node(const struct history *history, struct str node_name)
{
    const struct history_object *object;
    int64_t sum = 0;

    for (size_t at = 0; (object = history_next(history, &at)) != NULL;) {
        const struct core_v1_pod *pod = (const void *)object->object;

        if (object->kind != &core_v1_pod_kind || !str_eq(pod->spec.node_name, node_name) ||
            str_is(pod->status.phase, "Failed") || str_is(pod->status.phase, "Succeeded")) {
            continue;
        }
        LIST_EACH(container, &pod->spec.containers)
        {
            const struct quantity *cpu = quantity_map_get(&container->resources.requests, CORE_V1_RESOURCE_CPU);

            sum += cpu != NULL ? quantity_milli(*cpu) : 0;
        }
    }
    return sum;
}

static const struct apps_v1_replica_set *as_set_of(const struct history_object *object,
                                                   const struct apps_v1_deployment *deployment)
{
    const struct meta_v1_owner_reference *owner =
        object->kind == &apps_v1_replica_set_kind ? controller_of(object->object) : NULL;

    return owner != NULL && str_eq(owner->uid, deployment->metadata.uid) ? (const void *)object->object : NULL;
}

static bool has(const struct str_list *list, struct str text)
{
    LIST_EACH(one, list)
    {
        if (str_eq(*one, text)) {
            return true;
        }
    }
    return false;
}

/* The UID of a pod's set; empty when it has none, or is no pod. */
static struct str set_of_pod(const struct history_object *object)
{
    const struct meta_v1_owner_reference *owner =
        object->kind == &core_v1_pod_kind ? controller_of(object->object) : NULL;

    return owner != NULL ? owner->uid : (struct str){0};
}

struct tally tally_of(const struct history *history, const struct apps_v1_deployment *deployment)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str_list sets = {0};
    struct tally tally = {0};
    const struct history_object *object;

    for (size_t at = 0; (object = history_next(history, &at)) != NULL;) {
        const struct apps_v1_replica_set *set = as_set_of(object, deployment);

        if (set != NULL) {
            *LIST_ADD(arena, &sets) = set->metadata.uid;
            tally.wanted += set->metadata.deletion_timestamp == NULL ? *set->spec.replicas : 0;
        }
    }
    for (size_t at = 0; (object = history_next(history, &at)) != NULL;) {
        const struct core_v1_pod *pod = (const void *)object->object;

        if (has(&sets, set_of_pod(object)) && pod_counts(pod)) {
            tally.active++;
            tally.ready += pod_counts_ready(pod);
        }
    }
    return tally;
}

int32_t pods_of_set(const struct history *history, struct str set_uid)
{
    const struct history_object *object;
    int32_t count = 0;

    for (size_t at = 0; (object = history_next(history, &at)) != NULL;) {
        count += str_eq(set_of_pod(object), set_uid) && pod_counts((const void *)object->object);
    }
    return count;
}

int32_t pods_of_other_sets(const struct history *history, const struct apps_v1_deployment *deployment, struct str set_uid)
{
    const struct history_object *object;
    int32_t count = 0;

    for (size_t at = 0; (object = history_next(history, &at)) != NULL;) {
        struct str uid = set_of_pod(object);
        const struct core_v1_pod *pod = (const void *)object->object;

        if (uid.n > 0 && !str_eq(uid, set_uid) && deployment_of_pod(history, pod) == deployment) {
            count += !str_is(pod->status.phase, "Failed") && !str_is(pod->status.phase, "Succeeded");
        }
    }
    return count;
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
