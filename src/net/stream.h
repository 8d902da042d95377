/* A byte stream between two ends: TCP, a unix socket, TLS over either, a pipe in memory.
 *
 * The calls park the running task (base/task.h). One task may read while another writes; two may not do the same at
 * once. A stream is owned by whoever opened or accepted it and ends with stream_close(). */
#ifndef NET_STREAM_H
#define NET_STREAM_H

#include "base/status.h"

#include <stdint.h>

struct stream;

struct stream_ops {
    struct status *(*read)(struct stream *stream, void *bytes, size_t size, int64_t deadline, size_t *ret_size);
    struct status *(*write)(struct stream *stream, const void *bytes, size_t size, int64_t deadline);
    void (*shut)(struct stream *stream);
    void (*close)(struct stream *stream);
};

struct stream {
    const struct stream_ops *ops;
};

/* At least one byte, up to `size`; *ret_size is 0 at the end of the stream. `deadline` is env_mono() or TASK_FOREVER. */
MUST_USE struct status *stream_read(struct stream *stream, void *bytes, size_t size, int64_t deadline,
                                    size_t *ret_size);
/* All of it. */
MUST_USE struct status *stream_write(struct stream *stream, const void *bytes, size_t size, int64_t deadline);
/* Says that nothing more will be written; reading goes on. */
void stream_shut(struct stream *stream);
/* Ends it and frees it; NULL is fine. */
void stream_close(struct stream *stream);

#endif
