/* Signals as something a task waits for. */
#ifndef NET_SIGNALS_H
#define NET_SIGNALS_H

#include "base/status.h"

#include <stdint.h>

struct signals;

/* Blocks the signals (0-terminated list) in this thread and takes them from now on. Call it before threads start (before
 * the first task_offload()), so that none of them gets the signals instead. */
MUST_USE struct status *signals_open(const int *numbers, struct signals **ret);
/* Parks until one comes; TIMEOUT at the deadline (env_mono). */
MUST_USE struct status *signals_wait(struct signals *signals, int64_t deadline, int *ret_number);
/* The signals stay blocked. NULL is fine. */
void signals_close(struct signals *signals);

#endif
