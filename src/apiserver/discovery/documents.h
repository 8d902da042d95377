/* Discovery documents: which groups, versions and resources a server has. Pure; everything made lies in the arena and
 * borrows from the resources. */
#ifndef APISERVER_DISCOVERY_DOCUMENTS_H
#define APISERVER_DISCOVERY_DOCUMENTS_H

#include "api/apidiscovery_v2.h"
#include "apiserver/resource.h"

/* /api; `address` is where the server is reached ("10.0.0.1:6443"). */
struct meta_v1_api_versions *discovery_versions(struct arena *arena, struct str address);
/* /apis */
struct meta_v1_api_group_list *discovery_groups(struct arena *arena, const struct resources *resources);
/* /apis/GROUP; NULL: no such group. */
struct meta_v1_api_group *discovery_group(struct arena *arena, const struct resources *resources, struct str group);
/* /api/v1 and /apis/GROUP/VERSION; NULL: no such version. */
struct meta_v1_api_resource_list *discovery_resources(struct arena *arena, const struct resources *resources,
                                                      struct str group, struct str version);
/* Everything below /api (`of_core`) or /apis. */
struct apidiscovery_v2_api_group_discovery_list *discovery_aggregated(struct arena *arena,
                                                                      const struct resources *resources, bool of_core);

#endif
