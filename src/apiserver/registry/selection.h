/* Which objects a list or watch is about: label and field selectors, matched on typed objects. */
#ifndef APISERVER_REGISTRY_SELECTION_H
#define APISERVER_REGISTRY_SELECTION_H

#include "apiserver/resource.h"
#include "schema/object.h"
#include "schema/selector.h"

struct selection {
    const struct resource *resource;
    struct label_selector labels;
    struct field_selector fields;
    struct str name; /* metadata.name must be this; empty: any */
};

/* BAD_REQUEST in stock's words for what can't be parsed, and for fields the kind can't be selected by. */
MUST_USE struct status *selection_parse(struct arena *arena, const struct resource *resource, struct str labels,
                                        struct str fields, struct selection *ret);
bool selection_is_everything(const struct selection *selection);
/* `object` is of resource->stored. */
bool selection_matches(const struct selection *selection, const void *object);

/* The value at a path such as "spec.nodeName", as text; false when the type has no such field. */
bool object_field_text(const struct type *type, const void *object, struct str path, char *text, size_t size,
                       struct str *ret);

#endif
