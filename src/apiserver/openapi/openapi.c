#include "apiserver/openapi/openapi.h"

#include "apiserver/errors.h"
#include "apiserver/gzip.h"
#include "apiserver/openapi/document.h"
#include "apiserver/respond.h"
#include "base/buf.h"
#include "net/crypto.h"

/* A document as it was made last: kept compressed, which is a tenth of it. */
struct document {
    struct str group, version; /* of version 3; both empty: one of version 2 */
    bool is_protobuf;
    struct str hash;           /* SHA-256, in hexadecimal */
    struct str packed;         /* gzip */
};

/* Made when first asked for, since few clients ever do. */
struct openapi {
    struct task_lock lock; /* one maker at a time */
    struct {
        struct document *items;
        size_t len;
    } documents;
    struct document v2, v2_protobuf;
};

/* Work for another thread; resources do not change. */
struct making {
    struct apiserver *server;
    struct document *document;
    struct arena *arena; /* of the server, which nobody else touches meanwhile: the maker holds the lock */
    struct buf *plain;   /* the text itself, when it is wanted */
};

static void write_document(const struct apiserver *server, const struct document *document, struct buf *out)
{
    if (document->is_protobuf) {
        openapi_document_v2_protobuf(&server->resources, out);
    } else if (document->version.n == 0) {
        openapi_document_v2(&server->resources, out);
    } else {
        openapi_document(&server->resources, document->group, document->version, out);
    }
}

static void make(void *arg)
{
    struct making *making = arg;
    OWNED(buf_done) struct buf text = {0};
    OWNED(buf_done) struct buf packed = {0};

    write_document(making->server, making->document, &text);
    if (making->plain != NULL) {
        *making->plain = text;
        text = (struct buf){0};
        return;
    }
    gzip_compress(buf_str(&text), &packed);
    making->document->hash = crypto_sha256_hex(making->arena, buf_str(&text));
    making->document->packed = arena_str(making->arena, buf_str(&packed));
}

static struct status *ensure_made(struct apiserver *server, struct document *document)
{
    struct openapi *openapi = server->openapi;

    if (document->packed.n != 0) {
        return NULL;
    }
    if (!task_lock_acquire(&openapi->lock)) {
        return status_new(STATUS_CANCELLED, "cancelled");
    }
    if (document->packed.n == 0) {
        struct making making = {.server = server, .document = document, .arena = arena_new()};

        task_offload(make, &making);
        /* what the thread made moves into memory of the server's own thread */
        document->hash = arena_str(server->arena, document->hash);
        document->packed = arena_str(server->arena, document->packed);
        arena_free(making.arena);
    }
    task_lock_release(&openapi->lock);
    return NULL;
}

static struct status *check_method(const struct request *request)
{
    return str_is(request->exchange->method, "GET") ? NULL : error_method_not_allowed();
}

/* Clients that name the hash may keep the answer for good. */
static struct http_headers headers_of(struct request *request, const struct document *document, struct str type,
                                      bool is_immutable)
{
    struct arena *arena = request->arena;
    struct http_headers headers = respond_headers(request, type);

    if (is_immutable) {
        http_header_remove(&headers, STR("cache-control"));
        http_header_add(arena, &headers, STR("cache-control"), STR("public, immutable"));
    }
    http_header_add(arena, &headers, STR("etag"), arena_printf(arena, "\"%.*s\"", STR_ARG(document->hash)));
    http_header_add(arena, &headers, STR("vary"), STR("Accept-Encoding"));
    http_header_add(arena, &headers, STR("vary"), STR("Accept"));
    return headers;
}

static struct status *answer(struct request *request, struct document *document, bool is_immutable)
{
    struct str tag = arena_printf(request->arena, "\"%.*s\"", STR_ARG(document->hash));

    if (str_eq(request_header(request, "if-none-match"), tag)) {
        struct http_headers headers = headers_of(request, document, (struct str){0}, is_immutable);

        return http_respond(request->exchange, 304, &headers, STR(""));
    }
    struct str type = document->is_protobuf ? STR("application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
                                            : STR("application/json");
    struct http_headers headers = headers_of(request, document, type, is_immutable);

    if (gzip_is_accepted(request_header(request, "accept-encoding"))) {
        http_header_add(request->arena, &headers, STR("content-encoding"), STR("gzip"));
        return http_respond(request->exchange, 200, &headers, document->packed);
    }
    OWNED(buf_done) struct buf plain = {0};
    struct making making = {.server = request->server, .document = document, .plain = &plain};

    task_offload(make, &making);
    return http_respond(request->exchange, 200, &headers, buf_str(&plain));
}

static struct str place_of(struct arena *arena, const struct document *document)
{
    return document->group.n == 0 ? arena_printf(arena, "api/%.*s", STR_ARG(document->version))
                                  : arena_printf(arena, "apis/%.*s/%.*s", STR_ARG(document->group),
                                                 STR_ARG(document->version));
}

static struct status *serve_index(struct request *request)
{
    struct openapi *openapi = request->server->openapi;
    OWNED(buf_done) struct buf body = {0};

    TRY(check_method(request));
    TRY(negotiate_accept(request_header(request, "accept"), NEGOTIATE_JSON_ONLY, &request->accepted));
    buf_add_str(&body, STR("{\"paths\":{"));
    for (size_t i = 0; i < openapi->documents.len; i++) {
        struct document *document = &openapi->documents.items[i];
        struct str place = place_of(request->arena, document);

        TRY(ensure_made(request->server, document));
        buf_printf(&body, "%s\"%.*s\":{\"serverRelativeURL\":\"/openapi/v3/%.*s?hash=%.*s\"}", i == 0 ? "" : ",",
                   STR_ARG(place), STR_ARG(place), STR_ARG(document->hash));
    }
    buf_add_str(&body, STR("}}\n"));
    /* stock says nothing of its type, and Go guesses this */
    return respond_text(request, 200, buf_str(&body));
}

static struct status *redirect(struct request *request, const struct document *document)
{
    struct http_headers headers = respond_headers(request, (struct str){0});

    http_header_add(request->arena, &headers, STR("location"),
                    arena_printf(request->arena, "/openapi/v3/%.*s?hash=%.*s",
                                 STR_ARG(place_of(request->arena, document)), STR_ARG(document->hash)));
    return http_respond(request->exchange, 301, &headers, STR(""));
}

static struct status *serve_v3(struct request *request)
{
    struct openapi *openapi = request->server->openapi;
    struct str place = str_from(request->info.path, sizeof "/openapi/v3/" - 1), wanted;

    for (size_t i = 0; i < openapi->documents.len; i++) {
        struct document *document = &openapi->documents.items[i];

        if (!str_eq(place, place_of(request->arena, document))) {
            continue;
        }
        TRY(check_method(request));
        TRY(negotiate_accept(request_header(request, "accept"), NEGOTIATE_JSON_ONLY, &request->accepted));
        TRY(ensure_made(request->server, document));
        bool names_hash = http_query_find(request->arena, request->exchange->query, STR("hash"), &wanted) &&
                          wanted.n != 0;

        return names_hash && !str_eq(wanted, document->hash) ? redirect(request, document)
                                                              : answer(request, document, names_hash);
    }
    struct http_headers headers = respond_headers(request, (struct str){0});

    return http_respond(request->exchange, 404, &headers, STR(""));
}

/* Older clients ask for protobuf alone, under a name with an "@" or without. */
static struct status *serve_v2(struct request *request)
{
    struct str accept = request_header(request, "accept");
    bool is_protobuf = str_contains(accept, STR("com.github.proto-openapi.spec.v2"));
    struct openapi *openapi = request->server->openapi;
    struct document *document = is_protobuf ? &openapi->v2_protobuf : &openapi->v2;

    TRY(check_method(request));
    if (!is_protobuf) {
        TRY(negotiate_accept(accept, NEGOTIATE_JSON_ONLY, &request->accepted));
    }
    TRY(ensure_made(request->server, document));
    return answer(request, document, false);
}

static struct status *openapi_open(struct apiserver *server)
{
    struct openapi *openapi = ARENA_NEW(server->arena, struct openapi);
    const struct document *last = NULL;

    task_lock_init(&openapi->lock);
    openapi->v2_protobuf.is_protobuf = true;
    for (size_t i = 0; i < server->resources.len; i++) {
        const struct kind *kind = server->resources.items[i].kind;

        if (last == NULL || !str_eq(last->group, kind->group) || !str_eq(last->version, kind->version)) {
            *LIST_ADD(server->arena, &openapi->documents) =
                (struct document){.group = kind->group, .version = kind->version};
            last = &openapi->documents.items[openapi->documents.len - 1];
        }
    }
    server->openapi = openapi;
    apiserver_handle(server, "/openapi/v2", serve_v2);
    apiserver_handle(server, "/openapi/v3", serve_index);
    apiserver_handle(server, "/openapi/v3/", serve_v3);
    return NULL;
}

const struct apiserver_extension openapi_extension = {.name = "openapi", .open = openapi_open};
