/* A byte stream between two ends: TCP, a unix socket, a pipe or terminal, TLS over another stream, a pipe in memory.
 *
 * The calls park the running task (base/task.h) unless said otherwise. One task may read while another writes; two may
 * not do the same at once. A stream is owned by whoever opened or accepted it and ends with stream_close().
 *
 * A broken connection is SERVICE_UNAVAILABLE, with a message like those of Go's net package ("dial tcp
 * 127.0.0.1:6443: connect: connection refused"), since people and programs look for them. */
#ifndef NET_STREAM_H
#define NET_STREAM_H

#include "base/env.h"
#include "base/status.h"

#include <stdint.h>

struct stream;

/* What *ret_size is when a read that may not park finds nothing yet. */
#define STREAM_BLOCKED SIZE_MAX

struct stream_ops {
    struct status *(*read_now)(struct stream *stream, void *bytes, size_t size, size_t *ret_size);
    struct status *(*write_now)(struct stream *stream, const void *bytes, size_t size, size_t *ret_size);
    void (*arm)(struct stream *stream, unsigned event, env_fn *fn, void *arg);
    void (*shut)(struct stream *stream);
    void (*close)(struct stream *stream);
};

struct stream {
    const struct stream_ops *ops;
};

/* At least one byte, up to `size`; *ret_size is 0 at the end of the stream. `deadline` is env_mono() or TASK_FOREVER.
 * TIMEOUT at the deadline, CANCELLED when the task was. */
MUST_USE struct status *stream_read(struct stream *stream, void *bytes, size_t size, int64_t deadline,
                                    size_t *ret_size);
/* All of it; `size` bytes or an error, "unexpected EOF" when the stream ends before. */
MUST_USE struct status *stream_read_all(struct stream *stream, void *bytes, size_t size, int64_t deadline);
/* All of it. */
MUST_USE struct status *stream_write(struct stream *stream, const void *bytes, size_t size, int64_t deadline);
/* Says that nothing more will be written; reading goes on. Never parks. */
void stream_shut(struct stream *stream);
/* Ends it and frees it; what was written is still delivered when the other end takes it. NULL is fine. Never parks. */
void stream_close(struct stream *stream);

/* A stream that first gives `bytes` (copied), then what `inner` gives; takes `inner`. For bytes read too far. */
struct stream *stream_with_prefix(struct stream *inner, struct str bytes);

/* Copies bytes both ways until one of the streams ends or breaks, or the task is cancelled; then closes both. For
 * proxies of upgraded connections. */
void stream_splice(struct stream *a, struct stream *b);

/* For code on the bare event loop. None of these parks. */

/* What can be read now: *ret_size is STREAM_BLOCKED when nothing has come yet, 0 at the end. */
MUST_USE struct status *stream_read_now(struct stream *stream, void *bytes, size_t size, size_t *ret_size);
/* What can be written now: *ret_size may be less than `size`, also 0. */
MUST_USE struct status *stream_write_now(struct stream *stream, const void *bytes, size_t size, size_t *ret_size);
/* Calls fn(arg) once, from the event loop, when the stream may be ready for `event` (ENV_READABLE or ENV_WRITABLE);
 * that may turn out wrong, so try and arm again. fn may close the stream. Each event has one place: arming again
 * replaces, NULL disarms. */
void stream_arm(struct stream *stream, unsigned event, env_fn *fn, void *arg);
/* Parks until the stream may be ready for `event`, or the task was woken for another reason. */
MUST_USE struct status *stream_wait(struct stream *stream, unsigned event, int64_t deadline);

/* A SERVICE_UNAVAILABLE status with the error's text in Go's manner: lower case. */
MUST_USE struct status *stream_errno(int error, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
