/* The validation of each kind (validation.c has the table). Objects are of the kind's type; findings go to `to`. The
 * metadata is checked before. For src/api/validation* only. */
#ifndef API_VALIDATION_KINDS_H
#define API_VALIDATION_KINDS_H

#include "base/status.h"

typedef void validate_object(struct status *to, const void *object);
typedef void validate_change(struct status *to, const void *object, const void *old);

validate_object validate_pod, validate_pod_template;
validate_change validate_pod_update, validate_pod_template_update, validate_pod_status, validate_pod_ephemeral,
    validate_pod_resize;
validate_object validate_deployment, validate_replica_set, validate_daemon_set, validate_stateful_set,
    validate_replication_controller;
validate_change validate_deployment_update, validate_replica_set_update, validate_daemon_set_update,
    validate_stateful_set_update, validate_replication_controller_update;
validate_object validate_persistent_volume_claim, validate_persistent_volume;
validate_change validate_persistent_volume_claim_update, validate_persistent_volume_update;
validate_object validate_config_map, validate_secret, validate_namespace, validate_node, validate_service,
    validate_endpoints, validate_endpoint_slice, validate_event, validate_new_event;
validate_change validate_config_map_update, validate_secret_update, validate_namespace_update,
    validate_namespace_finalize, validate_namespace_status, validate_node_update, validate_service_update,
    validate_endpoints_update, validate_endpoint_slice_update, validate_event_update, validate_new_event_update;
validate_object validate_limit_range, validate_resource_quota, validate_priority_class, validate_lease,
    validate_disruption_budget;
validate_change validate_limit_range_update, validate_resource_quota_update, validate_priority_class_update,
    validate_lease_update, validate_disruption_budget_update;
validate_object validate_role, validate_role_binding, validate_cluster_role, validate_cluster_role_binding;
validate_change validate_role_update, validate_role_binding_update, validate_cluster_role_update,
    validate_cluster_role_binding_update;
validate_object validate_job, validate_cron_job, validate_autoscaler, validate_autoscaler_v1;
validate_change validate_job_update, validate_cron_job_update, validate_autoscaler_update,
    validate_autoscaler_v1_update;
validate_object validate_network_policy, validate_ingress, validate_ingress_class, validate_ip_address,
    validate_service_cidr;
validate_change validate_network_policy_update, validate_ingress_update, validate_ingress_class_update,
    validate_ip_address_update;
validate_object validate_storage_class, validate_csi_driver, validate_csi_node, validate_csi_capacity,
    validate_volume_attachment, validate_volume_attributes_class, validate_controller_revision;
validate_change validate_storage_class_update, validate_csi_driver_update, validate_csi_node_update,
    validate_csi_capacity_update, validate_volume_attachment_update, validate_volume_attributes_class_update,
    validate_controller_revision_update;
validate_object validate_validating_webhooks, validate_mutating_webhooks, validate_flow_schema, validate_priority_level,
    validate_api_service, validate_trust_bundle;
validate_change validate_validating_webhooks_update, validate_mutating_webhooks_update, validate_flow_schema_update,
    validate_priority_level_update, validate_api_service_update, validate_trust_bundle_update,
    validate_signing_request_status, validate_signing_request_approval;
validate_object validate_resource_claim, validate_resource_claim_template, validate_device_class,
    validate_device_taint_rule, validate_version_migration;
validate_change validate_resource_claim_update, validate_device_class_update, validate_device_taint_rule_update,
    validate_version_migration_update;
validate_object validate_validating_policy, validate_validating_binding, validate_mutating_policy,
    validate_mutating_binding, validate_signing_request, validate_pod_certificate_request, validate_runtime_class,
    validate_resource_slice;
validate_change validate_validating_policy_update, validate_validating_binding_update, validate_mutating_policy_update,
    validate_mutating_binding_update, validate_pod_certificate_request_update, validate_runtime_class_update,
    validate_resource_slice_update, validate_resource_claim_template_update;
validate_object validate_resource_definition;
validate_change validate_resource_definition_update;

#endif
