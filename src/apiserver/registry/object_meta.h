/* The rules that hold for the metadata of every kind when objects are made and changed. */
#ifndef APISERVER_REGISTRY_OBJECT_META_H
#define APISERVER_REGISTRY_OBJECT_META_H

#include "apiserver/request.h"
#include "apiserver/resource.h"
#include "schema/object.h"

/* Takes the request's namespace; BAD_REQUEST in stock's words when the object says another. */
MUST_USE struct status *object_meta_set_namespace(const struct kind *kind, struct object *object, struct str namespace);
/* The name of the object must be the one in the path. */
MUST_USE struct status *object_meta_check_name(const struct object *object, struct str name);
/* Fills uid, creationTimestamp and generation and clears what clients can't set. */
void object_meta_create(struct arena *arena, const struct resource *resource, struct object *object);
/* A name for a generateName. */
struct str object_meta_generate_name(struct arena *arena, struct str base);
/* Owners that are named twice are kept once; a warning tells. */
void object_meta_dedupe_owners(struct request *request, struct object *object);
/* Carries over what an update can't change. */
void object_meta_update(struct object *object, const struct object *old);
/* Counts a change when what users want differs: all but metadata and status. */
void object_meta_count_generation(const struct resource *resource, struct object *object, const struct object *old);
struct str object_meta_new_uid(struct arena *arena);

#endif
