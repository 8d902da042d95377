/* Stops containers: preStop hook, then the runtime's stop with the rest of the grace period. */
#ifndef KUBELET_CONTAINER_KILL_H
#define KUBELET_CONTAINER_KILL_H

#include "kubelet/context.h"
#include "kubelet/runtime_pod.h"

struct container_kill {
    const struct runtime_container *container;
    struct str message;    /* of the event Killing; empty: "Stopping container NAME" */
    int64_t grace_seconds; /* all together, the hook included */
    bool is_forced;        /* grace_seconds even when that is below the minimum, and no hook */
};

/* `pod` may be NULL when its spec is not known any more: no hook is run and no event recorded then. Parks until it has
 * stopped. */
MUST_USE struct status *container_kill(struct kubelet *kubelet, const struct core_v1_pod *pod,
                                       const struct container_kill *kill);
/* All running containers of the pod, the sidecars last and in reverse order, then its sandboxes. grace_seconds below
 * 0: as the pod says. Parks. */
MUST_USE struct status *pod_kill(struct kubelet *kubelet, const struct core_v1_pod *pod,
                                 const struct runtime_pod *runtime, int64_t grace_seconds);

#endif
