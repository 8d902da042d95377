#include "schema/patch.h"

struct value *patch_merge(struct arena *arena, const struct value *document, const struct value *patch)
{
    if (!value_is(patch, VALUE_OBJECT)) {
        return value_copy(arena, patch);
    }
    struct value *result = value_is(document, VALUE_OBJECT) ? value_copy(arena, document) : value_object(arena);

    VALUE_EACH_MEMBER(member, patch) {
        if (value_is(member->value, VALUE_NULL)) {
            value_delete(result, member->key);
        } else {
            value_set(arena, result, member->key,
                      patch_merge(arena, value_find(result, member->key), member->value));
        }
    }
    return result;
}

enum { DIFF_CHANGES = 1, DIFF_DELETIONS = 2 };

static struct value *diff(struct arena *arena, const struct value *from, const struct value *to, unsigned what)
{
    struct value *patch = value_object(arena);

    VALUE_EACH_MEMBER(member, to) {
        struct value *old = value_find(from, member->key);

        if (value_is(old, VALUE_OBJECT) && value_is(member->value, VALUE_OBJECT)) {
            struct value *inner = diff(arena, old, member->value, what);

            if (value_count(inner) != 0) {
                value_set(arena, patch, member->key, inner);
            }
        } else if ((what & DIFF_CHANGES) != 0 && !value_equal(old, member->value)) {
            value_set(arena, patch, member->key, member->value);
        }
    }
    VALUE_EACH_MEMBER(member, from) {
        if ((what & DIFF_DELETIONS) != 0 && value_find(to, member->key) == NULL) {
            value_set(arena, patch, member->key, value_null(arena));
        }
    }
    return patch;
}

struct value *patch_merge_diff(struct arena *arena, const struct value *from, const struct value *to)
{
    return diff(arena, from, to, DIFF_CHANGES | DIFF_DELETIONS);
}

/* Lays one patch over another: both keep their nulls. */
static void overlay(struct arena *arena, struct value *patch, const struct value *over)
{
    VALUE_EACH_MEMBER(member, over) {
        struct value *old = value_find(patch, member->key);

        if (value_is(old, VALUE_OBJECT) && value_is(member->value, VALUE_OBJECT)) {
            overlay(arena, old, member->value);
        } else {
            value_set(arena, patch, member->key, member->value);
        }
    }
}

struct value *patch_merge_three_way(struct arena *arena, const struct value *original, const struct value *modified,
                                    const struct value *current)
{
    struct value *patch = value_copy(arena, diff(arena, current, modified, DIFF_CHANGES));

    overlay(arena, patch, value_copy(arena, diff(arena, original, modified, DIFF_DELETIONS)));
    return patch;
}
