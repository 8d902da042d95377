/* Writing the embedded store. */
#include "base/mem.h"
#include "store/lmdb_parts.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Writing. An LMDB error (0: none) is returned by number up to lmdb_write(), which says what it means; what is no LMDB
 * error comes as a status in *status. */

static int append(struct lmdb_disk *lmdb, MDB_txn *txn, const struct store_event *event, struct status **status)
{
    uint64_t number = htobe64((uint64_t)event->revision);
    struct str value = blob_str(event->value);
    struct version_record record = {htole64((uint64_t)event->create_revision),
                                    htole64((uint64_t)event->previous_revision), htole32(event->type),
                                    htole32((uint32_t)event->key.n)};
    struct head_record head = {htole64((uint64_t)event->revision), htole64((uint64_t)event->create_revision),
                               htole64(event->type == STORE_DELETED)};
    MDB_val key = lmdb_val(&number, sizeof(number)), data = lmdb_val(NULL, sizeof(record) + event->key.n + value.n);
    unsigned char bytes[LMDB_KEY_MAX];
    int error;

    *status = lmdb_head_key(lmdb, txn, event->key, true, bytes, &key, &error);
    if (*status != NULL || error != 0) {
        return error;
    }
    MDB_val head_data = lmdb_val(&head, sizeof(head));

    error = mdb_put(txn, lmdb->heads, &key, &head_data, 0);
    if (error != 0) {
        return error;
    }
    key = lmdb_val(&number, sizeof(number));
    error = mdb_put(txn, lmdb->log, &key, &data, MDB_APPEND | MDB_RESERVE);
    if (error == 0) {
        char *to = data.mv_data;

        memcpy(to, &record, sizeof(record));
        memcpy(to + sizeof(record), event->key.p, event->key.n);
        if (value.n > 0) {
            memcpy(to + sizeof(record) + event->key.n, value.p, value.n);
        }
    }
    return error;
}

static int log_drop(struct lmdb_disk *lmdb, MDB_txn *txn, int64_t revision)
{
    uint64_t number = htobe64((uint64_t)revision);
    MDB_val key = lmdb_val(&number, sizeof(number));
    int error = mdb_del(txn, lmdb->log, &key, NULL);

    return error == MDB_NOTFOUND ? 0 : error;
}

/* A deleted key's last trace goes, unless it was made again since. */
static int head_drop(struct lmdb_disk *lmdb, MDB_txn *txn, struct str name, int64_t revision, struct status **status)
{
    unsigned char bytes[LMDB_KEY_MAX];
    struct disk_head head = {0};
    MDB_val key, data = {0};
    int error;

    *status = lmdb_head_key(lmdb, txn, name, false, bytes, &key, &error);
    if (*status == NULL && error == 0) {
        error = mdb_get(txn, lmdb->heads, &key, &data);
    }
    if (*status == NULL && error == 0) {
        *status = lmdb_head_decode(lmdb, data, &head);
    }
    if (*status != NULL || error != 0 || head.mod_revision != revision) {
        return error == MDB_NOTFOUND ? 0 : error;
    }
    return mdb_del(txn, lmdb->heads, &key, NULL);
}

struct sweep {
    struct lmdb_disk *lmdb;
    int64_t up_to;
    struct {
        int64_t revision, previous;
        bool deleted;
    } *items;
    size_t len, cap;
};

static bool sweep_note(void *arg, int64_t revision, const struct disk_version *version)
{
    struct sweep *sweep = arg;

    if (revision > sweep->up_to) {
        return false;
    }
    if (version->previous_revision != 0 || version->type == STORE_DELETED) {
        __typeof__(sweep->items) item = VEC_ADD(sweep);

        item->revision = revision;
        item->previous = version->previous_revision;
        item->deleted = version->type == STORE_DELETED;
    }
    return true;
}

/* Each version up to `up_to` made the one before it, and itself if it deleted, useless to readers from there on. */
static int sweep(struct lmdb_disk *lmdb, MDB_txn *txn, int64_t after, int64_t up_to, struct status **status)
{
    struct sweep list = {.lmdb = lmdb, .up_to = up_to};
    int error = 0;

    *status = lmdb_log_walk(lmdb, txn, after, sweep_note, &list);
    for (size_t i = 0; i < list.len && error == 0 && *status == NULL; i++) {
        error = log_drop(lmdb, txn, list.items[i].previous);
        if (error == 0 && list.items[i].deleted) {
            struct disk_version version;

            *status = lmdb_version_get(lmdb, txn, list.items[i].revision, &version);
            if (*status == NULL) {
                error = head_drop(lmdb, txn, version.key, list.items[i].revision, status);
            }
            if (error == 0 && *status == NULL) {
                error = log_drop(lmdb, txn, list.items[i].revision);
            }
        }
    }
    free(list.items);
    return error;
}

static int apply(struct lmdb_disk *lmdb, MDB_txn *txn, const struct disk_write *write, struct status **status)
{
    const struct disk_state *state = &write->state;
    struct disk_state_record record = {htole64((uint64_t)state->revision), htole64((uint64_t)state->reserved),
                                       htole64((uint64_t)state->compacted), htole64((uint64_t)state->swept)};
    struct disk_state_record before = {0};
    MDB_val key = lmdb_val("state", 5), data;
    int error = 0;

    for (size_t i = 0; i < write->len && error == 0 && *status == NULL; i++) {
        error = append(lmdb, txn, write->events[i], status);
    }
    if (error == 0 && *status == NULL) {
        error = mdb_get(txn, lmdb->meta, &key, &data);
        if (error == 0) {
            memcpy(&before, data.mv_data, MIN(sizeof(before), data.mv_size));
        }
        error = error == MDB_NOTFOUND ? 0 : error;
    }
    if (error == 0 && *status == NULL && (int64_t)le64toh(before.swept) < state->swept) {
        error = sweep(lmdb, txn, (int64_t)le64toh(before.swept), state->swept, status);
    }
    if (error == 0 && *status == NULL) {
        key = lmdb_val("state", 5);
        data = lmdb_val(&record, sizeof(record));
        error = mdb_put(txn, lmdb->meta, &key, &data, 0);
    }
    return error;
}

/* LMDB reports a write that was cut short as EIO, and that is how most full disks show. */
static bool disk_is_full(const struct lmdb_disk *lmdb, int error)
{
    enum { ROOM_MIN = 8 << 20 };
    struct statvfs room;

    return error == ENOSPC || error == EDQUOT || error == EFBIG ||
           (error == EIO && statvfs(lmdb->directory, &room) == 0 && room.f_bavail < ROOM_MIN / room.f_frsize);
}

struct status *lmdb_write_error(struct lmdb_disk *lmdb, int error)
{
    const char *what = mdb_strerror(error);

    if (disk_is_full(lmdb, error)) {
        return status_new(STATUS_SERVICE_UNAVAILABLE,
                          "the disk of the store in %s is full (%s): nothing was written; free some space",
                          lmdb->directory, what);
    }
    return status_new(STATUS_SERVICE_UNAVAILABLE, "writing the store in %s failed (%s): nothing was written",
                      lmdb->directory, what);
}

void lmdb_write(struct disk *disk, struct disk_write *write)
{
    struct lmdb_disk *lmdb = lmdb_self(disk);
    MDB_txn *txn;

    if (lmdb->env == NULL) {
        write->status = status_new(STATUS_SERVICE_UNAVAILABLE, "the store in %s is not open", lmdb->directory);
        return;
    }
    int error = mdb_txn_begin(lmdb->env, NULL, 0, &txn);

    if (error == 0) {
        error = apply(lmdb, txn, write, &write->status);
        if (error != 0 || write->status != NULL) {
            mdb_txn_abort(txn);
        } else {
            error = mdb_txn_commit(txn);
            write->uncertain = error != 0 && error != MDB_MAP_FULL;
        }
    }
    if (error == MDB_MAP_FULL && !lmdb->map_full) {
        write->again = lmdb->map_full = true;
    } else if (error != 0) {
        lmdb->map_full = false;
        lmdb->failed = true;
        write->status = lmdb_write_error(lmdb, error);
    }
}
