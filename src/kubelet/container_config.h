/* What CRI needs to make a pod's sandbox and containers: functions of the spec and of what is known of the node. No
 * I/O. */
#ifndef KUBELET_CONTAINER_CONFIG_H
#define KUBELET_CONTAINER_CONFIG_H

#include "kubelet/env_vars.h"
#include "kubelet/pod_view.h"
#include "schema/cri_v1.h"

struct sandbox_facts {
    const struct core_v1_pod *pod;
    uint32_t attempt;
    struct str hostname, log_directory, cgroup_parent;
    struct str seccomp_root; /* where Localhost profiles lie */
    struct str_list dns_servers, dns_searches, dns_options;
};

MUST_USE struct status *sandbox_config_make(struct arena *arena, const struct sandbox_facts *facts,
                                            struct cri_v1_pod_sandbox_config **ret);

/* One mount of a container. */
struct container_mount {
    struct str container_path, host_path;
    bool read_only;
    bool is_recursive_read_only;
    int32_t propagation;
};

struct container_mounts {
    struct container_mount *items;
    size_t len;
};

struct container_facts {
    const struct core_v1_pod *pod;
    const struct core_v1_container *container;
    enum plan_kind kind;
    int32_t restart_count;
    struct str image;             /* the reference the runtime gave */
    struct env_vars *env;         /* complete */
    struct container_mounts mounts;
    struct str seccomp_root;
    struct str target_id;         /* of an ephemeral container's target; empty: none */
    int64_t memory_capacity;      /* of the node */
    bool cpu_cfs_quota;
    int64_t cpu_cfs_quota_period; /* ns */
    /* What the image says of its user; has_image_uid only when it is a number. */
    bool has_image_uid;
    int64_t image_uid;
    struct str image_user;
};

/* INVALID with stock's words when runAsNonRoot forbids it. */
MUST_USE struct status *container_config_make(struct arena *arena, const struct container_facts *facts,
                                              struct cri_v1_container_config **ret);
/* "NAME/ATTEMPT.log", below the pod's log directory. */
struct str container_log_name(struct arena *arena, struct str container, int32_t restart_count);
/* Shares, quota, memory and OOM score. */
struct cri_v1_linux_container_resources *container_resources(struct arena *arena, const struct container_facts *facts);

#endif
