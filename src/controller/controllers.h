/* Every controller of the controller manager, a row each. The decider of a row is in the file of its name. */
#ifndef CONTROLLER_CONTROLLERS_H
#define CONTROLLER_CONTROLLERS_H

#include "controller/controller.h"

extern const struct controller deployment_controller;
extern const struct controller replicaset_controller;
extern const struct controller replication_controller;
extern const struct controller service_account_controller;
extern const struct controller root_ca_controller;
extern const struct controller node_ipam_controller;
extern const struct controller node_lifecycle_controller;
extern const struct controller taint_eviction_controller;
extern const struct controller pod_gc_controller;
extern const struct controller namespace_controller;
extern const struct controller endpointslice_controller;
extern const struct controller endpoints_controller;
extern const struct controller resource_quota_controller;
extern const struct controller cronjob_controller;
extern const struct controller daemonset_controller;
extern const struct controller disruption_controller;
extern const struct controller statefulset_controller;
extern const struct controller job_controller;
extern const struct controller ttl_after_finished_controller;
extern const struct controller cluster_role_aggregation_controller;
extern const struct controller pvc_protection_controller;
extern const struct controller pv_protection_controller;
extern const struct controller vac_protection_controller;

/* All of them, in the order they are started. */
extern const struct controller *const controllers_all[];
extern const size_t controllers_all_count;

#endif
