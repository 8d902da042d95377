/* All built-in kinds. Custom resources are found in the API server's registry instead. Any thread. */
#ifndef API_KINDS_H
#define API_KINDS_H

#include "schema/type.h"

/* By group (empty: core), version and kind, such as "apps", "v1", "Deployment"; list kinds too. Kinds of meta.k8s.io
 * that every group has (DeleteOptions, ListOptions, WatchEvent, ...) are found in any group and version. NULL: none. */
const struct kind *kind_find(struct str group, struct str version, struct str kind);
/* By the apiVersion of an object ("apps/v1", "v1") and its kind. */
const struct kind *kind_find_api_version(struct str api_version, struct str kind);
/* By its plural, such as "apps", "v1", "deployments". */
const struct kind *kind_find_resource(struct str group, struct str version, struct str plural);

/* In the order of discovery: by group and version, then as described. */
extern const struct kind *const kinds_all[];
extern const size_t kinds_all_count;

/* Splits "apps/v1" into group and version; "v1" has the empty group. */
void api_version_split(struct str api_version, struct str *ret_group, struct str *ret_version);

#endif
