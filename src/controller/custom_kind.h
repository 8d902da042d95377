/* Kinds of custom resources, of which only the metadata is known: enough to list, watch and delete them. */
#ifndef CONTROLLER_CUSTOM_KIND_H
#define CONTROLLER_CUSTOM_KIND_H

#include "api/apiextensions_v1.h"
#include "base/arena.h"

/* In its first served version, in the arena; NULL when none is served. Objects are PartialObjectMetadata in memory. */
struct kind *custom_kind_of(struct arena *arena, const struct apiextensions_v1_custom_resource_definition *definition);
/* The API server serves it. */
bool custom_kind_is_established(const struct apiextensions_v1_custom_resource_definition *definition);

#endif
