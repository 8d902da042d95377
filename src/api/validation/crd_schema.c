/* The structural form of OpenAPI schemas. What patterns and rules (CEL) say isn't looked into here. */
#include "api/validation/crd.h"

#include "base/arena.h"
#include "schema/map_of.h"
#include "schema/regex.h"
#include "schema/value.h"

typedef const struct apiextensions_v1_json_schema_props *schema_ref;

/* Where a schema stands: what is missing is told differently. */
enum place { PLACE_ROOT, PLACE_PROPERTY, PLACE_ITEMS, PLACE_VALUES };

static void check_schema(struct status *to, const struct path *at, schema_ref schema, enum place place);

static bool preserves(schema_ref schema)
{
    return schema->x_kubernetes_preserve_unknown_fields != NULL && *schema->x_kubernetes_preserve_unknown_fields;
}

static schema_ref property(schema_ref schema, struct str name)
{
    size_t at;

    return map_of_find(schema->properties.items, schema->properties.len, sizeof(*schema->properties.items), name, &at)
               ? &schema->properties.items[at].value
               : NULL;
}

/* False when nothing below can be judged. */
static bool check_type(struct status *to, const struct path *at, schema_ref schema, enum place place)
{
    static const char *const types[] = {"array", "boolean", "integer", "number", "object", "string", NULL};
    const struct path *type = AT(at, "type");

    if (place == PLACE_ROOT) {
        if (schema->type.n == 0) {
            check_required(to, type, "must not be empty at the root");
        } else if (!str_is(schema->type, "object")) {
            check_invalid_str(to, type, schema->type, "must be object at the root");
        }
        return str_is(schema->type, "object");
    }
    if (schema->type.n == 0) {
        if (!schema->x_kubernetes_int_or_string && !preserves(schema)) {
            check_required(to, type, "must not be empty for specified %s",
                           place == PLACE_ITEMS ? "array items" : "object fields");
        }
        return true;
    }
    return check_one_of(to, type, schema->type, types);
}

/* Every key of a list that is a map must be there in each item. */
static void check_map_keys(struct status *to, const struct path *at, schema_ref schema)
{
    schema_ref items = schema->items == NULL ? NULL : schema->items->schema;
    const struct path *keys = AT(at, "x-kubernetes-list-map-keys");

    if (schema->x_kubernetes_list_map_keys.len == 0) {
        check_required(to, keys, "must not be empty if x-kubernetes-list-type is map");
    }
    if (items == NULL) {
        return;
    }
    if (!str_is(items->type, "object")) {
        check_invalid_str(to, AT(AT(at, "items"), "type"), items->type,
                          "must be object if parent array's "
                          "x-kubernetes-list-type is map");
    }
    LIST_EACH(key, &schema->x_kubernetes_list_map_keys) {
        schema_ref field = property(items, *key);

        if (field == NULL) {
            check_invalid_str(to, ITEM(keys, INDEX_OF(key, &schema->x_kubernetes_list_map_keys)), *key,
                              "entries must all be names of item properties");
        } else if (field->default_ == NULL && !has_string(&items->required, *key)) {
            check_required(to, AT(KEY(AT(AT(at, "items"), "properties"), *key), "default"),
                           "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required "
                           "property");
        }
    }
}

/* Items of a set are compared as a whole. */
static void check_set_items(struct status *to, const struct path *at, schema_ref items)
{
    bool is_map = str_is(items->type, "object");
    const char *field = is_map ? "x-kubernetes-map-type" : "x-kubernetes-list-type";
    const struct str *type = is_map ? items->x_kubernetes_map_type : items->x_kubernetes_list_type;

    if ((is_map || str_is(items->type, "array")) && (type == NULL || !str_is(*type, "atomic"))) {
        check_invalid_json(to, AT(at, field), type == NULL ? STR("null") : dump_string(to->arena, *type),
                           "must be atomic as item of a list with x-kubernetes-list-type=set");
    }
}

static void check_list_type(struct status *to, const struct path *at, schema_ref schema)
{
    static const char *const types[] = {"atomic", "set", "map", NULL};

    if (schema->x_kubernetes_list_type == NULL) {
        return;
    }
    struct str type = *schema->x_kubernetes_list_type;

    if (!str_is(schema->type, "array")) {
        check_invalid_str(to, AT(at, "type"), schema->type, "must be array if x-kubernetes-list-type is specified");
    } else if (check_one_of(to, AT(at, "x-kubernetes-list-type"), type, types)) {
        if (str_is(type, "map")) {
            check_map_keys(to, at, schema);
        } else if (str_is(type, "set") && schema->items != NULL && schema->items->schema != NULL) {
            check_set_items(to, AT(at, "items"), schema->items->schema);
        }
    }
}

static void check_extensions(struct status *to, const struct path *at, schema_ref schema)
{
    static const char *const map_types[] = {"atomic", "granular", NULL};

    if (schema->x_kubernetes_preserve_unknown_fields != NULL && !preserves(schema)) {
        check_invalid_bool(to, AT(at, "x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined");
    }
    check_list_type(to, at, schema);
    if (schema->x_kubernetes_map_type != NULL) {
        if (!str_is(schema->type, "object")) {
            check_invalid_str(to, AT(at, "type"), schema->type, "must be object if x-kubernetes-map-type is specified");
        } else {
            check_one_of(to, AT(at, "x-kubernetes-map-type"), *schema->x_kubernetes_map_type, map_types);
        }
    }
    if (schema->x_kubernetes_embedded_resource) {
        if (!str_is(schema->type, "object")) {
            check_invalid_str(to, AT(at, "type"), schema->type,
                              "must be object if x-kubernetes-embedded-resource is true");
        } else if (schema->properties.len == 0 && !preserves(schema)) {
            check_required(to, AT(at, "properties"),
                           "must not be empty if x-kubernetes-embedded-resource is true without "
                           "x-kubernetes-preserve-unknown-fields");
        }
    }
}

/* JSON's word for the type of a value, as stock's validation of defaults has it. */
static const char *json_type(const struct value *value)
{
    switch (value->type) {
    case VALUE_INT:
        return "integer";
    case VALUE_DOUBLE:
        return "number";
    case VALUE_BOOL:
        return "boolean";
    default:
        return value_type_name(value);
    }
}

static void check_default(struct status *to, const struct path *at, schema_ref schema)
{
    struct value *value;

    if (schema->default_ == NULL || schema->type.n == 0) {
        return;
    }
    struct status *bad = value_read_json(to->arena, schema->default_->json, &value, NULL);

    if (bad != NULL) {
        status_free(bad);
        return;
    }
    const char *type = json_type(value);
    bool is_whole = value->type == VALUE_INT && str_is(schema->type, "number");

    if (value->type == VALUE_NULL ? !schema->nullable : !str_is(schema->type, type) && !is_whole) {
        status_add_cause(to, STR("FieldValueTypeInvalid"), path_text(to->arena, at),
                         "Invalid value: \"%s\":  in body must be of type %.*s: \"%s\"", type, STR_ARG(schema->type),
                         type);
    }
}

/* The server knows what metadata looks like; a schema may narrow the name. */
static void check_metadata(struct status *to, const struct path *at, schema_ref schema)
{
    LIST_EACH(entry, &schema->properties) {
        if (!str_is(entry->key, "name") && !str_is(entry->key, "generateName")) {
            check_forbidden(to, at,
                            "must not specify anything other than name and generateName, but metadata is implicitly "
                            "specified");
            return;
        }
    }
}

/* Schemas under allOf, anyOf, oneOf and not only say more about values. */
static void check_junctor(struct status *to, const struct path *at, schema_ref schema, bool may_have_type)
{
    const struct {
        const char *field;
        bool is_set;
    } refused[] = {
        {"type", schema->type.n != 0 && !may_have_type},
        {"title", schema->title.n != 0},
        {"description", schema->description.n != 0},
        {"default", schema->default_ != NULL},
        {"nullable", schema->nullable},
        {"additionalProperties", schema->additional_properties != NULL},
    };

    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        if (refused[i].is_set) {
            check_forbidden(to, AT(at, refused[i].field), "must be empty to be structural");
        }
    }
}

static void check_junctors(struct status *to, const struct path *at, schema_ref schema)
{
    bool typed = schema->x_kubernetes_int_or_string;

    LIST_EACH(other, &schema->all_of) {
        check_junctor(to, ITEM(AT(at, "allOf"), INDEX_OF(other, &schema->all_of)), other, typed);
    }
    LIST_EACH(other, &schema->any_of) {
        check_junctor(to, ITEM(AT(at, "anyOf"), INDEX_OF(other, &schema->any_of)), other, typed);
    }
    LIST_EACH(other, &schema->one_of) {
        check_junctor(to, ITEM(AT(at, "oneOf"), INDEX_OF(other, &schema->one_of)), other, typed);
    }
    if (schema->not != NULL) {
        check_junctor(to, AT(at, "not"), schema->not, typed);
    }
}

static void check_children(struct status *to, const struct path *at, schema_ref schema, enum place place)
{
    const struct apiextensions_v1_json_schema_props_or_bool *more = schema->additional_properties;

    if (str_is(schema->type, "array") && schema->items == NULL) {
        check_required(to, AT(at, "items"), "must be specified");
    }
    if (schema->items != NULL && schema->items->schema != NULL) {
        check_schema(to, AT(at, "items"), schema->items->schema, PLACE_ITEMS);
    } else if (schema->items != NULL) {
        check_forbidden(to, AT(at, "items"), "items must be a schema object and not an array");
    }
    if (more != NULL && schema->properties.len > 0) {
        check_forbidden(to, AT(at, "additionalProperties"), "additionalProperties and properties are mutual exclusive");
    }
    if (more != NULL && more->schema == NULL && !more->allows) {
        check_forbidden(to, AT(at, "additionalProperties"), "additionalProperties cannot be set to false");
    }
    if (more != NULL && more->schema != NULL) {
        check_schema(to, AT(at, "additionalProperties"), more->schema, PLACE_VALUES);
    }
    LIST_EACH(entry, &schema->properties) {
        const struct path *one = KEY(AT(at, "properties"), entry->key);

        if (place == PLACE_ROOT && str_is(entry->key, "metadata")) {
            check_metadata(to, one, &entry->value);
        } else {
            check_schema(to, one, &entry->value, PLACE_PROPERTY);
        }
    }
}

static void check_pattern(struct status *to, const struct path *at, struct str pattern)
{
    struct regex *regex = NULL;
    struct status *status = pattern.n == 0 ? NULL : regex_new(pattern, &regex);

    if (status != NULL) {
        check_invalid_str(to, at, pattern, "must be a valid regular expression, but isn't: %.*s",
                          STR_ARG(status->message));
        status_free(status);
    }
    regex_free(regex);
}

static void check_schema(struct status *to, const struct path *at, schema_ref schema, enum place place)
{
    if (schema->ref != NULL) {
        check_forbidden(to, AT(at, "$ref"), "$ref is not supported");
        return;
    }
    if (schema->unique_items) {
        check_forbidden(to, AT(at, "uniqueItems"),
                        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
    check_pattern(to, AT(at, "pattern"), schema->pattern);
    if (!check_type(to, at, schema, place)) {
        return;
    }
    check_extensions(to, at, schema);
    check_default(to, AT(at, "default"), schema);
    check_junctors(to, at, schema);
    check_children(to, at, schema, place);
}

void check_structural(struct status *to, const struct path *at, const struct apiextensions_v1_json_schema_props *schema)
{
    check_schema(to, at, schema, PLACE_ROOT);
}

schema_ref schema_at(schema_ref schema, struct str path)
{
    struct str rest = str_has_prefix(path, STR(".")) ? str_from(path, 1) : path;

    for (struct str name; schema != NULL && str_next(&rest, '.', &name);) {
        schema = property(schema, name);
    }
    return schema;
}
