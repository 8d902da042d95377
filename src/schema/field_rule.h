/* How the values of fields are walked by structured merge. Nothing outside src/schema includes this. */
#ifndef SCHEMA_FIELD_RULE_H
#define SCHEMA_FIELD_RULE_H

#include "base/map.h"
#include "schema/field_set.h"

enum field_rule_kind {
    FIELD_RULE_LEAF,   /* counts as one: scalars, all that is atomic */
    FIELD_RULE_STRUCT, /* by `type` */
    FIELD_RULE_MAP,    /* any keys; their values by `below` */
    FIELD_RULE_SET,    /* a list of scalars, each there once */
    FIELD_RULE_LIST,   /* elements are matched by `keys`, each by `type` */
};

struct field_rule {
    enum field_rule_kind kind;
    const struct type *type;   /* of a struct, or of the elements; for a map NULL when its values are scalars */
    const struct field *field; /* of a list: its keys */
};

/* A set in the making: children in any order (empty ones are left out), then sorted; NULL when it is empty. */
void field_set_add(struct arena *arena, struct field_set *set, struct str element, const struct field_set *below);
const struct field_set *field_set_sorted(struct arena *arena, struct field_set *set);

/* The elements of a list by their path elements. */
struct field_items {
    struct field_item {
        struct str element;
        const struct value *value;
        bool is_taken;
    } *items;
    size_t len;
    struct map by_element;
};

struct field_items field_items_of(struct arena *arena, const struct field_rule *rule, const struct value *list);
/* NULL when there is none. */
struct field_item *field_items_find(const struct field_items *items, struct str element);
/* For OWNED. */
void field_items_done(struct field_items *items);

struct field_rule field_rule_root(const struct type *type);
/* The rule of a member of a struct or map; *ret_known is false when the struct has no such field. */
struct field_rule field_rule_member(const struct field_rule *rule, struct str name, bool *ret_known);
/* The struct has a field of that name, rather than taking any member. */
bool field_rule_is_named(const struct field_rule *rule, struct str name);
/* That of a list's elements. */
struct field_rule field_rule_element(const struct field_rule *rule);
struct str field_element_of_name(struct arena *arena, struct str name);
/* The path element of an element of a list (the i-th). */
struct str field_element_of_item(struct arena *arena, const struct field_rule *rule, const struct value *item);
/* As which the value is walked: one of another shape than the rule's is a leaf. */
enum field_rule_kind field_rule_for(const struct field_rule *rule, const struct value *value);

#endif
