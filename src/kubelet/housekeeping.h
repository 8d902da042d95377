/* Finds what pods have left on this node that no source knows any more, from before the kubelet was started or from
 * workers that were lost with it: containers, directories, cgroups. */
#ifndef KUBELET_HOUSEKEEPING_H
#define KUBELET_HOUSEKEEPING_H

#include "kubelet/context.h"

struct housekeeping *housekeeping_new(struct kubelet *kubelet);
/* Its task has ended (kubelet->tasks). NULL is fine. */
void housekeeping_free(struct housekeeping *housekeeping);
void housekeeping_start(struct housekeeping *housekeeping);
/* Looks soon. */
void housekeeping_wake(struct housekeeping *housekeeping);

#endif
