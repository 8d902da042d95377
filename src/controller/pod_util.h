/* Questions that several controllers ask of pods. Pure. */
#ifndef CONTROLLER_POD_UTIL_H
#define CONTROLLER_POD_UTIL_H

#include "api/core_v1.h"

/* Succeeded or failed. */
bool pod_is_finished(const struct core_v1_pod *pod);
/* Neither finished nor being deleted. */
bool pod_is_active(const struct core_v1_pod *pod);
bool pod_is_ready(const struct core_v1_pod *pod);
/* Ready for at least that long at `now` (ns since 1970). *ret_wait gets the time until it could be so, 0 when never by
 * itself; may be NULL. */
bool pod_is_available(const struct core_v1_pod *pod, int32_t min_ready_seconds, int64_t now, int64_t *ret_wait);

struct pod_ranked {
    const struct core_v1_pod *pod;
    int32_t same_node; /* pods of the same owner on its node */
    int64_t now;       /* ns since 1970; 0: ages are compared exactly, else those of one magnitude are equal */
};
/* Which of two pods is deleted first when fewer are wanted, as stock orders them; for qsort. */
int pod_deletion_order(const void *a, const void *b);

#endif
