#include "apiserver/watch_cache_parts.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

size_t window_count_(const struct watch_cache *cache)
{
    return cache->window.len - cache->window.first;
}

struct change *window_at_(const struct watch_cache *cache, size_t index)
{
    return &cache->window.items[cache->window.first + index];
}

size_t window_find_(const struct watch_cache *cache, int64_t revision)
{
    size_t low = 0, high = window_count_(cache);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (window_at_(cache, middle)->revision <= revision) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static size_t change_bytes(const struct change *change)
{
    return sizeof(*change) + stored_bytes_(change->now != NULL ? change->now : change->before);
}

static void change_done(struct change *change)
{
    stored_unref(change->now);
    stored_unref(change->before);
    stored_unref(change->gone);
}

struct stored *change_gone_(struct change *change)
{
    if (change->gone == NULL) {
        change->gone = stored_at_(change->before, change->revision);
    }
    return change->gone;
}

void window_add_(struct watch_cache *cache, int64_t revision, struct stored *now, struct stored *before)
{
    struct change *change = VEC_ADD(&cache->window);

    change->revision = revision;
    change->time = env_mono();
    change->now = now;
    change->before = before;
    cache->window_bytes += change_bytes(change);
}

static void drop_first(struct watch_cache *cache)
{
    struct change *change = window_at_(cache, 0);

    cache->window_bytes -= change_bytes(change);
    cache->window_after = change->revision;
    cache->window_number++;
    cache->window.first++;
    change_done(change);
}

/* Gives room at the front back; all of it when nothing is left. */
static void close_up(struct watch_cache *cache)
{
    size_t count = window_count_(cache);

    if (cache->window.first > count) {
        memmove(cache->window.items, window_at_(cache, 0), count * sizeof(struct change));
        cache->window.first = 0;
        cache->window.len = count;
    }
}

void window_trim_(struct watch_cache *cache)
{
    const struct watch_cache_options *options = &cache->options;
    int64_t now = env_mono();

    for (size_t count; (count = window_count_(cache)) > WINDOW_EVENTS_FLOOR;) {
        bool over = count > options->window_events || cache->window_bytes > options->window_bytes;
        bool old = count > WINDOW_EVENTS_MIN && now - window_at_(cache, 0)->time >= WINDOW_AGE;

        if (!over && !old) {
            break;
        }
        drop_first(cache);
    }
    close_up(cache);
}

int64_t window_deadline_(const struct watch_cache *cache)
{
    return window_count_(cache) > WINDOW_EVENTS_MIN ? window_at_(cache, 0)->time + WINDOW_AGE : TASK_FOREVER;
}

void window_reset_(struct watch_cache *cache, int64_t after)
{
    while (window_count_(cache) > 0) {
        drop_first(cache);
    }
    close_up(cache);
    cache->window_after = after;
}

struct status *window_expired_(const struct watch_cache *cache, int64_t after)
{
    return status_new(STATUS_EXPIRED, "too old resource version: %lld (%lld)", (long long)after,
                      (long long)cache->window_after);
}

/* Going back. */

struct past {
    struct watch_cache *cache;
    VEC(struct change) changes;
    struct map last; /* key -> the state after its last change so far; borrowed */
    size_t bytes;
};

static void past_done(struct past *past)
{
    for (size_t i = 0; i < past->changes.len; i++) {
        change_done(&past->changes.items[i]);
    }
    free(past->changes.items);
    map_done(&past->last);
}

/* A value of the past, shared with what is there. */
static struct stored *past_stored(struct past *past, struct str key, struct blob *blob, int64_t revision)
{
    struct stored *places[] = {map_find(&past->last, key), pmap_find(&past->cache->objects, key)};

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        if (places[i] != NULL && stored_revision(places[i]) == revision) {
            return stored_ref(places[i]);
        }
    }
    return stored_new_(past->cache, key, blob_ref(blob), revision);
}

static void past_add(struct past *past, const struct store_event *event)
{
    struct str key = watch_cache_relative_(past->cache, event->key);
    struct change change = {.revision = event->revision, .time = env_mono()};

    if (event->previous != NULL) {
        change.before = past_stored(past, key, event->previous, event->previous_revision);
    }
    if (event->value != NULL) {
        change.now = past_stored(past, key, event->value, event->revision);
        map_set(&past->last, key, change.now);
    }
    past->bytes += change_bytes(&change);
    *VEC_ADD(&past->changes) = change;
}

/* Reads the log above `after` up to where the window begins; false when that can't be or is too much. */
static bool past_read(struct past *past, int64_t after, int64_t up_to)
{
    const struct watch_cache_options *options = &past->cache->options;
    OWNED(store_events_done) struct store_events events = {0};
    OWNED(status_freep) struct status *status = NULL;
    struct store_watch *watch;

    status = store_watch_start(past->cache->store, options->prefix, after, &watch);
    if (status != NULL) {
        return false;
    }
    while (status == NULL && events.revision < up_to && past->changes.len <= options->window_events / 2 &&
           past->bytes <= options->window_bytes / 2) {
        status = store_watch_next(watch, env_mono(), &events);
        for (size_t i = 0; status == NULL && i < events.len && events.items[i]->revision <= up_to; i++) {
            past_add(past, events.items[i]);
        }
    }
    store_watch_stop(watch);
    return status == NULL && events.revision >= up_to;
}

static void past_prepend(struct past *past, int64_t after)
{
    struct watch_cache *cache = past->cache;
    size_t count = window_count_(cache), more = past->changes.len;
    struct change *items = mem_zalloc_array(mem_add(count + more, 1), sizeof(*items));

    if (more > 0) {
        memcpy(items, past->changes.items, more * sizeof(*items));
    }
    if (count > 0) {
        memcpy(items + more, window_at_(cache, 0), count * sizeof(*items));
    }
    free(cache->window.items);
    cache->window.items = items;
    cache->window.first = 0;
    cache->window.len = count + more;
    cache->window.cap = count + more + 1;
    cache->window_number -= (int64_t)more;
    cache->window_after = after;
    cache->window_bytes += past->bytes;
    past->changes.len = 0;
}

void window_extend_(struct watch_cache *cache, int64_t after)
{
    uint64_t generation = cache->generation;
    int64_t up_to = cache->window_after;
    struct past past = {.cache = cache};

    if (past_read(&past, after, up_to) && cache->generation == generation && cache->window_after == up_to) {
        past_prepend(&past, after);
    }
    past_done(&past);
}
