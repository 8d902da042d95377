#include "api/validation.h"

#include "api/admissionregistration_v1.h"
#include "api/apiextensions_v1.h"
#include "api/apiregistration_v1.h"
#include "api/apps_v1.h"
#include "api/autoscaling_v1.h"
#include "api/autoscaling_v2.h"
#include "api/batch_v1.h"
#include "api/certificates_v1.h"
#include "api/coordination_v1.h"
#include "api/core_v1.h"
#include "api/discovery_v1.h"
#include "api/events_v1.h"
#include "api/flowcontrol_v1.h"
#include "api/networking_v1.h"
#include "api/node_v1.h"
#include "api/policy_v1.h"
#include "api/rbac_v1.h"
#include "api/resource_v1.h"
#include "api/scheduling_v1.h"
#include "api/storage_v1.h"
#include "api/storagemigration_v1.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "schema/object.h"

struct validation {
    const struct kind *kind;
    name_check *name; /* NULL: a DNS subdomain */
    validate_object *create;
    validate_change *update;
    validate_change *status;
    bool any_finalizer; /* finalizers need no domain */
    bool no_metadata;   /* which stock doesn't look at */
};

/* Its own validation says what the name must be. */
static bool any_name(struct str name, struct name_errors *errors)
{
    (void)name, (void)errors;
    return true;
}

static const struct validation validations[] = {
    {&core_v1_pod_kind, .create = validate_pod, .update = validate_pod_update, .status = validate_pod_status},
    {&core_v1_pod_template_kind, .create = validate_pod_template, .update = validate_pod_template_update},
    {&core_v1_replication_controller_kind, .create = validate_replication_controller,
     .update = validate_replication_controller_update},
    {&core_v1_persistent_volume_claim_kind, .create = validate_persistent_volume_claim,
     .update = validate_persistent_volume_claim_update},
    {&core_v1_persistent_volume_kind, .create = validate_persistent_volume,
     .update = validate_persistent_volume_update},
    {&core_v1_namespace_kind, .name = name_is_dns1123_label, .create = validate_namespace,
     .status = validate_namespace_status, .update = validate_namespace_update},
    {&core_v1_node_kind, .create = validate_node, .update = validate_node_update, .status = validate_node_update},
    {&core_v1_config_map_kind, .create = validate_config_map, .update = validate_config_map_update},
    {&core_v1_secret_kind, .create = validate_secret, .update = validate_secret_update},
    {&core_v1_service_kind, .name = name_is_dns1035_label, .create = validate_service,
     .update = validate_service_update},
    {&core_v1_endpoints_kind, .create = validate_endpoints, .update = validate_endpoints_update},
    {&core_v1_event_kind, .create = validate_event, .update = validate_event_update, .no_metadata = true},
    {&core_v1_limit_range_kind, .create = validate_limit_range, .update = validate_limit_range_update},
    {&core_v1_resource_quota_kind, .create = validate_resource_quota, .update = validate_resource_quota_update},
    {&events_v1_event_kind, .create = validate_new_event, .update = validate_new_event_update},
    {&discovery_v1_endpoint_slice_kind, .create = validate_endpoint_slice, .update = validate_endpoint_slice_update},
    {&coordination_v1_lease_kind, .create = validate_lease, .update = validate_lease_update},
    {&scheduling_v1_priority_class_kind, .create = validate_priority_class, .update = validate_priority_class_update},
    {&policy_v1_pod_disruption_budget_kind, .create = validate_disruption_budget,
     .update = validate_disruption_budget_update},
    {&rbac_v1_role_kind, .name = name_is_path_segment, .create = validate_role, .update = validate_role_update},
    {&rbac_v1_role_binding_kind, .name = name_is_path_segment, .create = validate_role_binding,
     .update = validate_role_binding_update},
    {&rbac_v1_cluster_role_kind, .name = name_is_path_segment, .create = validate_cluster_role,
     .update = validate_cluster_role_update},
    {&rbac_v1_cluster_role_binding_kind, .name = name_is_path_segment, .create = validate_cluster_role_binding,
     .update = validate_cluster_role_binding_update},
    {&apps_v1_deployment_kind, .create = validate_deployment, .update = validate_deployment_update},
    {&apps_v1_replica_set_kind, .create = validate_replica_set, .update = validate_replica_set_update},
    {&apps_v1_daemon_set_kind, .create = validate_daemon_set, .update = validate_daemon_set_update},
    {&apps_v1_stateful_set_kind, .create = validate_stateful_set, .update = validate_stateful_set_update},
    {&apps_v1_controller_revision_kind, .create = validate_controller_revision,
     .update = validate_controller_revision_update},
    {&batch_v1_job_kind, .create = validate_job, .update = validate_job_update},
    {&batch_v1_cron_job_kind, .create = validate_cron_job, .update = validate_cron_job_update},
    {&autoscaling_v1_horizontal_pod_autoscaler_kind, .create = validate_autoscaler_v1,
     .update = validate_autoscaler_v1_update},
    {&autoscaling_v2_horizontal_pod_autoscaler_kind, .create = validate_autoscaler,
     .update = validate_autoscaler_update},
    {&networking_v1_network_policy_kind, .create = validate_network_policy, .update = validate_network_policy_update},
    {&networking_v1_ingress_kind, .create = validate_ingress, .update = validate_ingress_update},
    {&networking_v1_ingress_class_kind, .create = validate_ingress_class, .update = validate_ingress_class_update},
    {&networking_v1_ip_address_kind, .name = any_name, .create = validate_ip_address,
     .update = validate_ip_address_update},
    {&networking_v1_service_cidr_kind, .create = validate_service_cidr},
    {&storage_v1_storage_class_kind, .create = validate_storage_class, .update = validate_storage_class_update},
    {&storage_v1_csi_driver_kind, .create = validate_csi_driver, .update = validate_csi_driver_update},
    {&storage_v1_csi_node_kind, .create = validate_csi_node, .update = validate_csi_node_update},
    {&storage_v1_csi_storage_capacity_kind, .create = validate_csi_capacity, .update = validate_csi_capacity_update},
    {&storage_v1_volume_attachment_kind, .create = validate_volume_attachment,
     .update = validate_volume_attachment_update},
    {&storage_v1_volume_attributes_class_kind, .create = validate_volume_attributes_class,
     .update = validate_volume_attributes_class_update},
    {&apiregistration_v1_api_service_kind, .name = name_is_path_segment, .create = validate_api_service,
     .update = validate_api_service_update, .any_finalizer = true},
    {&certificates_v1_cluster_trust_bundle_kind, .name = any_name, .create = validate_trust_bundle,
     .update = validate_trust_bundle_update},
    {&certificates_v1_certificate_signing_request_kind, .name = any_name, .create = validate_signing_request,
     .status = validate_signing_request_status},
    {&resource_v1_resource_claim_kind, .create = validate_resource_claim, .update = validate_resource_claim_update},
    {&resource_v1_resource_claim_template_kind, .create = validate_resource_claim_template,
     .update = validate_resource_claim_template_update},
    {&resource_v1_resource_slice_kind, .create = validate_resource_slice, .update = validate_resource_slice_update},
    {&resource_v1_device_class_kind, .create = validate_device_class, .update = validate_device_class_update},
    {&resource_v1_device_taint_rule_kind, .create = validate_device_taint_rule,
     .update = validate_device_taint_rule_update},
    {&storagemigration_v1_storage_version_migration_kind, .create = validate_version_migration,
     .update = validate_version_migration_update},
    {&apiextensions_v1_custom_resource_definition_kind, .create = validate_resource_definition,
     .update = validate_resource_definition_update, .any_finalizer = true},
    {&flowcontrol_v1_flow_schema_kind, .create = validate_flow_schema, .update = validate_flow_schema_update},
    {&flowcontrol_v1_priority_level_configuration_kind, .create = validate_priority_level,
     .update = validate_priority_level_update},
    {&admissionregistration_v1_validating_webhook_configuration_kind, .create = validate_validating_webhooks,
     .update = validate_validating_webhooks_update},
    {&admissionregistration_v1_mutating_webhook_configuration_kind, .create = validate_mutating_webhooks,
     .update = validate_mutating_webhooks_update},
    {&admissionregistration_v1_validating_admission_policy_kind, .create = validate_validating_policy,
     .update = validate_validating_policy_update},
    {&admissionregistration_v1_validating_admission_policy_binding_kind, .create = validate_validating_binding,
     .update = validate_validating_binding_update},
    {&admissionregistration_v1_mutating_admission_policy_kind, .create = validate_mutating_policy,
     .update = validate_mutating_policy_update},
    {&admissionregistration_v1_mutating_admission_policy_binding_kind, .create = validate_mutating_binding,
     .update = validate_mutating_binding_update},
    {&certificates_v1_pod_certificate_request_kind, .create = validate_pod_certificate_request,
     .update = validate_pod_certificate_request_update},
    {&node_v1_runtime_class_kind, .create = validate_runtime_class, .update = validate_runtime_class_update},
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

    if (has_metadata(kind) && !validation->no_metadata) {
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
    if (has_metadata(kind) && !validation_of(kind)->no_metadata) {
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
    } else if (kind == &core_v1_namespace_kind && str_is(subresource, "finalize")) {
        validate_namespace_finalize(causes, object, old);
    } else if (kind == &certificates_v1_certificate_signing_request_kind && str_is(subresource, "approval")) {
        validate_signing_request_approval(causes, object, old);
    } else if (str_is(subresource, "scale")) {
        check_scale(kind, object, causes);
    } else if (validation->status != NULL && str_is(subresource, "status")) {
        validation->status(causes, object, old);
    }
}
