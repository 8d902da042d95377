/* Watches what memory, disk and process numbers the node has left, reports pressure, and evicts pods when thresholds
 * are met: images nobody uses go first, then one pod at a time. */
#ifndef KUBELET_EVICTION_MANAGER_H
#define KUBELET_EVICTION_MANAGER_H

#include "kubelet/context.h"

struct eviction_manager *eviction_manager_new(struct kubelet *kubelet);
/* Its task has ended (kubelet->tasks). NULL is fine. */
void eviction_manager_free(struct eviction_manager *manager);
void eviction_manager_start(struct eviction_manager *manager);
/* The pressures found last, by enum eviction_pressure. */
const bool *eviction_manager_pressure(const struct eviction_manager *manager);

#endif
