/* Notices what happens to containers by itself, and wakes their pods: from the runtime's own events where it tells
 * them, else by listing all containers every second and looking for differences. */
#ifndef KUBELET_PLEG_H
#define KUBELET_PLEG_H

#include "kubelet/context.h"

struct pleg *pleg_new(struct kubelet *kubelet);
/* Its tasks have ended (kubelet->tasks). NULL is fine. */
void pleg_free(struct pleg *pleg);
void pleg_start(struct pleg *pleg);

#endif
