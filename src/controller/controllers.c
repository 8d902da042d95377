#include "controller/controllers.h"

const struct controller *const controllers_all[] = {
    &service_account_controller, &root_ca_controller,        &node_ipam_controller,
    &node_lifecycle_controller,  &taint_eviction_controller, &deployment_controller,
    &replicaset_controller,      &pod_gc_controller,         &namespace_controller,
    &endpointslice_controller,   &endpoints_controller,      &resource_quota_controller,
    &cluster_role_aggregation_controller, &daemonset_controller,
    &job_controller,             &ttl_after_finished_controller, &statefulset_controller,
    &disruption_controller,      &cronjob_controller,        &replication_controller,
    &pvc_protection_controller,
    &pv_protection_controller,   &vac_protection_controller,
};
const size_t controllers_all_count = COUNT_OF(controllers_all);
