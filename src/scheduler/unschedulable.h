/* The condition PodScheduled=False, which says in a pod why it has no node. */
#ifndef SCHEDULER_UNSCHEDULABLE_H
#define SCHEDULER_UNSCHEDULABLE_H

#include "api/core_v1.h"
#include "client/client.h"

struct task_group;

/* The strategic merge patch of the pod's status; empty when it says just that already. `nominated` is the node on which
 * others make room for it; empty: none. `now` is ns since 1970. Pure. */
struct str unschedulable_patch(struct arena *arena, const struct core_v1_pod *pod, struct str message,
                               struct str nominated, int64_t now);
/* Sends it, if anything has changed, in a task of the group. Does not park. */
void unschedulable_report(struct task_group *tasks, struct client *client, const struct core_v1_pod *pod,
                          struct str message, struct str nominated);
/* Ends a pod that has to make room for another: the condition DisruptionTarget, then the deletion. Does not park. */
void unschedulable_evict(struct task_group *tasks, struct client *client, const struct core_v1_pod *victim,
                         struct str scheduler);

#endif
