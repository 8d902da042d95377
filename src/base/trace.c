#include "base/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'c', '8', 's', 't', 'r', 'a', 'c', 'e'};
static struct trace_ring *ring;

static const struct {
    const char *lane, *name;
} steps[TRACE_STEP_COUNT] = {
#define X(number, enumerator, lane, name) [number] = {lane, name},
#include "base/trace_steps.def"
#undef X
};

bool trace_ring_is_good(const struct trace_ring *candidate)
{
    return memcmp(candidate->magic, magic, sizeof(magic)) == 0 && candidate->version == 1 &&
           candidate->record_count == TRACE_RING_RECORDS;
}

struct status *trace_open(const char *directory, const char *component)
{
    char path[4096];
    const size_t size = TRACE_RING_BYTES;

    if (mkdir(directory, 0755) != 0 && errno != EEXIST) {
        return status_errno(errno, "creating trace directory %s", directory);
    }
    snprintf(path, sizeof(path), "%s/%s.ring", directory, component);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

    if (fd < 0) {
        return status_errno(errno, "opening trace ring %s", path);
    }
    if (ftruncate(fd, (off_t)size) != 0) {
        int error = errno;

        close(fd);
        return status_errno(error, "sizing trace ring %s", path);
    }
    struct trace_ring *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    close(fd);
    if (mapped == MAP_FAILED) {
        return status_errno(errno, "mapping trace ring %s", path);
    }
    if (!trace_ring_is_good(mapped)) {
        memset(mapped, 0, size);
        mapped->version = 1;
        mapped->record_count = TRACE_RING_RECORDS;
        mapped->next_serial = 1;
        snprintf(mapped->component, sizeof(mapped->component), "%s", component);
        memcpy(mapped->magic, magic, sizeof(magic));
    }
    ring = mapped;
    return NULL;
}

static void put(char *to, size_t size, struct str text)
{
    size_t n = text.n < size ? text.n : size;

    if (n > 0) {
        memcpy(to, text.p, n);
    }
    memset(to + n, 0, size - n);
}

bool trace_is_open(void)
{
    return ring != NULL;
}

void trace_emit(const struct trace_span *span)
{
    if (ring == NULL) {
        return;
    }
    uint64_t serial = ring->next_serial++;
    struct trace_record *record = &ring->records[serial % TRACE_RING_RECORDS];

    __atomic_store_n(&record->serial, 0, __ATOMIC_RELEASE);
    record->start = span->start;
    record->end = span->end;
    record->step = (uint16_t)span->step;
    record->outcome = (uint8_t)span->outcome;
    put(record->uid, sizeof(record->uid), span->uid);
    put(record->trace_id, sizeof(record->trace_id), span->trace_id);
    put(record->object, sizeof(record->object), span->object);
    put(record->child, sizeof(record->child), span->child);
    put(record->detail, sizeof(record->detail), span->detail);
    __atomic_store_n(&record->serial, serial, __ATOMIC_RELEASE);
}

const char *trace_step_name(enum trace_step step)
{
    return steps[step].name;
}

const char *trace_step_lane(enum trace_step step)
{
    return steps[step].lane;
}
