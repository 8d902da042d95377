/* Numbers kept for topology domains, such as how many pods are in zone=a. In an arena; for one attempt. */
#ifndef SCHEDULER_TOPOLOGY_H
#define SCHEDULER_TOPOLOGY_H

#include "base/arena.h"

#include <stdint.h>

struct topology_count {
    struct str key, value; /* borrowed */
    int64_t count;
};

struct topology {
    struct topology_count *items; /* in the order they came */
    size_t len;
    uint32_t *slots; /* index into items plus one; 0 is free */
    size_t slot_count;
};

/* The number of that domain, made as 0 when it is new. Valid until the next call. */
int64_t *topology_at(struct topology *topology, struct arena *arena, struct str key, struct str value);
/* 0 when the domain is not known; *ret_known (may be NULL) says so. */
int64_t topology_get(const struct topology *topology, struct str key, struct str value, bool *ret_known);

#endif
