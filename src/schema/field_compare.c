#include "schema/field_rule.h"

static const struct field_set *member(struct arena *arena)
{
    struct field_set *set = ARENA_NEW(arena, struct field_set);

    set->is_member = true;
    return set;
}

/* Changes in the making. */
struct changing {
    struct field_set added, modified, removed;
};

static void put_changes(struct arena *arena, struct changing *changing, struct str element,
                        const struct field_changes *below)
{
    field_set_add(arena, &changing->added, element, below->added);
    field_set_add(arena, &changing->modified, element, below->modified);
    field_set_add(arena, &changing->removed, element, below->removed);
}

static struct field_changes changed(struct arena *arena, struct changing *changing)
{
    return (struct field_changes){field_set_sorted(arena, &changing->added),
                                  field_set_sorted(arena, &changing->modified),
                                  field_set_sorted(arena, &changing->removed)};
}

static struct field_changes compare(struct arena *arena, const struct field_rule *rule, const struct value *from,
                                    const struct value *to);

static struct field_changes compare_leaf(struct arena *arena, const struct value *from, const struct value *to)
{
    struct field_changes changes = {0};

    if (from == NULL) {
        changes.added = member(arena);
    } else if (to == NULL) {
        changes.removed = member(arena);
    } else if (!value_equal(from, to)) {
        changes.modified = member(arena);
    }
    return changes;
}

static void compare_member(struct arena *arena, const struct field_rule *rule, struct str key, const struct value *from,
                           const struct value *to, struct changing *changing)
{
    bool known;
    struct field_rule below = field_rule_member(rule, key, &known);
    struct field_changes of_member = compare(arena, &below, value_find(from, key), value_find(to, key));

    put_changes(arena, changing, field_element_of_name(arena, key), &of_member);
}

static struct field_changes compare_members(struct arena *arena, const struct field_rule *rule, const struct value *from,
                                            const struct value *to)
{
    struct changing *changing = ARENA_NEW(arena, struct changing);

    VALUE_EACH_MEMBER(old, from)
    {
        compare_member(arena, rule, old->key, from, to, changing);
    }
    VALUE_EACH_MEMBER(new, to)
    {
        if (value_find(from, new->key) == NULL) {
            compare_member(arena, rule, new->key, from, to, changing);
        }
    }
    return changed(arena, changing);
}

static void compare_item(struct arena *arena, const struct field_rule *rule, struct str element,
                         const struct field_item *from, const struct field_item *to, struct changing *changing)
{
    struct field_changes changes =
        compare(arena, rule, from == NULL ? NULL : from->value, to == NULL ? NULL : to->value);

    put_changes(arena, changing, element, &changes);
}

static struct field_changes compare_items(struct arena *arena, const struct field_rule *rule, const struct value *from,
                                          const struct value *to)
{
    struct changing *changing = ARENA_NEW(arena, struct changing);
    struct field_rule below = field_rule_element(rule);
    OWNED(field_items_done) struct field_items old = field_items_of(arena, rule, from);
    OWNED(field_items_done) struct field_items new = field_items_of(arena, rule, to);

    LIST_EACH(item, &old) {
        compare_item(arena, &below, item->element, item, field_items_find(&new, item->element), changing);
    }
    LIST_EACH(item, &new) {
        if (field_items_find(&old, item->element) == NULL) {
            compare_item(arena, &below, item->element, NULL, item, changing);
        }
    }
    return changed(arena, changing);
}

/* Of two values of which at least one is there. */
static struct field_changes compare(struct arena *arena, const struct field_rule *rule, const struct value *from,
                                    const struct value *to)
{
    bool is_list = rule->kind == FIELD_RULE_SET || rule->kind == FIELD_RULE_LIST;
    bool is_leaf = field_rule_for(rule, from) == FIELD_RULE_LEAF || field_rule_for(rule, to) == FIELD_RULE_LEAF ||
                   (value_count(from) == 0 && value_count(to) == 0);

    if (is_leaf) {
        return compare_leaf(arena, from, to);
    }
    struct field_changes changes =
        is_list ? compare_items(arena, rule, from, to) : compare_members(arena, rule, from, to);

    if (from == NULL) {
        changes.added = field_set_union(arena, changes.added, member(arena));
    } else if (to == NULL) {
        changes.removed = field_set_union(arena, changes.removed, member(arena));
    }
    return changes;
}

struct field_changes field_compare(struct arena *arena, const struct type *type, const struct value *from,
                                   const struct value *to)
{
    struct field_rule rule = field_rule_root(type);

    return compare(arena, &rule, from, to);
}

/* A set of all fields in the making. */
struct gather {
    struct arena *arena;
    struct str *unknown; /* the first field that isn't known, as a path */
};

static const struct field_set *gather(struct gather *to, const struct field_rule *rule, const struct value *value,
                                      struct str path);

static const struct field_set *gather_members(struct gather *to, const struct field_rule *rule,
                                              const struct value *value, struct str path)
{
    struct field_set *set = ARENA_NEW(to->arena, struct field_set);

    VALUE_EACH_MEMBER(entry, value)
    {
        bool known;
        struct field_rule below = field_rule_member(rule, entry->key, &known);
        struct str place = arena_printf(to->arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(entry->key));
        const struct field_set *of_member = gather(to, &below, entry->value, place);

        if (!known && to->unknown != NULL && to->unknown->n == 0) {
            *to->unknown = place;
        }
        if (value_is(entry->value, VALUE_NULL) || (known && !field_rule_is_named(rule, entry->key)) ||
            (value_is(entry->value, VALUE_OBJECT) && value_count(entry->value) == 0)) {
            of_member = field_set_union(to->arena, of_member, member(to->arena));
        }
        field_set_add(to->arena, set, field_element_of_name(to->arena, entry->key), of_member);
    }
    return field_set_sorted(to->arena, set);
}

static const struct field_set *gather_items(struct gather *to, const struct field_rule *rule, const struct value *list,
                                            struct str path)
{
    struct field_set *set = ARENA_NEW(to->arena, struct field_set);
    struct field_rule below = field_rule_element(rule);

    VALUE_EACH_ITEM(item, list)
    {
        struct str element = field_element_of_item(to->arena, rule, *item);
        const struct field_set *of_item = gather(to, &below, *item, path);

        field_set_add(to->arena, set, element, field_set_union(to->arena, of_item, member(to->arena)));
    }
    return field_set_sorted(to->arena, set);
}

static const struct field_set *gather(struct gather *to, const struct field_rule *rule, const struct value *value,
                                      struct str path)
{
    switch (field_rule_for(rule, value)) {
    case FIELD_RULE_STRUCT:
    case FIELD_RULE_MAP:
        return gather_members(to, rule, value, path);
    case FIELD_RULE_SET:
    case FIELD_RULE_LIST:
        return gather_items(to, rule, value, path);
    case FIELD_RULE_LEAF:
        break;
    }
    return member(to->arena);
}

const struct field_set *field_set_of_value(struct arena *arena, const struct type *type, const struct value *value,
                                           struct str *unknown)
{
    struct gather to = {arena, unknown};
    struct field_rule rule = field_rule_root(type);

    return gather(&to, &rule, value, STR(""));
}

static const struct field_set *with_named(struct arena *arena, const struct field_rule *rule,
                                          const struct field_set *set)
{
    struct field_set *all;

    if (set == NULL) {
        return NULL;
    }
    all = ARENA_NEW(arena, struct field_set);
    all->is_member = set->is_member;
    for (size_t i = 0; i < set->len; i++) {
        struct str element = set->items[i].element;
        bool is_name = element.p[0] == 'f', known = false;
        struct field_rule below = is_name && (rule->kind == FIELD_RULE_STRUCT || rule->kind == FIELD_RULE_MAP)
                                      ? field_rule_member(rule, str_from(element, 2), &known)
                                      : field_rule_element(rule);
        const struct field_set *of_child = with_named(arena, &below, set->items[i].below);

        if (known && field_rule_is_named(rule, str_from(element, 2))) {
            of_child = field_set_union(arena, of_child, member(arena));
        }
        *LIST_ADD(arena, all) = (struct field_child){element, of_child};
    }
    return all;
}

const struct field_set *field_set_with_named(struct arena *arena, const struct type *type, const struct field_set *set)
{
    struct field_rule rule = field_rule_root(type);

    return with_named(arena, &rule, set);
}
