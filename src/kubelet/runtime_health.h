/* Asks the runtime every few seconds whether it and its network are ready, and keeps the answer in the kubelet's
 * context. */
#ifndef KUBELET_RUNTIME_HEALTH_H
#define KUBELET_RUNTIME_HEALTH_H

#include "kubelet/context.h"

/* Parks until the runtime says its name and version; tries as long as the task is not cancelled. */
MUST_USE struct status *runtime_health_wait(struct kubelet *kubelet);
void runtime_health_start(struct kubelet *kubelet);

#endif
