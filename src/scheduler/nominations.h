/* Pods that have been promised a node once the pods that had to leave it are gone. On the scheduler's thread. */
#ifndef SCHEDULER_NOMINATIONS_H
#define SCHEDULER_NOMINATIONS_H

#include "scheduler/snapshot.h"

struct nominations;

struct nominations *nominations_new(void);
void nominations_free(struct nominations *nominations);
/* Takes the reference. */
void nominations_set(struct nominations *nominations, struct cached *pod, struct str node_name);
void nominations_remove(struct nominations *nominations, struct str uid);

/* Counts the nominated pods of no lower priority than `pod` on their nodes, so that nobody takes their place; and back.
 * Between the two nothing else may change the snapshot. */
void nominations_apply(struct nominations *nominations, struct snapshot *snapshot, const struct core_v1_pod *pod);
void nominations_revert(struct nominations *nominations, struct snapshot *snapshot);

#endif
