/* Makes, stops and removes pod sandboxes. All park, and may not be cancelled half-way: call them in a task of their own
 * (service.c does). */
#ifndef RUNTIME_SANDBOX_H
#define RUNTIME_SANDBOX_H

#include "runtime/state.h"

/* Whole or not at all. INVALID, ALREADY_EXISTS when the pod has this attempt already, what CNI says, ... */
MUST_USE struct status *sandbox_run(struct runtime *runtime, const struct cri_v1_pod_sandbox_config *config,
                                    struct str runtime_handler, struct str *ret_id, struct arena *arena);
/* Ends all that runs and takes the network away; fine when that has been done. */
MUST_USE struct status *sandbox_stop(struct sandbox *sandbox);
/* Stops it and forgets it and its containers. */
MUST_USE struct status *sandbox_remove(struct sandbox *sandbox);

#endif
