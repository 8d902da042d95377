/* Sets of the fields of an object, as managedFields carry them: who owns what, what an update changed, what an apply
 * configures. With the walks over value trees that make them (Kubernetes' structured merge), which go by the tables:
 * associative lists are matched by key, atomic lists and structs count as one field.
 *
 * A set is a tree of path elements in the text that JSON has for them: `f:spec`, `k:{"name":"a"}`, `v:"x"`, `i:0`. Sets
 * live in the arena they are made in and are never changed once returned; NULL is the empty set. Any thread. */
#ifndef SCHEMA_FIELD_SET_H
#define SCHEMA_FIELD_SET_H

#include "base/status.h"
#include "schema/type.h"
#include "schema/value.h"

struct field_set;

struct field_child {
    struct str element;
    const struct field_set *below; /* never NULL, never empty */
};

struct field_set {
    bool is_member; /* the path to here itself is in the set */
    struct field_child *items; /* sorted by element */
    size_t len;
};

bool field_set_is_empty(const struct field_set *set);
bool field_set_equal(const struct field_set *a, const struct field_set *b);
const struct field_set *field_set_union(struct arena *arena, const struct field_set *a, const struct field_set *b);
/* What is in a and not in b. */
const struct field_set *field_set_difference(struct arena *arena, const struct field_set *a, const struct field_set *b);
const struct field_set *field_set_intersection(struct arena *arena, const struct field_set *a, const struct field_set *b);
/* a without the members of b and all that is below them. */
const struct field_set *field_set_without(struct arena *arena, const struct field_set *a, const struct field_set *b);
/* What is below one element; NULL when nothing is. */
const struct field_set *field_set_below(const struct field_set *set, struct str element);
/* The set of some paths, each the elements joined by spaces: "f:metadata f:name". */
const struct field_set *field_set_of_paths(struct arena *arena, const char *const *paths, size_t count);

/* fieldsV1: {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}. BAD_REQUEST when it isn't. */
MUST_USE struct status *field_set_read(struct arena *arena, struct str json, const struct field_set **ret);
void field_set_write(const struct field_set *set, struct buf *out);

/* Each member as people read paths: `.spec.containers[name="c"].image`; in the order of the set. */
struct field_paths {
    struct str *items;
    size_t len;
};
struct field_paths field_set_paths(struct arena *arena, const struct field_set *set);

/* What it takes to get from one value to the other. */
struct field_changes {
    const struct field_set *added, *modified, *removed;
};
struct field_changes field_compare(struct arena *arena, const struct type *type, const struct value *from,
                                   const struct value *to);
/* All fields of a value. `unknown` (may be NULL) gets the path of the first that the type doesn't have. */
const struct field_set *field_set_of_value(struct arena *arena, const struct type *type, const struct value *value,
                                           struct str *unknown);
/* The live object with an applied configuration laid over it. */
struct value *field_merge(struct arena *arena, const struct type *type, const struct value *live,
                          const struct value *configuration);
/* The value without the fields of the set; fields of structs on the way to members count as members. */
struct value *field_remove(struct arena *arena, const struct type *type, const struct value *value,
                           const struct field_set *set);
/* The set, and the fields of structs on the way to its members. */
const struct field_set *field_set_with_named(struct arena *arena, const struct type *type, const struct field_set *set);

#endif
