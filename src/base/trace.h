/* The flight recorder: spans of the 46 steps that make a pod, recorded where the work is done.
 *
 * Each process writes fixed-size records into a ring of its own, a file mapped into memory under the trace
 * directory: no system call, no lock, nothing lost when the process is killed. trace/ reads all rings and joins
 * the spans of one pod by the UIDs they name (pod <- ReplicaSet <- Deployment) and by the trace id that kubectl
 * sends in its `traceparent` header. Before trace_open() spans are dropped. Emitting is on the env's thread. */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include "base/status.h"

#include <stdint.h>

enum trace_step {
#define X(number, enumerator, lane, name) TRACE_##enumerator = number,
#include "base/trace_steps.def"
#undef X
    TRACE_STEP_COUNT = 47 /* steps count from 1 */
};

enum trace_outcome { TRACE_OK, TRACE_SKIPPED, TRACE_FAILED };

/* One span. Text longer than its place is cut. */
struct trace_span {
    enum trace_step step;
    enum trace_outcome outcome;
    int64_t start, end; /* env_wall() */
    struct str uid;      /* of the object the step is about; empty before it has one */
    struct str trace_id; /* 32 hex digits; of the request that caused it, empty when unknown */
    struct str object;   /* "pods/default/nginx-1" */
    struct str child;    /* a part of the step, such as an admission plugin's name; empty for the step itself */
    struct str detail;   /* what was decided, or why it failed or was skipped */
};

/* The record as it lies in a ring file, little endian; `serial` is written last and is 0 in a free record. */
struct trace_record {
    uint64_t serial; /* 1, 2, ... in the order of emitting */
    int64_t start, end;
    uint16_t step;
    uint8_t outcome;
    uint8_t reserved[5];
    char uid[40], trace_id[32], object[104], child[40], detail[256]; /* NUL-padded */
};

struct trace_ring {
    char magic[8]; /* "c8strace" */
    uint32_t version, record_count;
    uint64_t next_serial;
    char component[40];
    struct trace_record records[];
};

enum {
    TRACE_RING_RECORDS = 4096,
    TRACE_RING_BYTES = sizeof(struct trace_ring) + TRACE_RING_RECORDS * sizeof(struct trace_record)
};

/* A ring of this layout, whose size is TRACE_RING_BYTES. */
bool trace_ring_is_good(const struct trace_ring *ring);

/* Opens (or goes on with) the ring DIR/COMPONENT.ring. */
MUST_USE struct status *trace_open(const char *directory, const char *component);
/* A parent may have opened it before it forked. */
bool trace_is_open(void);
void trace_emit(const struct trace_span *span);
const char *trace_step_name(enum trace_step step);
const char *trace_step_lane(enum trace_step step);

#endif
