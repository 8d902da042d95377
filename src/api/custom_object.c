/* Objects of custom resources: their JSON parts as trees, and what their schema does to them (custom_kind.h). */
#include "api/custom_kind.h"
#include "api/custom_schema.h"
#include "base/buf.h"
#include "schema/json.h"
#include "schema/map_of.h"
#include "schema/object.h"

#include <string.h>

static struct value *read_value(struct arena *arena, struct str json, struct value_duplicates *duplicates)
{
    struct value *value = NULL;

    if (json.n != 0) {
        status_free(value_read_json(arena, json, &value, duplicates)); /* the lexer has been over it */
    }
    return value;
}

static struct str write_value(struct arena *arena, const struct value *value)
{
    OWNED(buf_done) struct buf text = {0};

    value_write_json(&text, value, VALUE_JSON_SORTED | VALUE_JSON_PLAIN);
    return arena_str(arena, buf_str(&text));
}

struct value *custom_object_tree(struct arena *arena, const struct kind *kind, const void *object)
{
    OWNED(buf_done) struct buf text = {0};

    json_encode(kind->type, object, &text);
    return read_value(arena, arena_str(arena, buf_str(&text)), NULL);
}

static bool is_property(const struct field *field)
{
    return field->kind == TYPE_RAW && field->shape == SHAPE_PLAIN;
}

static struct raw_json *raw_of(const struct field *field, const void *object)
{
    return (struct raw_json *)(uintptr_t)((const char *)object + field->offset);
}

struct raw_entry {
    struct str key;
    struct raw_json value;
};

struct raw_map {
    struct raw_entry *items;
    size_t len;
};

static struct raw_map *rest_of(const struct type *type, const void *object)
{
    return (struct raw_map *)(uintptr_t)((const char *)object + type->rest->offset);
}

static struct raw_json *find(const struct kind *kind, const void *object, struct str name)
{
    const struct type_member *member = type_member(kind->type, name);
    size_t at;

    if (member != NULL) {
        return is_property(member->field) ? raw_of(member->field, object) : NULL;
    }
    if (kind->type->rest == NULL) {
        return NULL;
    }
    struct raw_map *rest = rest_of(kind->type, object);

    return map_of_find(rest->items, rest->len, sizeof(*rest->items), name, &at) ? &rest->items[at].value : NULL;
}

struct value *custom_object_property(struct arena *arena, const struct kind *kind, const void *object, struct str name)
{
    const struct raw_json *raw = find(kind, object, name);

    return raw == NULL ? NULL : read_value(arena, raw->json, NULL);
}

void custom_object_set(struct arena *arena, const struct kind *kind, void *object, struct str name,
                       const struct value *value)
{
    struct raw_json *raw = find(kind, object, name);

    if (raw != NULL) {
        raw->json = value == NULL ? (struct str){0} : write_value(arena, value);
    }
}

struct value *custom_path_find(const struct value *tree, struct str path)
{
    struct str rest = str_from(path, 1), name;

    while (tree != NULL && rest.n != 0) {
        str_cut(rest, '.', &name, &rest);
        tree = value_find(tree, name);
    }
    return (struct value *)(uintptr_t)tree;
}

static void add_problem(struct arena *arena, struct json_problems *problems, struct str text)
{
    if (problems != NULL && problems->len < JSON_PROBLEMS_MAX) {
        *LIST_ADD(arena, problems) = text;
    }
}

static void prune_raw(struct arena *arena, custom_schema_ref schema, struct str name, struct raw_json *raw,
                      struct json_problems *problems)
{
    struct value_duplicates duplicates = {0};
    struct value *value = read_value(arena, raw->json, problems == NULL ? NULL : &duplicates);

    if (value == NULL) {
        return;
    }
    LIST_EACH(path, &duplicates) {
        add_problem(arena, problems,
                    arena_printf(arena, "duplicate field \"%.*s.%.*s\"", STR_ARG(name), STR_ARG(*path)));
    }
    if (schema != NULL) {
        custom_schema_prune(arena, schema, value, name, problems);
    }
    raw->json = write_value(arena, value);
}

void custom_object_prune(struct arena *arena, const struct kind *kind, void *object, struct json_problems *problems)
{
    const struct type *type = kind->type;
    custom_schema_ref schema = kind->custom->schema;

    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];

        if (is_property(field)) {
            prune_raw(arena, custom_schema_property(schema, field->name), field->name, raw_of(field, object), problems);
        }
    }
    if (type->rest != NULL) {
        LIST_EACH(entry, rest_of(type, object)) {
            prune_raw(arena, custom_schema_additional(schema), entry->key, &entry->value, problems);
        }
    }
}

/* The properties of the root as one tree, without metadata. */
static struct value *properties_tree(struct arena *arena, const struct kind *kind, const void *object)
{
    const struct type *type = kind->type;
    struct value *tree = value_object(arena);

    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        struct value *value = is_property(field) ? read_value(arena, raw_of(field, object)->json, NULL) : NULL;

        if (value != NULL) {
            value_set(arena, tree, field->name, value);
        }
    }
    if (type->rest != NULL) {
        LIST_EACH(entry, rest_of(type, object)) {
            struct value *value = read_value(arena, entry->value.json, NULL);

            if (value != NULL) {
                value_set(arena, tree, entry->key, value);
            }
        }
    }
    return tree;
}

void custom_object_default(struct arena *arena, const struct kind *kind, void *object)
{
    const struct type *type = kind->type;
    struct value *tree = properties_tree(arena, kind, object);

    custom_schema_default(arena, kind->custom->schema, tree);
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];

        if (is_property(field)) {
            struct value *value = value_find(tree, field->name);

            raw_of(field, object)->json = value == NULL ? (struct str){0} : write_value(arena, value);
        }
    }
    if (type->rest != NULL) {
        struct raw_map *rest = rest_of(type, object), kept = {0};

        LIST_EACH(entry, rest) {
            struct value *value = value_find(tree, entry->key);

            if (value != NULL) {
                *LIST_ADD(arena, &kept) = (struct raw_entry){entry->key, {write_value(arena, value)}};
            }
        }
        *rest = kept;
    }
}

static struct value *whole_tree(struct arena *arena, const struct kind *kind, const void *object)
{
    struct value *tree = object == NULL ? NULL : custom_object_tree(arena, kind, object);

    if (tree != NULL) {
        value_set(arena, tree, STR("apiVersion"), value_string(arena, kind->api_version));
        value_set(arena, tree, STR("kind"), value_string(arena, kind->kind));
    }
    return tree;
}

static void validate_scale(const struct kind *kind, struct arena *arena, const struct value *tree, struct status *causes)
{
    const struct apiextensions_v1_custom_resource_subresources *subresources = kind->custom->version->subresources;

    if (subresources == NULL || subresources->scale == NULL) {
        return;
    }
    struct str paths[] = {subresources->scale->spec_replicas_path, subresources->scale->status_replicas_path};

    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        const struct value *value = custom_path_find(tree, paths[i]);

        if (value_is(value, VALUE_INT) && value->integer < 0) {
            status_add_cause(causes, STR("FieldValueInvalid"), paths[i],
                             "Invalid value: %lld: should be a non-negative integer", (long long)value->integer);
        } else if (value_is(value, VALUE_INT) && value->integer > INT32_MAX) {
            status_add_cause(causes, STR("FieldValueInvalid"), paths[i],
                             "Invalid value: %lld: should be less than or equal to 2147483647",
                             (long long)value->integer);
        } else if (value != NULL && !value_is(value, VALUE_INT)) {
            struct str text = value_is(value, VALUE_STRING) ? value->string : value_json(arena, value);

            status_add_cause(causes, STR("FieldValueInvalid"), paths[i],
                             "Invalid value: %.*s: %.*s accessor error: %.*s is of the type %s, expected int64",
                             STR_ARG(value_json(arena, value)), STR_ARG(paths[i]), STR_ARG(text),
                             value_is(value, VALUE_DOUBLE) ? "float64" : value_type_name(value));
        }
    }
}

void custom_object_validate(const struct kind *kind, const void *object, const void *old, struct status *causes)
{
    struct arena *arena = arena_new();
    struct value *tree = whole_tree(arena, kind, object), *before = whole_tree(arena, kind, old);

    custom_schema_validate(kind->custom->schema, tree, before, (struct str){0}, causes);
    custom_schema_validate_lists(kind->custom->schema, tree, before, (struct str){0}, causes);
    validate_scale(kind, arena, tree, causes);
    arena_free(arena);
}

void *custom_object_convert(struct arena *arena, const struct kind *from, const struct kind *to, const void *object)
{
    struct object *converted = arena_alloc(arena, to->type->size);
    OWNED(buf_done) struct buf text = {0};

    json_encode(from->type, object, &text);
    /* what was just written can be read */
    status_free(json_decode(arena, to->type, arena_str(arena, buf_str(&text)), converted, NULL));
    custom_object_prune(arena, to, converted, NULL);
    custom_object_default(arena, to, converted);
    return converted;
}
