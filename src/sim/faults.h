/* What befalls a simulated cluster: crashes, broken connections, a bad disk, compaction, nodes that lose power, containers
 * that end. Parks; ends at `until` (env_mono) or when cancelled. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "sim/sim.h"

void faults_run(struct sim *sim, int64_t until);

#endif
