/* From CRI's configuration of a pod to the plan of its pause process and the files its containers share. Pure. */
#ifndef RUNTIME_SANDBOX_PLAN_H
#define RUNTIME_SANDBOX_PLAN_H

#include "base/arena.h"
#include "base/status.h"
#include "runtime/cgroup.h"

/* Which namespaces of the machine a pod stays in. */
struct sandbox_sharing {
    bool has_host_network, has_host_ipc, has_host_pid;
    bool is_pid_shared; /* all its containers see each other's processes */
};
struct sandbox_sharing sandbox_sharing_of(const struct cri_v1_pod_sandbox_config *config);

/* INVALID, naming what is asked and can't be had. `hostname` is the machine's, for pods that say none. */
MUST_USE struct status *sandbox_plan_make(struct arena *arena, const struct cri_v1_pod_sandbox_config *config,
                                          struct str id, const struct cgroup_machine *machine, struct str hostname,
                                          struct shim_sandbox_plan *ret);

/* The cgroup path of a pod's container or of its pause process. */
struct str sandbox_cgroup_path(struct arena *arena, const struct cri_v1_pod_sandbox_config *config, struct str id);

/* /etc/resolv.conf; `of_host` when the pod says nothing. */
struct str sandbox_resolv_conf(struct arena *arena, const struct cri_v1_dns_config *dns, struct str of_host);

/* Stock's runtimes write sysctls either way: "net.ipv4.ip_forward", "net/ipv4/conf/eth0.1/forwarding". The file's path
 * below /proc/sys. BAD_REQUEST for what leaves it. */
MUST_USE struct status *sandbox_sysctl_path(struct arena *arena, struct str name, struct str *ret);

#endif
