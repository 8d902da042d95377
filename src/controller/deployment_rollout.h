/* How many replicas each ReplicaSet of a Deployment should have: the arithmetic of rolling updates and of proportional
 * scaling, as stock's. Pure. */
#ifndef CONTROLLER_DEPLOYMENT_ROLLOUT_H
#define CONTROLLER_DEPLOYMENT_ROLLOUT_H

#include "api/apps_v1.h"

struct replica_sets {
    struct apps_v1_replica_set **items; /* copies of the pass, oldest first; spec.replicas may be written */
    size_t len;
};

/* maxSurge and maxUnavailable in pods: percentages of spec.replicas, rounded up and down; never both 0. Both 0 for
 * Recreate. */
struct rollout_bounds {
    int32_t max_surge, max_unavailable;
};
struct rollout_bounds rollout_bounds_of(const struct apps_v1_deployment *deployment);

int32_t rollout_wanted(const struct apps_v1_deployment *deployment); /* spec.replicas */
int32_t rollout_total(const struct replica_sets *sets);              /* sum of spec.replicas */
int32_t rollout_total_actual(const struct replica_sets *sets);       /* sum of status.replicas */
int32_t rollout_total_available(const struct replica_sets *sets);

/* What the new set should have now, with the old ones as they are. `all` holds the new set too. */
int32_t rollout_new_replicas(const struct apps_v1_deployment *deployment, const struct replica_sets *all,
                             const struct apps_v1_replica_set *new_set);

/* What the old sets should have now: ret[i] for old->items[i]. Unhealthy pods go first, then as many others as
 * maxUnavailable allows. True when any changes. */
bool rollout_scale_down_old(const struct apps_v1_deployment *deployment, const struct replica_sets *all,
                            const struct replica_sets *old, const struct apps_v1_replica_set *new_set, int32_t *ret);

/* When the Deployment's size changed: what each active set should have, in proportion to its size. `max_replicas` of
 * each is that of its annotation deployment.kubernetes.io/max-replicas, or the Deployment's size. */
void rollout_scale_proportionally(const struct apps_v1_deployment *deployment, const struct replica_sets *active,
                                  const int32_t *max_replicas, int32_t *ret);

#endif
