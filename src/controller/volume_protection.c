/* Claims that pods use, volumes that are bound, and attribute classes that either names are not gone before that
 * ends: a finalizer holds them, which is put on each and taken off when it may go. */
#include "controller/controllers.h"

#include "api/storage_v1.h"
#include "controller/pod_util.h"
#include "schema/copy.h"
#include "schema/object.h"

static bool has(const struct str_list *list, struct str wanted)
{
    LIST_EACH(item, list)
    {
        if (str_eq(*item, wanted)) {
            return true;
        }
    }
    return false;
}

static struct str_list with(struct arena *arena, const struct str_list *list, struct str more)
{
    struct str_list all = {0};

    LIST_EACH(item, list)
    {
        *LIST_ADD(arena, &all) = *item;
    }
    *LIST_ADD(arena, &all) = more;
    return all;
}

static struct str_list without(struct arena *arena, const struct str_list *list, struct str less)
{
    struct str_list rest = {0};

    LIST_EACH(item, list)
    {
        if (!str_eq(*item, less)) {
            *LIST_ADD(arena, &rest) = *item;
        }
    }
    return rest;
}

/* Puts the finalizer on what is not being deleted, and takes it off what is and is free to go. */
static void protect(struct plan *plan, const struct kind *kind, const struct object *object, struct str finalizer,
                    bool is_used)
{
    const struct str_list *finalizers = &object->metadata.finalizers;
    bool is_deleted = object->metadata.deletion_timestamp != NULL, is_held = has(finalizers, finalizer);

    if (is_deleted ? !is_held || is_used : is_held) {
        return;
    }
    struct object *changed = schema_copy_shallow(plan->arena, kind->type, object);

    changed->metadata.finalizers =
        is_deleted ? without(plan->arena, finalizers, finalizer) : with(plan->arena, finalizers, finalizer);
    plan_update(plan, kind, changed);
    plan_last(plan)->may_be_gone = true;
}

/* The claim of a pod's volume: named, or made for the pod; empty for other volumes. */
static struct str claim_of(struct arena *arena, const struct core_v1_pod *pod, const struct core_v1_volume *volume)
{
    const struct core_v1_volume_source *source = &volume->volume_source;

    if (source->persistent_volume_claim != NULL) {
        return source->persistent_volume_claim->claim_name;
    }
    return source->ephemeral == NULL ? (struct str){0}
                                     : arena_printf(arena, "%.*s-%.*s", STR_ARG(pod->metadata.name),
                                                    STR_ARG(volume->name));
}

/* A pod that has not been placed is kept from its node by the claim's deletion. */
static bool uses_claim(struct arena *arena, const struct core_v1_pod *pod, struct str claim)
{
    if (pod->spec.node_name.n == 0 || pod_is_finished(pod)) {
        return false;
    }
    LIST_EACH(volume, &pod->spec.volumes)
    {
        if (str_eq(claim_of(arena, pod, volume), claim)) {
            return true;
        }
    }
    return false;
}

static struct status *claim_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_persistent_volume_claim *claim =
        world_find(world, &core_v1_persistent_volume_claim_kind, key);
    bool is_used = false;

    if (claim == NULL) {
        return NULL;
    }
    struct object_pointers pods = {0};

    if (claim->metadata.deletion_timestamp != NULL) {
        pods = world_in_namespace(world, &core_v1_pod_kind, claim->metadata.namespace);
    }
    LIST_EACH(pod, &pods)
    {
        is_used = is_used || uses_claim(world->arena, *pod, claim->metadata.name);
    }
    protect(plan, &core_v1_persistent_volume_claim_kind, (const struct object *)claim,
            STR("kubernetes.io/pvc-protection"), is_used);
    return NULL;
}

static void map_pod_to_claims(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;

    LIST_EACH(volume, &pod->spec.volumes)
    {
        struct str claim = claim_of(world->arena, pod, volume);

        if (claim.n != 0) {
            *LIST_ADD(world->arena, ret) = world_key(world->arena, pod->metadata.namespace, claim);
        }
    }
}

static struct status *volume_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_persistent_volume *volume = world_find(world, &core_v1_persistent_volume_kind, key);

    if (volume != NULL) {
        protect(plan, &core_v1_persistent_volume_kind, (const struct object *)volume,
                STR("kubernetes.io/pv-protection"), str_is(volume->status.phase, "Bound"));
    }
    return NULL;
}

static bool names(const struct str *name, struct str class)
{
    return name != NULL && str_eq(*name, class);
}

static struct status *class_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct storage_v1_volume_attributes_class *class =
        world_find(world, &storage_v1_volume_attributes_class_kind, key);
    bool is_used = false;

    if (class == NULL) {
        return NULL;
    }
    struct object_pointers claims = world_all(world, &core_v1_persistent_volume_claim_kind);
    struct object_pointers volumes = world_all(world, &core_v1_persistent_volume_kind);

    LIST_EACH(at, &claims)
    {
        const struct core_v1_persistent_volume_claim *claim = *at;

        is_used = is_used || names(claim->spec.volume_attributes_class_name, class->metadata.name) ||
                  names(claim->status.current_volume_attributes_class_name, class->metadata.name);
    }
    LIST_EACH(at, &volumes)
    {
        const struct core_v1_persistent_volume *volume = *at;

        is_used = is_used || names(volume->spec.volume_attributes_class_name, class->metadata.name);
    }
    protect(plan, &storage_v1_volume_attributes_class_kind, (const struct object *)class,
            STR("kubernetes.io/vac-protection"), is_used);
    return NULL;
}

/* Those that are waiting to go: a change of any claim or volume may have freed them, whichever it named before. */
static void map_to_classes(const struct world *world, const void *object, struct str_list *ret)
{
    struct object_pointers classes = world_all(world, &storage_v1_volume_attributes_class_kind);

    (void)object;
    LIST_EACH(at, &classes)
    {
        const struct object *class = *at;

        if (class->metadata.deletion_timestamp != NULL) {
            *LIST_ADD(world->arena, ret) = class->metadata.name;
        }
    }
}

const struct controller pvc_protection_controller = {
    .name = "pvc-protection-controller",
    .account = "pvc-protection-controller",
    .kind = &core_v1_persistent_volume_claim_kind,
    .watches = {{&core_v1_pod_kind, map_pod_to_claims}},
    .plan = claim_plan,
};

const struct controller pv_protection_controller = {
    .name = "pv-protection-controller",
    .account = "pv-protection-controller",
    .kind = &core_v1_persistent_volume_kind,
    .plan = volume_plan,
};

const struct controller vac_protection_controller = {
    .name = "volumeattributesclass-protection-controller",
    .account = "volumeattributesclass-protection-controller",
    .kind = &storage_v1_volume_attributes_class_kind,
    .watches = {{&core_v1_persistent_volume_claim_kind, map_to_classes},
                {&core_v1_persistent_volume_kind, map_to_classes}},
    .plan = class_plan,
};
