#include "net/stream.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/task.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
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
    status->message =
        arena_printf(status->arena, "%.*s: %c%s", STR_ARG(what), tolower((unsigned char)text[0]), text + 1);
    return status;
}

struct prefixed {
    struct stream stream;
    struct stream *inner;
    struct buf prefix;
    env_fn *fn; /* armed for reading while the prefix lasts */
    void *arg;
    bool posted, closed;
};

static struct prefixed *prefixed_of(struct stream *stream)
{
    return CONTAINER_OF(stream, struct prefixed, stream);
}

static struct status *prefixed_read_now(struct stream *stream, void *bytes, size_t size, size_t *ret_size)
{
    struct prefixed *prefixed = prefixed_of(stream);

    if (prefixed->prefix.n == 0) {
        return stream_read_now(prefixed->inner, bytes, size, ret_size);
    }
    *ret_size = MIN(size, prefixed->prefix.n);
    memcpy(bytes, prefixed->prefix.p, *ret_size);
    buf_consume(&prefixed->prefix, *ret_size);
    if (prefixed->prefix.n == 0) {
        buf_done(&prefixed->prefix);
    }
    return NULL;
}

static struct status *prefixed_write_now(struct stream *stream, const void *bytes, size_t size, size_t *ret_size)
{
    return stream_write_now(prefixed_of(stream)->inner, bytes, size, ret_size);
}

static void prefixed_tell(void *arg)
{
    struct prefixed *prefixed = arg;

    prefixed->posted = false;
    if (prefixed->closed) {
        free(prefixed);
    } else if (prefixed->fn != NULL) {
        env_fn *fn = prefixed->fn;

        prefixed->fn = NULL;
        fn(prefixed->arg);
    }
}

static void prefixed_arm(struct stream *stream, unsigned event, env_fn *fn, void *arg)
{
    struct prefixed *prefixed = prefixed_of(stream);

    if (event == ENV_READABLE && prefixed->prefix.n > 0) {
        prefixed->fn = fn;
        prefixed->arg = arg;
        if (fn != NULL && !prefixed->posted) {
            prefixed->posted = true;
            env_post(prefixed_tell, prefixed);
        }
        return;
    }
    if (event == ENV_READABLE) {
        prefixed->fn = NULL;
    }
    stream_arm(prefixed->inner, event, fn, arg);
}

static void prefixed_shut(struct stream *stream)
{
    stream_shut(prefixed_of(stream)->inner);
}

static void prefixed_close(struct stream *stream)
{
    struct prefixed *prefixed = prefixed_of(stream);

    stream_close(prefixed->inner);
    buf_done(&prefixed->prefix);
    prefixed->closed = true;
    if (!prefixed->posted) {
        free(prefixed);
    }
}

static const struct stream_ops prefixed_ops = {prefixed_read_now, prefixed_write_now, prefixed_arm, prefixed_shut,
                                               prefixed_close};

struct stream *stream_with_prefix(struct stream *inner, struct str bytes)
{
    if (bytes.n == 0) {
        return inner;
    }
    struct prefixed *prefixed = MEM_NEW(struct prefixed);

    prefixed->stream.ops = &prefixed_ops;
    prefixed->inner = inner;
    buf_add_str(&prefixed->prefix, bytes);
    return &prefixed->stream;
}
