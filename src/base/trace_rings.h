/* Reads what the processes of this machine have recorded (base/trace.h). Any thread. */
#ifndef BASE_TRACE_RINGS_H
#define BASE_TRACE_RINGS_H

#include "base/arena.h"
#include "base/trace.h"

struct trace_span_list {
    struct trace_span *items;
    size_t len;
};

/* A span is wanted when its uid or its trace id is among these; both empty: every span is. */
struct trace_wanted {
    struct str_list uids, trace_ids;
};

/* The wanted spans of all rings in the directory, by start. Records that are being written meanwhile, and files that are
 * no rings, are left out. Reads at most TRACE_RINGS_MAX rings. Blocks for some milliseconds. */
enum { TRACE_RINGS_MAX = 64 };
MUST_USE struct status *trace_rings_read(const char *directory, const struct trace_wanted *wanted, struct arena *arena,
                                         struct trace_span_list *ret);

#endif
