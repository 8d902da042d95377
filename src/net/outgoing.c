#include "net/outgoing.h"

#include "base/mem.h"
#include "base/task.h"

#include <stdlib.h>

#define CLOSE_TIMEOUT (5 * ENV_SECOND)
#define LINGER_TIMEOUT (500 * ENV_MS)

struct outgoing {
    struct stream *stream;
    struct buf buf;
    outgoing_refill_fn *refill;
    void *arg;
    struct cond drained;
    struct status *broken;
    bool scheduled; /* a call of send_now() is posted */
    bool armed;
    bool closing, lingers, released, expired;
    struct env_timer *timer; /* while closing */
};

static void send_now(void *arg);

struct outgoing *outgoing_new(struct stream *stream, outgoing_refill_fn *refill, void *arg)
{
    struct outgoing *outgoing = MEM_NEW(struct outgoing);

    outgoing->stream = stream;
    outgoing->refill = refill;
    outgoing->arg = arg;
    cond_init(&outgoing->drained);
    return outgoing;
}

struct buf *outgoing_buf(struct outgoing *outgoing)
{
    return &outgoing->buf;
}

void outgoing_send(struct outgoing *outgoing)
{
    if (!outgoing->scheduled && !outgoing->armed) {
        outgoing->scheduled = true;
        env_post(send_now, outgoing);
    }
}

static void free_now(struct outgoing *outgoing)
{
    env_timer_stop(outgoing->timer);
    status_free(outgoing->broken);
    buf_done(&outgoing->buf);
    free(outgoing);
}

static void close_now(struct outgoing *outgoing)
{
    stream_close(outgoing->stream);
    free_now(outgoing);
}

static void close_timed_out(void *arg)
{
    struct outgoing *outgoing = arg;

    outgoing->timer = NULL;
    outgoing->expired = true;
    if (!outgoing->scheduled) { /* else that call sees to it */
        close_now(outgoing);
    }
}

static void discard(void *arg)
{
    struct outgoing *outgoing = arg;
    char bytes[4096];
    size_t got = 1;
    struct status *status = NULL;

    while (status == NULL && got != 0 && got != STREAM_BLOCKED) {
        status = stream_read_now(outgoing->stream, bytes, sizeof(bytes), &got);
    }
    if (status != NULL || got == 0) {
        status_free(status);
        close_now(outgoing);
    } else {
        stream_arm(outgoing->stream, ENV_READABLE, discard, outgoing);
    }
}

/* All has been sent and nothing more will come. */
static void finish(struct outgoing *outgoing)
{
    if (!outgoing->lingers || outgoing->broken != NULL) {
        close_now(outgoing);
        return;
    }
    env_timer_stop(outgoing->timer);
    outgoing->timer = env_timer(LINGER_TIMEOUT, close_timed_out, outgoing);
    stream_shut(outgoing->stream);
    discard(outgoing);
}

static void writable(void *arg)
{
    struct outgoing *outgoing = arg;

    outgoing->armed = false;
    send_now(outgoing);
}

/* Writes what the stream takes. */
static void send_some(struct outgoing *outgoing)
{
    size_t done = 0, taken = 1;

    while (outgoing->broken == NULL && taken > 0) {
        if (outgoing->refill != NULL && !outgoing->closing && outgoing->buf.n - done < OUTGOING_ENOUGH / 2) {
            buf_consume(&outgoing->buf, done);
            done = 0;
            outgoing->refill(outgoing->arg, &outgoing->buf);
        }
        if (done == outgoing->buf.n) {
            break;
        }
        taken = 0;
        outgoing->broken = stream_write_now(outgoing->stream, outgoing->buf.p + done, outgoing->buf.n - done, &taken);
        done += taken;
    }
    if (outgoing->broken != NULL || done == outgoing->buf.n) {
        buf_done(&outgoing->buf); /* an idle connection holds no buffer */
        return;
    }
    buf_consume(&outgoing->buf, done);
    outgoing->armed = true;
    stream_arm(outgoing->stream, ENV_WRITABLE, writable, outgoing);
}

static void send_now(void *arg)
{
    struct outgoing *outgoing = arg;

    outgoing->scheduled = false;
    if (outgoing->released) {
        free_now(outgoing);
        return;
    }
    if (outgoing->expired) {
        close_now(outgoing);
        return;
    }
    if (!outgoing->armed) {
        send_some(outgoing);
    }
    if (outgoing->buf.n < OUTGOING_ENOUGH) {
        cond_broadcast(&outgoing->drained);
    }
    if (outgoing->closing && outgoing->buf.n == 0 && !outgoing->scheduled) {
        finish(outgoing);
    }
}

/* Parks until at most `max` bytes are under way. */
static struct status *wait_below(struct outgoing *outgoing, size_t max, int64_t deadline)
{
    while (outgoing->broken == NULL && outgoing->buf.n > max) {
        outgoing_send(outgoing);
        if (!cond_wait(&outgoing->drained, deadline)) {
            return task_is_cancelled() ? status_new(STATUS_CANCELLED, "cancelled")
                                       : status_new(STATUS_TIMEOUT, "i/o timeout");
        }
    }
    return status_copy(outgoing->broken);
}

struct status *outgoing_wait(struct outgoing *outgoing, int64_t deadline)
{
    return wait_below(outgoing, OUTGOING_ENOUGH, deadline);
}

struct status *outgoing_drain(struct outgoing *outgoing, int64_t deadline)
{
    return wait_below(outgoing, 0, deadline);
}

bool outgoing_is_broken(const struct outgoing *outgoing)
{
    return outgoing->broken != NULL;
}

void outgoing_close(struct outgoing *outgoing, bool lingers)
{
    if (outgoing == NULL) {
        return;
    }
    outgoing->closing = true;
    outgoing->lingers = lingers;
    outgoing->timer = env_timer(CLOSE_TIMEOUT, close_timed_out, outgoing);
    stream_arm(outgoing->stream, ENV_READABLE, NULL, NULL);
    outgoing_send(outgoing);
}

void outgoing_release(struct outgoing *outgoing)
{
    outgoing->released = true;
    if (outgoing->armed) {
        stream_arm(outgoing->stream, ENV_WRITABLE, NULL, NULL);
    }
    if (!outgoing->scheduled) {
        free_now(outgoing);
    }
}
