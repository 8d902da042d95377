#include "apiserver/encode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/lookup.h"
#include "apiserver/registry/registry.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "apiserver/table.h"
#include "base/env.h"
#include "base/mem.h"
#include "schema/json.h"
#include "schema/map_of.h"
#include "schema/protobuf.h"

/* One watch: a stream of events until its time is over or the client goes. */
struct stream_watch {
    struct request *request;
    const struct resource *resource;
    struct list_options options;
    struct selection selection;
    struct watcher *watcher;
    int64_t ends; /* env_mono() */
    bool columns_sent;
    struct buf out;
};

static bool match(void *arg, const void *object)
{
    const struct stream_watch *watch = arg;

    return selection_matches(&watch->selection, object);
}

static const char *event_name(enum watch_event_type type)
{
    static const char *const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};

    return names[type];
}

/* An event around an object's bytes, framed as the media type wants it. */
static void add_event(struct stream_watch *watch, const char *type, struct str object)
{
    struct buf *out = &watch->out;

    if (respond_item_media(watch->request) == MEDIA_PROTOBUF) {
        OWNED(buf_done) struct buf raw = {0};
        OWNED(buf_done) struct buf event = {0};

        protobuf_add_bytes(&raw, 1, object);
        protobuf_add_bytes(&event, 1, str_of(type));
        protobuf_add_bytes(&event, 2, buf_str(&raw));
        uint32_t length = __builtin_bswap32((uint32_t)event.n);

        buf_add(out, &length, sizeof length);
        buf_add_str(out, buf_str(&event));
        return;
    }
    buf_printf(out, "{\"type\":\"%s\",\"object\":", type);
    buf_add_str(out, object);
    buf_add_str(out, STR("}\n"));
}

/* A bookmark carries an object with nothing but its resourceVersion. */
static void bookmark_object(struct arena *arena, const struct resource *resource, const struct watch_event *event,
                            const void **ret)
{
    struct object *object = arena_alloc(arena, resource->kind->type->size);

    object->metadata.resource_version = arena_printf(arena, "%lld", (long long)event->revision);
    if (event->is_initial_end) {
        str_map_set(arena, &object->metadata.annotations, STR("k8s.io/initial-events-end"), STR("true"));
    }
    *ret = object;
}

static struct status *write_transformed(struct stream_watch *watch, const void *object, struct buf *out)
{
    struct request *request = watch->request;

    if (request->accepted.transform == TRANSFORM_TABLE) {
        TRY(table_of_event(request, watch->resource->kind, object, !watch->columns_sent, out));
        watch->columns_sent = true;
    } else {
        partial_of_object(request, object, out);
    }
    return NULL;
}

static struct status *write_event(struct stream_watch *watch, struct arena *arena, const struct watch_event *event)
{
    const struct kind *kind = watch->resource->kind;
    enum media media = respond_item_media(watch->request);
    OWNED(buf_done) struct buf object = {0};
    const void *typed = NULL;

    if (event->object == NULL) {
        bookmark_object(arena, watch->resource, event, &typed);
    } else if (watch->request->accepted.transform != TRANSFORM_NONE) {
        TRY(lookup_object(arena, watch->resource, event->object, &typed));
    }
    if (watch->request->accepted.transform != TRANSFORM_NONE) {
        TRY(write_transformed(watch, typed, &object));
    } else if (typed != NULL) {
        OWNED(buf_done) struct buf item = {0};

        encode_item(media, kind->type, typed, &item);
        encode_typed(media, kind->api_version, kind->kind, buf_str(&item), &object);
    } else {
        OWNED(blob_unrefp) struct blob *item = NULL;

        TRY(lookup_item(watch->resource, media, event->object, &item));
        encode_typed(media, kind->api_version, kind->kind, blob_str(item), &object);
    }
    add_event(watch, event_name(event->type), buf_str(&object));
    return NULL;
}

/* The stream's last event: why it ends. */
static struct status *write_error(struct stream_watch *watch, struct status *error)
{
    OWNED(buf_done) struct buf item = {0};
    OWNED(buf_done) struct buf object = {0};
    enum media media = respond_item_media(watch->request);

    encode_item(media, &meta_v1_status_type, status_object(watch->request->arena, error), &item);
    status_free(error);
    encode_typed(media, STR("v1"), STR("Status"), buf_str(&item), &object);
    add_event(watch, "ERROR", buf_str(&object));
    struct status *status = http_write(watch->request->exchange, buf_str(&watch->out));

    buf_clear(&watch->out);
    return status;
}

static struct status *stream(struct stream_watch *watch)
{
    OWNED(watch_events_done) struct watch_events events = {0};

    while (env_mono() < watch->ends) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct status *status = watcher_next(watch->watcher, watch->ends, &events);

        if (status_free_if(&status, STATUS_EXPIRED) || status_free_if(&status, STATUS_SERVICE_UNAVAILABLE)) {
            return NULL; /* stock ends the stream and the client begins anew from what it saw */
        }
        TRY(status);
        for (size_t i = 0; i < events.len; i++) {
            status = write_event(watch, arena, &events.items[i]);
            if (status != NULL) {
                return write_error(watch, status);
            }
        }
        if (watch->out.n != 0) {
            TRY(http_write(watch->request->exchange, buf_str(&watch->out)));
            buf_clear(&watch->out);
        }
    }
    return NULL;
}

/* Watches end by themselves after half an hour to an hour, so that many don't end at once. */
static int64_t duration(const struct stream_watch *watch)
{
    int64_t least = watch->request->server->options->min_request_timeout;

    if (watch->options.timeout_seconds != NULL) {
        return *watch->options.timeout_seconds * ENV_SECOND;
    }
    return least * ENV_SECOND + (int64_t)env_random_below((uint64_t)(least > 0 ? least : 1) * ENV_SECOND);
}

static struct status *watch_options_of(struct stream_watch *watch, struct watch_options *ret)
{
    struct watch_options o = {.arg = watch, .after = -1, .bookmarks = watch->options.allow_bookmarks, .ends = watch->ends};
    bool wants_initial = watch->options.send_initial_events != NULL && *watch->options.send_initial_events;
    int64_t revision;

    TRY(resource_version_parse(watch->options.resource_version, &revision));
    o.match = selection_is_everything(&watch->selection) ? NULL : match;
    o.scope = lookup_scope(watch->request, &watch->selection);
    if (wants_initial) {
        o.freshness = watch->options.resource_version.n == 0 ? FRESH_LATEST : FRESH_NOT_OLDER;
        o.freshness = str_is(watch->options.resource_version, "0") ? FRESH_ANY : o.freshness;
        o.revision = revision;
        o.initial_end = watch->options.allow_bookmarks;
    } else if (watch->options.send_initial_events != NULL) {
        o.after = revision != 0 ? revision : store_revision(watch->request->server->store);
    } else if (revision != 0) {
        o.after = revision;
    } else {
        o.freshness = watch->options.resource_version.n == 0 ? FRESH_LATEST : FRESH_ANY;
    }
    *ret = o;
    return NULL;
}

static struct status *begin(struct stream_watch *watch)
{
    struct request *request = watch->request;
    enum media media = request->accepted.media;
    struct str type = media == MEDIA_PROTOBUF ? STR("application/vnd.kubernetes.protobuf;stream=watch")
                                              : STR("application/json");
    struct http_headers headers = respond_headers(request, type);

    return http_start(request->exchange, 200, &headers);
}

static struct status *run(struct stream_watch *watch)
{
    struct request *request = watch->request;
    struct watch_options options;

    TRY(query_list_options(request->arena, request->exchange->query, true, &watch->options));
    TRY(selection_parse(request->arena, watch->resource, watch->options.label_selector, watch->options.field_selector,
                        &watch->selection));
    watch->ends = env_mono() + duration(watch);
    TRY(watch_options_of(watch, &options));
    struct status *expired = watch_cache_watch(watch->resource->cache, &options, &watch->watcher);

    if (expired != NULL && !status_is(expired, STATUS_EXPIRED)) {
        return expired;
    }
    struct status *status = begin(watch);

    if (status != NULL || expired == NULL) {
        status_free(expired);
        TRY(status);
        return stream(watch);
    }
    return write_error(watch, expired);
}

struct status *registry_watch(struct request *request)
{
    struct stream_watch watch = {.request = request, .resource = request->resource};

    if (request->info.name.n != 0 && request->exchange->query.n == 0) {
        watch.selection.name = request->info.name;
    }
    request->is_long_running = true;
    struct status *status = run(&watch);

    watcher_stop(watch.watcher);
    buf_done(&watch.out);
    return status;
}
