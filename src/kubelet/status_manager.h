/* Keeps what the kubelet knows of each pod's status, and writes it to the API: a strategic merge patch of the status
 * with the UID as its precondition, one write at a time a pod, the newest status winning. When a deleted pod is over
 * and its resources are gone, deletes it from the API (grace period 0, UID as precondition). */
#ifndef KUBELET_STATUS_MANAGER_H
#define KUBELET_STATUS_MANAGER_H

#include "kubelet/context.h"

struct status_manager *status_manager_new(struct kubelet *kubelet);
/* Its tasks have ended (kubelet->tasks). */
void status_manager_free(struct status_manager *manager);
void status_manager_start(struct status_manager *manager);

/* What was set last; NULL when nothing was. Borrowed until the next set or forget of that pod. */
const struct core_v1_pod_status *status_manager_find(const struct status_manager *manager, struct str uid);
/* Copies the status; it is written soon when it is news. */
void status_manager_set(struct status_manager *manager, struct pod_ref *pod, const struct core_v1_pod_status *status);
/* All that the pod had on this node is gone; it may be deleted from the API. */
void status_manager_finish(struct status_manager *manager, struct pod_ref *pod);
/* The API's pod changed: writes again what differs from it. */
void status_manager_observe(struct status_manager *manager, struct pod_ref *pod);
/* The pod is gone from the API. */
void status_manager_forget(struct status_manager *manager, struct str uid);

/* Makes what is to be written of the API's status and the kubelet's: conditions that others own stay, an end is not
 * told while containers run. Pure. */
void status_manager_merge(struct arena *arena, const struct core_v1_pod_status *in_api,
                          const struct core_v1_pod_status *ours, struct core_v1_pod_status *ret);

#endif
