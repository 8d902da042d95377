/* One scheduling decision: which node takes a pod, or why none does. Pure. */
#ifndef SCHEDULER_CYCLE_H
#define SCHEDULER_CYCLE_H

#include "scheduler/plugin.h"

struct node_verdict {
    const struct node_info *node;
    enum verdict verdict;
    struct reasons reasons;
    const char *plugin; /* that rejected it */
    int64_t score;      /* weighted sum, of a node that fits */
};

struct decision {
    const struct node_info *node; /* NULL: none fits */
    struct str message;           /* stock's FailedScheduling text then; what was decided otherwise */
    struct node_verdict *verdicts;
    size_t verdict_count, fit_count;
};

/* `tie` chooses among nodes of equal score (any number). */
void cycle_decide(const struct snapshot *snapshot, const struct pod_info *pod, uint64_t tie, struct arena *arena,
                  struct decision *ret);
/* The first half, for the trace: filters only. */
void cycle_filter(const struct snapshot *snapshot, const struct pod_info *pod, struct arena *arena,
                  struct decision *ret);
void cycle_score(const struct snapshot *snapshot, const struct pod_info *pod, uint64_t tie, struct arena *arena,
                 struct decision *decision);

/* Whether the node would take the pod. It may be a copy, which then stands for the snapshot's node of its name. */
enum verdict cycle_try(const struct snapshot *snapshot, const struct pod_info *pod, const struct node_info *node,
                       struct arena *arena, struct reasons *ret);
/* "2 Insufficient cpu, 1 node(s) were unschedulable": counted, the parts sorted as text. Sorts the reasons. */
struct str cycle_histogram(struct arena *arena, struct reasons *reasons);

#endif
