#include "apiserver/openapi/schemas.h"

#include "api/apiextensions_v1.h"
#include "api/kinds.h"
#include "schema/json_lexer.h"
#include "schema/meta_v1.h"

#include <ctype.h>
#include <stdlib.h>

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."

/* Scalars that have a schema of their own, under a name. */
static const struct {
    const char *name, *v3, *v2;
} scalars[] = {
    {"io.k8s.apimachinery.pkg.api.resource.Quantity", "\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]",
     "\"type\":\"string\""},
    {"io.k8s.apimachinery.pkg.util.intstr.IntOrString",
     "\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]",
     "\"format\":\"int-or-string\",\"type\":\"string\""},
    {META "Time", "\"format\":\"date-time\",\"type\":\"string\"", NULL},
    {META "MicroTime", "\"format\":\"date-time\",\"type\":\"string\"", NULL},
    {META "Duration", "\"type\":\"string\"", NULL},
    {META "FieldsV1", "\"type\":\"object\"", NULL},
    {"io.k8s.apimachinery.pkg.runtime.RawExtension", "\"type\":\"object\"", NULL},
    {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", "", NULL},
};

void openapi_writer_done(struct openapi_writer *writer)
{
    map_done(&writer->seen);
}

static void mention(struct openapi_writer *writer, struct str name, const struct type *type)
{
    if (map_find(&writer->seen, name) == NULL) {
        map_set(&writer->seen, name, writer);
        *LIST_ADD(writer->arena, &writer->named) = (struct openapi_named){name, type};
    }
    buf_printf(writer->out, "\"$ref\":\"#/%s/%.*s\"",
               writer->version == OPENAPI_V3 ? "components/schemas" : "definitions", STR_ARG(name));
}

void openapi_ref(struct openapi_writer *writer, const struct type *type)
{
    mention(writer,
            arena_printf(writer->arena, "%.*s.%.*s", STR_ARG(type->package->openapi), STR_ARG(type->name)), type);
}

/* The name of the schema that stands for values of the field; empty: there is none, the type is written in place. */
static struct str scalar_name(const struct field *field)
{
    switch ((enum type_kind)field->kind) {
    case TYPE_QUANTITY:
        return STR("io.k8s.apimachinery.pkg.api.resource.Quantity");
    case TYPE_INT_OR_STRING:
        return STR("io.k8s.apimachinery.pkg.util.intstr.IntOrString");
    case TYPE_TIME:
        return STR(META "Time");
    case TYPE_MICRO_TIME:
        return STR(META "MicroTime");
    case TYPE_DURATION:
        return STR(META "Duration");
    case TYPE_RAW:
        return field->rules != NULL ? field->rules->openapi : (struct str){0};
    default:
        return (struct str){0};
    }
}

static bool is_ref(const struct field *field)
{
    return field->kind == TYPE_STRUCT || scalar_name(field).n != 0;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void write_enum(struct openapi_writer *writer, const struct field_rules *rules)
{
    struct str *sorted = ARENA_ARRAY(writer->arena, struct str, rules->enum_count);

    for (size_t i = 0; i < rules->enum_count; i++) {
        sorted[i] = rules->enum_values[i];
    }
    qsort(sorted, rules->enum_count, sizeof *sorted, by_text);
    buf_add_str(writer->out, STR("\"enum\":["));
    for (size_t i = 0; i < rules->enum_count; i++) {
        if (i != 0) {
            buf_add_char(writer->out, ',');
        }
        json_add_string(writer->out, sorted[i]);
    }
    buf_add_str(writer->out, STR("],"));
}

static void write_plain(struct openapi_writer *writer, const struct field *field)
{
    static const char *const texts[TYPE_KIND_COUNT] = {
        [TYPE_BOOL] = "\"type\":\"boolean\"",
        [TYPE_INT32] = "\"format\":\"int32\",\"type\":\"integer\"",
        [TYPE_INT64] = "\"format\":\"int64\",\"type\":\"integer\"",
        [TYPE_UINT32] = "\"format\":\"int64\",\"type\":\"integer\"",
        [TYPE_UINT64] = "\"format\":\"int64\",\"type\":\"integer\"",
        [TYPE_DOUBLE] = "\"format\":\"double\",\"type\":\"number\"",
        [TYPE_STRING] = "\"type\":\"string\"",
        [TYPE_BYTES] = "\"format\":\"byte\",\"type\":\"string\"",
        [TYPE_RAW] = "\"type\":\"object\"",
        [TYPE_STRINGS] = "\"items\":{\"type\":\"string\"},\"type\":\"array\"",
    };

    if (field->kind == TYPE_STRING && field->rules != NULL && field->rules->enum_is_closed) {
        write_enum(writer, field->rules);
    }
    buf_add_str(writer->out, str_of(texts[field->kind] != NULL ? texts[field->kind] : "\"type\":\"object\""));
}

/* What one value of the field is, without braces. */
static void write_value(struct openapi_writer *writer, const struct field *field)
{
    if (field->kind == TYPE_STRUCT) {
        openapi_ref(writer, field->type);
    } else if (is_ref(field)) {
        mention(writer, scalar_name(field), NULL);
    } else {
        write_plain(writer, field);
    }
}

/* Version 2 has no room for defaults. */
static void write_default(struct openapi_writer *writer, const struct field *field)
{
    struct buf *out = writer->out;
    bool is_always = field->presence == PRESENCE_ALWAYS && field->shape == SHAPE_PLAIN;

    if (writer->version == OPENAPI_V2) {
        return;
    }
    if (field->rules != NULL && field->rules->default_value.n != 0) {
        buf_printf(out, ",\"default\":%.*s", STR_ARG(field->rules->default_value));
    } else if (field->kind == TYPE_STRUCT && field->shape == SHAPE_PLAIN) {
        buf_add_str(out, STR(",\"default\":{}"));
    } else if (is_always && field->kind == TYPE_STRING) {
        buf_add_str(out, STR(",\"default\":\"\""));
    } else if (is_always && field->kind == TYPE_BOOL) {
        buf_add_str(out, STR(",\"default\":false"));
    } else if (is_always && field->kind <= TYPE_DOUBLE) {
        buf_add_str(out, STR(",\"default\":0"));
    }
}

static void write_list_rules(struct openapi_writer *writer, const struct field_rules *rules)
{
    static const char *const types[] = {[LIST_ATOMIC] = "atomic", [LIST_SET] = "set", [LIST_MAP] = "map"};
    struct buf *out = writer->out;

    if (rules->list_type != LIST_UNMARKED) {
        buf_printf(out, ",\"x-kubernetes-list-type\":\"%s\"", types[rules->list_type]);
    }
    if (rules->key_count != 0) {
        buf_add_str(out, STR(",\"x-kubernetes-list-map-keys\":["));
        for (size_t i = 0; i < rules->key_count; i++) {
            buf_printf(out, "%s\"%.*s\"", i == 0 ? "" : ",", STR_ARG(rules->keys[i]));
        }
        buf_add_char(out, ']');
    }
    if (rules->granularity != GRANULARITY_UNMARKED) {
        buf_printf(out, ",\"x-kubernetes-map-type\":\"%s\"",
                   rules->granularity == GRANULARITY_ATOMIC ? "atomic" : "granular");
    }
}

static void write_patch_rules(struct openapi_writer *writer, const struct field_rules *rules)
{
    if (rules->patch_strategy.n != 0) {
        buf_printf(writer->out, ",\"x-kubernetes-patch-strategy\":\"%.*s\"", STR_ARG(rules->patch_strategy));
    }
    if (rules->patch_merge_key.n != 0) {
        buf_printf(writer->out, ",\"x-kubernetes-patch-merge-key\":\"%.*s\"", STR_ARG(rules->patch_merge_key));
    }
}

/* A reference stands alone in its schema: in version 3 others go around it, where stock has a description to tell. */
static bool wraps_ref(const struct openapi_writer *writer, const struct type *owner, const struct field *field)
{
    bool has_nothing_to_tell = owner == &apiextensions_v1_json_schema_props_type &&
                               field->shape == SHAPE_POINTER && !str_is(field->name, "default");

    return is_ref(field) && writer->version == OPENAPI_V3 && !has_nothing_to_tell;
}

static void write_property(struct openapi_writer *writer, const struct type *owner, const struct field *field)
{
    struct buf *out = writer->out;
    bool wraps = wraps_ref(writer, owner, field);

    buf_add_char(out, '{');
    switch ((enum field_shape)field->shape) {
    case SHAPE_LIST:
        buf_add_str(out, STR("\"type\":\"array\",\"items\":{"));
        write_value(writer, field);
        buf_add_char(out, '}');
        break;
    case SHAPE_MAP:
        buf_add_str(out, STR("\"type\":\"object\",\"additionalProperties\":{"));
        write_value(writer, field);
        buf_add_char(out, '}');
        break;
    default:
        buf_add_str(out, wraps ? STR("\"allOf\":[{") : STR(""));
        write_value(writer, field);
        buf_add_str(out, wraps ? STR("}]") : STR(""));
        write_default(writer, field);
    }
    if (field->rules != NULL) {
        write_list_rules(writer, field->rules);
        write_patch_rules(writer, field->rules);
    }
    buf_add_char(out, '}');
}

static bool is_required(const struct field *field)
{
    return (field->flags & FIELD_REQUIRED) != 0 ||
           (field->presence == PRESENCE_ALWAYS && (field->flags & FIELD_OPTIONAL) == 0);
}

static void write_properties(struct openapi_writer *writer, const struct type *type)
{
    struct buf *out = writer->out;
    bool first = true;

    buf_add_str(out, STR(",\"properties\":{"));
    for (size_t i = 0; i < type->member_count; i++) {
        const struct field *field = type->members[i].field;

        buf_printf(out, "%s\"%.*s\":", i == 0 ? "" : ",", STR_ARG(field->name));
        write_property(writer, type, field);
    }
    buf_add_char(out, '}');
    for (size_t i = 0; i < type->member_count; i++) {
        const struct field *field = type->members[i].field;

        if (is_required(field)) {
            buf_printf(out, "%s\"%.*s\"", first ? ",\"required\":[" : ",", STR_ARG(field->name));
            first = false;
        }
    }
    buf_add_str(out, first ? STR("") : STR("]"));
}

void openapi_group_version_kind(struct openapi_writer *writer, struct str group, struct str version, struct str kind)
{
    buf_printf(writer->out, "{\"group\":\"%.*s\",\"kind\":\"%.*s\",\"version\":\"%.*s\"}", STR_ARG(group),
               STR_ARG(kind), STR_ARG(version));
}

/* Kinds of meta.k8s.io belong to the core group; options and events to every group besides. */
static void write_meta_kinds(struct openapi_writer *writer, struct str kind)
{
    bool is_everywhere = str_is(kind, "DeleteOptions") || str_is(kind, "WatchEvent");

    openapi_group_version_kind(writer, STR(""), STR("v1"), kind);
    if (!is_everywhere) {
        return;
    }
    struct str group = {0}, version = STR("v1");

    for (size_t i = 0; i < kinds_all_count && writer->of_all; i++) {
        const struct kind *other = kinds_all[i];

        if (other->type->package->rank != 0 && !(str_eq(other->group, group) && str_eq(other->version, version))) {
            group = other->group;
            version = other->version;
            buf_add_char(writer->out, ',');
            openapi_group_version_kind(writer, group, version, kind);
        }
    }
    if (!writer->of_all && writer->group.n != 0) {
        buf_add_char(writer->out, ',');
        openapi_group_version_kind(writer, writer->group, writer->group_version, kind);
    }
}

static void write_kinds(struct openapi_writer *writer, const struct type *type)
{
    for (size_t i = 0; i < kinds_all_count; i++) {
        const struct kind *kind = kinds_all[i];

        if (kind->type != type) {
            continue;
        }
        buf_add_str(writer->out, STR(",\"x-kubernetes-group-version-kind\":["));
        if (str_is(kind->group, "meta.k8s.io")) {
            write_meta_kinds(writer, kind->kind);
        } else {
            openapi_group_version_kind(writer, kind->group, kind->version, kind->kind);
        }
        buf_add_char(writer->out, ']');
        return;
    }
}

static void write_description(struct openapi_writer *writer, const struct type *type)
{
    struct str version = type->package->api_version;

    buf_printf(writer->out, "\"description\":\"%.*s of %.*s.\"", STR_ARG(type->name), STR_ARG(version));
}

/* Which one of the members is set, and the member that says so. */
static void write_union(struct openapi_writer *writer, const struct type *type)
{
    struct buf *out = writer->out;
    bool first = true;

    buf_add_str(out, STR(",\"x-kubernetes-unions\":[{"));
    for (size_t i = 0; i < type->field_count; i++) {
        if ((type->fields[i].flags & FIELD_DISCRIMINATOR) != 0) {
            buf_printf(out, "\"discriminator\":\"%.*s\",", STR_ARG(type->fields[i].name));
        }
    }
    buf_add_str(out, STR("\"fields-to-discriminateBy\":{"));
    for (size_t i = 0; i < type->field_count; i++) {
        struct str name = type->fields[i].name;

        if (type->fields[i].shape == SHAPE_POINTER) {
            buf_printf(out, "%s\"%.*s\":\"%c%.*s\"", first ? "" : ",", STR_ARG(name), toupper(name.p[0]),
                       STR_ARG(str_from(name, 1)));
            first = false;
        }
    }
    buf_add_str(out, STR("}}]"));
}

static void write_type(struct openapi_writer *writer, const struct type *type)
{
    write_description(writer, type);
    if ((type->flags & TYPE_UNION) != 0) {
        return;
    }
    buf_add_str(writer->out, STR(",\"type\":\"object\""));
    if (type->member_count != 0) {
        write_properties(writer, type);
    }
    if ((type->flags & TYPE_ATOMIC) != 0) {
        buf_add_str(writer->out, STR(",\"x-kubernetes-map-type\":\"atomic\""));
    }
    if ((type->flags & TYPE_ONE_OF) != 0) {
        write_union(writer, type);
    }
    write_kinds(writer, type);
}

static void write_scalar(struct openapi_writer *writer, struct str name)
{
    for (size_t i = 0; i < COUNT_OF(scalars); i++) {
        if (str_is(name, scalars[i].name)) {
            bool is_v2 = writer->version == OPENAPI_V2 && scalars[i].v2 != NULL;

            buf_add_str(writer->out, str_of(is_v2 ? scalars[i].v2 : scalars[i].v3));
        }
    }
}

void openapi_schemas(struct openapi_writer *writer)
{
    for (; writer->written < writer->named.len; writer->written++) {
        struct openapi_named named = writer->named.items[writer->written];

        buf_printf(writer->out, "%s\"%.*s\":{", writer->written == 0 ? "" : ",", STR_ARG(named.name));
        if (named.type != NULL) {
            write_type(writer, named.type);
        } else {
            write_scalar(writer, named.name);
        }
        buf_add_char(writer->out, '}');
    }
}
