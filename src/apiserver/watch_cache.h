/* The objects of one resource in memory, as of one revision, and the changes that led there: what gets, lists and
 * watches are served from, so that a thousand readers cost the store one watch.
 *
 * A cache knows keys and bytes, not kinds: the registry gives it a decoder, and encoders with the calls that want
 * bytes. It begins by listing and then watches the store, at its first use. Objects are immutable and counted; a list
 * is a walk over a snapshot that costs nothing to take and holds no writer off. Watchers are places in one window of
 * changes: none has a queue, none is waited for, and one that falls out of the window is cut off.
 *
 * Keys are relative to the resource's prefix in the store: "NAMESPACE/NAME", or "NAME" of cluster-scoped kinds. A scope
 * is "" (all), "NAMESPACE/" (all in it), or a whole key (that object alone).
 *
 * All calls are in tasks on the env's thread. Calls that wait for the cache to begin, or to catch up with a revision,
 * park; CANCELLED then when the task is. When the store can't be read for long: TOO_MANY_REQUESTS "storage is
 * (re)initializing". */
#ifndef APISERVER_WATCH_CACHE_H
#define APISERVER_WATCH_CACHE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/pmap.h"
#include "store/store.h"

struct watch_cache;

/* An object as it was stored at one revision. */
struct stored;

struct stored *stored_ref(struct stored *stored);
/* NULL is fine. */
void stored_unref(struct stored *stored);
/* For OWNED(stored_unrefp). */
void stored_unrefp(struct stored **stored);
struct str stored_key(const struct stored *stored);
/* The object's resourceVersion. */
int64_t stored_revision(const struct stored *stored);
/* The bytes in the store, lent as long as `stored`. */
struct blob *stored_blob(const struct stored *stored);
/* What the decoder made of it (at the first call; kept). Never to be changed; it lives as long as `stored`. */
MUST_USE struct status *stored_object(struct stored *stored, const void **ret);

/* Appends the object's bytes in a form. */
typedef struct status *stored_encode_fn(void *arg, struct stored *stored, uint32_t form, struct buf *out);
/* The object in a form, made by `encode` unless it is there already: what many readers of one version share. `form` is
 * the caller's number for all that the bytes depend on (media type, API version, kind of watch event around it, ...);
 * the same number must always give the same bytes. *ret is a reference for the caller. Recently used bytes are kept, up
 * to options.encoded_bytes. */
MUST_USE struct status *stored_encoded(struct stored *stored, uint32_t form, stored_encode_fn *encode, void *arg,
                                       struct blob **ret);

/* The same appended to `out`, and not kept: for lists, which would push out all that is kept, and gain nothing. */
MUST_USE struct status *stored_add_encoded(struct stored *stored, uint32_t form, stored_encode_fn *encode, void *arg,
                                           struct buf *out);

struct watch_cache_options {
    struct str prefix; /* "/registry/pods/"; copied */
    /* Makes the object of stored bytes, with `revision` as its resourceVersion. It may borrow from `bytes`, which live
     * as long as the arena. */
    struct status *(*decode)(void *arg, struct arena *arena, struct str bytes, int64_t revision, void **ret);
    void *arg;
    /* Bounds; 0 gives the default. */
    size_t window_events; /* changes kept at most (10,000) ... */
    size_t window_bytes;  /* ... and the bytes of their values (16 MiB) */
    size_t encoded_bytes; /* encoded forms kept (512 KiB) */
};

/* `store` must outlive the cache. */
struct watch_cache *watch_cache_new(struct store *store, const struct watch_cache_options *options);
/* Ends the cache's own task (parks) and frees it. No calls, watchers, snapshots and objects of it may be left; use
 * watch_cache_stop() first to make watchers return. NULL is fine. */
void watch_cache_free(struct watch_cache *cache);
/* From now on all calls of watchers and of those who wait return SERVICE_UNAVAILABLE. */
void watch_cache_stop(struct watch_cache *cache);

/* Everything up to here is in the cache; 0 when it has not begun. */
int64_t watch_cache_revision(const struct watch_cache *cache);

/* How current an answer must be; what resourceVersion and resourceVersionMatch say. */
enum freshness {
    FRESH_LATEST,    /* all that was acknowledged before the call (no resourceVersion) */
    FRESH_ANY,       /* whatever is there (resourceVersion=0) */
    FRESH_NOT_OLDER, /* at least `revision` */
    FRESH_EXACT,     /* as of `revision`; of lists only */
};

/* NOT_OLDER and EXACT wait up to 3 seconds for a revision to come, then TIMEOUT "Timeout: Too large resource version:
 * X, current: Y" with stock's cause and Retry-After. EXACT gives EXPIRED "The resourceVersion for the provided list is
 * too old." when history doesn't reach back; it goes as far as the store's. */

/* *ret is a reference for the caller; NULL when there is no such object. *ret_revision (NULL is fine) is how far the
 * cache was. */
MUST_USE struct status *watch_cache_get(struct watch_cache *cache, struct str key, enum freshness freshness,
                                        int64_t revision, struct stored **ret, int64_t *ret_revision);

/* All objects at a revision. */
struct watch_snapshot {
    struct pmap map;
    int64_t revision;
};

MUST_USE struct status *watch_cache_snapshot(struct watch_cache *cache, enum freshness freshness, int64_t revision,
                                             struct watch_snapshot *ret);
/* For OWNED too; the zero value is fine. */
void watch_snapshot_done(struct watch_snapshot *snapshot);
/* How many keys of the scope come at or after `start` (empty: all). */
size_t watch_snapshot_count(const struct watch_snapshot *snapshot, struct str scope, struct str start);

/* A walk over the objects of a scope, by key, from `start` (a key; empty: the first). Both must outlive the walk.
 *   watch_snapshot_walk(&walk, &snapshot, scope, start);
 *   for (struct stored *stored; (stored = watch_snapshot_next(&walk)) != NULL;) */
struct watch_snapshot_walk {
    struct pmap_walk walk;
    struct str scope;
};

void watch_snapshot_walk(struct watch_snapshot_walk *walk, const struct watch_snapshot *snapshot, struct str scope,
                         struct str start);
/* Borrowed from the snapshot; NULL at the end. */
struct stored *watch_snapshot_next(struct watch_snapshot_walk *walk);

enum watch_event_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK };

struct watch_event {
    enum watch_event_type type;
    /* A reference. Of a DELETED the last state, but its resourceVersion is the deletion's. NULL for a BOOKMARK. */
    struct stored *object;
    int64_t revision;    /* of the change, or that of a bookmark */
    bool is_initial_end; /* the bookmark that ends initial events (annotation k8s.io/initial-events-end) */
};

/* Some events in order. The zero value is empty. */
struct watch_events {
    struct watch_event *items;
    size_t len, cap;
};

void watch_events_done(struct watch_events *events);

struct watch_options {
    struct str scope; /* copied */
    /* Which objects the watcher wants (label and field selectors); NULL: all. An object that begins to match is ADDED,
     * one that no longer does is DELETED. Called often, must not park; `object` is what the decoder made. */
    bool (*match)(void *arg, const void *object);
    void *arg;
    /* Changes after this revision. -1: begin with the objects that are there, as ADDED events, at a freshness. */
    int64_t after;
    enum freshness freshness;
    int64_t revision; /* of FRESH_NOT_OLDER */
    bool initial_end; /* (sendInitialEvents) a bookmark says where the objects that were there end */
    bool bookmarks;   /* (allowWatchBookmarks) one about every minute, when there is something new to tell */
    int64_t ends;     /* when the caller will end the watch (env_mono), for a bookmark just before; 0: never */
};

struct watcher;

/* EXPIRED "too old resource version: X (Y)" when changes after `after` are no longer kept: the watch begins all the
 * same in stock, with this as its one ERROR event. */
MUST_USE struct status *watch_cache_watch(struct watch_cache *cache, const struct watch_options *options,
                                          struct watcher **ret);
/* Parks until there are events and returns some (replacing what *events held), or none at the deadline (env_mono).
 * CANCELLED; EXPIRED when the watcher was too slow or the cache had to begin anew: stock ends the stream without an
 * event then, and the client goes on from the last revision it saw. INTERNAL_ERROR when a stored object can't be
 * decoded. One task reads a watcher. */
MUST_USE struct status *watcher_next(struct watcher *watcher, int64_t deadline, struct watch_events *events);
/* NULL is fine. */
void watcher_stop(struct watcher *watcher);

#endif
