/* Claims and ingresses that name no class get the default one; of several, the youngest. */
#include "api/core_v1.h"
#include "api/networking_v1.h"
#include "api/storage_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/timestamp.h"

static bool is_default(const struct object *object, const char *const annotations[2])
{
    for (int i = 0; i < 2 && annotations[i] != NULL; i++) {
        if (str_is(str_map_get(&object->metadata.annotations, str_of(annotations[i])), "true")) {
            return true;
        }
    }
    return false;
}

static bool is_younger(const struct object *a, const struct object *b)
{
    int order = timestamp_cmp(a->metadata.creation_timestamp, b->metadata.creation_timestamp);

    return order != 0 ? order > 0 : str_cmp(a->metadata.name, b->metadata.name) < 0;
}

/* *ret is NULL when there is no default. */
static struct status *find(const struct admission_request *admission, const char *group, const char *plural,
                           const char *const annotations[2], struct str **ret)
{
    OWNED(admission_walk_done) struct admission_walk walk = {0};
    const struct object *best = NULL;
    const void *at;

    *ret = NULL;
    TRY(admission_walk_begin(&walk, admission, group, "v1", plural, (struct str){0}));
    for (;;) {
        TRY(admission_walk_next(&walk, &at));
        const struct object *object = at;

        if (object == NULL) {
            break;
        }
        if (is_default(object, annotations) && (best == NULL || is_younger(object, best))) {
            best = object;
        }
    }
    if (best != NULL) {
        *ret = ARENA_NEW(admission->request->arena, struct str);
        **ret = arena_str(admission->request->arena, best->metadata.name);
    }
    return NULL;
}

static struct status *mutate_claim(struct admission_request *admission)
{
    static const char *const annotations[] = {"storageclass.kubernetes.io/is-default-class",
                                              "storageclass.beta.kubernetes.io/is-default-class"};
    struct core_v1_persistent_volume_claim *claim = admission->object;

    if (!admission_is_about(admission, &core_v1_persistent_volume_claim_kind) ||
        claim->spec.storage_class_name != NULL ||
        str_map_has(&claim->metadata.annotations, STR("volume.beta.kubernetes.io/storage-class"))) {
        return NULL;
    }
    return find(admission, "storage.k8s.io", "storageclasses", annotations, &claim->spec.storage_class_name);
}

static struct status *mutate_ingress(struct admission_request *admission)
{
    static const char *const annotations[] = {"ingressclass.kubernetes.io/is-default-class", NULL};
    struct networking_v1_ingress *ingress = admission->object;

    if (!admission_is_about(admission, &networking_v1_ingress_kind) || ingress->spec.ingress_class_name != NULL ||
        str_map_has(&ingress->metadata.annotations, STR("kubernetes.io/ingress.class"))) {
        return NULL;
    }
    return find(admission, "networking.k8s.io", "ingressclasses", annotations, &ingress->spec.ingress_class_name);
}

const struct admission_plugin default_storage_class_plugin = {
    .name = "DefaultStorageClass",
    .operations = ADMIT_CREATE,
    .mutate = mutate_claim,
};

const struct admission_plugin default_ingress_class_plugin = {
    .name = "DefaultIngressClass",
    .operations = ADMIT_CREATE,
    .mutate = mutate_ingress,
};
