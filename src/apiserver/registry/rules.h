/* What the tables and the kinds' own rules say about objects: defaults and validation. */
#ifndef APISERVER_REGISTRY_RULES_H
#define APISERVER_REGISTRY_RULES_H

#include "apiserver/resource.h"
#include "schema/object.h"

/* Fills defaults into what a client sent. */
void rules_default(struct arena *arena, const struct kind *kind, void *object);
/* INVALID with every cause. */
MUST_USE struct status *rules_validate_create(struct arena *arena, const struct resource *resource,
                                              const struct object *object);
MUST_USE struct status *rules_validate_update(struct arena *arena, const struct resource *resource,
                                              struct str subresource, const struct object *object,
                                              const struct object *old);

#endif
