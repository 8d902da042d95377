/* The API's pictures of static pods: made so that people and controllers see them, and given their status. */
#ifndef KUBELET_MIRROR_PODS_H
#define KUBELET_MIRROR_PODS_H

#include "kubelet/context.h"

struct mirror_pods;

struct mirror_pods *mirror_pods_new(struct kubelet *kubelet);
void mirror_pods_free(struct mirror_pods *mirrors);
/* The source has one, or has it no more. */
void mirror_pods_update(struct mirror_pods *mirrors, struct pod_ref *pod);
void mirror_pods_remove(struct mirror_pods *mirrors, struct str uid);
/* Of a static pod; NULL when the API has none. Borrowed until the next park. */
struct pod_ref *mirror_pods_find(const struct mirror_pods *mirrors, const struct core_v1_pod *static_pod);
/* Makes the mirror when it is not there, and replaces one that is of another version of the pod. Does nothing without
 * an API server. Parks. */
MUST_USE struct status *mirror_pods_ensure(struct mirror_pods *mirrors, const struct core_v1_pod *static_pod);
/* The static pod is gone: so is its mirror. Parks. */
MUST_USE struct status *mirror_pods_delete(struct mirror_pods *mirrors, struct str namespace, struct str name);
/* Deletes mirrors that no static pod has. Parks. */
MUST_USE struct status *mirror_pods_sweep(struct mirror_pods *mirrors);

#endif
