/* Who owns which fields of an object: metadata.managedFields, kept up with every write. */
#ifndef APISERVER_REGISTRY_MANAGED_FIELDS_H
#define APISERVER_REGISTRY_MANAGED_FIELDS_H

#include "apiserver/request.h"
#include "schema/object.h"
#include "schema/value.h"

/* One write as its manager makes it. */
struct managed_write {
    struct arena *arena;
    const struct kind *kind;
    struct str subresource; /* empty: the object itself */
    struct str manager;
};

/* A create (`live` is NULL), update or patch: the manager owns what it changed, and others no longer do. */
void managed_fields_update(const struct managed_write *write, const struct object *live, struct object *object);

/* Server-side apply: lays the configuration over the live object (NULL: there is none), takes away what the manager
 * applied before and no longer does, and gives the outcome as a value tree with its managedFields. CONFLICT in stock's
 * words when others own what changes, unless `force`. */
MUST_USE struct status *managed_fields_apply(const struct managed_write *write, const struct object *live,
                                             const struct value *configuration, bool force, struct value **ret);

#endif
