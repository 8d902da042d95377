/* A Deployment's status and conditions, computed from its ReplicaSets, as stock's. Pure. */
#ifndef CONTROLLER_DEPLOYMENT_STATUS_H
#define CONTROLLER_DEPLOYMENT_STATUS_H

#include "controller/deployment_rollout.h"

/* What the pass has found out for the conditions. */
struct deployment_progress {
    int64_t now; /* ns since 1970 */
    /* What to set on Progressing when something was done (a set found or created, a pause begun or ended).
     * NULL: nothing. */
    const char *status, *reason;
    struct str message;
};

/* The status the Deployment should have; in the arena. `new_set` may be NULL. */
struct apps_v1_deployment_status deployment_status(struct arena *arena, const struct apps_v1_deployment *deployment,
                                                   const struct replica_sets *all,
                                                   const struct apps_v1_replica_set *new_set,
                                                   const struct deployment_progress *progress);

/* Every wanted pod is of the new template, available, and no old ones are left. */
bool deployment_is_complete(const struct apps_v1_deployment *deployment,
                            const struct apps_v1_deployment_status *status);

/* Time until the progress deadline could pass, ns; 0 when there is nothing to wait for. */
int64_t deployment_deadline_in(const struct apps_v1_deployment *deployment,
                               const struct apps_v1_deployment_status *status, int64_t now);

const struct apps_v1_deployment_condition *deployment_condition_find(const struct apps_v1_deployment_status *status,
                                                                     const char *type);

#endif
