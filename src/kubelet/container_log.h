/* The CRI log format: "TIME STREAM TAGS CONTENT" a line, where the tag P marks a part of a longer line and F its end.
 * Pure: files are read by log_reader.h. */
#ifndef KUBELET_CONTAINER_LOG_H
#define KUBELET_CONTAINER_LOG_H

#include "base/buf.h"
#include "base/status.h"

struct container_log_line {
    struct str timestamp; /* RFC 3339 with nanoseconds, as written */
    int64_t time;         /* ns since 1970 */
    bool is_stderr;
    bool is_partial; /* the line goes on in the next record */
    struct str content; /* ends with a newline unless partial */
};

/* `line` includes its newline when it has one. BAD_REQUEST for what is not in the format. Everything is borrowed. */
MUST_USE struct status *container_log_parse(struct str line, struct container_log_line *ret);
/* RFC 3339 time to ns since 1970; false when it is not one. */
bool container_log_parse_time(struct str text, int64_t *ret);

/* What of a log is wanted, as PodLogOptions says it. */
struct container_log_filter {
    int64_t since;       /* ns since 1970; 0: from the start */
    int64_t limit_bytes; /* -1: no limit */
    bool timestamps;
    bool want_stdout, want_stderr;
};

/* Writes the lines of a log into a buffer, one at a time, and stops when the limit is reached. */
struct container_log_writer {
    struct container_log_filter filter;
    int64_t written;
    bool is_done;        /* the limit is reached */
    bool in_line[2];     /* per stream: the last record was a part, so no timestamp comes now */
};

/* Takes one raw line; what is to be sent is added to `out`. Lines that are not in the format are skipped. */
void container_log_write(struct container_log_writer *writer, struct str line, struct buf *out);

/* Where in `bytes` (the end of a file) the last `count` lines begin. *ret_complete is false when `bytes` holds fewer,
 * so more of the file must be read before it. A last line without its newline counts. */
size_t container_log_tail(struct str bytes, int64_t count, bool *ret_complete);

#endif
