/* Which pressure the node is under, and which pod must go for it. Pure; eviction_manager.c carries it out. */
#ifndef KUBELET_EVICTION_H
#define KUBELET_EVICTION_H

#include "base/arena.h"
#include "base/status.h"

enum eviction_signal {
    EVICTION_MEMORY_AVAILABLE,
    EVICTION_NODEFS_AVAILABLE,
    EVICTION_NODEFS_INODES_FREE,
    EVICTION_IMAGEFS_AVAILABLE,
    EVICTION_IMAGEFS_INODES_FREE,
    EVICTION_PID_AVAILABLE,
    EVICTION_SIGNAL_COUNT,
};

enum eviction_pressure { EVICTION_MEMORY_PRESSURE, EVICTION_DISK_PRESSURE, EVICTION_PID_PRESSURE };

struct eviction_threshold {
    enum eviction_signal signal;
    int64_t value;        /* when percent is 0 */
    double percent;       /* of the capacity: 0.1 is a tenth */
    int64_t grace_period; /* ns it must hold; 0: hard */
    int64_t minimum_reclaim;
};

struct eviction_thresholds {
    struct eviction_threshold *items;
    size_t len;
};

/* One figure of the node. */
struct eviction_observation {
    int64_t available, capacity; /* capacity 0: unknown */
};

/* What is remembered from one look to the next. Times of one clock, 0: never. */
struct eviction_state {
    int64_t met_since[64];     /* by threshold */
    bool is_met[64];
    int64_t pressure_seen[3];  /* last time each pressure held */
};

struct eviction_decision {
    bool pressure[3];                           /* conditions to report */
    const struct eviction_threshold *threshold; /* the worst that is met; NULL: nothing is to be reclaimed */
    int64_t threshold_value;                    /* in the signal's unit */
    struct eviction_observation observed;
};

/* "memory.available"; false when unknown. */
bool eviction_signal_parse(struct str text, enum eviction_signal *ret);
const char *eviction_signal_name(enum eviction_signal signal);
/* "memory", "ephemeral-storage", "inodes", "pids" as in messages. */
const char *eviction_signal_resource(enum eviction_signal signal);
enum eviction_pressure eviction_signal_pressure(enum eviction_signal signal);
/* Stock's hard thresholds: memory.available<100Mi, nodefs.available<10%, imagefs.available<15%, inodes 5%. */
void eviction_default_thresholds(struct arena *arena, struct eviction_thresholds *ret);

/* A pressure condition lasts `transition` ns after it was last seen. */
void eviction_decide(const struct eviction_thresholds *thresholds, const struct eviction_observation *observations,
                     struct eviction_state *state, int64_t now, int64_t transition, struct eviction_decision *ret);

/* A pod that could be evicted. */
struct eviction_pod {
    int32_t priority;
    bool is_critical;
    int64_t memory_usage, memory_request;
    int64_t disk_usage, disk_request;
    int64_t processes;
    void *owner;
};

/* Sorts the pods so that the first is to be evicted first for that signal: those above their request, then by priority,
 * then by how far above. Critical pods are last and never evicted. */
void eviction_rank(struct eviction_pod *pods, size_t count, enum eviction_signal signal);

#endif
