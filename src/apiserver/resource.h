/* What is served: each resource with the place of its objects in the store. */
#ifndef APISERVER_RESOURCE_H
#define APISERVER_RESOURCE_H

#include "apiserver/watch_cache.h"

#include "base/map.h"
#include "schema/type.h"

struct strategy;

struct resource {
    const struct kind *kind;   /* whose objects requests and answers carry */
    const struct kind *stored; /* as which they lie in the store: another version's kind, or the same */
    struct str prefix;         /* "/registry/pods/" */
    const struct strategy *strategy;
    struct watch_cache *cache; /* shared by all versions; NULL before the server has started */
};

struct resources {
    struct resource *items; /* in the order of discovery */
    size_t len;
    struct map by_name; /* "group/version/plural" -> struct resource */
};

/* All built-in kinds that have a resource and are kept in the store. */
void resources_init(struct resources *resources);
void resources_done(struct resources *resources);
/* NULL: not served. */
const struct resource *resources_find(const struct resources *resources, struct str group, struct str version,
                                      struct str plural);
/* A group and version with at least one resource. */
bool resources_have_version(const struct resources *resources, struct str group, struct str version);

/* The place below the prefix: "NAMESPACE/NAME", or "NAME" of cluster-scoped kinds. */
struct str resource_key(struct arena *arena, const struct resource *resource, struct str namespace, struct str name);
/* Kinds that are only computed, such as SubjectAccessReview, have no prefix. */
bool resource_is_stored(const struct resource *resource);

#endif
