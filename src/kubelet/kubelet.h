/* The kubelet: runs the pods bound to its node, through CRI, and reports on them and on the node.
 *
 * It works on any env: in a process of its own (kubelet_main.h), or among a dozen others under simulation, where
 * client, cri and host are in-memory ones. */
#ifndef KUBELET_KUBELET_H
#define KUBELET_KUBELET_H

#include "client/client.h"
#include "kubelet/cri.h"
#include "kubelet/eviction.h"
#include "kubelet/host.h"
#include "schema/scalars.h"

struct kubelet;

struct kubelet_taint {
    struct str key, value, effect;
};

/* Strings are borrowed for the life of the kubelet. kubelet_options_default() gives stock's defaults. */
struct kubelet_options {
    struct str node_name;       /* --hostname-override; empty: the machine's name in lower case */
    struct str node_ip;         /* empty: the machine's */
    struct str root_dir;        /* /var/lib/kubelet */
    struct str pod_logs_dir;    /* /var/log/pods */
    struct str container_logs_dir; /* /var/log/containers: links to the logs; empty: none */
    struct str cluster_domain;
    struct str_list cluster_dns;
    struct str resolv_conf;     /* /etc/resolv.conf */
    struct str manifest_path;   /* --pod-manifest-path; empty: no static pods */
    struct str cgroup_root;     /* "/" */
    struct str pod_cidr;        /* of --pod-cidr; else spec.podCIDR of the Node */
    struct str provider_id;
    struct str_map node_labels;
    struct {
        struct kubelet_taint *items;
        size_t len;
    } taints;
    bool register_node;
    bool cgroups_per_qos;
    bool cpu_cfs_quota;
    bool serialize_image_pulls;
    bool enable_server;
    int64_t cpu_cfs_quota_period; /* ns */
    int64_t max_pods, pods_per_core, pod_pids_limit;
    int64_t port; /* 10250: reported in the Node; the server itself is in server.h */
    int64_t node_status_update_frequency, node_status_report_frequency, node_lease_seconds; /* ns, ns, s */
    int64_t full_list_period;   /* ns: 20 s */
    int64_t sync_frequency;     /* ns: a minute */
    int64_t file_check_frequency;
    int64_t image_gc_high, image_gc_low, image_minimum_age;
    int64_t node_status_max_images;
    int64_t log_max_bytes, log_max_files; /* of a container; bytes 0: no rotation */
    struct quantity_map system_reserved, kube_reserved;
    struct eviction_thresholds eviction; /* empty: stock's */
    int64_t eviction_pressure_transition, eviction_max_pod_grace_seconds;
    bool (*is_cancelled)(void *arg);
};

void kubelet_options_default(struct kubelet_options *options);

/* Client, cri and host are lent and must outlive the kubelet. `client` may be NULL: only static pods run then. */
struct kubelet *kubelet_new(const struct kubelet_options *options, struct client *client, struct cri *cri,
                            struct host *host);
/* Starts all its tasks and returns at once; parks until the machine's and runtime's facts are known. Waits for a
 * runtime that does not answer yet. */
MUST_USE struct status *kubelet_start(struct kubelet *kubelet);
/* Ends all its tasks (parks); pods go on running. */
void kubelet_stop(struct kubelet *kubelet);
/* After kubelet_stop(), or never started. */
void kubelet_free(struct kubelet *kubelet);

#endif
