/* Reading the embedded store, and what its records look like. */
#include "base/limits.h"
#include "base/mem.h"
#include "store/lmdb_parts.h"

#include <endian.h>
#include <string.h>

static struct str val_str(MDB_val value)
{
    return (struct str){value.mv_data, value.mv_size};
}

struct status *lmdb_broken(struct lmdb_disk *lmdb, const char *doing, int error)
{
    return status_new(STATUS_INTERNAL_ERROR, "%s the store in %s: %s", doing, lmdb->directory, mdb_strerror(error));
}

struct status *lmdb_damaged(struct lmdb_disk *lmdb, const char *what)
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
struct status *lmdb_head_key(struct lmdb_disk *lmdb, MDB_txn *txn, struct str key, bool make,
                             unsigned char bytes[LMDB_KEY_MAX], MDB_val *ret, int *ret_error)
{
    struct str section = section_of(key), rest = str_from(key, section.n);
    MDB_val name = lmdb_val(section.p, section.n), number;
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
        number = lmdb_val(&next, sizeof(next));
        if (*ret_error == 0) {
            *ret_error = mdb_put(txn, lmdb->sections, &name, &number, 0);
        }
        number = lmdb_val(&next, sizeof(next));
    }
    if (*ret_error != 0) {
        return NULL;
    }
    if (number.mv_size != sizeof(next)) {
        return lmdb_damaged(lmdb, "section");
    }
    memcpy(bytes, number.mv_data, sizeof(next));
    if (rest.n > 0) {
        memcpy(bytes + sizeof(next), rest.p, rest.n);
    }
    *ret = lmdb_val(bytes, sizeof(next) + rest.n);
    return NULL;
}

struct status *lmdb_state(struct disk *disk, struct disk_state *ret)
{
    struct lmdb_disk *lmdb = lmdb_self(disk);
    struct disk_state_record record;
    MDB_val key = lmdb_val("state", 5), data;
    int error = mdb_get(lmdb->snapshot, lmdb->meta, &key, &data);

    if (error == MDB_NOTFOUND) {
        *ret = (struct disk_state){0};
        return NULL;
    }
    if (error != 0) {
        return lmdb_broken(lmdb, "reading", error);
    }
    if (data.mv_size != sizeof(record)) {
        return lmdb_damaged(lmdb, "state");
    }
    memcpy(&record, data.mv_data, sizeof(record));
    *ret = (struct disk_state){(int64_t)le64toh(record.revision), (int64_t)le64toh(record.reserved),
                               (int64_t)le64toh(record.compacted), (int64_t)le64toh(record.swept)};
    return NULL;
}

struct status *lmdb_head_decode(struct lmdb_disk *lmdb, MDB_val data, struct disk_head *ret)
{
    struct head_record record;

    if (data.mv_size != sizeof(record)) {
        return lmdb_damaged(lmdb, "head");
    }
    memcpy(&record, data.mv_data, sizeof(record));
    *ret = (struct disk_head){(int64_t)le64toh(record.mod_revision), (int64_t)le64toh(record.create_revision),
                              record.deleted != 0};
    return NULL;
}

struct status *lmdb_head(struct disk *disk, struct str key, struct disk_head *ret, bool *ret_found)
{
    struct lmdb_disk *lmdb = lmdb_self(disk);
    unsigned char bytes[LMDB_KEY_MAX];
    MDB_val at, data;
    int error;

    *ret_found = false;
    TRY(lmdb_head_key(lmdb, lmdb->snapshot, key, false, bytes, &at, &error));
    if (error == 0) {
        error = mdb_get(lmdb->snapshot, lmdb->heads, &at, &data);
    }
    if (error != 0) {
        return error == MDB_NOTFOUND ? NULL : lmdb_broken(lmdb, "reading", error);
    }
    *ret_found = true;
    return lmdb_head_decode(lmdb, data, ret);
}

static struct status *version_decode(struct lmdb_disk *lmdb, MDB_val data, struct disk_version *ret)
{
    struct version_record record;

    if (data.mv_size < sizeof(record)) {
        return lmdb_damaged(lmdb, "log");
    }
    memcpy(&record, data.mv_data, sizeof(record));
    struct str rest = str_from(val_str(data), sizeof(record));
    uint32_t key_bytes = le32toh(record.key_bytes), type = le32toh(record.type);

    if (key_bytes == 0 || key_bytes > rest.n || type > STORE_DELETED) {
        return lmdb_damaged(lmdb, "log");
    }
    *ret = (struct disk_version){(enum store_event_type)type, (int64_t)le64toh(record.create_revision),
                                 (int64_t)le64toh(record.previous_revision), str_sub(rest, 0, key_bytes),
                                 str_from(rest, key_bytes)};
    return NULL;
}

struct status *lmdb_version_get(struct lmdb_disk *lmdb, MDB_txn *txn, int64_t revision, struct disk_version *ret)
{
    uint64_t number = htobe64((uint64_t)revision);
    MDB_val key = lmdb_val(&number, sizeof(number)), data;
    int error = mdb_get(txn, lmdb->log, &key, &data);

    if (error == MDB_NOTFOUND) {
        return status_new(STATUS_NOT_FOUND, "no version %lld", (long long)revision);
    }
    return error != 0 ? lmdb_broken(lmdb, "reading", error) : version_decode(lmdb, data, ret);
}

struct status *lmdb_version(struct disk *disk, int64_t revision, struct disk_version *ret)
{
    return lmdb_version_get(lmdb_self(disk), lmdb_self(disk)->snapshot, revision, ret);
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
    MDB_val at = lmdb_val(bytes, sizeof(uint32_t) + rest.n), data;
    int error = mdb_cursor_get(cursor, &at, &data, MDB_SET_RANGE);

    for (; error == 0 && memcmp(at.mv_data, bytes, sizeof(uint32_t)) == 0;
         error = mdb_cursor_get(cursor, &at, &data, MDB_NEXT)) {
        struct str tail = str_from(val_str(at), sizeof(uint32_t));
        struct disk_head head;

        if (section.n + tail.n > sizeof(key)) {
            return lmdb_damaged(walk->lmdb, "head");
        }
        memcpy(key + section.n, tail.p, tail.n);
        struct str whole = {key, section.n + tail.n};

        if (str_cmp(whole, walk->start) < 0) {
            continue;
        }
        if (!str_has_prefix(whole, walk->prefix)) {
            return NULL;
        }
        TRY(lmdb_head_decode(walk->lmdb, data, &head));
        if (!walk->fn(walk->arg, whole, &head)) {
            walk->ended = true;
            return NULL;
        }
    }
    return error == 0 || error == MDB_NOTFOUND ? NULL : lmdb_broken(walk->lmdb, "reading", error);
}

static struct status *walk_sections(struct heads_walk *walk, MDB_cursor *sections, MDB_cursor *heads)
{
    struct str first = str_sub(section_of(walk->start), 0, LMDB_KEY_MAX);
    MDB_val at = lmdb_val(first.p, first.n), number;
    int error = mdb_cursor_get(sections, &at, &number, first.n > 0 ? MDB_SET_RANGE : MDB_FIRST);

    for (; error == 0 && !walk->ended; error = mdb_cursor_get(sections, &at, &number, MDB_NEXT)) {
        struct str section = val_str(at);

        if (!str_has_prefix(section, walk->prefix) && !str_has_prefix(walk->prefix, section)) {
            return NULL;
        }
        if (number.mv_size != sizeof(uint32_t) || section.n > LMDB_KEY_MAX) {
            return lmdb_damaged(walk->lmdb, "section");
        }
        TRY(walk_section(walk, heads, section, number));
    }
    return error == 0 || error == MDB_NOTFOUND ? NULL : lmdb_broken(walk->lmdb, "reading", error);
}

struct status *lmdb_heads(struct disk *disk, struct str prefix, struct str start, disk_head_fn *fn, void *arg)
{
    struct lmdb_disk *lmdb = lmdb_self(disk);
    struct heads_walk walk = {lmdb, prefix, start, fn, arg, false};
    MDB_cursor *sections, *heads;
    int error = mdb_cursor_open(lmdb->snapshot, lmdb->sections, &sections);

    if (error != 0) {
        return lmdb_broken(lmdb, "reading", error);
    }
    error = mdb_cursor_open(lmdb->snapshot, lmdb->heads, &heads);
    if (error != 0) {
        mdb_cursor_close(sections);
        return lmdb_broken(lmdb, "reading", error);
    }
    struct status *status = walk_sections(&walk, sections, heads);

    mdb_cursor_close(heads);
    mdb_cursor_close(sections);
    return status;
}

/* Calls fn for versions above `after` in `txn`. */
struct status *lmdb_log_walk(struct lmdb_disk *lmdb, MDB_txn *txn, int64_t after, disk_version_fn *fn, void *arg)
{
    uint64_t number = htobe64((uint64_t)after + 1);
    MDB_val key = lmdb_val(&number, sizeof(number)), data;
    MDB_cursor *cursor;
    int error = mdb_cursor_open(txn, lmdb->log, &cursor);

    if (error != 0) {
        return lmdb_broken(lmdb, "reading", error);
    }
    struct status *status = NULL;
    bool more = true;

    for (error = mdb_cursor_get(cursor, &key, &data, MDB_SET_RANGE); error == 0 && more && status == NULL;) {
        struct disk_version version;

        status = key.mv_size == sizeof(number) ? version_decode(lmdb, data, &version) : lmdb_damaged(lmdb, "log");
        memcpy(&number, key.mv_data, MIN(key.mv_size, sizeof(number)));
        more = status == NULL && fn(arg, (int64_t)be64toh(number), &version);
        if (more) {
            error = mdb_cursor_get(cursor, &key, &data, MDB_NEXT);
        }
    }
    mdb_cursor_close(cursor);
    if (status == NULL && error != 0 && error != MDB_NOTFOUND) {
        status = lmdb_broken(lmdb, "reading", error);
    }
    return status;
}

struct status *lmdb_log(struct disk *disk, int64_t after, disk_version_fn *fn, void *arg)
{
    return lmdb_log_walk(lmdb_self(disk), lmdb_self(disk)->snapshot, after, fn, arg);
}
