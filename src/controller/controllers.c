#include "controller/controllers.h"

const struct controller_row controllers_all[] = {
    {"serviceaccount-controller", &service_account_controller},
    {"root-ca-certificate-publisher-controller", &root_ca_controller},
    {"node-ipam-controller", &node_ipam_controller},
    {"node-lifecycle-controller", &node_lifecycle_controller},
    {"taint-eviction-controller", &taint_eviction_controller},
    {"deployment-controller", &deployment_controller},
    {"replicaset-controller", &replicaset_controller},
    {"replicationcontroller-controller", &replication_controller},
    {"daemonset-controller", &daemonset_controller},
    {"statefulset-controller", &statefulset_controller},
    {"job-controller", &job_controller},
    {"cronjob-controller", &cronjob_controller},
    {"ttl-after-finished-controller", &ttl_after_finished_controller},
    {"pod-garbage-collector-controller", &pod_gc_controller},
    {"namespace-controller", &namespace_controller},
    {"endpointslice-controller", &endpointslice_controller},
    {"endpoints-controller", &endpoints_controller},
    {"resourcequota-controller", &resource_quota_controller},
    {"disruption-controller", &disruption_controller},
    {"clusterrole-aggregation-controller", &cluster_role_aggregation_controller},
    {"persistentvolumeclaim-protection-controller", &pvc_protection_controller},
    {"persistentvolume-protection-controller", &pv_protection_controller},
    {"volumeattributesclass-protection-controller", &vac_protection_controller},
};
const size_t controllers_all_count = COUNT_OF(controllers_all);

/* "*" enables what is not named, "NAME" and "-NAME" what is; the first word about a controller counts. */
bool controllers_is_enabled(const struct str_list *wanted, const char *name)
{
    bool all = wanted->len == 0;

    LIST_EACH(item, wanted)
    {
        if (str_is(*item, name)) {
            return true;
        }
        if (str_has_prefix(*item, STR("-")) && str_is(str_from(*item, 1), name)) {
            return false;
        }
        all = all || str_is(*item, "*");
    }
    return all;
}

bool controllers_is_name(struct str name)
{
    for (size_t i = 0; i < controllers_all_count; i++) {
        if (str_is(name, controllers_all[i].name)) {
            return true;
        }
    }
    return str_is(name, GARBAGE_COLLECTOR_NAME);
}
