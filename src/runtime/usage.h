/* What a cgroup has used. Reads a handful of small files; pure parsing apart. */
#ifndef RUNTIME_USAGE_H
#define RUNTIME_USAGE_H

#include "runtime/cgroup.h"

struct usage {
    uint64_t cpu_ns; /* since it was made */
    uint64_t memory_bytes, working_set_bytes, rss_bytes, page_faults, major_page_faults;
    uint64_t memory_limit_bytes; /* 0: none */
    uint64_t swap_bytes;
    uint64_t processes;
    bool has_cpu, has_memory, has_swap, has_processes; /* the machine counts them */
};

void usage_read(const struct shim_cgroups *cgroups, bool is_v2, struct usage *ret);

/* The number after `name` in a file of "name number" lines; false when it isn't there. Pure. */
bool usage_find(struct str text, const char *name, uint64_t *ret);

struct usage_interface {
    struct str name;
    uint64_t rx_bytes, rx_errors, tx_bytes, tx_errors;
};
struct usage_interfaces {
    struct usage_interface *items;
    size_t len;
};
/* The interfaces in a text like /proc/net/dev, without loopback. Pure; names are borrowed. */
void usage_interfaces_parse(struct arena *arena, struct str text, struct usage_interfaces *ret);

#endif
