/* Where objects are kept: byte-string keys, opaque values, and one counter of revisions for all of them.
 *
 * What etcd gives a kube-apiserver, and no more. Keys are /registry/<resource>/<namespace>/<name>; they sort by bytes.
 * Every write that succeeds takes the next revision, and its event can be watched until it is compacted away. Nothing
 * is acknowledged before it is durable, but for STORE_VOLATILE. Revisions only grow and are never handed out twice,
 * also after a crash (they may skip).
 *
 * The API server reaches storage through this header alone. A store is opened by its back end: store/lmdb.h (a
 * directory), store/memory.h (simulation and tests).
 *
 * All calls are made in tasks on the env's thread that opened the store. Writes park until they are durable; a task
 * cancelled meanwhile gets CANCELLED and the write may still happen. Reads don't park.
 *
 * Errors beside those named: BAD_REQUEST (a key is empty or over LIMIT_STORE_KEY_BYTES), REQUEST_ENTITY_TOO_LARGE (a
 * value is over LIMIT_STORE_VALUE_BYTES), SERVICE_UNAVAILABLE (the disk is full or fails: nothing was written, try
 * again later), INTERNAL_ERROR (the data is damaged). */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/status.h"
#include "store/blob.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

struct store_options {
    /* Events stay readable at least this long (ns) and are compacted when later writes come; 0: only by
     * store_compact(). */
    int64_t keep;
    /* Volatile writes are on disk after this time (ns) at the latest; 0: ten minutes. */
    int64_t volatile_delay;
};

/* Stock's compaction interval. */
#define STORE_KEEP_DEFAULT (INT64_C(300) * 1000000000)

/* A value as it is, or was, in the store. */
struct store_object {
    struct blob *value; /* a reference of its own; NULL: there is none */
    int64_t create_revision;
    int64_t mod_revision; /* the write that made this value; after a delete: the delete */
    /* Of writes: when their transaction began and when it was durable (env_wall); equal when volatile. */
    int64_t commit_start, commit_end;
};

/* Gives the value back and zeroes; for OWNED too. */
void store_object_done(struct store_object *object);

/* NOT_FOUND when the key isn't there. `revision` 0 reads the latest; else the value as of then, EXPIRED when that is
 * compacted, and BAD_REQUEST when it is yet to come. `ret_revision` (NULL is fine) is what was read at. */
MUST_USE struct status *store_get(struct store *store, struct str key, int64_t revision, struct store_object *ret,
                                  int64_t *ret_revision);

struct store_list_options {
    struct str prefix;
    struct str start; /* the first key wanted (need not exist); empty: the first of the prefix */
    size_t limit;     /* items at most; 0: all */
    int64_t revision; /* as in store_get */
    bool count_remaining; /* fill `remaining`, which walks the keys past the limit */
};

struct store_list_item {
    struct str key; /* held by the list */
    struct store_object object;
};

struct store_list {
    struct store_list_item *items; /* by key */
    size_t len;
    int64_t revision; /* what was read at: watching after it misses nothing */
    bool more;        /* there are keys past the limit */
    size_t remaining; /* how many, when asked for */
    struct arena *arena;
};

/* One consistent view. Read long lists in pages (start: last key and a NUL; revision: that of the first page), since
 * one call does not let others run. EXPIRED as in store_get. */
MUST_USE struct status *store_list(struct store *store, const struct store_list_options *options,
                                   struct store_list *ret);
void store_list_done(struct store_list *list);
/* Keys under the prefix, now. */
MUST_USE struct status *store_count(struct store *store, struct str prefix, size_t *ret);

enum {
    /* This update need not survive a crash: it takes a revision, reads and watches see it, and it goes to disk with the
     * next durable write or after `volatile_delay`. For heartbeats. After a crash the value may be an older one. */
    STORE_VOLATILE = 1,
};

/* ALREADY_EXISTS, and *ret (also then) is what is there. Values are borrowed by all writes: the store takes references
 * of its own. */
MUST_USE struct status *store_create(struct store *store, struct str key, struct blob *value, struct store_object *ret);
/* Replaces the value when its mod_revision is `expected` (0: whatever it is). NOT_FOUND when there is none; CONFLICT
 * when it is another, and *ret is (also then) what is there. */
MUST_USE struct status *store_update(struct store *store, struct str key, struct blob *value, int64_t expected,
                                     unsigned flags, struct store_object *ret);
/* The same for removing; *ret is the value removed, with the delete's revision as mod_revision. */
MUST_USE struct status *store_delete(struct store *store, struct str key, int64_t expected, struct store_object *ret);

enum store_event_type { STORE_CREATED, STORE_UPDATED, STORE_DELETED };

/* One change. Immutable; counted like blobs. */
struct store_event {
    uint32_t refs;
    enum store_event_type type;
    int64_t revision;          /* of this change */
    int64_t create_revision;   /* of the key's first value */
    int64_t previous_revision; /* mod_revision before; 0 for the first ever */
    struct blob *value;        /* NULL when deleted */
    struct blob *previous;     /* what was there before; NULL when created */
    struct str key;
    char bytes[]; /* the key's */
};

struct store_event *store_event_ref(struct store_event *event);
void store_event_unref(struct store_event *event);

/* Some events in the order of revisions. The zero value is empty. */
struct store_events {
    struct store_event **items; /* a reference each */
    size_t len, cap;
    int64_t revision; /* every event under the prefix up to here has been delivered */
};

void store_events_done(struct store_events *events);

struct store_watch;

/* Watches keys under the prefix: every change with a revision above `after`, in order, each once; first what is kept,
 * then what comes, without a gap. `after` -1: from now on. EXPIRED when changes above `after` are compacted.
 * One task reads a watch. It holds no events back: a slow reader is caught up from the log. */
MUST_USE struct status *store_watch_start(struct store *store, struct str prefix, int64_t after,
                                          struct store_watch **ret);
/* Parks until there are events and returns some (replacing what *events held), or none at the deadline (env_mono) or
 * when others' changes had to be read to see that none is wanted; `revision` tells then too how far the watch is.
 * EXPIRED when compaction overtook the reader, CANCELLED. */
MUST_USE struct status *store_watch_next(struct store_watch *watch, int64_t deadline, struct store_events *events);
/* Everything under the prefix up to here has been delivered. It moves on with the store while nothing happens under the
 * prefix, without anyone being woken. */
int64_t store_watch_revision(const struct store_watch *watch);
/* No task may be in store_watch_next. NULL is fine. */
void store_watch_stop(struct store_watch *watch);

/* The revision of the last write: what progress notifications tell. */
int64_t store_revision(const struct store *store);
/* Parks until the store is at that revision; false at the deadline (env_mono) or when cancelled. */
bool store_wait_revision(struct store *store, int64_t revision, int64_t deadline);
/* Reads and watches below this are EXPIRED. */
int64_t store_compacted(const struct store *store);
/* Drops what only reads below `revision` need; EXPIRED when that is done already, BAD_REQUEST when it is yet to come.
 * New reads below are refused at once; the space is given free in small steps among other writes, and the call parks
 * until that is done. */
MUST_USE struct status *store_compact(struct store *store, int64_t revision);
/* Bytes in use on disk, free pages not counted; and the file's size. NULL is fine. */
void store_size(const struct store *store, uint64_t *ret_used, uint64_t *ret_file);

/* Writes what is volatile, and closes. No calls and no watches may be left. The store is gone also when the last write
 * failed, which is reported. NULL is fine. */
MUST_USE struct status *store_close(struct store *store);

#endif
