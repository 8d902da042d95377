/* The watch cache's inside, shared by its files: watch_cache.c (feeding, freshness, gets), watch_cache_object.c
 * (objects and their encoded forms), watch_cache_snapshot.c (lists), watch_cache_window.c (the window of changes),
 * watch_cache_watcher.c. */
#ifndef APISERVER_WATCH_CACHE_PARTS_H
#define APISERVER_WATCH_CACHE_PARTS_H

#include "apiserver/watch_cache.h"

#include "base/env.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/task.h"

enum {
    /* As long as stock keeps events for those who lost their connection (75 s): beyond this many they go by age. */
    WINDOW_EVENTS_MIN = 100,
    /* Even very large values leave the newest changes to watchers that are awake. */
    WINDOW_EVENTS_FLOOR = 8,
    WATCH_BATCH_EVENTS = 128,
};

#define WINDOW_AGE (75 * ENV_SECOND)
/* How long to wait for a revision, or for the cache to begin; stock's time. */
#define FRESH_WAIT (3 * ENV_SECOND)

/* One change in the window. */
struct change {
    int64_t revision;
    int64_t time; /* env_mono() when it came */
    struct stored *now;    /* NULL: deleted */
    struct stored *before; /* NULL: created */
    struct stored *gone;   /* `before` at this revision, for those to whom it is a deletion; made when first needed */
};

struct watch_cache {
    struct store *store;
    struct watch_cache_options options;
    char *prefix;
    struct pmap objects; /* of struct stored */
    int64_t revision;    /* of the last change applied, or of the list */
    bool is_started, is_ready, is_stopped;
    struct store_watch *watch; /* while ready */
    struct task_group tasks;
    struct cond changed; /* ready, stopped or at a later revision */

    /* Changes above window_after, all of them. Each has a number; the first has window_number. */
    struct {
        struct change *items;
        size_t first, len, cap; /* in use: first up to len */
    } window;
    int64_t window_number, window_after;
    size_t window_bytes;

    uint64_t generation; /* grows when the cache begins anew */
    struct link watchers;

    struct link encoded; /* objects with encoded forms, those used last at the end */
    size_t encoded_bytes;
    size_t live; /* objects not yet given back */
};

/* watch_cache.c */

/* Parks until the cache is as fresh as asked. */
MUST_USE struct status *watch_cache_await_(struct watch_cache *cache, enum freshness freshness, int64_t revision);
struct str watch_cache_relative_(const struct watch_cache *cache, struct str key);
MUST_USE struct status *watch_cache_stopped_(void);

/* watch_cache_object.c */

extern const struct pmap_type stored_map_type_;

/* Takes over the reference to the blob. */
struct stored *stored_new_(struct watch_cache *cache, struct str key, struct blob *blob, int64_t revision);
/* The same value under another revision. */
struct stored *stored_at_(struct stored *stored, int64_t revision);
size_t stored_bytes_(const struct stored *stored);

/* watch_cache_snapshot.c */

/* All objects of the store as of `revision`, in pages; those that the cache has are shared. Parks. */
MUST_USE struct status *watch_cache_read_(struct watch_cache *cache, int64_t revision, struct pmap *ret);
/* Whether the key is in the scope. */
bool scope_has_(struct str scope, struct str key);

/* watch_cache_window.c */

/* Takes over the references. */
void window_add_(struct watch_cache *cache, int64_t revision, struct stored *now, struct stored *before);
size_t window_count_(const struct watch_cache *cache);
struct change *window_at_(const struct watch_cache *cache, size_t index);
/* The first change above `revision`; window_count_() when there is none. */
size_t window_find_(const struct watch_cache *cache, int64_t revision);
/* Reads changes above `after` out of the store's log again; it may be that there are none kept. Parks. */
void window_extend_(struct watch_cache *cache, int64_t after);
/* Drops what is over the bounds or old. */
void window_trim_(struct watch_cache *cache);
/* When the next change will be old; TASK_FOREVER: none. */
int64_t window_deadline_(const struct watch_cache *cache);
/* Empties it: changes above `after` are to come. Watchers are cut off. */
void window_reset_(struct watch_cache *cache, int64_t after);
MUST_USE struct status *window_expired_(const struct watch_cache *cache, int64_t after);
/* The state that a deletion shows; borrowed. */
struct stored *change_gone_(struct change *change);

/* watch_cache_watcher.c */

/* Tells watchers of the change just added. */
void watchers_notify_(struct watch_cache *cache);
void watchers_wake_(struct watch_cache *cache);

#endif
