/* What must hold in a simulated cluster, looked up in the store itself (history.h), not through the network, at every
 * change:
 *
 *   - a pod that has a node keeps it; an object is controlled by one owner at most; an object's UID never changes hands
 *   - a Deployment's ReplicaSets never want more pods together than its replicas and maxSurge allow
 *   - a ReplicaSet never has more pods than it wanted since it last had what it wanted
 *   - Recreate starts no new pod while an old one lives
 *   - what a rolling update takes away leaves at least replicas less maxUnavailable that are ready
 *   - revisions only grow, and nothing that was written is lost (history.c)
 *   - watches tell all of it, in order (witness.c)
 *   - no pod runs on two nodes (seen by sim.c when a sandbox starts), or on when it is gone from the API
 *   - the pods on a node never ask for more CPU than it has
 *   - the namespace never has more pods than its quota allows
 *   - once nobody does anything and nothing fails, Services send to every ready pod and to no other
 *   - once nobody does anything and nothing fails, everything is as it was asked for, and nothing is left over */
#ifndef SIM_CHECKER_H
#define SIM_CHECKER_H

#include "sim/history.h"

struct checker;

/* Before the first change. Borrows the history. */
struct checker *checker_new(struct sim *sim, struct history *history);
void checker_free(struct checker *checker);
/* The user has asked for, or may have asked for, the deletion of that pod. */
void checker_expect_deletion(struct checker *checker, struct str pod_uid);
/* Everything is as asked for; else `why` says what is not. Does not park. */
bool checker_has_converged(struct checker *checker, char *why, size_t why_size);

#endif
