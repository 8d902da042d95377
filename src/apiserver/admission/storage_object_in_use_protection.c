/* Volumes and claims are not gone before their users are: a finalizer holds them. */
#include "api/core_v1.h"
#include "api/storage_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/resource.h"
#include "apiserver/user.h"
#include "schema/object.h"

static struct status *mutate(struct admission_request *admission)
{
    const struct kind *kind = admission->resource->kind;
    struct object *object = admission->object;
    struct str finalizer;

    if (admission->subresource.n != 0) {
        return NULL;
    }
    if (kind == &core_v1_persistent_volume_claim_kind) {
        finalizer = STR("kubernetes.io/pvc-protection");
    } else if (kind == &core_v1_persistent_volume_kind) {
        finalizer = STR("kubernetes.io/pv-protection");
    } else if (kind == &storage_v1_volume_attributes_class_kind) {
        finalizer = STR("kubernetes.io/vac-protection");
    } else {
        return NULL;
    }
    if (!str_list_has(&object->metadata.finalizers, finalizer)) {
        *LIST_APPEND(admission->request->arena, &object->metadata.finalizers) = finalizer;
    }
    return NULL;
}

const struct admission_plugin storage_object_in_use_protection_plugin = {
    .name = "StorageObjectInUseProtection",
    .operations = ADMIT_CREATE,
    .mutate = mutate,
};
