/* Cgroups on the real machine: v1, hybrid (v1 controllers beside an empty v2 tree) and v2. For linux_host.c. */
#ifndef KUBELET_LINUX_CGROUP_H
#define KUBELET_LINUX_CGROUP_H

#include "kubelet/host.h"

bool linux_cgroup_is_v2(void);
MUST_USE struct status *linux_cgroup_apply(const char *name, const struct host_cgroup_limits *limits);
MUST_USE struct status *linux_cgroup_remove(const char *name);
MUST_USE struct status *linux_cgroup_list(const char *name, struct arena *arena, struct host_names *ret);
/* cpu.weight of v2 for v1's cpu.shares, as runc maps it. */
int64_t linux_cgroup_weight(int64_t shares);

#endif
