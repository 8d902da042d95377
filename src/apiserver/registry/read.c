#include "apiserver/decode.h"
#include "apiserver/encode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/lookup.h"
#include "apiserver/registry/registry.h"
#include "apiserver/respond.h"
#include "apiserver/table.h"
#include "base/mem.h"
#include "schema/json.h"
#include "schema/json_lexer.h"
#include "schema/protobuf.h"

#include <stdlib.h>
#include <string.h>

struct status *registry_get(struct request *request)
{
    const struct resource *resource = request->resource;
    const struct kind *kind = resource->kind;
    struct list_options options = {0};
    enum freshness freshness;
    int64_t revision;
    OWNED(stored_unrefp) struct stored *stored = NULL;
    OWNED(buf_done) struct buf body = {0};
    OWNED(blob_unrefp) struct blob *item = NULL;
    const void *object;

    http_query_find(request->arena, request->exchange->query, STR("resourceVersion"), &options.resource_version);
    TRY(lookup_freshness(&options, &freshness, &revision));
    TRY(watch_cache_get(resource->cache,
                        resource_key(request->arena, resource, request->info.namespace, request->info.name), freshness,
                        revision, &stored, NULL));
    if (stored == NULL) {
        return error_not_found(kind->group, kind->plural, request->info.name);
    }
    if (request->accepted.transform != TRANSFORM_NONE) {
        TRY(lookup_object(request->arena, resource, stored, &object));
        return respond_object(request, 200, kind, object);
    }
    enum media media = respond_item_media(request);

    TRY(lookup_item(resource, media, stored, &item));
    encode_typed(media, kind->api_version, kind->kind, blob_str(item), &body);
    return respond_encoded(request, 200, &body);
}

/* One page of a list. */
struct page {
    struct request *request;
    const struct resource *resource;
    struct list_options options;
    struct selection selection;
    struct watch_snapshot snapshot;
    struct str scope, start;
    VEC(struct stored *) items; /* borrowed from the snapshot */
    struct meta_v1_list_meta meta;
};

static void page_done(struct page *page)
{
    free(page->items.items);
    watch_snapshot_done(&page->snapshot);
}

/* Keys to go on at end with a NUL, which printf would stop at. */
static struct str join(struct arena *arena, struct str a, struct str b)
{
    char *text = arena_alloc(arena, a.n + b.n + 1);

    memcpy(text, a.p != NULL ? a.p : "", a.n);
    memcpy(text + a.n, b.p != NULL ? b.p : "", b.n);
    return (struct str){text, a.n + b.n};
}

/* A continued list goes on at the revision it began with. */
static struct status *take_snapshot(struct page *page)
{
    enum freshness freshness;
    int64_t revision;
    struct str start = {0};
    struct watch_cache *cache = page->resource->cache;

    if (page->options.continue_token.n == 0) {
        TRY(lookup_freshness(&page->options, &freshness, &revision));
        return watch_cache_snapshot(cache, freshness, revision, &page->snapshot);
    }
    if (page->options.resource_version.n != 0 && !str_is(page->options.resource_version, "0")) {
        return error_bad_request("specifying resource version is not allowed when using continue");
    }
    TRY(continue_decode(page->request->arena, page->options.continue_token, &revision, &start));
    page->start = join(page->request->arena, page->scope, start);
    if (revision < 0) {
        return watch_cache_snapshot(cache, FRESH_LATEST, 0, &page->snapshot);
    }
    struct status *status = watch_cache_snapshot(cache, FRESH_EXACT, revision, &page->snapshot);

    if (!status_free_if(&status, STATUS_EXPIRED)) {
        return status;
    }
    /* the client may go on without consistency, with the token in this answer */
    status = status_new(STATUS_EXPIRED,
                        "The provided continue parameter is too old to display a consistent list result. You can start a "
                        "new list without the continue parameter, or use the continue token in this response to retrieve "
                        "the remainder of the results. Continuing with the provided token results in an inconsistent "
                        "list - objects that were created, modified, or deleted between the time the first chunk was "
                        "returned and now may show up in the list.");
    page->request->continue_token = continue_encode(page->request->arena, -1, start);
    return status;
}

/* Where the list goes on after the last item: its key, relative to the scope, and a NUL. */
static struct str next_start(struct page *page, struct stored *last)
{
    struct str key = str_from(stored_key(last), page->scope.n);
    char *start = arena_alloc(page->request->arena, key.n + 2);

    memcpy(start, key.p, key.n);
    return (struct str){start, key.n + 1};
}

static struct status *collect(struct page *page)
{
    struct watch_snapshot_walk walk;
    bool all = selection_is_everything(&page->selection);
    bool more = false;

    watch_snapshot_walk(&walk, &page->snapshot, page->scope, page->start);
    for (struct stored *stored; (stored = watch_snapshot_next(&walk)) != NULL;) {
        const void *object;

        if (page->options.limit > 0 && page->items.len == (size_t)page->options.limit) {
            more = true; /* whether it matches is seen when the client asks for it */
            break;
        }
        if (!all) {
            TRY(stored_object(stored, &object));
            if (!selection_matches(&page->selection, object)) {
                continue;
            }
        }
        *VEC_ADD(&page->items) = stored;
    }
    page->meta.resource_version = arena_printf(page->request->arena, "%lld", (long long)page->snapshot.revision);
    if (!more) {
        return NULL;
    }
    struct str start = next_start(page, page->items.items[page->items.len - 1]);

    page->meta.continue_ = continue_encode(page->request->arena, page->snapshot.revision, start);
    if (all) {
        int64_t *remaining = ARENA_NEW(page->request->arena, int64_t);

        *remaining = (int64_t)watch_snapshot_count(&page->snapshot, page->scope,
                                                   join(page->request->arena, page->scope, start));
        page->meta.remaining_item_count = remaining;
    }
    return NULL;
}

static struct status *write_json(struct page *page, struct buf *out)
{
    const struct kind *list = page->resource->kind->list;

    buf_add_str(out, STR("{\"kind\":"));
    json_add_string(out, list->kind);
    buf_add_str(out, STR(",\"apiVersion\":"));
    json_add_string(out, list->api_version);
    buf_add_str(out, STR(",\"metadata\":"));
    json_encode(&meta_v1_list_meta_type, &page->meta, out);
    buf_add_str(out, STR(",\"items\":["));
    for (size_t i = 0; i < page->items.len; i++) {
        if (i != 0) {
            buf_add_char(out, ',');
        }
        TRY(lookup_add_item(page->resource, MEDIA_JSON, page->items.items[i], out));
    }
    buf_add_str(out, STR("]}"));
    return NULL;
}

/* List kinds have their metadata in field 1 and their items in field 2. */
static struct status *write_protobuf(struct page *page, struct buf *out)
{
    const struct kind *list = page->resource->kind->list;
    OWNED(buf_done) struct buf meta = {0};
    OWNED(buf_done) struct buf message = {0};
    OWNED(buf_done) struct buf item = {0};

    protobuf_encode(&meta_v1_list_meta_type, &page->meta, &meta);
    protobuf_add_bytes(&message, 1, buf_str(&meta));
    for (size_t i = 0; i < page->items.len; i++) {
        buf_clear(&item);
        TRY(lookup_add_item(page->resource, MEDIA_PROTOBUF, page->items.items[i], &item));
        protobuf_add_bytes(&message, 2, buf_str(&item));
    }
    encode_typed(MEDIA_PROTOBUF, list->api_version, list->kind, buf_str(&message), out);
    return NULL;
}

static struct status *write_table(struct page *page, struct buf *out)
{
    struct table_writer table;

    TRY(table_writer_begin(&table, page->request, page->resource->kind, &page->meta, true, out));
    for (size_t i = 0; i < page->items.len; i++) {
        const void *object;

        TRY(lookup_object(page->request->arena, page->resource, page->items.items[i], &object));
        TRY(table_writer_row(&table, object));
    }
    table_writer_end(&table);
    return NULL;
}

static struct status *write_partial(struct page *page, struct buf *out)
{
    struct request *request = page->request;
    enum media media = respond_item_media(request);
    struct meta_v1_partial_object_metadata_list list = {.metadata = page->meta};
    OWNED(buf_done) struct buf item = {0};
    struct str api_version = table_api_version(request);

    for (size_t i = 0; i < page->items.len; i++) {
        struct meta_v1_partial_object_metadata *partial = LIST_ADD(request->arena, &list.items);
        const void *object;

        TRY(stored_object(page->items.items[i], &object));
        partial->metadata = ((const struct object *)object)->metadata;
        partial->type_meta.kind = STR("PartialObjectMetadata");
        partial->type_meta.api_version = api_version;
    }
    encode_item(media, &meta_v1_partial_object_metadata_list_type, &list, &item);
    encode_typed(media, api_version, STR("PartialObjectMetadataList"), buf_str(&item), out);
    return NULL;
}

static struct status *respond_page(struct page *page)
{
    struct request *request = page->request;
    OWNED(buf_done) struct buf body = {0};

    switch (request->accepted.transform) {
    case TRANSFORM_TABLE:
        TRY(write_table(page, &body));
        break;
    case TRANSFORM_PARTIAL_METADATA_LIST:
        TRY(write_partial(page, &body));
        break;
    case TRANSFORM_PARTIAL_METADATA:
        return status_new(STATUS_NOT_ACCEPTABLE,
                          "you requested PartialObjectMetadata, but the requested object is a list (%.*s)",
                          STR_ARG(page->resource->kind->list->kind));
    case TRANSFORM_NONE:
        TRY(respond_item_media(request) == MEDIA_PROTOBUF ? write_protobuf(page, &body) : write_json(page, &body));
        break;
    }
    return respond_encoded(request, 200, &body);
}

static struct status *open_page(struct page *page, struct request *request)
{
    *page = (struct page){.request = request, .resource = request->resource};
    TRY(query_list_options(request->arena, request->exchange->query, false, &page->options));
    TRY(selection_parse(request->arena, page->resource, page->options.label_selector, page->options.field_selector,
                        &page->selection));
    if (str_is(page->options.resource_version, "0")) {
        page->options.limit = 0; /* any version will do: stock answers from memory then, whole */
    }
    page->scope = lookup_scope(request, &page->selection);
    TRY(take_snapshot(page));
    return collect(page);
}

struct status *registry_list(struct request *request)
{
    OWNED(page_done) struct page page = {0};

    TRY(open_page(&page, request));
    return respond_page(&page);
}

static struct status *delete_item(struct request *request, struct stored *stored, const struct delete_options *options)
{
    const void *object;

    TRY(stored_object(stored, &object));
    const struct meta_v1_object_meta *meta = &((const struct object *)object)->metadata;
    struct delete_op op = {.request = request,
                           .resource = request->resource,
                           .namespace = meta->namespace,
                           .name = meta->name,
                           .options = *options};
    struct status *status = registry_remove(&op);

    /* someone else may have removed it meanwhile */
    return status_free_if(&status, STATUS_NOT_FOUND) ? NULL : status;
}

/* Answers with the list of what was there. */
struct status *registry_delete_collection(struct request *request)
{
    OWNED(page_done) struct page page = {0};
    struct delete_options options;
    struct str body;

    TRY(decode_read_body(request, &body));
    TRY(registry_delete_options(request, body, &options));
    TRY(open_page(&page, request));
    for (size_t i = 0; i < page.items.len; i++) {
        TRY(delete_item(request, page.items.items[i], &options));
    }
    return respond_page(&page);
}
