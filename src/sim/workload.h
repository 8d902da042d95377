/* What the user of a simulated cluster does: makes, scales, changes and deletes Deployments, and deletes pods, at random.
 * Parks; ends at `until` (env_mono) or when cancelled. Refusals and broken connections are part of it. */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include "sim/sim.h"

enum {
    WORKLOAD_NAMES = 5,     /* Deployments "app-0" and on, each with a Service */
    WORKLOAD_PODS_MAX = 50, /* of the namespace's ResourceQuota */
};

void workload_run(struct sim *sim, int64_t until);

#endif
