#include "store/lmdb.h"

#include "base/mem.h"
#include "store/lmdb_parts.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY_MODE = 0700, FILE_MODE = 0600 };

/* Address space, not disk or memory. Doubled when full. */
#define MAP_BYTES ((size_t)1 << 30)

static int env_tables(struct lmdb_disk *lmdb, MDB_txn *txn, unsigned flags)
{
    struct {
        const char *name;
        MDB_dbi *dbi;
    } tables[] = {{"meta", &lmdb->meta}, {"sections", &lmdb->sections}, {"heads", &lmdb->heads}, {"log", &lmdb->log}};
    int error = 0;

    for (size_t i = 0; i < COUNT_OF(tables) && error == 0; i++) {
        error = mdb_dbi_open(txn, tables[i].name, flags, tables[i].dbi);
    }
    if (error == 0 && (flags & MDB_CREATE) != 0) {
        uint32_t format = htole32(LMDB_FORMAT);
        MDB_val key = lmdb_val("format", 6), data = lmdb_val(&format, sizeof(format));

        error = mdb_put(txn, lmdb->meta, &key, &data, 0);
    }
    return error;
}

/* Looks for the tables in a read transaction first: opening a store that is there must not need space. */
static int env_tables_any(struct lmdb_disk *lmdb)
{
    MDB_txn *txn;
    int error = mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &txn);

    if (error == 0) {
        error = env_tables(lmdb, txn, 0);
        error = error == 0 ? mdb_txn_commit(txn) : (mdb_txn_abort(txn), error);
    }
    if (error != MDB_NOTFOUND) {
        return error;
    }
    error = mdb_txn_begin(lmdb->env, NULL, 0, &txn);
    if (error == 0) {
        error = env_tables(lmdb, txn, MDB_CREATE);
        error = error == 0 ? mdb_txn_commit(txn) : (mdb_txn_abort(txn), error);
    }
    return error;
}

static struct status *check_format(struct lmdb_disk *lmdb)
{
    MDB_val key = lmdb_val("format", 6), data;
    uint32_t format = 0;
    int error = mdb_get(lmdb->snapshot, lmdb->meta, &key, &data);

    if (error != 0 || data.mv_size != sizeof(format)) {
        return lmdb_damaged(lmdb, "format");
    }
    memcpy(&format, data.mv_data, sizeof(format));
    if (le32toh(format) != LMDB_FORMAT) {
        return status_new(STATUS_INTERNAL_ERROR, "the store in %s has format %u; this c8s knows format %d only",
                          lmdb->directory, le32toh(format), LMDB_FORMAT);
    }
    return NULL;
}

static void env_close(struct lmdb_disk *lmdb)
{
    if (lmdb->snapshot != NULL) {
        mdb_txn_abort(TAKE(lmdb->snapshot));
    }
    if (lmdb->env != NULL) {
        mdb_env_close(TAKE(lmdb->env));
    }
}

static struct status *env_open(struct lmdb_disk *lmdb)
{
    MDB_envinfo info;
    int error = mdb_env_create(&lmdb->env);

    if (error == 0) {
        error = mdb_env_set_mapsize(lmdb->env, lmdb->map_bytes);
    }
    if (error == 0) {
        error = mdb_env_set_maxdbs(lmdb->env, 4);
    }
    if (error == 0) {
        error = mdb_env_open(lmdb->env, lmdb->directory, MDB_NOTLS | MDB_NORDAHEAD, FILE_MODE);
    }
    if (error == 0) {
        error = env_tables_any(lmdb);
    }
    if (error == 0) {
        error = mdb_env_info(lmdb->env, &info);
        lmdb->map_bytes = info.me_mapsize;
    }
    if (error == 0) {
        error = mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &lmdb->snapshot);
    }
    struct status *status = NULL;

    if (error != 0) {
        status = error == ENOSPC ? lmdb_write_error(lmdb, error) : lmdb_broken(lmdb, "opening", error);
    } else {
        status = check_format(lmdb);
    }
    if (status != NULL) {
        env_close(lmdb);
    }
    return status;
}

static struct status *lmdb_refresh(struct disk *disk)
{
    struct lmdb_disk *lmdb = lmdb_self(disk);

    if (lmdb->env != NULL && !lmdb->failed) {
        int error = 0;

        mdb_txn_reset(lmdb->snapshot);
        if (lmdb->map_full) {
            error = mdb_env_set_mapsize(lmdb->env, lmdb->map_bytes * 2);
            lmdb->map_bytes *= error == 0 ? 2 : 1;
            lmdb->map_full = error != 0; /* then the write that comes again reports it */
        }
        if (error == 0) {
            error = mdb_txn_renew(lmdb->snapshot);
        }
        if (error == 0) {
            return NULL;
        }
    }
    env_close(lmdb);
    lmdb->failed = false;
    return env_open(lmdb);
}

static void lmdb_size(struct disk *disk, uint64_t *ret_used, uint64_t *ret_file)
{
    struct lmdb_disk *lmdb = lmdb_self(disk);
    const MDB_dbi tables[] = {lmdb->meta, lmdb->sections, lmdb->heads, lmdb->log};
    MDB_envinfo info;

    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        MDB_stat stat;

        if (mdb_stat(lmdb->snapshot, tables[i], &stat) == 0) {
            *ret_used += (uint64_t)(stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages) * stat.ms_psize;
        }
    }
    if (mdb_env_info(lmdb->env, &info) == 0) {
        MDB_stat stat;

        mdb_env_stat(lmdb->env, &stat);
        *ret_file = ((uint64_t)info.me_last_pgno + 1) * stat.ms_psize;
    }
}

static void lmdb_close(struct disk *disk)
{
    struct lmdb_disk *lmdb = lmdb_self(disk);

    env_close(lmdb);
    if (lmdb->owner >= 0) {
        close(lmdb->owner);
    }
    free(lmdb->directory);
    free(lmdb);
}

static const struct disk_ops lmdb_ops = {
    .state = lmdb_state,
    .head = lmdb_head,
    .version = lmdb_version,
    .heads = lmdb_heads,
    .log = lmdb_log,
    .write = lmdb_write,
    .refresh = lmdb_refresh,
    .size = lmdb_size,
    .close = lmdb_close,
};

/* LMDB lets several processes write; a store has revisions in memory, so it must not. */
static struct status *own(struct lmdb_disk *lmdb)
{
    char path[4096];

    if (mkdir(lmdb->directory, DIRECTORY_MODE) != 0 && errno != EEXIST) {
        return status_errno(errno, "making the store's directory %s", lmdb->directory);
    }
    snprintf(path, sizeof(path), "%s/owner", lmdb->directory);
    lmdb->owner = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    if (lmdb->owner < 0) {
        return status_errno(errno, "opening %s", path);
    }
    if (flock(lmdb->owner, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK
                   ? status_new(STATUS_SERVICE_UNAVAILABLE, "the store in %s is in use by another process",
                                lmdb->directory)
                   : status_errno(errno, "locking %s", path);
    }
    return NULL;
}

/* A new file is only sure to be there after a crash when its directory is written. */
static struct status *sync_directory(const char *directory, const char *below)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s%s", directory, below);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) != 0) {
        struct status *status = status_errno(errno, "writing the directory %s", path);

        if (fd >= 0) {
            close(fd);
        }
        return status;
    }
    close(fd);
    return NULL;
}

static struct status *lmdb_prepare(struct lmdb_disk *lmdb)
{
    TRY(own(lmdb));
    TRY(env_open(lmdb));
    TRY(sync_directory(lmdb->directory, ""));
    return sync_directory(lmdb->directory, "/..");
}

struct status *store_open_lmdb_sized(const char *directory, const struct store_options *options, size_t map_bytes,
                                     struct store **ret)
{
    struct lmdb_disk *lmdb = MEM_NEW(struct lmdb_disk);

    lmdb->disk.ops = &lmdb_ops;
    lmdb->directory = mem_strdup(directory);
    lmdb->owner = -1;
    lmdb->map_bytes = map_bytes;
    struct status *status = lmdb_prepare(lmdb);

    if (status != NULL) {
        lmdb_close(&lmdb->disk);
        return status;
    }
    return store_open(&lmdb->disk, options, ret);
}

struct status *store_open_lmdb(const char *directory, const struct store_options *options, struct store **ret)
{
    return store_open_lmdb_sized(directory, options, MAP_BYTES, ret);
}
