#include "apiserver/openapi/operation.h"

#include "schema/meta_v1.h"

static const char *const media[] = {"application/json", "application/vnd.kubernetes.protobuf", "application/yaml"};
static const char *const streams[] = {"application/json;stream=watch",
                                      "application/vnd.kubernetes.protobuf;stream=watch"};
static const char *const patches[] = {"application/apply-patch+yaml", "application/json-patch+json",
                                      "application/merge-patch+json", "application/strategic-merge-patch+json"};

void openapi_parameters(struct openapi_writer *writer, const char *parameters, const char *in, bool *first)
{
    struct buf *out = writer->out;
    struct str rest = str_of(parameters), item, name, sign;

    while (str_next(&rest, ' ', &item)) {
        if (item.n == 0) {
            continue;
        }
        str_cut(item, ':', &name, &sign);
        const char *type = str_is(sign, "i") ? "integer" : str_is(sign, "b") ? "boolean" : "string";

        buf_printf(out, "%s{\"in\":\"%s\",\"name\":\"%.*s\"", *first ? "" : ",", in, STR_ARG(name));
        *first = false;
        if (in[0] == 'p') {
            buf_add_str(out, STR(",\"required\":true"));
        }
        if (writer->version == OPENAPI_V3) {
            buf_printf(out, ",\"schema\":{\"type\":\"%s\",\"uniqueItems\":true}}", type);
        } else {
            buf_printf(out, ",\"type\":\"%s\",\"uniqueItems\":true}", type);
        }
    }
}

static void add_media(struct openapi_writer *writer, const char *type, bool is_first)
{
    buf_printf(writer->out, "%s\"%s\":{\"schema\":{", is_first ? "" : ",", type);
}

static void write_schema(struct openapi_writer *writer, const struct openapi_operation *operation)
{
    if (operation->answer == OPENAPI_TEXT || operation->answer == OPENAPI_ANYTHING) {
        buf_add_str(writer->out, STR("\"type\":\"string\""));
    } else {
        openapi_ref(writer, operation->type);
    }
}

static void write_content(struct openapi_writer *writer, const struct openapi_operation *operation)
{
    struct buf *out = writer->out;

    if (operation->answer == OPENAPI_ANYTHING) {
        buf_add_str(out, STR("\"*/*\":{\"schema\":{\"type\":\"string\"}}"));
        return;
    }
    for (size_t i = 0; i < COUNT_OF(media); i++) {
        add_media(writer, media[i], i == 0);
        write_schema(writer, operation);
        buf_add_str(out, STR("}}"));
    }
    for (size_t i = 0; i < COUNT_OF(streams) && operation->answer == OPENAPI_WATCHED; i++) {
        add_media(writer, streams[i], false);
        write_schema(writer, operation);
        buf_add_str(out, STR("}}"));
    }
    if (operation->answer == OPENAPI_TEXT) {
        buf_add_str(out, STR(",\"text/plain\":{\"schema\":{\"type\":\"string\"}}"));
    }
}

static const char *code_text(struct str code)
{
    return str_is(code, "201") ? "Created" : str_is(code, "202") ? "Accepted" : "OK";
}

static void write_responses(struct openapi_writer *writer, const struct openapi_operation *operation)
{
    struct buf *out = writer->out;
    struct str rest = str_of(operation->codes), code;

    buf_add_str(out, STR(",\"responses\":{"));
    while (str_next(&rest, ' ', &code)) {
        buf_printf(out, "\"%.*s\":{\"description\":\"%s\",", STR_ARG(code), code_text(code));
        buf_add_str(out, writer->version == OPENAPI_V3 ? STR("\"content\":{") : STR("\"schema\":{"));
        if (writer->version == OPENAPI_V3) {
            write_content(writer, operation);
        } else {
            write_schema(writer, operation);
        }
        buf_add_str(out, STR("}},"));
    }
    buf_add_str(out, STR("\"401\":{\"description\":\"Unauthorized\"}}"));
}

static void write_body_v3(struct openapi_writer *writer, const struct openapi_operation *operation)
{
    struct buf *out = writer->out;
    size_t count = operation->body_is_patch ? COUNT_OF(patches) : 1;

    buf_add_str(out, STR(",\"requestBody\":{\"content\":{"));
    for (size_t i = 0; i < count; i++) {
        add_media(writer, operation->body_is_patch ? patches[i] : "*/*", i == 0);
        openapi_ref(writer, operation->body);
        buf_add_str(out, STR("}}"));
    }
    buf_add_str(out, operation->body_is_optional ? STR("}}") : STR("},\"required\":true}"));
}

/* In version 2 the body is one of the parameters. */
static void write_parameters(struct openapi_writer *writer, const struct openapi_operation *operation)
{
    struct buf *out = writer->out;
    bool first = true, has_body = operation->body != NULL && writer->version == OPENAPI_V2;

    if (operation->parameters[0] == 0 && !has_body) {
        return;
    }
    buf_add_str(out, STR(",\"parameters\":["));
    if (has_body) {
        buf_add_str(out, STR("{\"in\":\"body\",\"name\":\"body\""));
        buf_add_str(out, operation->body_is_optional ? STR("") : STR(",\"required\":true"));
        buf_add_str(out, STR(",\"schema\":{"));
        openapi_ref(writer, operation->body);
        buf_add_str(out, STR("}}"));
        first = false;
    }
    openapi_parameters(writer, operation->parameters, "query", &first);
    buf_add_char(out, ']');
}

static void write_media_v2(struct openapi_writer *writer, const struct openapi_operation *operation)
{
    struct buf *out = writer->out;
    const char *const *consumed = operation->body_is_patch ? patches : NULL;

    buf_add_str(out, STR(",\"consumes\":["));
    for (size_t i = 0; consumed != NULL && i < COUNT_OF(patches); i++) {
        buf_printf(out, "%s\"%s\"", i == 0 ? "" : ",", consumed[i]);
    }
    buf_add_str(out, consumed == NULL ? STR("\"*/*\"],\"produces\":[") : STR("],\"produces\":["));
    for (size_t i = 0; i < COUNT_OF(media); i++) {
        buf_printf(out, "%s\"%s\"", i == 0 ? "" : ",", media[i]);
    }
    buf_add_str(out, STR("],\"schemes\":[\"https\"]"));
}

void openapi_operation(struct openapi_writer *writer, const struct openapi_operation *operation)
{
    struct buf *out = writer->out;

    buf_printf(out, "\"%s\":{\"operationId\":\"%.*s\",\"tags\":[\"%.*s\"]", operation->method, STR_ARG(operation->id),
               STR_ARG(operation->tag));
    write_parameters(writer, operation);
    if (operation->body != NULL && writer->version == OPENAPI_V3) {
        write_body_v3(writer, operation);
    }
    if (writer->version == OPENAPI_V2) {
        write_media_v2(writer, operation);
    }
    write_responses(writer, operation);
    if (operation->action != NULL) {
        buf_printf(out, ",\"x-kubernetes-action\":\"%s\"", operation->action);
    }
    if (operation->kind.n != 0) {
        buf_add_str(out, STR(",\"x-kubernetes-group-version-kind\":"));
        openapi_group_version_kind(writer, operation->group, operation->version, operation->kind);
    }
    buf_add_char(out, '}');
}
