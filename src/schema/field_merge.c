#include "schema/field_rule.h"

static struct value *merge(struct arena *arena, const struct field_rule *rule, const struct value *live,
                           const struct value *wanted);

/* The configuration's values win; what it doesn't speak of stays. */
static struct value *merge_members(struct arena *arena, const struct field_rule *rule, const struct value *live,
                                   const struct value *wanted)
{
    struct value *merged = value_object(arena);

    VALUE_EACH_MEMBER(old, live)
    {
        bool known;
        struct field_rule below = field_rule_member(rule, old->key, &known);

        value_set(arena, merged, old->key, merge(arena, &below, old->value, value_find(wanted, old->key)));
    }
    VALUE_EACH_MEMBER(new, wanted)
    {
        if (value_find(live, new->key) == NULL) {
            value_set(arena, merged, new->key, new->value);
        }
    }
    return merged;
}

/* Elements of the live list keep their order and those of the configuration theirs; where they share elements, these are
 * the fixed points. */
struct weave {
    struct arena *arena;
    struct field_rule below;
    struct field_items live, wanted;
    struct value *merged;
    size_t shared; /* the first of the configuration's elements, of those to come, that may be in both */
};

static void take_wanted(struct weave *weave, struct field_item *wanted)
{
    const struct field_item *live = field_items_find(&weave->live, wanted->element);

    wanted->is_taken = true;
    value_add(weave->arena, weave->merged,
              live == NULL ? (struct value *)(uintptr_t)wanted->value : merge(weave->arena, &weave->below, live->value, wanted->value));
}

/* The next element of the configuration, from the i-th on, that the live list has too; NULL when there is none. */
static const struct field_item *next_shared(struct weave *weave, size_t i)
{
    weave->shared = MAX(weave->shared, i);
    while (weave->shared < weave->wanted.len &&
           field_items_find(&weave->live, weave->wanted.items[weave->shared].element) == NULL) {
        weave->shared++;
    }
    return weave->shared < weave->wanted.len ? &weave->wanted.items[weave->shared] : NULL;
}

static void weave_lists(struct weave *weave)
{
    for (size_t l = 0, r = 0; l < weave->live.len || r < weave->wanted.len;) {
        struct field_item *live = l < weave->live.len ? &weave->live.items[l] : NULL;
        struct field_item *wanted = r < weave->wanted.len ? &weave->wanted.items[r] : NULL;
        struct field_item *same = live == NULL ? NULL : field_items_find(&weave->wanted, live->element);

        if (live != NULL && wanted != NULL) {
            const struct field_item *shared = next_shared(weave, r);

            if (str_eq(live->element, wanted->element)) {
                take_wanted(weave, wanted);
                l++;
                r++;
                continue;
            }
            if (same != NULL && shared != NULL && !str_eq(shared->element, live->element)) {
                l++; /* it comes when the configuration gets to it */
                continue;
            }
        }
        if (live != NULL && same == NULL) {
            value_add(weave->arena, weave->merged, (struct value *)(uintptr_t)live->value);
            l++;
            continue;
        }
        if (live != NULL && same->is_taken) {
            l++;
        }
        if (wanted != NULL) {
            take_wanted(weave, wanted);
            r++;
        }
    }
}

static struct value *merge_items(struct arena *arena, const struct field_rule *rule, const struct value *live,
                                 const struct value *wanted)
{
    struct weave weave = {.arena = arena,
                          .below = field_rule_element(rule),
                          .live = field_items_of(arena, rule, live),
                          .wanted = field_items_of(arena, rule, wanted),
                          .merged = value_array(arena)};

    weave_lists(&weave);
    field_items_done(&weave.live);
    field_items_done(&weave.wanted);
    return weave.merged;
}

static struct value *merge(struct arena *arena, const struct field_rule *rule, const struct value *live,
                           const struct value *wanted)
{
    bool is_list = rule->kind == FIELD_RULE_SET || rule->kind == FIELD_RULE_LIST;

    if (wanted == NULL) {
        return (struct value *)(uintptr_t)live;
    }
    if (live == NULL || value_is(live, VALUE_NULL) || value_is(wanted, VALUE_NULL) ||
        field_rule_for(rule, live) == FIELD_RULE_LEAF || field_rule_for(rule, wanted) == FIELD_RULE_LEAF) {
        return (struct value *)(uintptr_t)wanted;
    }
    return is_list ? merge_items(arena, rule, live, wanted) : merge_members(arena, rule, live, wanted);
}

struct value *field_merge(struct arena *arena, const struct type *type, const struct value *live,
                          const struct value *configuration)
{
    struct field_rule rule = field_rule_root(type);

    return merge(arena, &rule, live, configuration);
}

static struct value *without(struct arena *arena, const struct field_rule *rule, const struct value *value,
                             const struct field_set *set);

static struct value *without_members(struct arena *arena, const struct field_rule *rule, const struct value *value,
                                     const struct field_set *set)
{
    struct value *rest = value_object(arena);

    VALUE_EACH_MEMBER(entry, value)
    {
        bool known;
        struct field_rule below = field_rule_member(rule, entry->key, &known);
        const struct field_set *of_member = field_set_below(set, field_element_of_name(arena, entry->key));

        if (of_member == NULL || !of_member->is_member) {
            value_set(arena, rest, entry->key, without(arena, &below, entry->value, of_member));
        }
    }
    return value_count(rest) == 0 && value_count(value) != 0 ? value_null(arena) : rest;
}

static struct value *without_items(struct arena *arena, const struct field_rule *rule, const struct value *list,
                                   const struct field_set *set)
{
    struct value *rest = value_array(arena);
    struct field_rule below = field_rule_element(rule);

    VALUE_EACH_ITEM(item, list)
    {
        const struct field_set *of_item = field_set_below(set, field_element_of_item(arena, rule, *item));

        if (of_item == NULL || !of_item->is_member) {
            value_add(arena, rest, without(arena, &below, *item, of_item));
        }
    }
    return value_count(rest) == 0 && value_count(list) != 0 ? value_null(arena) : rest;
}

static struct value *without(struct arena *arena, const struct field_rule *rule, const struct value *value,
                             const struct field_set *set)
{
    enum field_rule_kind kind = field_rule_for(rule, value);

    if (field_set_is_empty(set) || value_is(value, VALUE_NULL) || kind == FIELD_RULE_LEAF) {
        return (struct value *)(uintptr_t)value;
    }
    return kind == FIELD_RULE_SET || kind == FIELD_RULE_LIST ? without_items(arena, rule, value, set)
                                                             : without_members(arena, rule, value, set);
}

struct value *field_remove(struct arena *arena, const struct type *type, const struct value *value,
                           const struct field_set *set)
{
    struct field_rule rule = field_rule_root(type);

    return without(arena, &rule, value, set);
}
