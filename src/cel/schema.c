/* Types of structural schemas, with the sizes that estimates go by. */
#include "cel/cel_parts.h"
#include "api/apiextensions_v1.h"

#define REQUEST_BYTES ((uint64_t)3 << 20)
/* The shortest JSON of what a type holds. */
enum { TEXT_BYTES = 2, BOOL_BYTES = 4, NUMBER_BYTES = 1, OBJECT_BYTES = 2, DATE_BYTES = 12, DATETIME_BYTES = 22, DURATION_BYTES = 4 };

static struct cel_type *sized(struct cel_env *env, enum cel_kind kind, uint64_t max, uint64_t min_bytes)
{
    struct cel_type *type = ARENA_NEW(env->arena, struct cel_type);

    *type = *cel_type_basic(kind);
    type->max_size = max;
    type->min_bytes = min_bytes;
    return type;
}

static uint64_t bound(const int64_t *given, uint64_t otherwise)
{
    return given == NULL ? otherwise : *given < 0 ? 0 : (uint64_t)*given;
}

static const struct cel_type *of_string(struct cel_env *env, const struct apiextensions_v1_json_schema_props *schema)
{
    uint64_t most = REQUEST_BYTES - 2, longest = 0;

    if (str_is(schema->format, "byte")) {
        return sized(env, CEL_BYTES, bound(schema->max_length, most), TEXT_BYTES);
    }
    if (str_is(schema->format, "duration")) {
        return sized(env, CEL_DURATION, most, DURATION_BYTES);
    }
    if (str_is(schema->format, "date") || str_is(schema->format, "date-time")) {
        bool day = schema->format.n == 4;

        return sized(env, CEL_TIMESTAMP, day ? DATE_BYTES : DATETIME_BYTES, day ? DATE_BYTES : DATETIME_BYTES);
    }
    if (schema->max_length != NULL) {
        return sized(env, CEL_STRING, bound(schema->max_length, 0) * 4, TEXT_BYTES);
    }
    LIST_EACH(choice, &schema->enum_) {
        longest = MAX(longest, choice->json.n > 2 ? choice->json.n - 2 : 0);
    }
    return sized(env, CEL_STRING, schema->enum_.len > 0 ? longest : most, TEXT_BYTES);
}

static const struct cel_type *of_array(struct cel_env *env, const struct apiextensions_v1_json_schema_props *schema)
{
    const struct apiextensions_v1_json_schema_props *items = schema->items != NULL ? schema->items->schema : NULL;
    const struct cel_type *element = items != NULL ? cel_type_of_schema(env, items, items->x_kubernetes_embedded_resource) : NULL;

    if (element == NULL) {
        return NULL;
    }
    struct cel_type *type = sized(env, CEL_LIST, bound(schema->max_items, (REQUEST_BYTES - 2) / (element->min_bytes + 1)), OBJECT_BYTES);
    type->params[0] = element;
    if (schema->x_kubernetes_list_type != NULL) {
        type->is_set = str_is(*schema->x_kubernetes_list_type, "set");
        type->is_map_list = str_is(*schema->x_kubernetes_list_type, "map");
        type->keys.items = ARENA_ARRAY(env->arena, struct str, schema->x_kubernetes_list_map_keys.len);
        LIST_EACH(key, &schema->x_kubernetes_list_map_keys) {
            type->keys.items[type->keys.len++] = arena_str(env->arena, *key);
        }
    }
    return type;
}

static bool is_required(const struct apiextensions_v1_json_schema_props *schema, struct str name)
{
    LIST_EACH(required, &schema->required) {
        if (str_eq(*required, name)) {
            return true;
        }
    }
    return false;
}

static void add_meta(struct cel_env *env, struct cel_type *object)
{
    const struct cel_type *text = sized(env, CEL_STRING, REQUEST_BYTES - 2, TEXT_BYTES);
    struct cel_type *metadata = cel_type_object(env, STR("object"));

    metadata->min_bytes = OBJECT_BYTES;
    cel_type_field(env, metadata, STR("name"), text);
    cel_type_field(env, metadata, STR("generateName"), text);
    cel_type_field(env, object, STR("apiVersion"), text);
    cel_type_field(env, object, STR("kind"), text);
    cel_type_field(env, object, STR("metadata"), metadata);
}

static const struct cel_type *of_object(struct cel_env *env, const struct apiextensions_v1_json_schema_props *schema, bool is_root)
{
    const struct apiextensions_v1_json_schema_props *more = schema->additional_properties != NULL ? schema->additional_properties->schema : NULL;

    if (more != NULL) {
        const struct cel_type *value = cel_type_of_schema(env, more, more->x_kubernetes_embedded_resource);

        if (value == NULL) {
            return NULL;
        }
        struct cel_type *map = sized(env, CEL_MAP, bound(schema->max_properties, (REQUEST_BYTES - 2) / (value->min_bytes + 6)), OBJECT_BYTES);
        map->params[0] = sized(env, CEL_STRING, REQUEST_BYTES - 2, TEXT_BYTES);
        map->params[1] = value;
        return map;
    }
    struct cel_type *object = cel_type_object(env, STR("object"));
    object->min_bytes = OBJECT_BYTES;
    if (is_root) {
        add_meta(env, object);
    }
    LIST_EACH(property, &schema->properties) {
        const struct cel_type *type = cel_type_of_schema(env, &property->value, property->value.x_kubernetes_embedded_resource);

        if (type == NULL || (is_root && cel_type_member(object, property->key) != NULL)) {
            continue;
        }
        cel_type_field(env, object, cel_escape_name(env->arena, property->key), type);
        if (is_required(schema, property->key) && property->value.default_ == NULL) {
            object->min_bytes += property->key.n + type->min_bytes + 4;
        }
    }
    return object;
}

const struct cel_type *cel_type_of_schema(struct cel_env *env, const struct apiextensions_v1_json_schema_props *schema, bool is_root)
{
    if (schema->x_kubernetes_int_or_string) {
        return sized(env, CEL_DYN, REQUEST_BYTES - 2, 1);
    }
    if (str_is(schema->type, "array")) {
        return of_array(env, schema);
    }
    if (str_is(schema->type, "object") || is_root) {
        return of_object(env, schema, is_root);
    }
    if (str_is(schema->type, "string")) {
        return of_string(env, schema);
    }
    if (str_is(schema->type, "boolean")) {
        return sized(env, CEL_BOOL, 0, BOOL_BYTES);
    }
    if (str_is(schema->type, "number") || str_is(schema->type, "integer")) {
        return sized(env, schema->type.p[0] == 'n' ? CEL_DOUBLE : CEL_INT, 0, NUMBER_BYTES);
    }
    return NULL;
}
