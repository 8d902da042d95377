/* Secrets and ConfigMaps that pods refer to, kept current by a watch of each for as long as a pod needs it. */
#ifndef KUBELET_OBJECT_CACHE_H
#define KUBELET_OBJECT_CACHE_H

#include "kubelet/context.h"

struct object_cache *object_cache_new(struct kubelet *kubelet);
/* Parks. */
void object_cache_free(struct object_cache *cache);
/* The object, copied into the arena; from now on pod `uid` needs it and is woken when it changes. Parks until the
 * watch has shown what there is. NOT_FOUND in stock's words when there is none. */
MUST_USE struct status *object_cache_secret(struct object_cache *cache, struct str uid, struct str namespace,
                                            struct str name, struct arena *arena, const struct core_v1_secret **ret);
MUST_USE struct status *object_cache_config_map(struct object_cache *cache, struct str uid, struct str namespace,
                                                struct str name, struct arena *arena,
                                                const struct core_v1_config_map **ret);
/* The pod needs nothing any more; watches that none needs end. Parks. */
void object_cache_forget(struct object_cache *cache, struct str uid);

#endif
