#include "store/lmdb.h"

#include "base/limits.h"
#include "base/mem.h"
#include "store/disk.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Four sub-databases, all numbers little endian but in keys:
 *   meta      "format" -> u32, "state" -> struct disk_state_record
 *   sections  the first part of a key ("/registry/pods/") -> its number, u32 big endian
 *   heads     section number, rest of the key -> struct head_record
 *   log       revision, u64 big endian -> struct version_record, key, value
 * LMDB's keys end at 511 bytes, keys of custom resources do not; numbering the sections keeps all that Kubernetes
 * allows well below. Sections are disjoint ranges of keys, so walking them in order walks all keys in order. */

enum { FORMAT = 1, LMDB_KEY_MAX = 511, DIRECTORY_MODE = 0700, FILE_MODE = 0600 };

/* Address space, not disk or memory. Doubled when full. */
#define MAP_BYTES ((size_t)1 << 30)

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

static struct lmdb_disk *self(struct disk *disk)
{
    return CONTAINER_OF(disk, struct lmdb_disk, disk);
}

static MDB_val val(const void *bytes, size_t size)
{
    return (MDB_val){size, (void *)(uintptr_t)bytes};
}

static struct str val_str(MDB_val value)
{
    return (struct str){value.mv_data, value.mv_size};
}

static struct status *broken(struct lmdb_disk *lmdb, const char *doing, int error)
{
    return status_new(STATUS_INTERNAL_ERROR, "%s the store in %s: %s", doing, lmdb->directory, mdb_strerror(error));
}

static struct status *damaged(struct lmdb_disk *lmdb, const char *what)
{
    return status_new(STATUS_INTERNAL_ERROR, "the store in %s is damaged: bad %s record", lmdb->directory, what);
}

/* The part of a key that is numbered: "/registry/pods/", or with the resource when the first names an API group
 * ("/registry/example.com/widgets/"). A key without such a start is a section by itself. */
static struct str section_of(struct str key)
{
    size_t slashes = 0, want = 3;

    for (size_t i = 0; i < key.n; i++) {
        if (i == 0 && key.p[0] != '/') {
            break;
        }
        if (key.p[i] == '.' && slashes == 2) {
            want = 4;
        }
        if (key.p[i] == '/' && ++slashes == want) {
            return str_sub(key, 0, i + 1);
        }
    }
    return key;
}

/* Makes the key of `heads` in `bytes`; *ret_known is false when its section has no number (and `make` is false). */
static struct status *head_key(struct lmdb_disk *lmdb, MDB_txn *txn, struct str key, bool make,
                               unsigned char bytes[LMDB_KEY_MAX], MDB_val *ret, int *ret_error)
{
    struct str section = section_of(key), rest = str_from(key, section.n);
    MDB_val name = val(section.p, section.n), number;
    uint32_t next;

    *ret_error = 0;
    if (section.n > LMDB_KEY_MAX || rest.n > LMDB_KEY_MAX - sizeof(next)) {
        return status_new(STATUS_BAD_REQUEST, "a storage key is too long for the embedded store: \"%.*s...\"", 120,
                          key.p);
    }
    *ret_error = mdb_get(txn, lmdb->sections, &name, &number);
    if (*ret_error == MDB_NOTFOUND && make) {
        MDB_stat stat;

        *ret_error = mdb_stat(txn, lmdb->sections, &stat);
        next = htobe32((uint32_t)stat.ms_entries + 1); /* sections are never removed */
        number = val(&next, sizeof(next));
        if (*ret_error == 0) {
            *ret_error = mdb_put(txn, lmdb->sections, &name, &number, 0);
        }
        number = val(&next, sizeof(next));
    }
    if (*ret_error != 0) {
        return NULL;
    }
    if (number.mv_size != sizeof(next)) {
        return damaged(lmdb, "section");
    }
    memcpy(bytes, number.mv_data, sizeof(next));
    if (rest.n > 0) {
        memcpy(bytes + sizeof(next), rest.p, rest.n);
    }
    *ret = val(bytes, sizeof(next) + rest.n);
    return NULL;
}

static struct status *lmdb_state(struct disk *disk, struct disk_state *ret)
{
    struct lmdb_disk *lmdb = self(disk);
    struct disk_state_record record;
    MDB_val key = val("state", 5), data;
    int error = mdb_get(lmdb->snapshot, lmdb->meta, &key, &data);

    if (error == MDB_NOTFOUND) {
        *ret = (struct disk_state){0};
        return NULL;
    }
    if (error != 0) {
        return broken(lmdb, "reading", error);
    }
    if (data.mv_size != sizeof(record)) {
        return damaged(lmdb, "state");
    }
    memcpy(&record, data.mv_data, sizeof(record));
    *ret = (struct disk_state){(int64_t)le64toh(record.revision), (int64_t)le64toh(record.reserved),
                               (int64_t)le64toh(record.compacted), (int64_t)le64toh(record.swept)};
    return NULL;
}

static struct status *head_decode(struct lmdb_disk *lmdb, MDB_val data, struct disk_head *ret)
{
    struct head_record record;

    if (data.mv_size != sizeof(record)) {
        return damaged(lmdb, "head");
    }
    memcpy(&record, data.mv_data, sizeof(record));
    *ret = (struct disk_head){(int64_t)le64toh(record.mod_revision), (int64_t)le64toh(record.create_revision),
                              record.deleted != 0};
    return NULL;
}

static struct status *lmdb_head(struct disk *disk, struct str key, struct disk_head *ret, bool *ret_found)
{
    struct lmdb_disk *lmdb = self(disk);
    unsigned char bytes[LMDB_KEY_MAX];
    MDB_val at, data;
    int error;

    *ret_found = false;
    TRY(head_key(lmdb, lmdb->snapshot, key, false, bytes, &at, &error));
    if (error == 0) {
        error = mdb_get(lmdb->snapshot, lmdb->heads, &at, &data);
    }
    if (error != 0) {
        return error == MDB_NOTFOUND ? NULL : broken(lmdb, "reading", error);
    }
    *ret_found = true;
    return head_decode(lmdb, data, ret);
}

static struct status *version_decode(struct lmdb_disk *lmdb, MDB_val data, struct disk_version *ret)
{
    struct version_record record;

    if (data.mv_size < sizeof(record)) {
        return damaged(lmdb, "log");
    }
    memcpy(&record, data.mv_data, sizeof(record));
    struct str rest = str_from(val_str(data), sizeof(record));
    uint32_t key_bytes = le32toh(record.key_bytes), type = le32toh(record.type);

    if (key_bytes == 0 || key_bytes > rest.n || type > STORE_DELETED) {
        return damaged(lmdb, "log");
    }
    *ret = (struct disk_version){(enum store_event_type)type, (int64_t)le64toh(record.create_revision),
                                 (int64_t)le64toh(record.previous_revision), str_sub(rest, 0, key_bytes),
                                 str_from(rest, key_bytes)};
    return NULL;
}

static struct status *version_get(struct lmdb_disk *lmdb, MDB_txn *txn, int64_t revision, struct disk_version *ret)
{
    uint64_t number = htobe64((uint64_t)revision);
    MDB_val key = val(&number, sizeof(number)), data;
    int error = mdb_get(txn, lmdb->log, &key, &data);

    if (error == MDB_NOTFOUND) {
        return status_new(STATUS_NOT_FOUND, "no version %lld", (long long)revision);
    }
    return error != 0 ? broken(lmdb, "reading", error) : version_decode(lmdb, data, ret);
}

static struct status *lmdb_version(struct disk *disk, int64_t revision, struct disk_version *ret)
{
    return version_get(self(disk), self(disk)->snapshot, revision, ret);
}

struct heads_walk {
    struct lmdb_disk *lmdb;
    struct str prefix, start;
    disk_head_fn *fn;
    void *arg;
    bool ended; /* the caller has enough */
};

/* The heads of one section. */
static struct status *walk_section(struct heads_walk *walk, MDB_cursor *cursor, struct str section, MDB_val number)
{
    unsigned char bytes[LMDB_KEY_MAX];
    char key[LIMIT_STORE_KEY_BYTES];
    struct str rest = str_has_prefix(walk->start, section) ? str_from(walk->start, section.n) : STR("");

    memcpy(bytes, number.mv_data, sizeof(uint32_t));
    rest.n = MIN(rest.n, LMDB_KEY_MAX - sizeof(uint32_t)); /* a longer start sorts after all that begin like it */
    if (rest.n > 0) {
        memcpy(bytes + sizeof(uint32_t), rest.p, rest.n);
    }
    memcpy(key, section.p, section.n);
    MDB_val at = val(bytes, sizeof(uint32_t) + rest.n), data;
    int error = mdb_cursor_get(cursor, &at, &data, MDB_SET_RANGE);

    for (; error == 0 && memcmp(at.mv_data, bytes, sizeof(uint32_t)) == 0;
         error = mdb_cursor_get(cursor, &at, &data, MDB_NEXT)) {
        struct str tail = str_from(val_str(at), sizeof(uint32_t));
        struct disk_head head;

        if (section.n + tail.n > sizeof(key)) {
            return damaged(walk->lmdb, "head");
        }
        memcpy(key + section.n, tail.p, tail.n);
        struct str whole = {key, section.n + tail.n};

        if (str_cmp(whole, walk->start) < 0) {
            continue;
        }
        if (!str_has_prefix(whole, walk->prefix)) {
            return NULL;
        }
        TRY(head_decode(walk->lmdb, data, &head));
        if (!walk->fn(walk->arg, whole, &head)) {
            walk->ended = true;
            return NULL;
        }
    }
    return error == 0 || error == MDB_NOTFOUND ? NULL : broken(walk->lmdb, "reading", error);
}

static struct status *walk_sections(struct heads_walk *walk, MDB_cursor *sections, MDB_cursor *heads)
{
    struct str first = str_sub(section_of(walk->start), 0, LMDB_KEY_MAX);
    MDB_val at = val(first.p, first.n), number;
    int error = mdb_cursor_get(sections, &at, &number, first.n > 0 ? MDB_SET_RANGE : MDB_FIRST);

    for (; error == 0 && !walk->ended; error = mdb_cursor_get(sections, &at, &number, MDB_NEXT)) {
        struct str section = val_str(at);

        if (!str_has_prefix(section, walk->prefix) && !str_has_prefix(walk->prefix, section)) {
            return NULL;
        }
        if (number.mv_size != sizeof(uint32_t) || section.n > LMDB_KEY_MAX) {
            return damaged(walk->lmdb, "section");
        }
        TRY(walk_section(walk, heads, section, number));
    }
    return error == 0 || error == MDB_NOTFOUND ? NULL : broken(walk->lmdb, "reading", error);
}

static struct status *lmdb_heads(struct disk *disk, struct str prefix, struct str start, disk_head_fn *fn, void *arg)
{
    struct lmdb_disk *lmdb = self(disk);
    struct heads_walk walk = {lmdb, prefix, start, fn, arg, false};
    MDB_cursor *sections, *heads;
    int error = mdb_cursor_open(lmdb->snapshot, lmdb->sections, &sections);

    if (error != 0) {
        return broken(lmdb, "reading", error);
    }
    error = mdb_cursor_open(lmdb->snapshot, lmdb->heads, &heads);
    if (error != 0) {
        mdb_cursor_close(sections);
        return broken(lmdb, "reading", error);
    }
    struct status *status = walk_sections(&walk, sections, heads);

    mdb_cursor_close(heads);
    mdb_cursor_close(sections);
    return status;
}

/* Calls fn for versions above `after` in `txn`. */
static struct status *log_walk(struct lmdb_disk *lmdb, MDB_txn *txn, int64_t after, disk_version_fn *fn, void *arg)
{
    uint64_t number = htobe64((uint64_t)after + 1);
    MDB_val key = val(&number, sizeof(number)), data;
    MDB_cursor *cursor;
    int error = mdb_cursor_open(txn, lmdb->log, &cursor);

    if (error != 0) {
        return broken(lmdb, "reading", error);
    }
    struct status *status = NULL;
    bool more = true;

    for (error = mdb_cursor_get(cursor, &key, &data, MDB_SET_RANGE); error == 0 && more && status == NULL;) {
        struct disk_version version;

        status = key.mv_size == sizeof(number) ? version_decode(lmdb, data, &version) : damaged(lmdb, "log");
        memcpy(&number, key.mv_data, MIN(key.mv_size, sizeof(number)));
        more = status == NULL && fn(arg, (int64_t)be64toh(number), &version);
        if (more) {
            error = mdb_cursor_get(cursor, &key, &data, MDB_NEXT);
        }
    }
    mdb_cursor_close(cursor);
    if (status == NULL && error != 0 && error != MDB_NOTFOUND) {
        status = broken(lmdb, "reading", error);
    }
    return status;
}

static struct status *lmdb_log(struct disk *disk, int64_t after, disk_version_fn *fn, void *arg)
{
    return log_walk(self(disk), self(disk)->snapshot, after, fn, arg);
}

/* Writing. An LMDB error (0: none) is returned by number up to lmdb_write(), which says what it means; what is no LMDB
 * error comes as a status in *status. */

static int append(struct lmdb_disk *lmdb, MDB_txn *txn, const struct store_event *event, struct status **status)
{
    uint64_t number = htobe64((uint64_t)event->revision);
    struct str value = blob_str(event->value);
    struct version_record record = {htole64((uint64_t)event->create_revision),
                                    htole64((uint64_t)event->previous_revision), htole32(event->type), htole32((uint32_t)event->key.n)};
    struct head_record head = {htole64((uint64_t)event->revision), htole64((uint64_t)event->create_revision),
                               htole64(event->type == STORE_DELETED)};
    MDB_val key = val(&number, sizeof(number)), data = val(NULL, sizeof(record) + event->key.n + value.n);
    unsigned char bytes[LMDB_KEY_MAX];
    int error;

    *status = head_key(lmdb, txn, event->key, true, bytes, &key, &error);
    if (*status != NULL || error != 0) {
        return error;
    }
    MDB_val head_data = val(&head, sizeof(head));

    error = mdb_put(txn, lmdb->heads, &key, &head_data, 0);
    if (error != 0) {
        return error;
    }
    key = val(&number, sizeof(number));
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
    MDB_val key = val(&number, sizeof(number));
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

    *status = head_key(lmdb, txn, name, false, bytes, &key, &error);
    if (*status == NULL && error == 0) {
        error = mdb_get(txn, lmdb->heads, &key, &data);
    }
    if (*status == NULL && error == 0) {
        *status = head_decode(lmdb, data, &head);
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

    *status = log_walk(lmdb, txn, after, sweep_note, &list);
    for (size_t i = 0; i < list.len && error == 0 && *status == NULL; i++) {
        error = log_drop(lmdb, txn, list.items[i].previous);
        if (error == 0 && list.items[i].deleted) {
            struct disk_version version;

            *status = version_get(lmdb, txn, list.items[i].revision, &version);
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
    MDB_val key = val("state", 5), data;
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
        key = val("state", 5);
        data = val(&record, sizeof(record));
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

static struct status *write_error(struct lmdb_disk *lmdb, int error)
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

static void lmdb_write(struct disk *disk, struct disk_write *write)
{
    struct lmdb_disk *lmdb = self(disk);
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
        write->status = write_error(lmdb, error);
    }
}

/* Opening. */

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
        uint32_t format = htole32(FORMAT);
        MDB_val key = val("format", 6), data = val(&format, sizeof(format));

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
    MDB_val key = val("format", 6), data;
    uint32_t format = 0;
    int error = mdb_get(lmdb->snapshot, lmdb->meta, &key, &data);

    if (error != 0 || data.mv_size != sizeof(format)) {
        return damaged(lmdb, "format");
    }
    memcpy(&format, data.mv_data, sizeof(format));
    if (le32toh(format) != FORMAT) {
        return status_new(STATUS_INTERNAL_ERROR, "the store in %s has format %u; this c8s knows format %d only",
                          lmdb->directory, le32toh(format), FORMAT);
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
        status = error == ENOSPC ? write_error(lmdb, error) : broken(lmdb, "opening", error);
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
    struct lmdb_disk *lmdb = self(disk);

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
    struct lmdb_disk *lmdb = self(disk);
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
    struct lmdb_disk *lmdb = self(disk);

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
