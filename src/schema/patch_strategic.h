/* What applying and making strategic merge patches share. Nothing outside src/schema includes this. */
#ifndef SCHEMA_PATCH_STRATEGIC_H
#define SCHEMA_PATCH_STRATEGIC_H

#include "schema/type.h"
#include "schema/value.h"

#define PATCH_DIRECTIVE STR("$patch")
#define RETAIN_KEYS_DIRECTIVE STR("$retainKeys")
#define DELETE_PRIMITIVES_PREFIX STR("$deleteFromPrimitiveList/")
#define ELEMENT_ORDER_PREFIX STR("$setElementOrder/")

/* How a member is merged. */
struct merge_rule {
    const struct type *type; /* of the member, or of a list's or map's elements; NULL: scalars or unknown */
    bool is_map;             /* any keys, all of that type */
    bool merges;             /* a list: elements are merged, not replaced */
    bool replaces;           /* a struct or map: replaced as a whole */
    bool retains_keys;
    struct str key; /* a list's merge key; empty: its elements are scalars */
};

/* The rule of a member of a value that has this rule. */
struct merge_rule merge_rule_of(const struct merge_rule *parent, struct str name);
struct merge_rule merge_rule_root(const struct type *type);
/* The element of the list whose merge key has that value (or, without a key, that is that value); SIZE_MAX: none. */
size_t merge_find(const struct value *list, struct str key, const struct value *element);

#endif
