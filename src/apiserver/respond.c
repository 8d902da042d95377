#include "apiserver/respond.h"

#include "apiserver/encode.h"
#include "apiserver/gzip.h"
#include "apiserver/query.h"
#include "apiserver/table.h"
#include "schema/meta_v1.h"
#include "schema/names.h"

/* Answers below this size are not worth compressing; stock's threshold. */
enum { GZIP_MIN_BYTES = 128 << 10 };

static struct str warning_text(struct arena *arena, struct str text)
{
    OWNED(buf_done) struct buf out = {0};

    buf_add_str(&out, STR("299 - \""));
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\') {
            buf_add_char(&out, '\\');
        }
        buf_add_char(&out, text.p[i] == '\n' || text.p[i] == '\r' ? ' ' : text.p[i]);
    }
    buf_add_char(&out, '"');
    return arena_str(arena, buf_str(&out));
}

struct http_headers respond_headers(struct request *request, struct str content_type)
{
    struct http_headers headers = {0};
    struct arena *arena = request->arena;

    if (request->audit_id.n != 0) {
        http_header_add(arena, &headers, STR("audit-id"), request->audit_id);
    }
    http_header_add(arena, &headers, STR("cache-control"), STR("no-cache, private"));
    if (content_type.n != 0) {
        http_header_add(arena, &headers, STR("content-type"), content_type);
    }
    LIST_EACH(warning, &request->warnings) {
        http_header_add(arena, &headers, STR("warning"), warning_text(arena, *warning));
    }
    return headers;
}

struct status *respond_bytes(struct request *request, int code, struct str content_type, struct str bytes)
{
    struct http_headers headers = respond_headers(request, content_type);
    struct str encodings = request_header(request, "accept-encoding");
    OWNED(buf_done) struct buf packed = {0};

    if (request->info.is_resource) {
        http_header_add(request->arena, &headers, STR("vary"), STR("Accept"));
    }
    if (bytes.n >= GZIP_MIN_BYTES && gzip_is_accepted(encodings)) {
        gzip_compress(bytes, &packed);
        bytes = buf_str(&packed);
        http_header_add(request->arena, &headers, STR("content-encoding"), STR("gzip"));
        http_header_add(request->arena, &headers, STR("vary"), STR("Accept-Encoding"));
    }
    return http_respond(request->exchange, code, &headers, bytes);
}

struct status *respond_text(struct request *request, int code, struct str text)
{
    return respond_bytes(request, code, STR("text/plain; charset=utf-8"), text);
}

enum media respond_item_media(const struct request *request)
{
    return request->accepted.media == MEDIA_PROTOBUF ? MEDIA_PROTOBUF : MEDIA_JSON;
}

/* People who type a URL get text they can read. */
bool respond_is_pretty(const struct request *request)
{
    struct str value, agent = request_header(request, "user-agent");

    if (http_query_find(request->arena, request->exchange->query, STR("pretty"), &value)) {
        return !str_is(value, "false") && !str_is(value, "0");
    }
    return request->accepted.pretty || str_has_prefix(agent, STR("curl")) || str_has_prefix(agent, STR("Wget")) ||
           str_has_prefix(agent, STR("Mozilla/5.0"));
}

struct status *respond_encoded(struct request *request, int code, struct buf *body)
{
    enum media media = request->accepted.media;

    TRY(encode_finish(request->arena, media, respond_is_pretty(request), body));
    return respond_bytes(request, code, media_type(media), buf_str(body));
}

struct status *respond_plain(struct request *request, int code, const struct kind *kind, const void *object)
{
    enum media media = respond_item_media(request);
    OWNED(buf_done) struct buf item = {0};
    OWNED(buf_done) struct buf body = {0};

    encode_item(media, kind->type, object, &item);
    encode_typed(media, kind->api_version, kind->kind, buf_str(&item), &body);
    return respond_encoded(request, code, &body);
}

struct status *respond_created(struct request *request)
{
    struct meta_v1_status *status = ARENA_NEW(request->arena, struct meta_v1_status);

    status->status = STR("Success");
    status->code = 201;
    return respond_plain(request, 201, &meta_v1_status_kind, status);
}

struct status *respond_object(struct request *request, int code, const struct kind *kind, const void *object)
{
    OWNED(buf_done) struct buf body = {0};

    switch (request->accepted.transform) {
    case TRANSFORM_TABLE:
        TRY(table_of_object(request, kind, object, &body));
        return respond_encoded(request, code, &body);
    case TRANSFORM_PARTIAL_METADATA:
        partial_of_object(request, object, &body);
        return respond_encoded(request, code, &body);
    case TRANSFORM_PARTIAL_METADATA_LIST:
        return status_new(STATUS_NOT_ACCEPTABLE,
                          "you requested PartialObjectMetadataList, but the requested object is not a list (%.*s)",
                          STR_ARG(kind->kind));
    case TRANSFORM_NONE:
        break;
    }
    return respond_plain(request, code, kind, object);
}

static struct meta_v1_status_details *status_details(struct arena *arena, const struct status *status)
{
    struct meta_v1_status_details *details = ARENA_NEW(arena, struct meta_v1_status_details);

    details->name = status->name;
    details->group = status->group;
    details->kind = status->kind;
    details->uid = status->uid;
    details->retry_after_seconds = status->retry_after_seconds;
    for (size_t i = 0; i < status->cause_count; i++) {
        struct meta_v1_status_cause *cause = LIST_ADD(arena, &details->causes);

        cause->reason = status->causes[i].reason;
        cause->message = status->causes[i].message;
        cause->field = status->causes[i].field;
    }
    return details;
}

/* Reasons that stock gives details also when there is nothing to say in them. */
static bool always_has_details(enum status_reason reason)
{
    return reason == STATUS_FORBIDDEN || reason == STATUS_INVALID || reason == STATUS_METHOD_NOT_ALLOWED ||
           reason == STATUS_NOT_ACCEPTABLE || reason == STATUS_NOT_FOUND || reason == STATUS_INTERNAL_ERROR;
}

struct meta_v1_status *status_object(struct arena *arena, const struct status *status)
{
    struct meta_v1_status *object = ARENA_NEW(arena, struct meta_v1_status);

    object->status = STR("Failure");
    object->message = status->message;
    object->reason = status_reason_text(status->reason);
    object->code = status->code;
    if (status->name.n + status->group.n + status->kind.n + status->uid.n + status->cause_count != 0 ||
        status->retry_after_seconds != 0 || always_has_details(status->reason)) {
        object->details = status_details(arena, status);
    }
    return object;
}

/* Errors are told in JSON when the client's wishes were themselves the error. */
void respond_error(struct request *request, struct status *status)
{
    struct http_exchange *exchange = request->exchange;

    if (status_is(status, STATUS_CANCELLED) || exchange->is_started) {
        status_free(status);
        return;
    }
    struct meta_v1_status *object = status_object(request->arena, status);
    OWNED(buf_done) struct buf item = {0};
    OWNED(buf_done) struct buf body = {0};
    enum media media = respond_item_media(request);

    encode_item(media, &meta_v1_status_type, object, &item);
    encode_typed(media, STR("v1"), STR("Status"), buf_str(&item), &body);
    status_free(encode_finish(request->arena, request->accepted.media, respond_is_pretty(request), &body));
    struct http_headers headers = respond_headers(request, media_type(request->accepted.media));

    if (status->retry_after_seconds > 0) {
        http_header_add(request->arena, &headers, STR("retry-after"),
                        arena_printf(request->arena, "%d", status->retry_after_seconds));
    }
    status_free(http_respond(exchange, status->code, &headers, buf_str(&body)));
    status_free(status);
}
