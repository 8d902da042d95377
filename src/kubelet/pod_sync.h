/* Carries out what pod_plan() decides for a pod: one pass. */
#ifndef KUBELET_POD_SYNC_H
#define KUBELET_POD_SYNC_H

#include "kubelet/container_start.h"

/* Told of each container that could not be started (reason not empty), or could (empty). */
typedef void start_result(void *arg, struct str container, const struct start_problem *problem);

/* What is remembered of a pod from pass to pass. Zero at first. */
struct pod_sync_memory {
    int64_t initialising_since; /* env_wall; 0: not begun */
    bool is_initialised;        /* its containers have been begun with, and that was told */
};

/* Cgroups, directories, volumes, sandbox, containers. `runtime` is what the runtime has now. An error means that
 * something is still to be done: come back with back-off. *ret_has_acted tells, also then, that the runtime's state
 * has changed. Parks. */
MUST_USE struct status *pod_sync(struct kubelet *kubelet, struct pod_ref *pod, const struct runtime_pod *runtime,
                                 struct pod_sync_memory *memory, start_result *result, void *arg,
                                 bool *ret_has_acted);

#endif
