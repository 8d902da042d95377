#include "net/pipe.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECTIONS = 2 };

struct pipe;

struct pipe_end {
    struct stream stream;
    struct pipe *pipe;
    struct pipe_end *other;
    struct buf in; /* written by the other end, not yet read here */
    bool in_ended; /* the other end will write no more */
    bool closed;
    struct {
        env_fn *fn;
        void *arg;
    } armed[DIRECTIONS];
    bool posted;
};

struct pipe {
    struct pipe_end ends[2];
    size_t capacity;
};

static struct pipe_end *self(struct stream *stream)
{
    return CONTAINER_OF(stream, struct pipe_end, stream);
}

static void pipe_free_unused(struct pipe *pipe)
{
    for (int i = 0; i < 2; i++) {
        if (!pipe->ends[i].closed || pipe->ends[i].posted) {
            return;
        }
    }
    buf_done(&pipe->ends[0].in);
    buf_done(&pipe->ends[1].in);
    free(pipe);
}

static bool is_ready(const struct pipe_end *end, unsigned event)
{
    if (event == ENV_READABLE) {
        return end->in.n > 0 || end->in_ended;
    }
    return end->other->closed || end->other->in.n < end->pipe->capacity;
}

static void tell(void *arg)
{
    struct pipe_end *end = arg;

    for (unsigned event = ENV_READABLE; event <= ENV_WRITABLE; event++) {
        env_fn *fn = end->armed[event - 1].fn;

        if (fn != NULL && !end->closed && is_ready(end, event)) {
            end->armed[event - 1].fn = NULL;
            fn(end->armed[event - 1].arg);
        }
    }
    end->posted = false;
    for (unsigned event = ENV_READABLE; event <= ENV_WRITABLE; event++) {
        if (!end->closed && end->armed[event - 1].fn != NULL && is_ready(end, event)) {
            end->posted = true; /* armed again during the calls */
            env_post(tell, end);
            return;
        }
    }
    pipe_free_unused(end->pipe);
}

static void tell_soon(struct pipe_end *end)
{
    if (!end->posted && !end->closed && (end->armed[0].fn != NULL || end->armed[1].fn != NULL)) {
        end->posted = true;
        env_post(tell, end);
    }
}

static struct status *pipe_read_now(struct stream *stream, void *bytes, size_t size, size_t *ret_size)
{
    struct pipe_end *end = self(stream);

    if (end->in.n == 0) {
        *ret_size = end->in_ended ? 0 : STREAM_BLOCKED;
        return NULL;
    }
    *ret_size = MIN(size, end->in.n);
    memcpy(bytes, end->in.p, *ret_size);
    buf_consume(&end->in, *ret_size);
    tell_soon(end->other);
    return NULL;
}

static struct status *pipe_write_now(struct stream *stream, const void *bytes, size_t size, size_t *ret_size)
{
    struct pipe_end *end = self(stream);

    if (end->other->closed || end->other->in_ended) {
        return stream_errno(EPIPE, "write");
    }
    *ret_size = MIN(size, end->pipe->capacity - end->other->in.n);
    buf_add(&end->other->in, bytes, *ret_size);
    tell_soon(end->other);
    return NULL;
}

static void pipe_arm(struct stream *stream, unsigned event, env_fn *fn, void *arg)
{
    struct pipe_end *end = self(stream);

    end->armed[event - 1].fn = fn;
    end->armed[event - 1].arg = arg;
    if (fn != NULL && is_ready(end, event)) {
        tell_soon(end);
    }
}

static void pipe_shut(struct stream *stream)
{
    self(stream)->other->in_ended = true;
    tell_soon(self(stream)->other);
}

static void pipe_close(struct stream *stream)
{
    struct pipe_end *end = self(stream);

    end->closed = true;
    end->other->in_ended = true;
    tell_soon(end->other);
    pipe_free_unused(end->pipe);
}

static const struct stream_ops pipe_ops = {pipe_read_now, pipe_write_now, pipe_arm, pipe_shut, pipe_close};

void pipe_new(size_t capacity, struct stream **ret_a, struct stream **ret_b)
{
    struct pipe *pipe = MEM_NEW(struct pipe);

    pipe->capacity = capacity;
    for (int i = 0; i < 2; i++) {
        pipe->ends[i].stream.ops = &pipe_ops;
        pipe->ends[i].pipe = pipe;
        pipe->ends[i].other = &pipe->ends[1 - i];
    }
    *ret_a = &pipe->ends[0].stream;
    *ret_b = &pipe->ends[1].stream;
}
