/* What must hold in a simulated cluster, looked up in the store itself, not through the network:
 *
 *   - a pod that has a node keeps it; it is controlled by one owner at most; so are ReplicaSets
 *   - revisions only grow, and objects never go back to an older one
 *   - of a Deployment's pods there are never more than its replicas and maxSurge allow
 *   - what a rolling update takes away leaves at least replicas less maxUnavailable that are ready
 *   - no pod runs on two nodes (seen by sim.c when a sandbox starts)
 *   - once nobody does anything and nothing fails, everything is as it was asked for */
#ifndef SIM_CHECKER_H
#define SIM_CHECKER_H

#include "sim/sim.h"

struct checker;

struct checker *checker_new(struct sim *sim);
void checker_free(struct checker *checker);
/* Looks once; blames what is wrong. Does not park. */
void checker_look(struct checker *checker);
/* Everything is as asked for; else `why` says what is not. Does not park. */
bool checker_has_converged(struct checker *checker, char *why, size_t why_size);
/* A digest of all that was seen: the same for the same run. */
uint64_t checker_digest(const struct checker *checker);

#endif
