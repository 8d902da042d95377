/* Which devices the processes of a cgroup may open and make: lines of v1's devices.allow, or a program in the kernel for
 * v2, which has no such file. */
#ifndef RUNTIME_CGROUP_DEVICES_H
#define RUNTIME_CGROUP_DEVICES_H

#include "runtime/cgroup.h"

enum { DEVICE_MAKE = 1, DEVICE_READ = 2, DEVICE_WRITE = 4 };

struct device_rule {
    bool is_block;
    bool any_major, any_minor;
    uint32_t major, minor;
    unsigned access; /* DEVICE_* */
};
struct device_rules {
    struct device_rule *items;
    size_t len;
};

/* What a container that is not privileged may: make any device, open the usual ones, terminals, and those in its plan. */
void cgroup_devices_plan(struct arena *arena, const struct shim_container_plan *plan, struct device_rules *ret);
/* As v1's settings: nothing at all, then what the rules say. */
void cgroup_devices_settings(struct arena *arena, const struct device_rules *rules, struct cgroup_settings *ret);

/* The instructions (struct bpf_insn[]) of v2's program. Pure. */
struct str cgroup_devices_program(struct arena *arena, const struct device_rules *rules);
/* Holds the v2 cgroup to the rules from now on, until it is removed. */
MUST_USE struct status *cgroup_devices_attach(const struct shim_cgroups *cgroups, const struct device_rules *rules);

#endif
