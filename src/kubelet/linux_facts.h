/* Figures of the real machine, from /proc and /sys. For linux_host.c. */
#ifndef KUBELET_LINUX_FACTS_H
#define KUBELET_LINUX_FACTS_H

#include "kubelet/host.h"

MUST_USE struct status *linux_facts(struct arena *arena, struct host_facts *ret);
MUST_USE struct status *linux_usage(struct host_usage *ret);
/* The bytes of a line such as "MemTotal:  2048 kB"; -1 when there is none. */
int64_t linux_meminfo_find(struct str meminfo, struct str name);

#endif
