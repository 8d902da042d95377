/* From CRI's configuration of a container to the plan the shim carries out. Pure. */
#ifndef RUNTIME_CONTAINER_PLAN_H
#define RUNTIME_CONTAINER_PLAN_H

#include "runtime/cgroup.h"
#include "runtime/images/image_config.h"
#include "runtime/images/snapshot.h"
#include "runtime/plan.h"

/* What was found out before. All borrowed. */
struct container_facts {
    struct str id;
    const struct cri_v1_pod_sandbox_config *sandbox;
    const struct image_config *image;
    const struct snapshot_mount *snapshot;
    const struct cgroup_machine *machine;
    struct str directory;         /* the container's, with an empty directory "root" to mount on */
    struct str sandbox_directory; /* with hosts, hostname, resolv.conf */
    struct str hostname;
    struct {
        struct shim_device *items; /* the host's that it gets, beside the usual ones */
        size_t len;
    } devices;
    struct str seccomp; /* the filter; empty: none */
    struct str oci_runtime, seccomp_json; /* the program; empty: the shim makes the container itself */
    uint32_t seccomp_flags;
    bool has_apparmor;  /* the machine */
};

/* INVALID with the kubelet's and containerd's words where they have some: "no command specified", ... */
MUST_USE struct status *container_plan_make(struct arena *arena, const struct cri_v1_container_config *config,
                                            const struct container_facts *facts, struct shim_container_plan *ret);

/* The capabilities it has, for choosing its seccomp filter too. */
MUST_USE struct status *container_plan_capabilities(const struct cri_v1_container_config *config, uint64_t *ret);
bool container_plan_is_privileged(const struct cri_v1_container_config *config);

/* What is executed in a running container, which has been made by `container`. */
void container_plan_exec(struct arena *arena, const struct shim_container_plan *container, const struct str_list *command,
                         bool is_tty, struct shim_exec_plan *ret);

/* All that its cgroup is set to before it starts: limits, and on v1 which devices it may use (cgroup_devices.h). */
void container_plan_settings(struct arena *arena, const struct cri_v1_container_config *config,
                             const struct shim_container_plan *plan, bool is_v2, struct cgroup_settings *ret);

/* A signal's number by CRI's enum; 0 for the default. */
int container_signal_of(int32_t cri);
/* CRI's enum by the number; 0 when it has none. */
int32_t container_signal_to_cri(int number);
/* "SIGTERM", "term", "15", "SIGRTMIN+3"; 0 when it is none. */
int container_signal_parse(struct str text);

#endif
