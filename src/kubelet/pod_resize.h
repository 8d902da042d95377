/* Changes of what a running pod's containers may use, made in place (KEP-1287): which there are, whether they fit, and
 * carrying them out. What a container has is what its status says, since runtimes need not tell. */
#ifndef KUBELET_POD_RESIZE_H
#define KUBELET_POD_RESIZE_H

#include "kubelet/context.h"
#include "kubelet/pod_admission.h"
#include "kubelet/runtime_pod.h"

struct resize_change {
    const struct core_v1_container *spec;
    const struct runtime_container *container;
    enum plan_kind kind;
    bool needs_restart; /* by its resizePolicy */
};

struct resize_changes {
    struct resize_change *items;
    size_t len;
};

/* The running containers whose resources differ from those in `status`, which is about the same containers. Pure. */
void pod_resize_find(struct arena *arena, const struct core_v1_pod *pod, const struct runtime_pod *runtime,
                     const struct core_v1_pod_status *status, struct resize_changes *ret);
/* False with reason Infeasible (never here) or Deferred (not now), and the message, in stock's words. Pure. */
bool pod_resize_fits(struct arena *arena, const struct pod_admission_facts *facts, struct pod_rejection *ret);

/* Told of each container that has its new resources now. */
typedef void resize_result(void *arg, struct str container_id);

/* Cgroups and containers; those that must restart are killed, and the next pass of pod_sync() starts them again.
 * Parks. */
MUST_USE struct status *pod_resize(struct kubelet *kubelet, const struct core_v1_pod *pod,
                                   const struct resize_changes *changes, resize_result *result, void *arg);

#endif
