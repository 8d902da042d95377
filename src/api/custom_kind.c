#include "api/custom_kind.h"

#include "api/custom_schema.h"
#include "base/mem.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/meta_v1.h"
#include "schema/object.h"

#include <stdlib.h>

/* Anything: maps are merged by key, all else counts as one. */
extern const struct type anything_type;
static const struct field anything_field = {.type = &anything_type, .kind = TYPE_STRUCT};
const struct type anything_type = {.name = STR_INIT("Any"), .rest = &anything_field};

static void describe(struct arena *arena, custom_schema_ref schema, struct field *field);

static struct field named_field(struct str name)
{
    return (struct field){.name = name, .kind = TYPE_RAW, .presence = PRESENCE_OMITZERO};
}

static struct type *describe_object(struct arena *arena, custom_schema_ref schema)
{
    struct type *type = ARENA_NEW(arena, struct type);
    struct field *fields = ARENA_ARRAY(arena, struct field, schema->properties.len + 1);
    custom_schema_ref additional = custom_schema_additional(schema);
    size_t count = 0;

    LIST_EACH(entry, &schema->properties) {
        fields[count] = named_field(entry->key);
        describe(arena, &entry->value, &fields[count++]);
    }
    if (schema->x_kubernetes_embedded_resource && custom_schema_property(schema, STR("metadata")) == NULL) {
        fields[count] = named_field(STR("metadata"));
        fields[count].kind = TYPE_STRUCT;
        fields[count++].type = &meta_v1_object_meta_type;
    }
    *type = (struct type){.name = STR("Object"), .fields = fields, .field_count = (uint16_t)count};
    if (additional != NULL) {
        struct field *rest = ARENA_NEW(arena, struct field);

        *rest = named_field((struct str){0});
        describe(arena, additional, rest);
        type->rest = rest;
    } else if (custom_schema_preserves(schema) || schema->additional_properties != NULL ||
               schema->x_kubernetes_embedded_resource) {
        type->rest = &anything_field;
    }
    type_seal(arena, type);
    return type;
}

static void describe_list(struct arena *arena, custom_schema_ref schema, struct field *field, struct field_rules *rules)
{
    struct str list_type = schema->x_kubernetes_list_type == NULL ? STR("atomic") : *schema->x_kubernetes_list_type;
    custom_schema_ref items = custom_schema_items(schema);

    field->shape = SHAPE_LIST;
    field->kind = TYPE_RAW;
    rules->list_type = str_is(list_type, "set") ? LIST_SET : str_is(list_type, "map") ? LIST_MAP : LIST_ATOMIC;
    if (rules->list_type == LIST_MAP && items != NULL) {
        field->kind = TYPE_STRUCT;
        field->type = describe_object(arena, items);
        rules->keys = schema->x_kubernetes_list_map_keys.items;
        rules->key_count = (uint8_t)schema->x_kubernetes_list_map_keys.len;
    }
}

/* Says of a field how server-side apply merges what the schema describes. */
static void describe(struct arena *arena, custom_schema_ref schema, struct field *field)
{
    struct field_rules *rules = ARENA_NEW(arena, struct field_rules);

    field->rules = rules;
    field->kind = TYPE_RAW;
    field->type = NULL;
    if (schema->default_ != NULL) {
        rules->default_value = schema->default_->json;
    }
    if (schema->x_kubernetes_map_type != NULL && str_is(*schema->x_kubernetes_map_type, "atomic")) {
        rules->granularity = GRANULARITY_ATOMIC;
    }
    if (str_is(schema->type, "array")) {
        describe_list(arena, schema, field, rules);
    } else if (str_is(schema->type, "object") || (schema->type.n == 0 && custom_schema_preserves(schema))) {
        field->kind = TYPE_STRUCT;
        field->type = describe_object(arena, schema);
    }
}

/* A property of the root: JSON text, with a type of one field that says how it is merged. */
static struct field root_property(struct arena *arena, struct str name, custom_schema_ref schema, uint32_t offset)
{
    struct field *merged = ARENA_NEW(arena, struct field), property = named_field(name);
    struct type *holder = ARENA_NEW(arena, struct type);

    if (schema != NULL) {
        describe(arena, schema, merged);
    } else {
        *merged = anything_field;
    }
    *holder = (struct type){.name = STR("Value"), .fields = merged, .field_count = 1};
    property.type = holder;
    property.offset = offset;
    return property;
}

/* `has_status`: the status is told apart even where the schema doesn't name it. */
static const struct type *root_type(struct arena *arena, struct str name, custom_schema_ref schema, bool has_status)
{
    const struct type *object = &meta_v1_partial_object_metadata_type;
    struct field *fields = ARENA_ARRAY(arena, struct field, schema->properties.len + 4);
    struct type *type = ARENA_NEW(arena, struct type);
    uint32_t offset = (uint32_t)((sizeof(struct object) + 7) / 8 * 8);
    size_t count = 2;

    fields[0] = object->fields[0];
    fields[1] = object->fields[1];
    LIST_EACH(entry, &schema->properties) {
        if (str_is(entry->key, "metadata") || str_is(entry->key, "apiVersion") || str_is(entry->key, "kind")) {
            continue;
        }
        fields[count++] = root_property(arena, entry->key, &entry->value, offset);
        offset += (uint32_t)sizeof(struct raw_json);
    }
    *type = (struct type){.name = name, .fields = fields, .flags = TYPE_OBJECT};
    if (has_status && custom_schema_preserves(schema) && custom_schema_property(schema, STR("status")) == NULL) {
        fields[count++] = root_property(arena, STR("status"), NULL, offset);
        offset += (uint32_t)sizeof(struct raw_json);
    }
    if (custom_schema_preserves(schema) || schema->additional_properties != NULL) {
        fields[count] = root_property(arena, (struct str){0}, custom_schema_additional(schema), offset);
        fields[count].shape = SHAPE_MAP;
        type->rest = &fields[count++];
        offset += (uint32_t)sizeof(struct any_list);
    }
    type->field_count = (uint16_t)count;
    type->size = offset;
    type_seal(arena, type);
    return type;
}

static const struct type *list_type(struct arena *arena, struct str name, const struct type *item)
{
    const struct type *list = &meta_v1_partial_object_metadata_list_type;
    struct field *fields = ARENA_ARRAY(arena, struct field, 3);
    struct type *type = ARENA_NEW(arena, struct type);

    fields[0] = list->fields[0];
    fields[1] = list->fields[1];
    fields[2] = list->fields[2];
    fields[2].type = item;
    *type = (struct type){.name = name, .fields = fields, .field_count = 3, .size = list->size, .flags = TYPE_LIST};
    type_seal(arena, type);
    return type;
}

static void add_subresources(struct arena *arena, struct custom_kind *custom)
{
    const struct apiextensions_v1_custom_resource_subresources *from = custom->version->subresources;
    struct subresource *subresources = ARENA_ARRAY(arena, struct subresource, 2);
    size_t count = 0;

    if (from != NULL && from->status != NULL) {
        subresources[count++] = (struct subresource){
            .name = STR("status"), .kind = custom->kind.kind, .verbs = VERB_GET | VERB_PATCH | VERB_UPDATE};
        custom->kind.has_status = true;
    }
    if (from != NULL && from->scale != NULL) {
        subresources[count++] = (struct subresource){.name = STR("scale"), .group = STR("autoscaling"),
                                                     .version = STR("v1"), .kind = STR("Scale"),
                                                     .verbs = VERB_GET | VERB_PATCH | VERB_UPDATE};
    }
    custom->kind.subresources = subresources;
    custom->kind.subresource_count = count;
}

struct custom_kind *custom_kind_new(struct arena *arena,
                                    const struct apiextensions_v1_custom_resource_definition *definition,
                                    const struct apiextensions_v1_custom_resource_definition_version *version)
{
    static const struct apiextensions_v1_json_schema_props nothing;
    struct custom_kind *custom = ARENA_NEW(arena, struct custom_kind);
    const struct apiextensions_v1_custom_resource_definition_names *names = &definition->status.accepted_names;

    custom->definition = definition;
    custom->version = version;
    custom->schema = version->schema != NULL && version->schema->open_api_v3_schema != NULL
                         ? version->schema->open_api_v3_schema
                         : &nothing;
    custom->kind = (struct kind){
        .group = definition->spec.group,
        .version = version->name,
        .kind = names->kind,
        .api_version = arena_printf(arena, "%.*s/%.*s", STR_ARG(definition->spec.group), STR_ARG(version->name)),
        .plural = names->plural,
        .singular = names->singular,
        .short_names = names->short_names,
        .categories = names->categories,
        .verbs = VERB_GET | VERB_LIST | VERB_WATCH | VERB_CREATE | VERB_UPDATE | VERB_PATCH | VERB_DELETE |
                 VERB_DELETECOLLECTION,
        .namespaced = str_is(definition->spec.scope, "Namespaced"),
        .type = root_type(arena, names->kind, custom->schema,
                          version->subresources != NULL && version->subresources->status != NULL),
        .list = &custom->list,
        .custom = custom,
    };
    custom->list = (struct kind){.group = custom->kind.group,
                                 .version = custom->kind.version,
                                 .kind = names->list_kind,
                                 .api_version = custom->kind.api_version,
                                 .type = list_type(arena, names->list_kind, custom->kind.type),
                                 .item = &custom->kind,
                                 .custom = custom};
    add_subresources(arena, custom);
    return custom;
}

/* v2beta1 as 2, 'b', 1; false for names of another form. */
struct version_parts {
    unsigned long major, minor;
    int rank; /* 2: v1, 1: v1beta1, 0: v1alpha1 */
};

static bool take_number(struct str *text, unsigned long *ret)
{
    size_t n = 0;

    *ret = 0;
    while (n < text->n && n < 9 && text->p[n] >= '0' && text->p[n] <= '9') {
        *ret = *ret * 10 + (unsigned long)(text->p[n++] - '0');
    }
    bool is_number = n != 0 && text->p[0] != '0';

    *text = str_from(*text, n);
    return is_number;
}

static bool version_parts(struct str version, struct version_parts *ret)
{
    struct str rest = str_from(version, 1);

    *ret = (struct version_parts){0};
    if (!str_has_prefix(version, STR("v")) || !take_number(&rest, &ret->major)) {
        return false;
    }
    if (rest.n == 0) {
        ret->rank = 2;
        return true;
    }
    if (str_has_prefix(rest, STR("beta"))) {
        ret->rank = 1;
        rest = str_from(rest, 4);
    } else if (str_has_prefix(rest, STR("alpha"))) {
        rest = str_from(rest, 5);
    } else {
        return false;
    }
    return take_number(&rest, &ret->minor) && rest.n == 0;
}

int custom_version_cmp(struct str a, struct str b)
{
    struct version_parts x, y;
    bool x_ok = version_parts(a, &x), y_ok = version_parts(b, &y);

    if (!x_ok || !y_ok) {
        return x_ok != y_ok ? (x_ok ? -1 : 1) : str_cmp(a, b);
    }
    if (x.rank != y.rank) {
        return x.rank > y.rank ? -1 : 1;
    }
    if (x.major != y.major) {
        return x.major > y.major ? -1 : 1;
    }
    return x.minor == y.minor ? 0 : x.minor > y.minor ? -1 : 1;
}
