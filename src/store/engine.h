/* The store's inside, shared by its files: store.c (opening, reading), commit.c (writing), watch.c (events),
 * compact.c. Nothing outside src/store includes this. */
#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

#include "base/env.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "store/disk.h"

enum {
    /* A transaction takes this many operations, or bytes, at most, so that none waits long behind the others. */
    COMMIT_OPS_MAX = 512,
    COMMIT_BYTES_MAX = 4 << 20,
    /* Revisions reserved at a time for volatile writes. */
    RESERVE_REVISIONS = 4096,
    /* Volatile events in memory, in bytes, before they are written out. */
    UNFLUSHED_BYTES_MAX = 1 << 20,
    /* Events that are on disk stay in memory up to these bounds, for watches that keep up. */
    WINDOW_EVENTS_MAX = 2048,
    WINDOW_BYTES_MAX = 2 << 20,
    /* Revisions swept in one transaction. */
    SWEEP_STEP = 1000,
    /* Compaction by age isn't worth its writes for fewer revisions than this. */
    COMPACT_REVISIONS_MIN = 1000,
    COMPACT_MARKS = 9,
};

enum op_kind { OP_CREATE, OP_UPDATE, OP_DELETE, OP_FLUSH };

/* One write asked for. */
struct op {
    struct link link;
    uint32_t refs; /* the caller's and the queue's: a cancelled caller goes first */
    enum op_kind kind;
    unsigned flags;
    int64_t expected;
    struct blob *value;
    struct task *caller;
    bool done;
    bool depends; /* on events of its transaction: if that fails, so does this */
    struct status *status;
    struct store_object result;
    struct str key;
    char bytes[];
};

/* The transaction being made, or at the worker. */
struct commit {
    bool busy;     /* at the worker */
    bool sweeping; /* it carries a step of compaction, and no operations */
    VEC(struct op *) ops;
    VEC(struct store_event *) events; /* new ones */
    VEC(struct store_event *) out;    /* what is written: those unflushed, then the new ones; borrowed */
    size_t bytes;                     /* of the new ones */
    struct map newest; /* key -> the last of the new events */
    bool durable;      /* one of the operations must be on disk */
    bool has_volatile; /* one of them need not */
    int64_t revision;  /* of the last new event */
    int64_t start;
    struct disk_write write;
};

/* At `mono` the store was at `revision`. */
struct compact_mark {
    int64_t mono, revision;
};

struct store {
    struct disk *disk;
    struct store_options options;
    struct status *broken; /* the disk can't be read: every call fails with it until a refresh mends that */
    struct disk_state durable;
    int64_t revision;
    int64_t compacted;

    /* Events above window_after, all of them, one a revision. */
    struct {
        struct store_event **items;
        size_t first, len, cap; /* in use: first up to len */
    } window;
    int64_t window_after;
    size_t window_bytes;

    struct map unflushed; /* key -> its last event, when that isn't on disk; borrowed from the window */
    size_t unflushed_bytes;
    struct env_timer *flush_timer;

    struct link queue; /* of ops */
    bool scheduled; /* a look at the queue is posted */
    bool closing, abandoned;
    bool swept_last; /* the last transaction was a sweep */
    struct commit commit;
    struct cond idle; /* nothing is queued or under way */

    struct link watches;
    struct cond moved; /* `revision` did */
    struct cond swept;
    struct status *sweep_error; /* the last step failed: no more until a write succeeds */
    struct compact_mark marks[COMPACT_MARKS];
    size_t mark_count;
};

/* The newest state of a key. */
struct current {
    bool exists;
    int64_t mod_revision, create_revision; /* mod_revision also of a deleted key */
    struct store_event *event;             /* borrowed; NULL when it must be read from disk */
};

/* store.c */

/* The latest that readers may see. */
MUST_USE struct status *store_current_(struct store *store, struct str key, struct current *ret);
/* The value of a revision, from memory or disk; a reference for the caller. */
MUST_USE struct status *store_value_(struct store *store, int64_t revision, struct blob **ret);
MUST_USE struct status *store_key_check_(struct str key);

void store_free_(struct store *store);

/* commit.c */

/* Lets the writer look for work soon. */
void commit_kick_(struct store *store);
/* Parks until everything volatile so far is written. */
MUST_USE struct status *commit_sync_(struct store *store);
/* The same for closing; the status is the write's. Parks whether cancelled or not. */
MUST_USE struct status *commit_flush_(struct store *store);
void commit_done_(struct commit *commit);
/* What waits in an abandoned store, whose callers are gone. */
void commit_drop_queue_(struct store *store);

/* watch.c */

struct store_event *event_new_(enum store_event_type type, struct str key);
/* Bytes of memory an event stands for. */
size_t event_bytes_(const struct store_event *event);
/* Makes events visible: takes over the references, moves store->revision, wakes watches. */
void watch_publish_(struct store *store, struct store_event *const *events, size_t count);
/* The event in memory with this revision; NULL when it is older than what is kept. Borrowed. */
struct store_event *watch_recent_(const struct store *store, int64_t revision);
/* Drops events that are on disk and over the bounds. */
void watch_trim_(struct store *store);
void watch_wake_all_(struct store *store);

/* compact.c */

/* What to compact up to, for events of the last `keep` ns to stay: a mark's revision, or `compacted` for nothing. */
int64_t compact_target_(const struct compact_mark *marks, size_t count, int64_t now, int64_t keep, int64_t compacted);
/* Notes where the store is, now and then, and compacts what is old enough. */
void compact_by_age_(struct store *store);
/* The state after the next step of sweeping; false when there is nothing to do. */
bool compact_step_(const struct store *store, struct disk_state *ret);

#endif
