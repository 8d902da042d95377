/* Making strategic merge patches, as `kubectl apply` does: from what was applied last, what is wanted now, and what is. */
#include "schema/patch.h"
#include "schema/patch_strategic.h"

/* What a place held last time, should hold, and holds; `original` may be NULL. */
struct three {
    const struct value *original, *modified, *current;
};

static struct status *diff_objects(struct arena *arena, const struct merge_rule *rule, struct three three,
                                   struct value **ret);

static struct str prefixed(struct arena *arena, struct str prefix, struct str name)
{
    return arena_printf(arena, "%.*s%.*s", STR_ARG(prefix), STR_ARG(name));
}

static const struct value *found(const struct value *list, struct str key, const struct value *element)
{
    size_t at = merge_find(list, key, element);

    return at == SIZE_MAX ? NULL : value_item(list, at);
}

static struct status *check_keys(struct arena *arena, const struct value *list, struct str key)
{
    VALUE_EACH_ITEM(item, list) {
        if (key.n != 0 && value_find(*item, key) == NULL) {
            return status_new(STATUS_BAD_REQUEST, "map: %.*s does not contain declared merge key: %.*s",
                              STR_ARG(value_json(arena, *item)), STR_ARG(key));
        }
    }
    return NULL;
}

/* {key: value} of an element; of a scalar the scalar. */
static struct value *identity(struct arena *arena, struct str key, const struct value *element)
{
    if (key.n == 0) {
        return value_copy(arena, element);
    }
    struct value *object = value_object(arena);

    value_set(arena, object, key, value_copy(arena, value_find(element, key)));
    return object;
}

/* What is in both lists stands in the same order in both. */
static bool same_order(const struct value *modified, const struct value *current, struct str key)
{
    size_t last = 0;

    VALUE_EACH_ITEM(item, modified) {
        size_t at = merge_find(current, key, *item);

        if (at != SIZE_MAX && at < last) {
            return false;
        }
        last = at != SIZE_MAX ? at : last;
    }
    return true;
}

/* Elements that are new or differ; those that differ as far as they do, with their key. */
static struct status *diff_elements(struct arena *arena, const struct merge_rule *rule, struct three three,
                                    struct value *ret)
{
    VALUE_EACH_ITEM(item, three.modified) {
        const struct value *now = found(three.current, rule->key, *item);
        struct value *inner;

        if (now == NULL) {
            value_add(arena, ret, value_copy(arena, *item));
            continue;
        }
        if (rule->key.n == 0) {
            continue;
        }
        const struct merge_rule element = {.type = rule->type};

        TRY(diff_objects(arena, &element, (struct three){found(three.original, rule->key, *item), *item, now}, &inner));
        if (value_count(inner) != 0) {
            value_set(arena, inner, rule->key, value_copy(arena, value_find(*item, rule->key)));
            value_add(arena, ret, inner);
        }
    }
    return NULL;
}

/* Elements that were applied last time and are not wanted any more. */
static struct value *deletions(struct arena *arena, const struct merge_rule *rule, struct three three)
{
    struct value *list = value_array(arena);

    VALUE_EACH_ITEM(item, three.original) {
        if (found(three.modified, rule->key, *item) != NULL) {
            continue;
        }
        struct value *gone = identity(arena, rule->key, *item);

        if (rule->key.n != 0) {
            value_set(arena, gone, PATCH_DIRECTIVE, value_string(arena, STR("delete")));
        }
        value_add(arena, list, gone);
    }
    return list;
}

/* Lists that are merged element by element. */
static struct status *diff_lists(struct arena *arena, const struct merge_rule *rule, struct str name, struct three three,
                                 struct value *patch)
{
    struct value *changes = value_array(arena), *order = value_array(arena), *gone;

    TRY(check_keys(arena, three.original, rule->key));
    TRY(check_keys(arena, three.modified, rule->key));
    TRY(check_keys(arena, three.current, rule->key));
    TRY(diff_elements(arena, rule, three, changes));
    gone = deletions(arena, rule, three);
    if (value_count(changes) + value_count(gone) == 0 && same_order(three.modified, three.current, rule->key)) {
        return NULL;
    }
    VALUE_EACH_ITEM(item, three.modified) {
        value_add(arena, order, identity(arena, rule->key, *item));
    }
    value_set(arena, patch, prefixed(arena, ELEMENT_ORDER_PREFIX, name), order);
    if (rule->key.n == 0 && value_count(gone) != 0) {
        value_set(arena, patch, prefixed(arena, DELETE_PRIMITIVES_PREFIX, name), gone);
    }
    VALUE_EACH_ITEM(item, rule->key.n != 0 ? gone : NULL) {
        value_add(arena, changes, *item);
    }
    if (value_count(changes) != 0) {
        value_set(arena, patch, name, changes);
    }
    return NULL;
}

static struct status *diff_member(struct arena *arena, const struct merge_rule *rule, struct str name,
                                  struct three three, struct value *patch)
{
    struct value *inner;

    if (three.current == NULL) {
        if (!value_is(three.modified, VALUE_NULL)) {
            value_set(arena, patch, name, value_copy(arena, three.modified));
        }
        return NULL;
    }
    if (value_is(three.modified, VALUE_OBJECT) && value_is(three.current, VALUE_OBJECT) && !rule->replaces) {
        TRY(diff_objects(arena, rule, three, &inner));
        if (value_count(inner) != 0) {
            value_set(arena, patch, name, inner);
        }
        return NULL;
    }
    if (value_is(three.modified, VALUE_ARRAY) && value_is(three.current, VALUE_ARRAY) && rule->merges) {
        return diff_lists(arena, rule, name, three, patch);
    }
    if (!value_equal(three.modified, three.current)) {
        inner = value_copy(arena, three.modified);
        if (rule->replaces && value_is(inner, VALUE_OBJECT)) {
            value_set(arena, inner, PATCH_DIRECTIVE, value_string(arena, STR("replace")));
        }
        value_set(arena, patch, name, inner);
    }
    return NULL;
}

/* The members that are to stay, for a struct whose others are cleared. */
static void add_retained_keys(struct arena *arena, const struct value *modified, struct value *patch)
{
    struct value *keys = value_array(arena);
    struct str *sorted = value_sorted_keys(arena, modified);

    for (size_t i = 0; i < value_count(modified); i++) {
        value_add(arena, keys, value_string(arena, sorted[i]));
    }
    value_set(arena, patch, RETAIN_KEYS_DIRECTIVE, keys);
}

static struct status *diff_objects(struct arena *arena, const struct merge_rule *rule, struct three three,
                                   struct value **ret)
{
    struct value *patch = value_object(arena);

    VALUE_EACH_MEMBER(member, three.modified) {
        const struct merge_rule inner = merge_rule_of(rule, member->key);

        TRY(diff_member(arena, &inner, member->key,
                        (struct three){value_find(three.original, member->key), member->value,
                                       value_find(three.current, member->key)},
                        patch));
    }
    if (value_is(three.original, VALUE_OBJECT)) {
        VALUE_EACH_MEMBER(member, three.original) {
            if (value_find(three.modified, member->key) == NULL) {
                value_set(arena, patch, member->key, value_null(arena));
            }
        }
    }
    if (rule->retains_keys && value_count(patch) != 0) {
        add_retained_keys(arena, three.modified, patch);
    }
    *ret = patch;
    return NULL;
}

struct status *patch_strategic_three_way(struct arena *arena, const struct type *type, const struct value *original,
                                         const struct value *modified, const struct value *current, struct value **ret)
{
    const struct merge_rule root = merge_rule_root(type);

    return diff_objects(arena, &root, (struct three){original, modified, current}, ret);
}
