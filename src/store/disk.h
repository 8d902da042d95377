/* What the store asks of something that keeps bytes: the seam below store.c. lmdb.c and memory.c stand behind it.
 *
 * A disk keeps a log of versions by revision, the head (newest version) of each key, and its state; it changes all of
 * them in one transaction at a time. Deciding what to write is the store's business.
 *
 * write() runs on a worker while the loop's thread goes on reading. Reads therefore see a snapshot, which moves forward
 * only in refresh(): what a write made durable is seen when the store has taken notice of it. Bytes lent by a read live
 * until the next refresh(). */
#ifndef STORE_DISK_H
#define STORE_DISK_H

#include "base/status.h"
#include "store/store.h"

struct disk {
    const struct disk_ops *ops;
};

struct disk_state {
    int64_t revision;  /* of the last version */
    int64_t reserved;  /* no revision up to here may be given out again: volatile writes may have used it */
    int64_t compacted; /* readers below were refused */
    int64_t swept;     /* versions that only readers below need are gone */
};

/* A record of the log. */
struct disk_version {
    enum store_event_type type;
    int64_t create_revision;
    int64_t previous_revision; /* the key's version before, perhaps swept; 0: none */
    struct str key, value;     /* borrowed */
};

/* The newest version of a key. Deleted keys keep theirs until it is swept. */
struct disk_head {
    int64_t mod_revision, create_revision;
    bool deleted;
};

/* One transaction. */
struct disk_write {
    struct store_event *const *events; /* to append, in order */
    size_t len;
    struct disk_state state; /* as it shall be afterwards; sweeping moves `swept` up to this */
    /* Set by write() */
    struct status *status; /* NULL: all of it is durable; else nothing changed */
    bool again;            /* not an error: refresh() must run, then the same write again */
    bool uncertain;        /* with an error: refresh() will show whether it happened */
};

/* Return false to end the walk. */
typedef bool disk_head_fn(void *arg, struct str key, const struct disk_head *head);
typedef bool disk_version_fn(void *arg, int64_t revision, const struct disk_version *version);

struct disk_ops {
    /* What the snapshot says. */
    struct status *(*state)(struct disk *disk, struct disk_state *ret);
    /* The head of a key; false in *ret_found when the key has none. */
    struct status *(*head)(struct disk *disk, struct str key, struct disk_head *ret, bool *ret_found);
    /* The version with that revision; NOT_FOUND when it is not there. */
    struct status *(*version)(struct disk *disk, int64_t revision, struct disk_version *ret);
    /* Heads of the keys under the prefix from `start` on, in order. */
    struct status *(*heads)(struct disk *disk, struct str prefix, struct str start, disk_head_fn *fn, void *arg);
    /* Versions above `after`, in order. */
    struct status *(*log)(struct disk *disk, int64_t after, disk_version_fn *fn, void *arg);
    /* On a worker thread; one at a time. */
    void (*write)(struct disk *disk, struct disk_write *write);
    /* After each write. An error means the disk can't be read any more; later refreshes may mend it. */
    struct status *(*refresh)(struct disk *disk);
    /* How long (ns) to hold back the outcome of the write just done: slow disks under simulation. May be NULL. */
    int64_t (*latency)(struct disk *disk);
    void (*size)(struct disk *disk, uint64_t *ret_used, uint64_t *ret_file);
    void (*close)(struct disk *disk);
};

/* Opens a store on a disk, which it takes over (also when it fails). */
MUST_USE struct status *store_open(struct disk *disk, const struct store_options *options, struct store **ret);
/* Drops a store as a crash would: what is not on disk is lost. No calls and no watches may be left. */
void store_abandon(struct store *store);

#endif
