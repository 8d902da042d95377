/* Claims grow only where their storage class lets them. */
#include "api/core_v1.h"
#include "api/storage_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

static struct quantity size_of(const struct core_v1_persistent_volume_claim *claim)
{
    const struct quantity *size = quantity_map_get(&claim->spec.resources.requests, STR("storage"));

    return size != NULL ? *size : (struct quantity){0};
}

static struct status *may_grow(const struct admission_request *admission,
                               const struct core_v1_persistent_volume_claim *claim, bool *ret)
{
    const void *object;

    *ret = false;
    if (claim->spec.storage_class_name == NULL || claim->spec.storage_class_name->n == 0) {
        return NULL;
    }
    struct status *status = admission_find(admission, "storage.k8s.io", "v1", "storageclasses", (struct str){0},
                                           *claim->spec.storage_class_name, &object);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return NULL;
    }
    TRY(status);
    const bool *allowed = ((const struct storage_v1_storage_class *)object)->allow_volume_expansion;

    *ret = allowed != NULL && *allowed;
    return NULL;
}

static struct status *validate(struct admission_request *admission)
{
    const struct core_v1_persistent_volume_claim *claim = admission->object, *old = admission->old_object;
    bool allowed;

    if (!admission_is_about(admission, &core_v1_persistent_volume_claim_kind) ||
        quantity_cmp(size_of(claim), size_of(old)) <= 0) {
        return NULL;
    }
    if (!str_is(old->status.phase, "Bound")) {
        return admission_forbidden(admission, "Only bound persistent volume claims can be expanded");
    }
    TRY(may_grow(admission, old, &allowed));
    return allowed
               ? NULL
               : admission_forbidden(admission, "only dynamically provisioned pvc can be resized and the storageclass "
                                                "that provisions the pvc must support resize");
}

const struct admission_plugin persistent_volume_claim_resize_plugin = {
    .name = "PersistentVolumeClaimResize",
    .operations = ADMIT_UPDATE,
    .validate = validate,
};
