/* Pods from manifests in a directory of this node, which run without an API server. */
#ifndef KUBELET_STATIC_PODS_H
#define KUBELET_STATIC_PODS_H

#include "kubelet/context.h"

struct static_pods;

struct static_pods *static_pods_new(struct kubelet *kubelet);
/* Its task has ended (kubelet->tasks). NULL is fine. */
void static_pods_free(struct static_pods *pods);
/* Looks at once, and then every options.file_check_frequency. Without options.manifest_path there is nothing to do. */
void static_pods_start(struct static_pods *pods);
/* The manifests have been read once. */
bool static_pods_is_synced(const struct static_pods *pods);

/* A manifest's pod, complete: YAML or JSON, defaults filled in, named for the node, its UID a hash of what it says
 * and of `path`. BAD_REQUEST, or INVALID with causes, for what is no good. Pure. */
MUST_USE struct status *static_pod_read(struct arena *arena, struct str text, struct str path, struct str node_name,
                                        struct core_v1_pod **ret);

#endif
