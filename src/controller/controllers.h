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

/* All of them, in the order they are started, under the names that --controllers knows. */
struct controller_row {
    const char *name;
    const struct controller *controller;
};
extern const struct controller_row controllers_all[];
extern const size_t controllers_all_count;

/* It is no row of its own (garbage_collector.h), but is named like one. */
#define GARBAGE_COLLECTOR_NAME "garbage-collector-controller"

/* Whether --controllers has it run; an empty list means "*". */
bool controllers_is_enabled(const struct str_list *wanted, const char *name);
bool controllers_is_name(struct str name);

#endif
