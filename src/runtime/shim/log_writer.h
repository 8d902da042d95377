/* Writes a container's output as the kubelet reads it: "2006-01-02T15:04:05.000000000Z stdout F text\n".
 *
 * A line longer than LOG_LINE_BYTES is written in pieces tagged P, its last piece F; what is left without a newline
 * at the end of the stream is tagged P as well, as containerd does. Lines that can't be written (full disk, no file)
 * are dropped and counted: a container never waits for its log. */
#ifndef RUNTIME_SHIM_LOG_WRITER_H
#define RUNTIME_SHIM_LOG_WRITER_H

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

enum { LOG_LINE_BYTES = 16 << 10 };
enum log_stream { LOG_STDOUT, LOG_STDERR, LOG_STREAMS };

struct log_writer {
    int fd; /* -1: none */
    struct buf pending[LOG_STREAMS]; /* the line that has not ended yet */
    struct buf out;
    uint64_t dropped_bytes;
};

/* Opens (creates, appends to) the file; an empty path drops all output. False with errno when it can't. */
bool log_writer_open(struct log_writer *writer, const char *path);
void log_writer_close(struct log_writer *writer);
/* Output that arrived `now` (nanoseconds since 1970). */
void log_writer_add(struct log_writer *writer, enum log_stream stream, int64_t now, struct str bytes);
/* The stream has ended. */
void log_writer_end(struct log_writer *writer, enum log_stream stream, int64_t now);

/* Appends the lines for `bytes`; keeps the unfinished rest in `pending`. */
void log_format(struct buf *into, struct buf *pending, enum log_stream stream, int64_t now, struct str bytes);

#endif
