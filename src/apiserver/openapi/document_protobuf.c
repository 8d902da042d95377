/* OpenAPI version 2 as gnostic's protobuf messages, which older clients ask for: the JSON document, member by
 * member. */
#include "apiserver/openapi/document.h"

#include "base/mem.h"
#include "schema/protobuf.h"
#include "schema/value.h"

/* A member of a JSON object and the field it becomes. */
struct member {
    const char *name;
    uint32_t number;
    /* Appends the message for the value; NULL: a string, or each string of an array. */
    void (*write)(const struct value *value, struct buf *out);
    bool is_repeated; /* one message for each element of an array */
};

static void add_text(struct buf *out, uint32_t number, struct str text)
{
    protobuf_add_bytes(out, number, text);
}

static void add_bool(struct buf *out, uint32_t number, bool value)
{
    if (value) {
        protobuf_add_varint(out, number << 3);
        protobuf_add_varint(out, 1);
    }
}

static void add_message(struct buf *out, uint32_t number, const struct value *value,
                        void (*write)(const struct value *value, struct buf *out))
{
    OWNED(buf_done) struct buf inner = {0};

    write(value, &inner);
    protobuf_add_bytes(out, number, buf_str(&inner));
}

/* Any: the value as YAML text, of which JSON is a part. */
static void write_any(const struct value *value, struct buf *out)
{
    OWNED(buf_done) struct buf text = {0};

    value_write_json(&text, value, VALUE_JSON_PLAIN);
    add_text(out, 2, buf_str(&text));
}

static void add_extensions(struct buf *out, uint32_t number, const struct value *object)
{
    VALUE_EACH_MEMBER(member, object) {
        if (str_has_prefix(member->key, STR("x-"))) {
            OWNED(buf_done) struct buf named = {0};

            add_text(&named, 1, member->key);
            add_message(&named, 2, member->value, write_any);
            protobuf_add_bytes(out, number, buf_str(&named));
        }
    }
}

static void add_members(struct buf *out, const struct value *object, const struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct value *value = value_find(object, str_of(members[i].name));

        if (value == NULL) {
            continue;
        }
        if (members[i].write != NULL && !members[i].is_repeated) {
            add_message(out, members[i].number, value, members[i].write);
        } else if (members[i].write != NULL) {
            VALUE_EACH_ITEM(item, value) {
                add_message(out, members[i].number, *item, members[i].write);
            }
        } else if (value_is(value, VALUE_ARRAY)) {
            VALUE_EACH_ITEM(item, value) {
                add_text(out, members[i].number, value_str(*item));
            }
        } else {
            add_text(out, members[i].number, value_str(value));
        }
    }
}

/* Each member of the object as a message of its name and value. */
static void add_named(struct buf *out, uint32_t number, const struct value *object,
                      void (*write)(const struct value *value, struct buf *out))
{
    VALUE_EACH_MEMBER(member, object) {
        OWNED(buf_done) struct buf named = {0};

        add_text(&named, 1, member->key);
        add_message(&named, 2, member->value, write);
        protobuf_add_bytes(out, number, buf_str(&named));
    }
}

static void write_schema(const struct value *schema, struct buf *out);

/* One message around another: items, and types of properties. */
static void write_wrapped_schema(const struct value *schema, struct buf *out)
{
    add_message(out, 1, schema, write_schema);
}

static void write_type(const struct value *type, struct buf *out)
{
    add_text(out, 1, value_str(type));
}

static void write_properties(const struct value *properties, struct buf *out)
{
    add_named(out, 1, properties, write_schema);
}

static void write_schema(const struct value *schema, struct buf *out)
{
    static const struct member members[] = {{"$ref", 1, NULL, false},
                                            {"format", 2, NULL, false},
                                            {"description", 4, NULL, false},
                                            {"required", 19, NULL, false},
                                            {"enum", 20, write_any, true},
                                            {"additionalProperties", 21, write_wrapped_schema, false},
                                            {"type", 22, write_type, false},
                                            {"items", 23, write_wrapped_schema, false},
                                            {"properties", 25, write_properties, false}};

    add_members(out, schema, members, COUNT_OF(members));
    add_extensions(out, 31, schema);
}

static void write_body_parameter(const struct value *parameter, struct buf *out)
{
    static const struct member members[] = {{"name", 2, NULL, false}, {"in", 3, NULL, false}};

    add_members(out, parameter, members, COUNT_OF(members));
    add_bool(out, 4, value_find(parameter, STR("required")) != NULL);
    add_message(out, 5, value_find(parameter, STR("schema")), write_schema);
}

static void write_query_parameter(const struct value *parameter, struct buf *out)
{
    static const struct member members[] = {{"in", 2, NULL, false}, {"name", 4, NULL, false}, {"type", 6, NULL, false}};

    add_members(out, parameter, members, COUNT_OF(members));
    add_bool(out, 20, true);
}

static void write_path_parameter(const struct value *parameter, struct buf *out)
{
    static const struct member members[] = {{"in", 2, NULL, false}, {"name", 4, NULL, false}, {"type", 5, NULL, false}};

    add_bool(out, 1, true);
    add_members(out, parameter, members, COUNT_OF(members));
    add_bool(out, 19, true);
}

static void write_other_parameter(const struct value *parameter, struct buf *out)
{
    if (str_is(value_str_at(parameter, "in"), "path")) {
        add_message(out, 4, parameter, write_path_parameter);
    } else {
        add_message(out, 3, parameter, write_query_parameter);
    }
}

static void write_parameter_kind(const struct value *parameter, struct buf *out)
{
    if (str_is(value_str_at(parameter, "in"), "body")) {
        add_message(out, 1, parameter, write_body_parameter);
    } else {
        add_message(out, 2, parameter, write_other_parameter);
    }
}

static void write_parameter(const struct value *parameter, struct buf *out)
{
    add_message(out, 1, parameter, write_parameter_kind);
}

static void write_response(const struct value *response, struct buf *out)
{
    static const struct member members[] = {{"description", 1, NULL, false},
                                            {"schema", 2, write_wrapped_schema, false}};

    add_members(out, response, members, COUNT_OF(members));
}

static void write_response_value(const struct value *response, struct buf *out)
{
    add_message(out, 1, response, write_response);
}

static void write_responses(const struct value *responses, struct buf *out)
{
    add_named(out, 1, responses, write_response_value);
}

static void write_operation(const struct value *operation, struct buf *out)
{
    static const struct member members[] = {{"tags", 1, NULL, false},
                                            {"operationId", 5, NULL, false},
                                            {"produces", 6, NULL, false},
                                            {"consumes", 7, NULL, false},
                                            {"parameters", 8, write_parameter, true},
                                            {"responses", 9, write_responses, false},
                                            {"schemes", 10, NULL, false}};

    add_members(out, operation, members, COUNT_OF(members));
    add_extensions(out, 13, operation);
}

static void write_path(const struct value *path, struct buf *out)
{
    static const struct member members[] = {
        {"get", 2, write_operation, false},     {"put", 3, write_operation, false},
        {"post", 4, write_operation, false},    {"delete", 5, write_operation, false},
        {"options", 6, write_operation, false}, {"head", 7, write_operation, false},
        {"patch", 8, write_operation, false},   {"parameters", 9, write_parameter, true}};

    add_members(out, path, members, COUNT_OF(members));
}

static void write_paths(const struct value *paths, struct buf *out)
{
    add_named(out, 2, paths, write_path);
}

static void write_info(const struct value *info, struct buf *out)
{
    static const struct member members[] = {{"title", 1, NULL, false}, {"version", 2, NULL, false}};

    add_members(out, info, members, COUNT_OF(members));
}

void openapi_document_v2_protobuf(const struct resources *resources, struct buf *out)
{
    static const struct member members[] = {{"swagger", 1, NULL, false},
                                            {"info", 2, write_info, false},
                                            {"paths", 8, write_paths, false},
                                            {"definitions", 9, write_properties, false}};
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf json = {0};
    struct value *document;

    openapi_document_v2(resources, &json);
    struct status *status = value_read_json(arena, buf_str(&json), &document, NULL);

    if (status != NULL) {
        mem_die("openapi: a document of our own is no JSON");
    }
    add_members(out, document, members, COUNT_OF(members));
}
