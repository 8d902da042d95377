#include "base/trace_rings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool contains(const struct str_list *list, struct str item)
{
    for (size_t i = 0; i < list->len; i++) {
        if (str_eq(list->items[i], item)) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const struct trace_wanted *wanted, struct str uid, struct str trace_id)
{
    if (wanted->uids.len == 0 && wanted->trace_ids.len == 0) {
        return true;
    }
    return (uid.n > 0 && contains(&wanted->uids, uid)) || (trace_id.n > 0 && contains(&wanted->trace_ids, trace_id));
}

#define FIELD(record, field) ((struct str){(record)->field, strnlen((record)->field, sizeof((record)->field))})

static void take(const struct trace_record *record, const struct trace_wanted *wanted, struct arena *arena,
                 struct trace_span_list *ret)
{
    if (record->step == 0 || record->step >= TRACE_STEP_COUNT || record->outcome > TRACE_FAILED ||
        !is_wanted(wanted, FIELD(record, uid), FIELD(record, trace_id))) {
        return;
    }
    *LIST_ADD(arena, ret) = (struct trace_span){
        .step = record->step,
        .outcome = record->outcome,
        .start = record->start,
        .end = record->end,
        .uid = arena_str(arena, FIELD(record, uid)),
        .trace_id = arena_str(arena, FIELD(record, trace_id)),
        .object = arena_str(arena, FIELD(record, object)),
        .child = arena_str(arena, FIELD(record, child)),
        .detail = arena_str(arena, FIELD(record, detail)),
    };
}

static void read_ring(const struct trace_ring *ring, const struct trace_wanted *wanted, struct arena *arena,
                      struct trace_span_list *ret)
{
    if (!trace_ring_is_good(ring)) {
        return;
    }
    for (size_t i = 0; i < TRACE_RING_RECORDS; i++) {
        const struct trace_record *record = &ring->records[i];
        uint64_t before = __atomic_load_n(&record->serial, __ATOMIC_ACQUIRE);
        struct trace_record copy = *record;

        /* The writer clears the serial first and sets it last: the same on both sides means nobody wrote. */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before != 0 && __atomic_load_n(&record->serial, __ATOMIC_RELAXED) == before) {
            take(&copy, wanted, arena, ret);
        }
    }
}

static void read_file(int directory, const char *name, const struct trace_wanted *wanted, struct arena *arena,
                      struct trace_span_list *ret)
{
    struct stat info;
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0) {
        return;
    }
    if (fstat(fd, &info) == 0 && (size_t)info.st_size == TRACE_RING_BYTES) {
        void *ring = mmap(NULL, TRACE_RING_BYTES, PROT_READ, MAP_SHARED, fd, 0);

        if (ring != MAP_FAILED) {
            read_ring(ring, wanted, arena, ret);
            munmap(ring, TRACE_RING_BYTES);
        }
    }
    close(fd);
}

static int by_start(const void *a, const void *b)
{
    const struct trace_span *one = a, *other = b;

    return one->start != other->start ? (one->start > other->start) - (one->start < other->start)
                                      : (int)one->step - (int)other->step;
}

struct status *trace_rings_read(const char *directory, const struct trace_wanted *wanted, struct arena *arena,
                                struct trace_span_list *ret)
{
    struct trace_span_list spans = {0};
    int count = 0;
    DIR *dir = opendir(directory);

    if (dir == NULL) {
        return status_errno(errno, "reading trace directory %s", directory);
    }
    for (struct dirent *entry; count < TRACE_RINGS_MAX && (entry = readdir(dir)) != NULL;) {
        if (str_has_suffix(str_of(entry->d_name), STR(".ring"))) {
            read_file(dirfd(dir), entry->d_name, wanted, arena, &spans);
            count++;
        }
    }
    closedir(dir);
    if (spans.len > 0) {
        qsort(spans.items, spans.len, sizeof(*spans.items), by_start);
    }
    *ret = spans;
    return NULL;
}
