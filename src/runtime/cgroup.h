/* Control groups of a machine with v1, hybrid, or v2 hierarchies: where a container's are, making them, their limits,
 * removing them. On a hybrid machine the v1 controllers are used and v2 is left alone.
 *
 * Reading and writing of cgroup files blocks for microseconds; removal waits for what still runs, so on a worker. */
#ifndef RUNTIME_CGROUP_H
#define RUNTIME_CGROUP_H

#include "base/arena.h"
#include "base/status.h"
#include "schema/shim.h"

struct cgroup_hierarchy {
    struct str controllers; /* "memory", "cpu,cpuacct"; empty: v2 */
    struct str mount_point;
};

struct cgroup_machine {
    struct {
        struct cgroup_hierarchy *items;
        size_t len;
    } hierarchies; /* of v2 exactly one; none: no cgroups here */
    bool is_v2;
};

/* What /proc/self/mountinfo says. Pure; texts are in the arena. */
void cgroup_machine_parse(struct arena *arena, struct str mountinfo, struct cgroup_machine *ret);
MUST_USE struct status *cgroup_machine_read(struct arena *arena, struct cgroup_machine *ret);

/* The directories of cgroup `path` ("/kubepods/besteffort/pod1/ID"). Pure. */
void cgroup_place(struct arena *arena, const struct cgroup_machine *machine, struct str path, struct shim_cgroups *ret);
/* Makes them and what is missing above them, ready to be entered. Fine when they are there. */
MUST_USE struct status *cgroup_make(const struct shim_cgroups *cgroups);

/* One file to write, and what for. */
struct cgroup_setting {
    struct str controller; /* "memory"; empty for v2 */
    struct str file, value;
    bool is_optional; /* not every kernel has it */
};
struct cgroup_settings {
    struct cgroup_setting *items;
    size_t len;
};
/* What CRI's resources mean here; zero and empty fields are left as they are. Pure. */
void cgroup_settings_plan(struct arena *arena, bool is_v2, const struct cri_v1_linux_container_resources *resources,
                          struct cgroup_settings *ret);
/* Writes them in order. INTERNAL_ERROR with the file's name at the first that fails. */
MUST_USE struct status *cgroup_apply(const struct shim_cgroups *cgroups, const struct cgroup_settings *settings);
/* cpu.weight of v2 for v1's cpu.shares. */
uint64_t cgroup_cpu_weight(uint64_t shares);

/* Kills what is left in them and removes them and all below; fine when they are gone. Blocks for up to a second. */
MUST_USE struct status *cgroup_remove(const struct shim_cgroups *cgroups);

/* The whole of DIRECTORY/FILE of a controller (empty: v2), trimmed; empty when there is none. */
struct str cgroup_read(struct arena *arena, const struct shim_cgroups *cgroups, const char *controller,
                       const char *file);

#endif
