/* What objects cost against ResourceQuotas, and which quotas count them. Pure. */
#ifndef API_QUOTA_USAGE_H
#define API_QUOTA_USAGE_H

#include "api/core_v1.h"

/* The object's cost: "pods", "requests.cpu", "count/deployments.apps", ... */
struct quantity_map quota_usage(struct arena *arena, const struct kind *kind, const void *object);
/* Objects of the kind may count against a bound of that name. */
bool quota_name_concerns(const struct kind *kind, struct str name);
/* The quota's scopes let it count the object. */
bool quota_scopes_match(const struct core_v1_resource_quota_spec *quota, const struct kind *kind, const void *object);
/* What the object must say because one of the names (a list of bounds) needs it, in stock's words; empty when it
 * does. */
struct str quota_constraints(struct arena *arena, const struct str_list *names, const struct kind *kind,
                             const void *object);

/* The names of the map, and the entries with these names. */
struct str_list quota_names(struct arena *arena, const struct quantity_map *amounts);
struct quantity_map quota_mask(struct arena *arena, const struct quantity_map *amounts, const struct str_list *names);
/* "cpu=1,memory=2Gi" */
struct str quota_text(struct arena *arena, const struct quantity_map *amounts);

#endif
