#include "store/memory.h"

#include "base/mem.h"
#include "base/planted.h"
#include "base/pmap.h"
#include "store/disk.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* A version, and a key's head; both live in persistent maps, so a snapshot costs nothing. Writes may run on a worker
 * thread while the loop's thread reads an older snapshot: counts are atomic. */
struct record {
    uint32_t refs;
    uint64_t big_endian; /* the revision, so that bytes sort as numbers do */
    struct store_event *event;
};

static struct str record_key(const void *value)
{
    const struct record *record = value;

    return (struct str){(const char *)&record->big_endian, sizeof(record->big_endian)};
}

static void record_ref(void *value)
{
    __atomic_add_fetch(&((struct record *)value)->refs, 1, __ATOMIC_RELAXED);
}

static void record_unref(void *value)
{
    struct record *record = value;

    if (__atomic_sub_fetch(&record->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        store_event_unref(record->event);
        free(record);
    }
}

static struct str head_key(const void *value)
{
    return ((const struct store_event *)value)->key;
}

static void head_ref(void *value)
{
    store_event_ref(value);
}

static void head_unref(void *value)
{
    store_event_unref(value);
}

static const struct pmap_type log_type = {record_key, record_ref, record_unref};
static const struct pmap_type heads_type = {head_key, head_ref, head_unref};

struct image {
    struct pmap log;   /* of records */
    struct pmap heads; /* of the last event of each key */
    struct disk_state state;
};

struct memory_disk {
    struct disk disk;
    struct image written; /* by write() */
    struct image seen;    /* by readers: as of the last refresh() */
    struct image before;  /* that one; kept for a planted bug only */
    enum memory_disk_fault fault;
    unsigned fault_count;
    int64_t latency;
    uint64_t writes;
};

static struct memory_disk *self(struct disk *disk)
{
    return CONTAINER_OF(disk, struct memory_disk, disk);
}

static void image_done(struct image *image)
{
    pmap_done(&image->log);
    pmap_done(&image->heads);
}

static void image_copy(struct image *to, const struct image *from)
{
    struct image copy = {pmap_snapshot(&from->log), pmap_snapshot(&from->heads), from->state};

    image_done(to);
    *to = copy;
}

static struct record *record_find(const struct image *image, int64_t revision)
{
    uint64_t key = htobe64((uint64_t)revision);

    return pmap_find(&image->log, (struct str){(const char *)&key, sizeof(key)});
}

static void record_drop(struct image *image, int64_t revision)
{
    uint64_t key = htobe64((uint64_t)revision);

    pmap_remove(&image->log, (struct str){(const char *)&key, sizeof(key)});
}

static struct status *memory_state(struct disk *disk, struct disk_state *ret)
{
    *ret = self(disk)->seen.state;
    return NULL;
}

static void head_of(const struct store_event *event, struct disk_head *ret)
{
    *ret = (struct disk_head){event->revision, event->create_revision, event->type == STORE_DELETED};
}

static struct status *memory_head(struct disk *disk, struct str key, struct disk_head *ret, bool *ret_found)
{
    const struct store_event *event = pmap_find(&self(disk)->seen.heads, key);

    *ret_found = event != NULL;
    if (event != NULL) {
        head_of(event, ret);
    }
    return NULL;
}

static void version_of(const struct store_event *event, struct disk_version *ret)
{
    *ret = (struct disk_version){event->type, event->create_revision, event->previous_revision, event->key,
                                 blob_str(event->value)};
}

static struct status *memory_version(struct disk *disk, int64_t revision, struct disk_version *ret)
{
    const struct record *record = record_find(&self(disk)->seen, revision);

    if (record == NULL) {
        return status_new(STATUS_NOT_FOUND, "no version %lld", (long long)revision);
    }
    version_of(record->event, ret);
    return NULL;
}

static struct status *memory_heads(struct disk *disk, struct str prefix, struct str start, disk_head_fn *fn, void *arg)
{
    struct pmap_walk walk;
    const struct store_event *event;
    struct disk_head head;

    pmap_walk(&walk, &self(disk)->seen.heads, start);
    while ((event = pmap_next(&walk)) != NULL && str_has_prefix(event->key, prefix)) {
        head_of(event, &head);
        if (!fn(arg, event->key, &head)) {
            break;
        }
    }
    return NULL;
}

static struct status *memory_log(struct disk *disk, int64_t after, disk_version_fn *fn, void *arg)
{
    uint64_t key = htobe64((uint64_t)after + 1);
    struct pmap_walk walk;
    const struct record *record;
    struct disk_version version;

    pmap_walk(&walk, &self(disk)->seen.log, (struct str){(const char *)&key, sizeof(key)});
    while ((record = pmap_next(&walk)) != NULL) {
        version_of(record->event, &version);
        if (!fn(arg, record->event->revision, &version)) {
            break;
        }
    }
    return NULL;
}

static void append(struct image *image, struct store_event *event)
{
    struct record *record = MEM_NEW(struct record);
    struct store_event *kept = mem_zalloc(sizeof(*kept) + event->key.n);

    /* A copy, without what the event remembers of the value before. */
    memcpy(kept, event, sizeof(*kept));
    memcpy(kept->bytes, event->bytes, event->key.n);
    kept->refs = 1;
    kept->key.p = kept->bytes;
    kept->previous = NULL;
    blob_ref(kept->value);
    *record = (struct record){1, htobe64((uint64_t)event->revision), kept};
    pmap_set(&image->log, record);
    pmap_set(&image->heads, store_event_ref(kept));
}

/* Event `revision` made the one before it, and itself if it deleted, useless to readers from here on. */
static void sweep(struct image *image, int64_t revision)
{
    const struct record *record = record_find(image, revision);

    if (record == NULL) {
        return;
    }
    struct store_event *event = store_event_ref(record->event);

    record_drop(image, event->previous_revision);
    if (event->type == STORE_DELETED) {
        const struct store_event *head = pmap_find(&image->heads, event->key);

        if (head != NULL && head->revision == revision) {
            pmap_remove(&image->heads, event->key);
        }
        record_drop(image, revision);
    }
    store_event_unref(event);
}

static void memory_write(struct disk *disk, struct disk_write *write)
{
    struct memory_disk *memory = self(disk);
    enum memory_disk_fault fault = memory->fault_count > 0 ? memory->fault : MEMORY_DISK_GOOD;

    memory->writes++;
    memory->fault_count -= memory->fault_count > 0;
    if (fault != MEMORY_DISK_GOOD) {
        write->status = status_new(STATUS_SERVICE_UNAVAILABLE,
                                   "the disk is full: nothing was written; free some space");
        write->uncertain = fault == MEMORY_DISK_UNCERTAIN;
    }
    if (fault == MEMORY_DISK_FULL) {
        return;
    }
    for (size_t i = 0; i < write->len; i++) {
        append(&memory->written, write->events[i]);
    }
    for (int64_t revision = memory->written.state.swept + 1; revision <= write->state.swept; revision++) {
        sweep(&memory->written, revision);
    }
    memory->written.state = write->state;
}

static struct status *memory_refresh(struct disk *disk)
{
    if (planted(DISK_LIES)) {
        image_copy(&self(disk)->before, &self(disk)->seen);
    }
    image_copy(&self(disk)->seen, &self(disk)->written);
    return NULL;
}

static int64_t memory_latency(struct disk *disk)
{
    return self(disk)->latency;
}

static void memory_size(struct disk *disk, uint64_t *ret_used, uint64_t *ret_file)
{
    *ret_used = *ret_file = pmap_count(&self(disk)->seen.log);
}

static void memory_close(struct disk *disk)
{
    (void)disk; /* whoever made it has it still */
}

static const struct disk_ops memory_ops = {
    .state = memory_state,
    .head = memory_head,
    .version = memory_version,
    .heads = memory_heads,
    .log = memory_log,
    .write = memory_write,
    .refresh = memory_refresh,
    .latency = memory_latency,
    .size = memory_size,
    .close = memory_close,
};

struct memory_disk *memory_disk_new(void)
{
    struct memory_disk *memory = MEM_NEW(struct memory_disk);

    memory->disk.ops = &memory_ops;
    memory->written = (struct image){{&log_type, NULL}, {&heads_type, NULL}, {0}};
    memory->seen = memory->before = memory->written;
    return memory;
}

void memory_disk_free(struct memory_disk *disk)
{
    image_done(&disk->written);
    image_done(&disk->seen);
    image_done(&disk->before);
    free(disk);
}

struct status *store_open_memory(struct memory_disk *disk, const struct store_options *options, struct store **ret)
{
    image_copy(&disk->seen, &disk->written);
    return store_open(&disk->disk, options, ret);
}

void memory_disk_fail(struct memory_disk *disk, enum memory_disk_fault fault, unsigned count)
{
    disk->fault = fault;
    disk->fault_count = count;
}

void memory_disk_slow(struct memory_disk *disk, int64_t latency)
{
    disk->latency = latency;
}

void memory_disk_lose(struct memory_disk *disk)
{
    image_copy(&disk->written, planted(DISK_LIES) ? &disk->before : &disk->seen);
}

uint64_t memory_disk_writes(const struct memory_disk *disk)
{
    return disk->writes;
}
