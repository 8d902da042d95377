#include "schema/field_rule.h"

#include <stdlib.h>

bool field_set_is_empty(const struct field_set *set)
{
    return set == NULL || (!set->is_member && set->len == 0);
}

const struct field_set *field_set_below(const struct field_set *set, struct str element)
{
    size_t low = 0, high = set == NULL ? 0 : set->len;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(set->items[middle].element, element);

        if (order == 0) {
            return set->items[middle].below;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

bool field_set_equal(const struct field_set *a, const struct field_set *b)
{
    if (field_set_is_empty(a) || field_set_is_empty(b)) {
        return field_set_is_empty(a) && field_set_is_empty(b);
    }
    if (a->is_member != b->is_member || a->len != b->len) {
        return false;
    }
    for (size_t i = 0; i < a->len; i++) {
        if (!str_eq(a->items[i].element, b->items[i].element) || !field_set_equal(a->items[i].below, b->items[i].below)) {
            return false;
        }
    }
    return true;
}

/* What one of the operations makes of two sets, of which one may be empty. */
typedef const struct field_set *combine_fn(struct arena *arena, const struct field_set *a, const struct field_set *b);

void field_set_add(struct arena *arena, struct field_set *set, struct str element, const struct field_set *below)
{
    if (!field_set_is_empty(below)) {
        *LIST_ADD(arena, set) = (struct field_child){element, below};
    }
}

static int by_element(const void *a, const void *b)
{
    return str_cmp(((const struct field_child *)a)->element, ((const struct field_child *)b)->element);
}

const struct field_set *field_set_sorted(struct arena *arena, struct field_set *set)
{
    size_t len = 0;

    if (set->len > 1) {
        qsort(set->items, set->len, sizeof(set->items[0]), by_element);
    }
    for (size_t i = 0; i < set->len; i++) {
        struct field_child *child = &set->items[i];

        if (len > 0 && str_eq(set->items[len - 1].element, child->element)) {
            set->items[len - 1].below = field_set_union(arena, set->items[len - 1].below, child->below);
        } else {
            set->items[len++] = *child;
        }
    }
    set->len = len;
    return field_set_is_empty(set) ? NULL : set;
}

static const struct field_set *finish(const struct field_set *set)
{
    return field_set_is_empty(set) ? NULL : set;
}

/* Goes through both sets' children in order, and combines those below the same element. */
static const struct field_set *combine(struct arena *arena, const struct field_set *a, const struct field_set *b,
                                       bool is_member, combine_fn *fn)
{
    struct field_set *set = ARENA_NEW(arena, struct field_set);
    size_t i = 0, k = 0, a_len = a == NULL ? 0 : a->len, b_len = b == NULL ? 0 : b->len;

    set->is_member = is_member;
    while (i < a_len || k < b_len) {
        int order = i == a_len ? 1 : k == b_len ? -1 : str_cmp(a->items[i].element, b->items[k].element);
        struct str element = order <= 0 ? a->items[i].element : b->items[k].element;

        field_set_add(arena, set, element,
                  fn(arena, order <= 0 ? a->items[i].below : NULL, order >= 0 ? b->items[k].below : NULL));
        i += order <= 0;
        k += order >= 0;
    }
    return finish(set);
}

static bool has(const struct field_set *set)
{
    return set != NULL && set->is_member;
}

const struct field_set *field_set_union(struct arena *arena, const struct field_set *a, const struct field_set *b)
{
    if (field_set_is_empty(a) || field_set_is_empty(b)) {
        return finish(field_set_is_empty(a) ? b : a);
    }
    return combine(arena, a, b, has(a) || has(b), field_set_union);
}

const struct field_set *field_set_difference(struct arena *arena, const struct field_set *a, const struct field_set *b)
{
    if (field_set_is_empty(a) || field_set_is_empty(b)) {
        return finish(a);
    }
    return combine(arena, a, b, has(a) && !has(b), field_set_difference);
}

const struct field_set *field_set_intersection(struct arena *arena, const struct field_set *a, const struct field_set *b)
{
    if (field_set_is_empty(a) || field_set_is_empty(b)) {
        return NULL;
    }
    return combine(arena, a, b, has(a) && has(b), field_set_intersection);
}

const struct field_set *field_set_without(struct arena *arena, const struct field_set *a, const struct field_set *b)
{
    if (field_set_is_empty(a) || field_set_is_empty(b)) {
        return finish(a);
    }
    return has(b) ? NULL : combine(arena, a, b, has(a), field_set_without);
}

static const struct field_set *of_path(struct arena *arena, struct str path)
{
    struct field_set *set = ARENA_NEW(arena, struct field_set);
    struct str element, rest;

    if (path.n == 0) {
        set->is_member = true;
        return set;
    }
    str_cut(path, ' ', &element, &rest);
    field_set_add(arena, set, element, of_path(arena, rest));
    return set;
}

const struct field_set *field_set_of_paths(struct arena *arena, const char *const *paths, size_t count)
{
    const struct field_set *set = NULL;

    for (size_t i = 0; i < count; i++) {
        set = field_set_union(arena, set, of_path(arena, str_of(paths[i])));
    }
    return set;
}
