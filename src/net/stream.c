#include "net/stream.h"

#include "base/arena.h"
#include "base/task.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

struct status *stream_read_now(struct stream *stream, void *bytes, size_t size, size_t *ret_size)
{
    return stream->ops->read_now(stream, bytes, size, ret_size);
}

struct status *stream_write_now(struct stream *stream, const void *bytes, size_t size, size_t *ret_size)
{
    return stream->ops->write_now(stream, bytes, size, ret_size);
}

void stream_arm(struct stream *stream, unsigned event, env_fn *fn, void *arg)
{
    stream->ops->arm(stream, event, fn, arg);
}

static void wake(void *arg)
{
    task_wake(arg);
}

struct status *stream_wait(struct stream *stream, unsigned event, int64_t deadline)
{
    if (deadline != TASK_FOREVER && env_mono() >= deadline) {
        return status_new(STATUS_TIMEOUT, "i/o timeout");
    }
    stream_arm(stream, event, wake, task_current());
    bool woken = task_park(deadline);

    stream_arm(stream, event, NULL, NULL);
    if (woken) {
        return NULL;
    }
    return task_is_cancelled() ? status_new(STATUS_CANCELLED, "cancelled") : status_new(STATUS_TIMEOUT, "i/o timeout");
}

struct status *stream_read(struct stream *stream, void *bytes, size_t size, int64_t deadline, size_t *ret_size)
{
    for (;;) {
        size_t got;

        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "cancelled");
        }
        TRY(stream_read_now(stream, bytes, size, &got));
        if (got != STREAM_BLOCKED) {
            *ret_size = got;
            return NULL;
        }
        TRY(stream_wait(stream, ENV_READABLE, deadline));
    }
}

struct status *stream_read_all(struct stream *stream, void *bytes, size_t size, int64_t deadline)
{
    for (size_t done = 0; done < size;) {
        size_t got;

        TRY(stream_read(stream, (char *)bytes + done, size - done, deadline, &got));
        if (got == 0) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "unexpected EOF");
        }
        done += got;
    }
    return NULL;
}

struct status *stream_write(struct stream *stream, const void *bytes, size_t size, int64_t deadline)
{
    for (size_t done = 0;;) {
        size_t taken = 0;

        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "cancelled");
        }
        if (done < size) {
            TRY(stream_write_now(stream, (const char *)bytes + done, size - done, &taken));
        }
        done += taken;
        if (done >= size) {
            return NULL;
        }
        if (taken == 0) {
            TRY(stream_wait(stream, ENV_WRITABLE, deadline));
        }
    }
}

void stream_shut(struct stream *stream)
{
    stream->ops->shut(stream);
}

void stream_close(struct stream *stream)
{
    if (stream != NULL) {
        stream->ops->close(stream);
    }
}

struct status *stream_errno(int error, const char *format, ...)
{
    struct status *status = status_new(STATUS_SERVICE_UNAVAILABLE, "%s", "");
    const char *text = strerrordesc_np(error);
    va_list args;

    va_start(args, format);
    struct str what = arena_vprintf(status->arena, format, args);

    va_end(args);
    text = text != NULL ? text : "unknown error";
    status->message = arena_printf(status->arena, "%.*s: %c%s", STR_ARG(what), tolower((unsigned char)text[0]), text + 1);
    return status;
}
