#include "api/validation.h"

#include "api/apps_v1.h"
#include "api/apiregistration_v1.h"
#include "api/certificates_v1.h"
#include "api/core_v1.h"
#include "api/networking_v1.h"
#include "api/rbac_v1.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "schema/object.h"

struct validation {
    const struct kind *kind;
    name_check *name; /* NULL: a DNS subdomain */
    validate_object *create;
    validate_change *update;
    validate_change *status;
    bool any_finalizer;
};

static const struct validation validations[] = {
    {&core_v1_pod_kind, NULL, validate_pod, validate_pod_update, validate_pod_status, false},
    {&core_v1_pod_template_kind, NULL, validate_pod_template, validate_pod_template_update, NULL, false},
    {&core_v1_replication_controller_kind, NULL, validate_replication_controller,
     validate_replication_controller_update, NULL, false},
    {&core_v1_persistent_volume_claim_kind, NULL, validate_persistent_volume_claim,
     validate_persistent_volume_claim_update, NULL, false},
    {&core_v1_persistent_volume_kind, NULL, validate_persistent_volume, validate_persistent_volume_update, NULL, false},
    {&core_v1_namespace_kind, name_is_dns1123_label, NULL, NULL, NULL, false},
    {&rbac_v1_role_kind, name_is_path_segment, NULL, NULL, NULL, false},
    {&rbac_v1_role_binding_kind, name_is_path_segment, NULL, NULL, NULL, false},
    {&rbac_v1_cluster_role_kind, name_is_path_segment, NULL, NULL, NULL, false},
    {&rbac_v1_cluster_role_binding_kind, name_is_path_segment, NULL, NULL, NULL, false},
    {&apiregistration_v1_api_service_kind, name_is_path_segment, NULL, NULL, NULL, true},
    {&certificates_v1_cluster_trust_bundle_kind, name_is_path_segment, NULL, NULL, NULL, false},
    {&networking_v1_ip_address_kind, name_is_path_segment, NULL, NULL, NULL, false},
    {&apps_v1_deployment_kind, NULL, validate_deployment, validate_deployment_update, NULL, false},
    {&apps_v1_replica_set_kind, NULL, validate_replica_set, validate_replica_set_update, NULL, false},
    {&apps_v1_daemon_set_kind, NULL, validate_daemon_set, validate_daemon_set_update, NULL, false},
    {&apps_v1_stateful_set_kind, NULL, validate_stateful_set, validate_stateful_set_update, NULL, false},
};

static const struct validation *validation_of(const struct kind *kind)
{
    static const struct validation plain;

    for (size_t i = 0; i < COUNT_OF(validations); i++) {
        if (validations[i].kind == kind) {
            return &validations[i];
        }
    }
    return &plain;
}

/* Kinds that are kept, not only answered to (SubjectAccessReview). */
static bool has_metadata(const struct kind *kind)
{
    return kind->type->flags & TYPE_OBJECT && kind->verbs & VERB_GET;
}

void api_validate_create(const struct kind *kind, const void *object, struct status *causes)
{
    const struct validation *validation = validation_of(kind);

    if (has_metadata(kind)) {
        check_object_meta(causes, &((const struct object *)object)->metadata, kind->namespaced,
                          validation->name != NULL ? validation->name : name_is_dns1123_subdomain,
                          validation->any_finalizer);
    }
    if (validation->create != NULL) {
        validation->create(causes, object);
    }
}

static void check_meta_update(const struct kind *kind, const void *object, const void *old, struct status *causes)
{
    if (has_metadata(kind)) {
        check_object_meta_update(causes, &((const struct object *)object)->metadata,
                                 &((const struct object *)old)->metadata, validation_of(kind)->any_finalizer);
    }
}

void api_validate_update(const struct kind *kind, const void *object, const void *old, struct status *causes)
{
    const struct validation *validation = validation_of(kind);

    check_meta_update(kind, object, old, causes);
    if (validation->update != NULL) {
        validation->update(causes, object, old);
    }
}

/* spec.replicas of any kind that has a scale. */
static void check_scale(const struct kind *kind, const void *object, struct status *causes)
{
    const struct type_member *spec = type_member(kind->type, STR("spec"));
    const struct type_member *replicas = spec == NULL ? NULL : type_member(spec->field->type, STR("replicas"));

    if (replicas != NULL && replicas->field->shape == SHAPE_POINTER && replicas->field->kind == TYPE_INT32) {
        const int32_t *count = *(int32_t *const *)((const char *)object + spec->offset + replicas->offset);

        if (count != NULL) {
            check_non_negative(causes, AT(AT(NULL, "spec"), "replicas"), *count);
        }
    }
}

void api_validate_update_subresource(const struct kind *kind, struct str subresource, const void *object,
                                     const void *old, struct status *causes)
{
    const struct validation *validation = validation_of(kind);

    check_meta_update(kind, object, old, causes);
    if (kind == &core_v1_pod_kind && str_is(subresource, "ephemeralcontainers")) {
        validate_pod_ephemeral(causes, object, old);
    } else if (kind == &core_v1_pod_kind && str_is(subresource, "resize")) {
        validate_pod_resize(causes, object, old);
    } else if (str_is(subresource, "scale")) {
        check_scale(kind, object, causes);
    } else if (validation->status != NULL && str_is(subresource, "status")) {
        validation->status(causes, object, old);
    }
}
