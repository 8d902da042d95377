#include "schema/field_rule.h"

struct field_rule field_rule_root(const struct type *type)
{
    return (struct field_rule){.kind = FIELD_RULE_STRUCT, .type = type};
}

static struct field_rule of_struct(const struct type *type)
{
    if (type == NULL || (type->flags & (TYPE_ATOMIC | TYPE_UNION)) != 0) {
        return (struct field_rule){0};
    }
    return field_rule_root(type);
}

static struct field_rule of_field(const struct field *field)
{
    if (field->kind == TYPE_RAW && field->type != NULL) {
        return of_field(&field->type->fields[0]);
    }
    const struct field_rules *rules = field->rules;
    const struct type *type = field->kind == TYPE_STRUCT ? field->type : NULL;

    switch (field->shape) {
    case SHAPE_LIST:
        if (rules != NULL && rules->list_type == LIST_SET) {
            return (struct field_rule){.kind = FIELD_RULE_SET};
        }
        if (rules != NULL && rules->list_type == LIST_MAP && type != NULL) {
            return (struct field_rule){.kind = FIELD_RULE_LIST, .type = type, .field = field};
        }
        return (struct field_rule){0};
    case SHAPE_MAP:
        if (rules != NULL && rules->granularity == GRANULARITY_ATOMIC) {
            return (struct field_rule){0};
        }
        return (struct field_rule){.kind = FIELD_RULE_MAP, .type = type};
    default:
        if (rules != NULL && rules->granularity == GRANULARITY_ATOMIC) {
            return (struct field_rule){0};
        }
        return of_struct(type);
    }
}

struct field_rule field_rule_member(const struct field_rule *rule, struct str name, bool *ret_known)
{
    *ret_known = true;
    if (rule->kind == FIELD_RULE_MAP) {
        return of_struct(rule->type);
    }
    const struct field *field = type_field(rule->type, name);

    field = field != NULL ? field : rule->type->rest;
    *ret_known = field != NULL;
    return field == NULL ? (struct field_rule){0} : of_field(field);
}

bool field_rule_is_named(const struct field_rule *rule, struct str name)
{
    return rule->kind == FIELD_RULE_STRUCT && type_field(rule->type, name) != NULL;
}

struct field_rule field_rule_element(const struct field_rule *rule)
{
    return rule->kind == FIELD_RULE_LIST ? of_struct(rule->type) : (struct field_rule){0};
}

struct str field_element_of_name(struct arena *arena, struct str name)
{
    return arena_printf(arena, "f:%.*s", STR_ARG(name));
}

/* A key that isn't there counts as its default. */
static struct value *key_value(struct arena *arena, const struct field_rule *rule, const struct value *item,
                               struct str key)
{
    struct value *value = value_find(item, key);
    const struct field *field = type_field(rule->type, key);

    if ((value == NULL || value_is(value, VALUE_NULL)) && field != NULL && field->rules != NULL &&
        field->rules->default_value.n != 0) {
        status_free(value_read_json(arena, field->rules->default_value, &value, NULL)); /* it stands in a table */
    }
    return value;
}

struct str field_element_of_item(struct arena *arena, const struct field_rule *rule, const struct value *item)
{
    if (rule->kind == FIELD_RULE_SET) {
        return arena_printf(arena, "v:%.*s", STR_ARG(value_json(arena, item)));
    }
    struct value *keys = value_object(arena);

    for (size_t i = 0; i < rule->field->rules->key_count; i++) {
        struct str key = rule->field->rules->keys[i];
        struct value *value = key_value(arena, rule, item, key);

        if (value != NULL) {
            value_set(arena, keys, key, value);
        }
    }
    return arena_printf(arena, "k:%.*s", STR_ARG(value_json(arena, keys)));
}

enum field_rule_kind field_rule_for(const struct field_rule *rule, const struct value *value)
{
    bool is_list = rule->kind == FIELD_RULE_SET || rule->kind == FIELD_RULE_LIST;

    if (value == NULL || value_is(value, VALUE_NULL) || value_is(value, is_list ? VALUE_ARRAY : VALUE_OBJECT)) {
        return rule->kind;
    }
    return FIELD_RULE_LEAF;
}

struct field_items field_items_of(struct arena *arena, const struct field_rule *rule, const struct value *list)
{
    struct field_items items = {0};

    VALUE_EACH_ITEM(item, list)
    {
        *LIST_ADD(arena, &items) = (struct field_item){field_element_of_item(arena, rule, *item), *item, false};
    }
    LIST_EACH(item, &items) {
        if (map_find(&items.by_element, item->element) == NULL) {
            map_set(&items.by_element, item->element, item);
        }
    }
    return items;
}

struct field_item *field_items_find(const struct field_items *items, struct str element)
{
    return map_find(&items->by_element, element);
}

void field_items_done(struct field_items *items)
{
    map_done(&items->by_element);
}
