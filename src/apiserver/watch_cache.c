#include "apiserver/watch_cache_parts.h"

#include "base/log.h"

#include <stdlib.h>

struct watch_cache *watch_cache_new(struct store *store, const struct watch_cache_options *options)
{
    enum { WINDOW_EVENTS = 10000, WINDOW_BYTES = 16 << 20, ENCODED_BYTES = 512 << 10 };
    struct watch_cache *cache = MEM_NEW(struct watch_cache);
    struct watch_cache_options *own = &cache->options;

    cache->store = store;
    *own = *options;
    cache->prefix = mem_zalloc(options->prefix.n + 1);
    __builtin_memcpy(cache->prefix, options->prefix.p, options->prefix.n);
    own->prefix.p = cache->prefix;
    own->window_events = own->window_events > 0 ? own->window_events : WINDOW_EVENTS;
    own->window_bytes = own->window_bytes > 0 ? own->window_bytes : WINDOW_BYTES;
    own->encoded_bytes = own->encoded_bytes > 0 ? own->encoded_bytes : ENCODED_BYTES;
    cache->objects.type = &stored_map_type_;
    list_init(&cache->watchers);
    list_init(&cache->encoded);
    cond_init(&cache->changed);
    task_group_init(&cache->tasks);
    return cache;
}

void watch_cache_free(struct watch_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    watch_cache_stop(cache);
    task_group_cancel(&cache->tasks);
    window_reset_(cache, 0);
    free(cache->window.items);
    pmap_done(&cache->objects);
    if (cache->live > 0 || !list_empty(&cache->watchers)) {
        mem_die("objects or watchers of a watch cache are still in use");
    }
    free(cache->prefix);
    free(cache);
}

void watch_cache_stop(struct watch_cache *cache)
{
    cache->is_stopped = true;
    cond_broadcast(&cache->changed);
    watchers_wake_(cache);
}

struct status *watch_cache_stopped_(void)
{
    return status_new(STATUS_SERVICE_UNAVAILABLE, "the server is shutting down");
}

int64_t watch_cache_revision(const struct watch_cache *cache)
{
    return cache->watch != NULL ? MAX(cache->revision, store_watch_revision(cache->watch)) : cache->revision;
}

struct str watch_cache_relative_(const struct watch_cache *cache, struct str key)
{
    return str_from(key, cache->options.prefix.n);
}

/* Feeding. */

static void apply(struct watch_cache *cache, const struct store_event *event)
{
    struct str key = watch_cache_relative_(cache, event->key);
    struct stored *before = pmap_find(&cache->objects, key), *now = NULL;

    if (before != NULL) {
        stored_ref(before);
    }
    if (event->type != STORE_DELETED) {
        now = stored_new_(cache, key, blob_ref(event->value), event->revision);
        pmap_set(&cache->objects, stored_ref(now));
    } else {
        pmap_remove(&cache->objects, key);
    }
    cache->revision = event->revision;
    if (now != NULL || before != NULL) {
        window_add_(cache, event->revision, now, before);
        watchers_notify_(cache);
    }
}

/* Lists, and starts the watch from there. */
static struct status *begin(struct watch_cache *cache)
{
    int64_t revision = store_revision(cache->store);
    struct store_watch *watch;
    struct pmap objects;

    TRY(watch_cache_read_(cache, revision, &objects));
    struct status *status = store_watch_start(cache->store, cache->options.prefix, revision, &watch);

    if (status != NULL) {
        pmap_done(&objects);
        return status;
    }
    pmap_done(&cache->objects);
    cache->objects = objects;
    cache->revision = revision;
    cache->watch = watch;
    window_reset_(cache, revision);
    cache->is_ready = true;
    cond_broadcast(&cache->changed);
    return NULL;
}

static struct status *follow(struct watch_cache *cache)
{
    OWNED(store_events_done) struct store_events events = {0};

    for (;;) {
        TRY(store_watch_next(cache->watch, window_deadline_(cache), &events));
        for (size_t i = 0; i < events.len; i++) {
            apply(cache, events.items[i]);
        }
        cache->revision = events.revision;
        window_trim_(cache);
        cond_broadcast(&cache->changed);
    }
}

static void feed(void *arg)
{
    const int64_t delay_min = 50 * ENV_MS, delay_max = 5 * ENV_SECOND;
    struct watch_cache *cache = arg;
    int64_t delay = delay_min;

    while (!task_is_cancelled()) {
        struct status *status = begin(cache);

        if (status == NULL) {
            delay = delay_min;
            status = follow(cache);
        }
        cache->is_ready = false;
        store_watch_stop(TAKE(cache->watch));
        cache->generation++;
        watchers_wake_(cache);
        if (!status_is(status, STATUS_CANCELLED)) {
            log_warn("watch cache of %s begins anew: %.*s", cache->prefix, STR_ARG(status->message));
            task_sleep(delay);
            delay = MIN(delay * 2, delay_max);
        }
        status_free(status);
    }
}

/* Reading. */

static struct status *await_ready(struct watch_cache *cache, int64_t deadline)
{
    if (!cache->is_started && !cache->is_stopped) {
        cache->is_started = true;
        task_group_spawn(&cache->tasks, "watch-cache", feed, cache);
    }
    while (!cache->is_ready && !cache->is_stopped) {
        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "cancelled while waiting for the watch cache");
        }
        if (env_mono() >= deadline) {
            struct status *status = status_new(STATUS_TOO_MANY_REQUESTS, "storage is (re)initializing");

            status->retry_after_seconds = 1;
            return status;
        }
        cond_wait(&cache->changed, deadline);
    }
    return cache->is_stopped ? watch_cache_stopped_() : NULL;
}

static struct status *too_large(const struct watch_cache *cache, int64_t revision)
{
    struct status *status = status_new(STATUS_TIMEOUT, "Timeout: Too large resource version: %lld, current: %lld",
                                       (long long)revision, (long long)watch_cache_revision(cache));

    status_add_cause(status, STR("ResourceVersionTooLarge"), STR(""), "Too large resource version");
    status->retry_after_seconds = 1;
    return status;
}

struct status *watch_cache_await_(struct watch_cache *cache, enum freshness freshness, int64_t revision)
{
    int64_t deadline = env_mono() + FRESH_WAIT;
    int64_t wanted = freshness == FRESH_LATEST ? store_revision(cache->store)
                     : freshness == FRESH_ANY  ? 0
                                               : revision;

    for (;;) {
        TRY(await_ready(cache, deadline));
        if (watch_cache_revision(cache) >= wanted) {
            return NULL;
        }
        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "cancelled while waiting for revision %lld", (long long)wanted);
        }
        if (env_mono() >= deadline) {
            return too_large(cache, wanted);
        }
        if (store_revision(cache->store) < wanted) {
            store_wait_revision(cache->store, wanted, deadline);
        } else {
            cond_wait(&cache->changed, deadline);
        }
    }
}

struct status *watch_cache_get(struct watch_cache *cache, struct str key, enum freshness freshness, int64_t revision,
                               struct stored **ret, int64_t *ret_revision)
{
    TRY(watch_cache_await_(cache, freshness, revision));
    struct stored *stored = pmap_find(&cache->objects, key);

    *ret = stored != NULL ? stored_ref(stored) : NULL;
    if (ret_revision != NULL) {
        *ret_revision = watch_cache_revision(cache);
    }
    return NULL;
}
