/* What the files of the embedded store share; lmdb.c opens, lmdb_read.c reads, lmdb_write.c writes. */
#ifndef STORE_LMDB_PARTS_H
#define STORE_LMDB_PARTS_H

#include "base/attr.h"
#include "store/disk.h"

#include <lmdb.h>

/* Four sub-databases, all numbers little endian but in keys:
 *   meta      "format" -> u32, "state" -> struct disk_state_record
 *   sections  the first part of a key ("/registry/pods/") -> its number, u32 big endian
 *   heads     section number, rest of the key -> struct head_record
 *   log       revision, u64 big endian -> struct version_record, key, value
 * LMDB's keys end at 511 bytes, keys of custom resources do not; numbering the sections keeps all that Kubernetes
 * allows well below. Sections are disjoint ranges of keys, so walking them in order walks all keys in order. */

enum { LMDB_FORMAT = 1, LMDB_KEY_MAX = 511 };

struct disk_state_record {
    uint64_t revision, reserved, compacted, swept;
};

struct head_record {
    uint64_t mod_revision, create_revision;
    uint64_t deleted;
};

struct version_record {
    uint64_t create_revision, previous_revision;
    uint32_t type, key_bytes;
};

struct lmdb_disk {
    struct disk disk;
    char *directory;
    int owner; /* locked as long as the store is open */
    size_t map_bytes;
    bool map_full; /* a write found the map too small, and it has not grown since */
    bool failed;   /* the env must be opened anew */
    MDB_env *env;  /* NULL when that failed */
    MDB_dbi meta, sections, heads, log;
    MDB_txn *snapshot;
};

static inline struct lmdb_disk *lmdb_self(struct disk *disk)
{
    return CONTAINER_OF(disk, struct lmdb_disk, disk);
}

static inline MDB_val lmdb_val(const void *bytes, size_t size)
{
    return (MDB_val){size, (void *)(uintptr_t)bytes};
}

struct status *lmdb_broken(struct lmdb_disk *lmdb, const char *doing, int error);
struct status *lmdb_damaged(struct lmdb_disk *lmdb, const char *what);

/* Makes the key of `heads` in `bytes`. *ret_error is LMDB's: MDB_NOTFOUND when its section has no number and `make` is
 * false. */
struct status *lmdb_head_key(struct lmdb_disk *lmdb, MDB_txn *txn, struct str key, bool make,
                             unsigned char bytes[LMDB_KEY_MAX], MDB_val *ret, int *ret_error);
struct status *lmdb_head_decode(struct lmdb_disk *lmdb, MDB_val data, struct disk_head *ret);
/* NOT_FOUND when there is none. */
struct status *lmdb_version_get(struct lmdb_disk *lmdb, MDB_txn *txn, int64_t revision, struct disk_version *ret);
/* Calls fn for versions above `after` in `txn`. */
struct status *lmdb_log_walk(struct lmdb_disk *lmdb, MDB_txn *txn, int64_t after, disk_version_fn *fn, void *arg);

/* disk.h's, on the snapshot. */
struct status *lmdb_state(struct disk *disk, struct disk_state *ret);
struct status *lmdb_head(struct disk *disk, struct str key, struct disk_head *ret, bool *ret_found);
struct status *lmdb_version(struct disk *disk, int64_t revision, struct disk_version *ret);
struct status *lmdb_heads(struct disk *disk, struct str prefix, struct str start, disk_head_fn *fn, void *arg);
struct status *lmdb_log(struct disk *disk, int64_t after, disk_version_fn *fn, void *arg);
void lmdb_write(struct disk *disk, struct disk_write *write);

/* What a failed write means: a full disk, or another. */
struct status *lmdb_write_error(struct lmdb_disk *lmdb, int error);

#endif
