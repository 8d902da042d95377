/* Where the kubelet's pods come from: those the API server has bound to this node, by a watch and by a full list
 * every 20 seconds that is compared with what the watch has shown, and those of manifests in a directory. */
#ifndef KUBELET_POD_SOURCE_H
#define KUBELET_POD_SOURCE_H

#include "kubelet/context.h"

struct pod_source *pod_source_new(struct kubelet *kubelet);
/* Parks. NULL is fine. */
void pod_source_free(struct pod_source *source);
void pod_source_start(struct pod_source *source);
/* All pods that there are have been handed to the workers at least once: what else runs may be removed. */
bool pod_source_is_synced(const struct pod_source *source);

#endif
