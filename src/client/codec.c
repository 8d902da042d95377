#include "client/codec.h"

#include "schema/json.h"
#include "schema/meta_v1.h"
#include "schema/protobuf.h"
#include "schema/type.h"

#define MEDIA_JSON STR("application/json")
#define MEDIA_PROTOBUF STR("application/vnd.kubernetes.protobuf")

/* Custom resources have no protobuf form; their types are made at run time and belong to no package. */
static bool travels_as_protobuf(const struct kind *kind, bool json_only)
{
    return !json_only && kind->type->package != NULL;
}

struct str codec_media_type(const struct kind *kind, bool json_only)
{
    return travels_as_protobuf(kind, json_only) ? MEDIA_PROTOBUF : MEDIA_JSON;
}

struct str codec_accept(const struct kind *kind, bool json_only)
{
    return travels_as_protobuf(kind, json_only) ? STR("application/vnd.kubernetes.protobuf,application/json")
                                                : MEDIA_JSON;
}

void codec_encode(const struct kind *kind, const void *object, bool json_only, struct buf *out)
{
    if (travels_as_protobuf(kind, json_only)) {
        protobuf_envelope_write(kind->type, object, kind->api_version, kind->kind, out);
        return;
    }
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct meta_v1_type_meta *copy = arena_alloc(arena, kind->type->size);

    /* Objects made by controllers carry no type; JSON needs it, and the caller's object is not ours to change. */
    __builtin_memcpy(copy, object, kind->type->size);
    copy->api_version = kind->api_version;
    copy->kind = kind->kind;
    json_encode(kind->type, copy, out);
}

static bool is_protobuf(struct str content_type)
{
    return str_has_prefix(content_type, MEDIA_PROTOBUF);
}

static struct status *decode_as(const struct type *type, struct str content_type, struct str bytes,
                                struct arena *arena, void **ret_object)
{
    void *object = arena_alloc(arena, type->size);

    if (is_protobuf(content_type)) {
        struct protobuf_envelope envelope;

        TRY(protobuf_envelope_read(bytes, &envelope));
        TRY(protobuf_decode(arena, type, envelope.raw, object));
        struct meta_v1_type_meta *type_meta = object;

        type_meta->api_version = envelope.api_version;
        type_meta->kind = envelope.kind;
    } else {
        TRY(json_decode(arena, type, bytes, object, NULL));
    }
    *ret_object = object;
    return NULL;
}

struct status *codec_decode(const struct kind *kind, struct str content_type, struct str bytes, struct arena *arena,
                            void **ret_object)
{
    struct status *status = decode_as(kind->type, content_type, bytes, arena, ret_object);

    if (status != NULL) {
        status->reason = STATUS_UNKNOWN; /* not what was asked is at fault, but what was answered */
        status->code = 500;
        return status_while(status, "decoding a %.*s", STR_ARG(kind->kind));
    }
    return NULL;
}

/* What client-go says about an answer that explains nothing. */
static struct status *status_of_code(int code, struct str body)
{
    static const struct {
        int code;
        enum status_reason reason;
        const char *message;
    } rows[] = {
        {400, STATUS_BAD_REQUEST, "the server rejected our request for an unknown reason"},
        {401, STATUS_UNAUTHORIZED, "the server has asked for the client to provide credentials"},
        {404, STATUS_NOT_FOUND, "the server could not find the requested resource"},
        {405, STATUS_METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource"},
        {406, STATUS_NOT_ACCEPTABLE,
         "the server was unable to respond with a content type that the client supports"},
        {409, STATUS_CONFLICT, "the server reported a conflict"},
        {410, STATUS_GONE, "the server responded with the status code 410 but did not return more information"},
        {413, STATUS_REQUEST_ENTITY_TOO_LARGE, "the server could not process the request because its body is too large"},
        {415, STATUS_UNSUPPORTED_MEDIA_TYPE,
         "the server was unable to respond with a content type that the client supports"},
        {422, STATUS_INVALID, "the server rejected our request due to an error in our request"},
        {429, STATUS_TOO_MANY_REQUESTS,
         "the server has received too many requests and has asked us to try again later"},
        {503, STATUS_SERVICE_UNAVAILABLE, "the server is currently unable to handle the request"},
        {504, STATUS_TIMEOUT,
         "the server was unable to return a response in the time allotted, but may still be processing the request"},
    };
    struct str text = str_sub(str_trim(body), 0, 2048);

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].code == code) {
            return status_new(rows[i].reason, "%s", rows[i].message);
        }
    }
    struct status *status =
        code == 403   ? status_new(STATUS_FORBIDDEN, "%.*s", STR_ARG(text.n > 0 ? text : STR("forbidden")))
        : code >= 500 ? status_new(STATUS_INTERNAL_ERROR,
                                   "an error on the server (\"%.*s\") has prevented the request from succeeding",
                                   STR_ARG(text.n > 0 ? text : STR("unknown")))
                      : status_new(STATUS_UNKNOWN,
                                   "the server responded with the status code %d but did not return more information",
                                   code);

    status->code = code;
    return status;
}

static struct status *status_from_wire(const struct meta_v1_status *wire, int code)
{
    struct status *status = status_new(status_reason_of(wire->reason), "%.*s", STR_ARG(wire->message));

    status->code = wire->code != 0 ? wire->code : code;
    if (wire->details != NULL) {
        status_about(status, wire->details->group, wire->details->kind, wire->details->name);
        status->uid = arena_str(status->arena, wire->details->uid);
        status->retry_after_seconds = wire->details->retry_after_seconds;
        LIST_EACH(cause, &wire->details->causes)
        {
            status_add_cause(status, cause->reason, cause->field, "%.*s", STR_ARG(cause->message));
        }
    }
    return status;
}

struct status *codec_decode_status(struct str content_type, int code, struct str bytes)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    void *object;
    struct status *status = decode_as(&meta_v1_status_type, content_type, bytes, arena, &object);

    if (status == NULL && str_is(((struct meta_v1_type_meta *)object)->kind, "Status")) {
        return status_from_wire(object, code);
    }
    status_free(status);
    return status_of_code(code, bytes);
}
