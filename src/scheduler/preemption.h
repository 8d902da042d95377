/* Making room for a pod by ending pods of lower priority: stock's DefaultPreemption. Pure. PodDisruptionBudgets are not
 * looked at. */
#ifndef SCHEDULER_PREEMPTION_H
#define SCHEDULER_PREEMPTION_H

#include "scheduler/cycle.h"

struct preemption {
    const struct node_info *node; /* NULL: nothing helps */
    struct {
        const struct pod_info **items;
        size_t len;
    } victims;
    struct str message; /* why nothing helps, as it follows the filters' message; empty when something does */
};

/* `decision` is one in which no node fits. */
void preemption_find(const struct snapshot *snapshot, const struct pod_info *pod, const struct decision *decision,
                     struct arena *arena, struct preemption *ret);

int32_t preemption_priority(const struct core_v1_pod *pod);

#endif
