/* What is served: each resource with the place of its objects in the store. */
#ifndef APISERVER_RESOURCE_H
#define APISERVER_RESOURCE_H

#include "apiserver/watch_cache.h"

#include "base/map.h"
#include "base/mem.h"
#include "schema/type.h"

struct strategy;

struct resource {
    const struct kind *kind;   /* whose objects requests and answers carry */
    const struct kind *stored; /* as which they lie in the store: another version's kind, or the same */
    struct str prefix;         /* "/registry/pods/" */
    const struct strategy *strategy;
    struct watch_cache *cache; /* shared by all versions; NULL before the server has started */
    uint32_t form; /* tells the versions that share a cache apart; 0: the stored one */
};

struct resources {
    struct resource *items; /* the built-in ones, in the order of discovery; they never change */
    size_t len;
    VEC(const struct resource *) custom; /* of definitions, likewise ordered; they come and go */
    struct map by_name; /* "group/version/plural" -> struct resource */
};

/* All built-in kinds that have a resource and are kept in the store. */
void resources_init(struct resources *resources);
void resources_done(struct resources *resources);
/* NULL: not served. */
const struct resource *resources_find(const struct resources *resources, struct str group, struct str version,
                                      struct str plural);
/* All of them: the built-in ones come first. */
size_t resources_count(const struct resources *resources);
const struct resource *resources_at(const struct resources *resources, size_t i);
/* Serves a custom resource from now on, or no longer. It is lent. */
void resources_add(struct resources *resources, const struct resource *resource);
void resources_remove(struct resources *resources, const struct resource *resource);
/* No built-in resource is in the group. */
bool resources_group_is_custom(const struct resources *resources, struct str group);
/* A group and version with at least one resource. */
bool resources_have_version(const struct resources *resources, struct str group, struct str version);

/* The place below the prefix: "NAMESPACE/NAME", or "NAME" of cluster-scoped kinds. */
struct str resource_key(struct arena *arena, const struct resource *resource, struct str namespace, struct str name);
/* Kinds that are only computed, such as SubjectAccessReview, have no prefix. */
bool resource_is_stored(const struct resource *resource);

#endif
