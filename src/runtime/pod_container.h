/* Makes, starts, stops and removes containers. All park, and may not be cancelled half-way: call them in a task of their
 * own (service.c does). */
#ifndef RUNTIME_POD_CONTAINER_H
#define RUNTIME_POD_CONTAINER_H

#include "runtime/state.h"

/* Whole or not at all. NOT_FOUND without the image; INVALID, naming what can't be had. */
MUST_USE struct status *pod_container_create(struct sandbox *sandbox, const struct cri_v1_container_config *config,
                                         struct str *ret_id, struct arena *arena);
/* Returns once its program runs. When that fails the container has ended with code 128 and reason StartError. */
MUST_USE struct status *pod_container_start(struct container *container);
/* Sends its stop signal, waits, and kills it. Fine when it does not run. */
MUST_USE struct status *pod_container_stop(struct container *container, int64_t grace_seconds);
/* Kills it when it runs, and forgets it. */
MUST_USE struct status *pod_container_remove(struct container *container);
/* INVALID unless it is created or runs. Fields that are zero stay as they are. */
MUST_USE struct status *pod_container_update(struct container *container,
                                         const struct cri_v1_linux_container_resources *resources);
/* NOT_FOUND unless it runs. */
MUST_USE struct status *pod_container_reopen_log(struct container *container);
/* The number of the signal it is to be stopped with. */
int pod_container_stop_signal(const struct container *container);

#endif
