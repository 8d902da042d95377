#include "api/custom_schema.h"

#include "schema/map_of.h"

custom_schema_ref custom_schema_property(custom_schema_ref schema, struct str name)
{
    size_t at;

    return map_of_find(schema->properties.items, schema->properties.len, sizeof(*schema->properties.items), name, &at)
               ? &schema->properties.items[at].value
               : NULL;
}

custom_schema_ref custom_schema_additional(custom_schema_ref schema)
{
    return schema->additional_properties == NULL ? NULL : schema->additional_properties->schema;
}

custom_schema_ref custom_schema_items(custom_schema_ref schema)
{
    return schema->items == NULL ? NULL : schema->items->schema;
}

bool custom_schema_preserves(custom_schema_ref schema)
{
    return schema->x_kubernetes_preserve_unknown_fields != NULL && *schema->x_kubernetes_preserve_unknown_fields;
}

static bool allows_any(custom_schema_ref schema)
{
    return schema->additional_properties != NULL && schema->additional_properties->allows;
}

static bool is_type_member(struct str name)
{
    return str_is(name, "apiVersion") || str_is(name, "kind") || str_is(name, "metadata");
}

static struct str path_of(struct arena *arena, struct str path, struct str name)
{
    return path.n == 0 ? name : arena_printf(arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(name));
}

static void prune_members(struct arena *arena, custom_schema_ref schema, struct value *object, struct str path,
                          struct json_problems *problems)
{
    custom_schema_ref additional = custom_schema_additional(schema);
    struct str *keys = value_sorted_keys(arena, object);
    size_t count = value_count(object);

    for (size_t i = 0; i < count; i++) {
        custom_schema_ref property = custom_schema_property(schema, keys[i]);

        property = property != NULL ? property : additional;
        if (schema->x_kubernetes_embedded_resource && is_type_member(keys[i])) {
            continue;
        }
        if (property != NULL) {
            custom_schema_prune(arena, property, value_find(object, keys[i]), path_of(arena, path, keys[i]), problems);
        } else if (!custom_schema_preserves(schema) && !allows_any(schema)) {
            value_delete(object, keys[i]);
            if (problems != NULL && problems->len < JSON_PROBLEMS_MAX) {
                *LIST_ADD(arena, problems) = arena_printf(arena, "unknown field \"%.*s\"",
                                                          STR_ARG(path_of(arena, path, keys[i])));
            }
        }
    }
}

void custom_schema_prune(struct arena *arena, custom_schema_ref schema, struct value *value, struct str path,
                         struct json_problems *problems)
{
    size_t i = 0;

    if (value_is(value, VALUE_OBJECT)) {
        prune_members(arena, schema, value, path, problems);
        return;
    }
    custom_schema_ref items = custom_schema_items(schema);

    VALUE_EACH_ITEM(item, value)
    {
        struct str at = arena_printf(arena, "%.*s[%zu]", STR_ARG(path), i++);

        if (items != NULL) {
            custom_schema_prune(arena, items, *item, at, problems);
        }
    }
}

/* A value of the JSON text of a schema; it has been read before. */
static struct value *constant(struct arena *arena, const struct raw_json *json)
{
    struct value *value = NULL;

    status_free(value_read_json(arena, json->json, &value, NULL));
    return value;
}

static bool has_default(custom_schema_ref schema)
{
    return schema->default_ != NULL && schema->default_->json.n != 0;
}

static void default_members(struct arena *arena, custom_schema_ref schema, struct value *object)
{
    custom_schema_ref additional = custom_schema_additional(schema);
    struct str *keys = value_sorted_keys(arena, object);
    size_t count = value_count(object);

    LIST_EACH(entry, &schema->properties) {
        struct value *there = value_find(object, entry->key);
        bool is_missing = there == NULL || (value_is(there, VALUE_NULL) && !entry->value.nullable);

        if (is_missing && has_default(&entry->value)) {
            value_set(arena, object, entry->key, constant(arena, entry->value.default_));
        }
    }
    for (size_t i = 0; i < count; i++) {
        custom_schema_ref property = custom_schema_property(schema, keys[i]);
        struct value *there = value_find(object, keys[i]);

        property = property != NULL ? property : additional;
        if (property == NULL) {
            continue;
        }
        if (!value_is(there, VALUE_NULL) || property->nullable) {
            continue;
        }
        if (has_default(property)) {
            value_set(arena, object, keys[i], constant(arena, property->default_));
        } else {
            value_delete(object, keys[i]);
        }
    }
    VALUE_EACH_MEMBER(member, object)
    {
        custom_schema_ref property = custom_schema_property(schema, member->key);

        property = property != NULL ? property : additional;
        if (property != NULL) {
            custom_schema_default(arena, property, member->value);
        }
    }
}

void custom_schema_default(struct arena *arena, custom_schema_ref schema, struct value *value)
{
    custom_schema_ref items = custom_schema_items(schema);

    if (value_is(value, VALUE_OBJECT)) {
        default_members(arena, schema, value);
        return;
    }
    VALUE_EACH_ITEM(item, value)
    {
        if (items != NULL && value_is(*item, VALUE_NULL) && !items->nullable && has_default(items)) {
            *item = constant(arena, items->default_);
        }
        if (items != NULL) {
            custom_schema_default(arena, items, *item);
        }
    }
}
