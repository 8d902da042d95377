/* Objects of a resource in the store: typed in, typed out. Nothing here knows of requests. Parks as the store does. */
#ifndef APISERVER_REGISTRY_STORAGE_H
#define APISERVER_REGISTRY_STORAGE_H

#include "apiserver/resource.h"
#include "schema/object.h"

/* What the object looked like in the store. */
struct kept {
    struct object *object;
    int64_t revision; /* of its last write */
    struct str bytes; /* as they lie in the store, in the arena */
};

/* The object in stored bytes, as the stored kind, with its resourceVersion; borrows from the bytes. */
MUST_USE struct status *storage_decode(struct arena *arena, const struct kind *stored, struct str bytes,
                                       int64_t revision, void **ret);
/* The object (of resource->kind) as bytes for the store: without type and resourceVersion. */
struct blob *storage_encode(const struct resource *resource, struct arena *arena, const void *object);

/* What storing does to an object: protobuf knows no empty lists and maps. For writes that are only tried. */
void storage_normalise(const struct resource *resource, void *object);

/* The latest; NOT_FOUND in stock's words when there is none. */
MUST_USE struct status *storage_get(struct store *store, const struct resource *resource, struct arena *arena,
                                    struct str namespace, struct str name, struct kept *ret);
/* Sets the object's resourceVersion. ALREADY_EXISTS in stock's words. */
MUST_USE struct status *storage_create(struct store *store, const struct resource *resource, struct arena *arena,
                                       struct object *object, struct store_object *ret);
/* Replaces what was kept; nothing is written when the bytes are the same. CONFLICT when the store holds another now. */
MUST_USE struct status *storage_update(struct store *store, const struct resource *resource, struct arena *arena,
                                       const struct kept *kept, struct object *object, struct store_object *ret);
/* CONFLICT likewise; the object's resourceVersion becomes the delete's. */
MUST_USE struct status *storage_delete(struct store *store, const struct resource *resource, struct arena *arena,
                                       const struct kept *kept, struct store_object *ret);

/* The decoder of a watch cache; `arg` is the stored kind. */
struct status *storage_cache_decode(void *arg, struct arena *arena, struct str bytes, int64_t revision, void **ret);

#endif
