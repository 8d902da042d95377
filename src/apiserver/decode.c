#include "apiserver/decode.h"

#include "api/custom_kind.h"
#include "api/kinds.h"
#include "api/policy_v1.h"
#include "apiserver/errors.h"
#include "base/base64.h"
#include "base/limits.h"
#include "schema/json.h"
#include "schema/meta_v1.h"
#include "schema/json_lexer.h"
#include "schema/object.h"
#include "schema/protobuf.h"
#include "schema/yaml.h"

struct status *decode_read_body(struct request *request, struct str *ret)
{
    struct status *status = http_read_all(request->exchange, LIMIT_REQUEST_BODY_BYTES, ret);

    if (status_free_if(&status, STATUS_REQUEST_ENTITY_TOO_LARGE)) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "Request entity too large: limit is %zu",
                          LIMIT_REQUEST_BODY_BYTES);
    }
    return status;
}

/* What the text says it is. */
struct said {
    struct str group, version, kind;
};

enum { SUMMARY_BYTES = 30 };

/* The start of a body for an error message: text of JSON, else hexadecimal. */
static struct str summary(struct arena *arena, struct str body)
{
    if (body.n == 0) {
        return STR("<empty>");
    }
    struct str start = str_sub(body, 0, SUMMARY_BYTES);
    const char *more = body.n > SUMMARY_BYTES ? " ..." : "";

    if (body.p[0] != '{') {
        start = hex_encode(arena, start);
    }
    return arena_printf(arena, "%.*s%s", STR_ARG(start), more);
}

/* What is wrong with options of a DELETE is told as it is, without what was being done. */
static bool is_told_bare(const struct kind *kind)
{
    return kind == &meta_v1_delete_options_kind;
}

static struct status *unrecognized(struct arena *arena, const struct kind *kind, struct str body, struct status *cause)
{
    if (is_told_bare(kind)) {
        struct status *bare = error_bad_request("%.*s", STR_ARG(cause->message));

        status_free(cause);
        return bare;
    }
    struct status *status =
        error_bad_request("the object provided is unrecognized (must be of type %.*s): %.*s (%.*s)",
                          STR_ARG(kind->kind), STR_ARG(cause->message), STR_ARG(summary(arena, body)));

    status_free(cause);
    return status;
}

static struct status *cannot_handle(const struct said *said, const struct kind *kind, struct str why)
{
    if (is_told_bare(kind)) {
        return error_bad_request("%.*s", STR_ARG(why));
    }
    return error_bad_request("%.*s in version \"%.*s\" cannot be handled as a %.*s: %.*s", STR_ARG(said->kind),
                             STR_ARG(said->version), STR_ARG(kind->kind), STR_ARG(why));
}

#define TYPE_STRUCT_TEXT \
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }"

static struct status *read_type_member(struct json_lexer *in, struct str key, struct str *api_version, struct str *kind)
{
    struct str *place = str_is(key, "apiVersion") ? api_version : str_is(key, "kind") ? kind : NULL;
    enum json_kind next = json_peek(in);

    if (place == NULL || next == JSON_NULL || next == JSON_INVALID) {
        json_skip(in, NULL);
        return NULL;
    }
    if (next != JSON_STRING) {
        return error_bad_request("couldn't get version/kind; json parse error: json: cannot unmarshal %s into Go struct "
                                 "field .%.*s of type string",
                                 json_kind_name(next), STR_ARG(key));
    }
    json_string(in, place);
    return NULL;
}

/* kind and apiVersion of JSON text, wherever they stand in it. */
static struct status *read_type(struct arena *arena, struct str text, struct str *api_version, struct str *kind)
{
    struct json_lexer in;
    struct status *status;

    json_begin(&in, text, arena);
    enum json_kind first = json_peek(&in);

    if (first == JSON_OBJECT) {
        json_object_start(&in);
        for (struct str key; json_object_next(&in, &key);) {
            TRY(read_type_member(&in, key, api_version, kind));
        }
    } else {
        json_skip(&in, NULL);
    }
    status = json_finish(&in);
    if (status != NULL) {
        return status_while(status, "couldn't get version/kind; json parse error");
    }
    if (first != JSON_OBJECT && first != JSON_NULL) {
        return error_bad_request("couldn't get version/kind; json parse error: json: cannot unmarshal %s into Go value "
                                 "of type " TYPE_STRUCT_TEXT,
                                 json_kind_name(first));
    }
    return NULL;
}

/* Go's name of the package that holds a group's internal types. */
static struct str internal_package(struct str group)
{
    struct str head, tail;

    if (group.n == 0 || str_is(group, "events.k8s.io")) {
        return STR("core");
    }
    str_cut(group, '.', &head, &tail);
    return head;
}

static struct status *not_registered(struct arena *arena, const struct said *said, const struct kind *kind)
{
    struct str api_version = said->group.n == 0
                                 ? said->version
                                 : arena_printf(arena, "%.*s/%.*s", STR_ARG(said->group), STR_ARG(said->version));

    return cannot_handle(said, kind,
                         arena_printf(arena, "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                                             "\"pkg/runtime/scheme.go:111\"",
                                      STR_ARG(said->kind), STR_ARG(api_version)));
}

/* Another version of the same kind could be converted, but isn't what this path takes; any other kind can't be. */
static struct status *check_kind(struct arena *arena, const struct said *said, const struct kind *found,
                                 const struct kind *kind)
{
    if (found == kind || found->type == kind->type) {
        return NULL;
    }
    bool is_event = str_is(kind->kind, "Event") && str_is(found->kind, "Event");

    if (is_event || (str_eq(found->group, kind->group) && str_eq(found->kind, kind->kind))) {
        return error_bad_request("the API version in the data (%.*s) does not match the expected API version (%.*s)",
                                 STR_ARG(found->api_version), STR_ARG(kind->api_version));
    }
    if (is_told_bare(kind)) {
        return not_registered(arena, said, kind);
    }
    return cannot_handle(said, kind,
                         arena_printf(arena, "converting (%.*s.%.*s) to (%.*s.%.*s): unknown conversion",
                                      STR_ARG(said->version), STR_ARG(said->kind),
                                      STR_ARG(internal_package(kind->group)), STR_ARG(kind->kind)));
}

static struct status *report_problems(struct request *request, const struct said *said, const struct kind *kind,
                                      const struct json_problems *problems, enum field_validation validation)
{
    OWNED(buf_done) struct buf all = {0};

    for (size_t i = 0; i < problems->len; i++) {
        if (validation == FIELD_VALIDATION_WARN) {
            request_warn(request, "%.*s", STR_ARG(problems->items[i]));
        }
        buf_printf(&all, "%s%.*s", i == 0 ? "strict decoding error: " : ", ", STR_ARG(problems->items[i]));
    }
    if (validation != FIELD_VALIDATION_STRICT || problems->len == 0) {
        return NULL;
    }
    return cannot_handle(said, kind, buf_str(&all));
}

static struct said said_by(struct str api_version, struct str kind_name, const struct kind *kind)
{
    struct said said = {.kind = kind_name.n != 0 ? kind_name : kind->kind};

    if (api_version.n != 0) {
        api_version_split(api_version, &said.group, &said.version);
    } else {
        said.group = kind->group;
        said.version = kind->version;
    }
    return said;
}

static const struct kind *find_kind(const struct said *said, const struct kind *kind)
{
    if (str_eq(said->group, kind->group) && str_eq(said->version, kind->version) && str_eq(said->kind, kind->kind)) {
        return kind;
    }
    if (kind == &policy_v1_eviction_kind && str_is(said->version, "v1beta1") && str_eq(said->group, kind->group) &&
        str_eq(said->kind, kind->kind)) {
        return kind; /* served no more, but the same, and taken still */
    }
    return kind_find(said->group, said->version, said->kind);
}

static struct status *decode_text(struct request *request, struct str text, struct str body, const struct kind *kind,
                                  enum field_validation validation, void **ret)
{
    struct arena *arena = request->arena;
    struct str api_version = {0}, kind_name = {0};
    struct status *status = read_type(arena, text, &api_version, &kind_name);

    if (status != NULL) {
        return unrecognized(arena, kind, body, status);
    }
    struct said said = said_by(api_version, kind_name, kind);
    const struct kind *found = find_kind(&said, kind);

    if (found == NULL && kind->custom != NULL && str_eq(said.kind, kind->kind)) {
        return error_bad_request("the API version in the data (%.*s) does not match the expected API version (%.*s)",
                                 STR_ARG(api_version), STR_ARG(kind->api_version));
    }
    if (found == NULL) {
        return not_registered(arena, &said, kind);
    }
    struct object *object = arena_alloc(arena, found->type->size);
    struct json_problems problems = {0};

    status = json_decode(arena, found->type, text, object, validation == FIELD_VALIDATION_IGNORE ? NULL : &problems);
    if (status != NULL) {
        struct status *error = cannot_handle(&said, kind, status->message);

        status_free(status);
        return error;
    }
    if (found->custom != NULL) {
        custom_object_prune(arena, found, object, validation == FIELD_VALIDATION_IGNORE ? NULL : &problems);
    }
    TRY(report_problems(request, &said, kind, &problems, validation));
    TRY(check_kind(arena, &said, found, kind));
    object->type_meta = (struct meta_v1_type_meta){0};
    *ret = object;
    return NULL;
}

/* "yaml: unmarshal errors:\n  line 2: ...\n  line 3: ..." is told line by line. */
static void add_yaml_problems(struct arena *arena, struct str message, struct json_problems *problems)
{
    if (!str_has_prefix(message, STR("yaml: unmarshal errors:\n"))) {
        *LIST_ADD(arena, problems) = arena_str(arena, message);
        return;
    }
    struct str rest = str_from(message, str_index(message, '\n') + 1), line;

    while (str_next(&rest, '\n', &line) && problems->len < JSON_PROBLEMS_MAX) {
        *LIST_ADD(arena, problems) = arena_str(arena, str_trim(line));
    }
}

static struct status *decode_yaml(struct request *request, struct str body, const struct kind *kind,
                                  enum field_validation validation, void **ret)
{
    struct value *tree;
    OWNED(buf_done) struct buf text = {0};
    struct status *status = yaml_read(request->arena, body, false, &tree);

    if (status != NULL) {
        return unrecognized(request->arena, kind, body, status);
    }
    if (validation != FIELD_VALIDATION_IGNORE) {
        struct value *again;
        struct str api_version = value_str_at(tree, "apiVersion"), kind_name = value_str_at(tree, "kind");

        status = yaml_read(request->arena, body, true, &again);
        if (status != NULL) {
            struct said said = said_by(api_version, kind_name, kind);
            struct json_problems problems = {0};

            add_yaml_problems(request->arena, status->message, &problems);
            status_free(status);
            TRY(report_problems(request, &said, kind, &problems, validation));
        }
    }
    value_write_json(&text, tree, VALUE_JSON_PLAIN);
    return decode_text(request, arena_str(request->arena, buf_str(&text)), body, kind, validation, ret);
}

static struct status *decode_protobuf(struct request *request, struct str body, const struct kind *kind, void **ret)
{
    struct arena *arena = request->arena;
    struct protobuf_envelope envelope;
    struct status *status = protobuf_envelope_read(body, &envelope);

    if (status != NULL) {
        return unrecognized(arena, kind, body, status);
    }
    struct said said = said_by(envelope.api_version, envelope.kind, kind);
    const struct kind *found = find_kind(&said, kind);

    if (found == NULL) {
        return not_registered(arena, &said, kind);
    }
    struct object *object = arena_alloc(arena, found->type->size);

    status = protobuf_decode(arena, found->type, envelope.raw, object);
    if (status != NULL) {
        struct status *error = cannot_handle(&said, kind, status->message);

        status_free(status);
        return error;
    }
    TRY(check_kind(arena, &said, found, kind));
    object->type_meta = (struct meta_v1_type_meta){0};
    *ret = object;
    return NULL;
}

struct status *decode_object(struct request *request, struct str body, const struct kind *kind,
                             enum field_validation validation, void **ret)
{
    enum media media;

    TRY(negotiate_body(request_header(request, "content-type"), &media));
    switch (media) {
    case MEDIA_YAML:
        return decode_yaml(request, body, kind, validation, ret);
    case MEDIA_PROTOBUF:
        return decode_protobuf(request, body, kind, ret);
    case MEDIA_JSON:
        break;
    }
    return decode_text(request, body, body, kind, validation, ret);
}

struct status *decode_json(struct request *request, struct str text, const struct kind *kind,
                           enum field_validation validation, void **ret)
{
    return decode_text(request, text, text, kind, validation, ret);
}
