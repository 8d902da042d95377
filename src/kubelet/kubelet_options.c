#include "kubelet/kubelet.h"

#include "base/env.h"

void kubelet_options_default(struct kubelet_options *options)
{
    *options = (struct kubelet_options){
        .root_dir = STR("/var/lib/kubelet"),
        .pod_logs_dir = STR("/var/log/pods"),
        .container_logs_dir = STR("/var/log/containers"),
        .cluster_domain = STR("cluster.local"),
        .resolv_conf = STR("/etc/resolv.conf"),
        .cgroup_root = STR("/"),
        .register_node = true,
        .cgroups_per_qos = true,
        .cpu_cfs_quota = true,
        .serialize_image_pulls = true,
        .enable_server = true,
        .cpu_cfs_quota_period = 100 * ENV_MS,
        .max_pods = 110,
        .pod_pids_limit = -1,
        .port = 10250,
        .node_status_update_frequency = 10 * ENV_SECOND,
        .node_status_report_frequency = 300 * ENV_SECOND,
        .node_lease_seconds = 40,
        .full_list_period = 20 * ENV_SECOND,
        .sync_frequency = 60 * ENV_SECOND,
        .file_check_frequency = 20 * ENV_SECOND,
        .image_gc_high = 85,
        .image_gc_low = 80,
        .image_minimum_age = 120 * ENV_SECOND,
        .node_status_max_images = 50,
        .log_max_bytes = 10 << 20,
        .log_max_files = 5,
        .eviction_pressure_transition = 300 * ENV_SECOND,
    };
}
