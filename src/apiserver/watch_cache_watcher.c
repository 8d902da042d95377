#include "apiserver/watch_cache_parts.h"
#include "base/planted.h"

#include <stdlib.h>
#include <string.h>

struct watcher {
    struct link link;
    struct watch_cache *cache;
    struct watch_options options;
    uint64_t generation;
    int64_t number;       /* of the change to look at next */
    int64_t told;         /* the last revision the caller knows of */
    int64_t bookmark_due; /* env_mono(); TASK_FOREVER: none wanted */
    struct cond wake;
    struct watch_snapshot initial; /* objects still to be ADDED; empty when done */
    struct watch_snapshot_walk walk;
    bool is_initial;
    char scope[];
};

void watch_events_done(struct watch_events *events)
{
    for (size_t i = 0; i < events->len; i++) {
        stored_unref(events->items[i].object);
    }
    free(events->items);
    *events = (struct watch_events){0};
}

static void events_clear(struct watch_events *events)
{
    for (size_t i = 0; i < events->len; i++) {
        stored_unref(events->items[i].object);
    }
    events->len = 0;
}

static int64_t next_number(const struct watch_cache *cache)
{
    return cache->window_number + (int64_t)window_count_(cache);
}

/* A minute from now and up to a quarter more, so that watchers don't all write at once; or just before the end. */
static void plan_bookmark(struct watcher *watcher)
{
    const int64_t every = 60 * ENV_SECOND, before_end = 2 * ENV_SECOND;
    int64_t now = env_mono(), due = now + every + (int64_t)env_random_below((uint64_t)every / 4);
    int64_t end = watcher->options.ends - before_end;

    if (!watcher->options.bookmarks) {
        due = TASK_FOREVER;
    } else if (watcher->options.ends != 0 && end > now && end < due) {
        due = end;
    }
    watcher->bookmark_due = due;
}

static struct watcher *watcher_new(struct watch_cache *cache, const struct watch_options *options)
{
    struct watcher *watcher = mem_zalloc(sizeof(*watcher) + options->scope.n + 1);

    watcher->cache = cache;
    watcher->options = *options;
    if (options->scope.n > 0) {
        memcpy(watcher->scope, options->scope.p, options->scope.n);
    }
    watcher->options.scope.p = watcher->scope;
    watcher->generation = cache->generation;
    cond_init(&watcher->wake);
    list_add_tail(&cache->watchers, &watcher->link);
    plan_bookmark(watcher);
    return watcher;
}

static struct watcher *watch_from_now(struct watch_cache *cache, const struct watch_options *options)
{
    struct watcher *watcher = watcher_new(cache, options);

    watcher->number = next_number(cache);
    watcher->told = watch_cache_revision(cache);
    watcher->initial = (struct watch_snapshot){pmap_snapshot(&cache->objects), watcher->told};
    watcher->is_initial = true;
    watch_snapshot_walk(&watcher->walk, &watcher->initial, watcher->options.scope, STR(""));
    return watcher;
}

struct status *watch_cache_watch(struct watch_cache *cache, const struct watch_options *options, struct watcher **ret)
{
    if (options->after < 0) {
        TRY(watch_cache_await_(cache, options->freshness, options->revision));
        *ret = watch_from_now(cache, options);
        return NULL;
    }
    TRY(watch_cache_await_(cache, FRESH_ANY, 0));
    if (options->after < cache->window_after) {
        window_extend_(cache, options->after);
        TRY(watch_cache_await_(cache, FRESH_ANY, 0));
    }
    if (options->after < cache->window_after) {
        return window_expired_(cache, options->after);
    }
    *ret = watcher_new(cache, options);
    (*ret)->number = cache->window_number + (int64_t)window_find_(cache, options->after);
    (*ret)->told = options->after;
    return NULL;
}

void watcher_stop(struct watcher *watcher)
{
    if (watcher != NULL) {
        list_remove(&watcher->link);
        watch_snapshot_done(&watcher->initial);
        free(watcher);
    }
}

/* Which objects are wanted. */

static struct status *matches(const struct watcher *watcher, struct stored *stored, bool *ret)
{
    const void *object;

    if (stored == NULL || watcher->options.match == NULL) {
        *ret = stored != NULL;
        return NULL;
    }
    TRY(stored_object(stored, &object));
    *ret = watcher->options.match(watcher->options.arg, object);
    return NULL;
}

/* What a change is to a watcher; false when it is nothing. */
static struct status *judge(const struct watcher *watcher, struct change *change, struct watch_event *ret,
                            bool *ret_is_event)
{
    struct str key = stored_key(change->now != NULL ? change->now : change->before);
    bool is = false, was = false;

    *ret_is_event = false;
    if (!scope_has_(watcher->options.scope, key) || change->revision <= watcher->options.after) {
        return NULL;
    }
    TRY(matches(watcher, change->now, &is));
    TRY(matches(watcher, change->before, &was));
    *ret_is_event = is || was;
    *ret = (struct watch_event){
        .type = !is ? WATCH_DELETED : was ? WATCH_MODIFIED : WATCH_ADDED,
        .object = is ? change->now : was ? change_gone_(change) : NULL,
        .revision = change->revision,
    };
    return NULL;
}

/* A watcher that is up to date and doesn't want the change moves on without being woken. */
static void notify(struct watcher *watcher, struct change *change)
{
    struct watch_cache *cache = watcher->cache;
    struct watch_event event;
    bool is_event = true;

    if (watcher->generation == cache->generation && watcher->number == next_number(cache) - 1) {
        OWNED(status_freep) struct status *status = judge(watcher, change, &event, &is_event);

        if (status == NULL && !is_event) {
            watcher->number++;
            return;
        }
    }
    cond_broadcast(&watcher->wake);
}

void watchers_notify_(struct watch_cache *cache)
{
    struct change *change = window_at_(cache, window_count_(cache) - 1);

    LINK_EACH(link, &cache->watchers)
    {
        notify(CONTAINER_OF(link, struct watcher, link), change);
    }
}

void watchers_wake_(struct watch_cache *cache)
{
    LINK_EACH(link, &cache->watchers)
    {
        cond_broadcast(&CONTAINER_OF(link, struct watcher, link)->wake);
    }
}

/* Reading. */

/* Objects or changes judged before others run. */
enum { READ_AT_ONCE = 512 };

static void add_bookmark(struct watcher *watcher, int64_t revision, bool is_initial_end, struct watch_events *events)
{
    *VEC_ADD(events) =
        (struct watch_event){.type = WATCH_BOOKMARK, .revision = revision, .is_initial_end = is_initial_end};
    watcher->told = revision;
    plan_bookmark(watcher);
}

static struct status *read_initial(struct watcher *watcher, struct watch_events *events)
{
    for (int i = 0; watcher->is_initial && events->len < WATCH_BATCH_EVENTS && i < READ_AT_ONCE; i++) {
        struct stored *stored = watch_snapshot_next(&watcher->walk);
        bool wanted;

        if (stored == NULL) {
            watcher->is_initial = false;
            if (watcher->options.initial_end) {
                add_bookmark(watcher, watcher->initial.revision, true, events);
            }
            watch_snapshot_done(&watcher->initial);
            break;
        }
        TRY(matches(watcher, stored, &wanted));
        if (wanted) {
            *VEC_ADD(events) = (struct watch_event){.type = WATCH_ADDED, .object = stored_ref(stored),
                                                    .revision = stored_revision(stored)};
        }
    }
    return NULL;
}

static bool is_behind(const struct watcher *watcher)
{
    return !watcher->is_initial && watcher->number < next_number(watcher->cache);
}

static struct status *read_changes(struct watcher *watcher, struct watch_events *events)
{
    struct watch_cache *cache = watcher->cache;

    for (int i = 0; is_behind(watcher) && events->len < WATCH_BATCH_EVENTS && i < READ_AT_ONCE; i++) {
        struct change *change = window_at_(cache, (size_t)(watcher->number - cache->window_number));
        struct watch_event event;
        bool is_event;

        TRY(judge(watcher, change, &event, &is_event));
        watcher->number++;
        if (planted(WATCH_DROPS_EVENT) && change->revision % 100 == 0) {
            continue;
        }
        if (is_event) {
            stored_ref(event.object);
            *VEC_ADD(events) = event;
            watcher->told = event.revision;
        }
    }
    return NULL;
}

static struct status *check(const struct watcher *watcher)
{
    const struct watch_cache *cache = watcher->cache;

    if (cache->is_stopped) {
        return watch_cache_stopped_();
    }
    if (task_is_cancelled()) {
        return status_new(STATUS_CANCELLED, "cancelled while watching");
    }
    if (watcher->generation != cache->generation || watcher->number < cache->window_number) {
        return window_expired_(cache, watcher->told);
    }
    return NULL;
}

struct status *watcher_next(struct watcher *watcher, int64_t deadline, struct watch_events *events)
{
    events_clear(events);
    for (;;) {
        TRY(check(watcher));
        TRY(read_initial(watcher, events));
        TRY(read_changes(watcher, events));
        if (events->len > 0) {
            return NULL;
        }
        if (watcher->is_initial || is_behind(watcher)) {
            task_yield();
            continue;
        }
        int64_t now = env_mono();

        if (now >= watcher->bookmark_due) {
            int64_t revision = watch_cache_revision(watcher->cache) + (planted(WATCH_BOOKMARKS_EARLY) ? 10 : 0);

            if (revision > watcher->told) {
                add_bookmark(watcher, revision, false, events);
                return NULL;
            }
            plan_bookmark(watcher);
        }
        if (now >= deadline) {
            return NULL;
        }
        cond_wait(&watcher->wake, MIN(deadline, watcher->bookmark_due));
    }
}
