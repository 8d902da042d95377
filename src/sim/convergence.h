/* Whether a cluster that nobody disturbs any more has become what it was asked to be, with nothing left over. */
#ifndef SIM_CONVERGENCE_H
#define SIM_CONVERGENCE_H

#include "sim/history.h"

/* Else `why` says what is not. Does not park. */
bool convergence_reached(const struct sim *sim, const struct history *history, char *why, size_t why_size);

#endif
