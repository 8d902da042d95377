#include "sim/network.h"

#include "base/env.h"
#include "base/list.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_BYTES = 256 << 10, EVENTS = 2 };

/* Bytes on their way, or the end of the stream (n 0). */
struct piece {
    struct link link;
    int64_t due;
    size_t n, at;
    char bytes[];
};

struct wire_end {
    struct stream stream;
    struct wire *wire;
    struct wire_end *other;
    struct link in; /* pieces, in order */
    size_t in_bytes;
    bool has_shut; /* this end writes no more */
    bool is_closed;
    struct {
        env_fn *fn;
        void *arg;
    } armed[EVENTS];
    bool is_posted;
    struct env_timer *timer; /* until the first piece is due */
};

struct wire {
    struct link link; /* among the network's */
    struct network *network;
    const char *from;
    struct wire_end ends[2];
    bool is_broken;
};

struct network {
    struct link wires;
    struct network_faults faults;
};

struct network *network_new(void)
{
    struct network *network = MEM_NEW(struct network);

    list_init(&network->wires);
    return network;
}

void network_free(struct network *network)
{
    free(network);
}

void network_set_faults(struct network *network, const struct network_faults *faults)
{
    network->faults = *faults;
}

static struct wire_end *self(struct stream *stream)
{
    return CONTAINER_OF(stream, struct wire_end, stream);
}

static struct piece *first(const struct wire_end *end)
{
    return list_empty(&end->in) ? NULL : CONTAINER_OF(end->in.next, struct piece, link);
}

static void drop_pieces(struct wire_end *end)
{
    for (struct link *link; (link = list_pop(&end->in)) != NULL;) {
        free(CONTAINER_OF(link, struct piece, link));
    }
    end->in_bytes = 0;
}

static void free_unused(struct wire *wire)
{
    for (int i = 0; i < 2; i++) {
        if (!wire->ends[i].is_closed || wire->ends[i].is_posted) {
            return;
        }
    }
    for (int i = 0; i < 2; i++) {
        env_timer_stop(wire->ends[i].timer);
        drop_pieces(&wire->ends[i]);
    }
    list_remove(&wire->link);
    free(wire);
}

static bool is_ready(const struct wire_end *end, unsigned event)
{
    const struct piece *piece = first(end);

    if (end->wire->is_broken) {
        return true;
    }
    return event == ENV_READABLE ? piece != NULL && piece->due <= env_mono()
                                 : end->other->is_closed || end->other->in_bytes < WINDOW_BYTES;
}

static void tell(void *arg)
{
    struct wire_end *end = arg;

    for (unsigned event = ENV_READABLE; event <= ENV_WRITABLE; event++) {
        env_fn *fn = end->armed[event - 1].fn;

        if (fn != NULL && !end->is_closed && is_ready(end, event)) {
            end->armed[event - 1].fn = NULL;
            fn(end->armed[event - 1].arg);
        }
    }
    end->is_posted = false;
    for (unsigned event = ENV_READABLE; event <= ENV_WRITABLE; event++) {
        if (!end->is_closed && end->armed[event - 1].fn != NULL && is_ready(end, event)) {
            end->is_posted = true; /* armed again during the calls */
            env_post(tell, end);
            return;
        }
    }
    free_unused(end->wire);
}

static void tell_soon(struct wire_end *end)
{
    if (!end->is_posted && !end->is_closed && (end->armed[0].fn != NULL || end->armed[1].fn != NULL)) {
        end->is_posted = true;
        env_post(tell, end);
    }
}

static void piece_due(void *arg)
{
    struct wire_end *end = arg;

    end->timer = NULL;
    tell_soon(end);
}

/* Someone waits for what is not due yet. */
static void wait_for_due(struct wire_end *end)
{
    const struct piece *piece = first(end);

    if (end->timer == NULL && piece != NULL && !end->is_closed && end->armed[0].fn != NULL) {
        end->timer = env_timer(piece->due - env_mono(), piece_due, end);
    }
}

static int64_t random_due(const struct network *network, const struct wire_end *to)
{
    const struct network_faults *faults = &network->faults;
    bool stalls = faults->stalls_in_1000 > 0 && env_random_below(1000) < faults->stalls_in_1000;
    int64_t most = stalls ? faults->stall_max : faults->latency_max;
    int64_t due = env_mono() + (most > 0 ? (int64_t)env_random_below((uint64_t)most) : 0);

    if (list_empty(&to->in)) {
        return due;
    }
    const struct piece *last = CONTAINER_OF(to->in.prev, struct piece, link);

    return due > last->due ? due : last->due; /* nothing overtakes */
}

static void send_piece(struct wire_end *to, const void *bytes, size_t size)
{
    struct piece *piece = mem_zalloc(sizeof(*piece) + size);

    piece->due = random_due(to->wire->network, to);
    piece->n = size;
    if (size > 0) {
        memcpy(piece->bytes, bytes, size);
    }
    list_add_tail(&to->in, &piece->link);
    to->in_bytes += size;
    wait_for_due(to);
}

static struct status *wire_read(struct stream *stream, void *bytes, size_t size, size_t *ret_size)
{
    struct wire_end *end = self(stream);
    struct piece *piece = first(end);

    if (end->wire->is_broken) {
        return stream_errno(ECONNRESET, "read");
    }
    if (piece == NULL || piece->due > env_mono()) {
        *ret_size = STREAM_BLOCKED;
        return NULL;
    }
    *ret_size = MIN(size, piece->n - piece->at); /* the last piece, of nothing, stays: the end is read again and again */
    memcpy(bytes, piece->bytes + piece->at, *ret_size);
    piece->at += *ret_size;
    end->in_bytes -= *ret_size;
    if (piece->n > 0 && piece->at == piece->n) {
        list_remove(&piece->link);
        free(piece);
    }
    tell_soon(end->other);
    return NULL;
}

static struct status *wire_write(struct stream *stream, const void *bytes, size_t size, size_t *ret_size)
{
    struct wire_end *end = self(stream);

    if (end->wire->is_broken || end->other->is_closed || end->has_shut) {
        return stream_errno(EPIPE, "write");
    }
    *ret_size = MIN(size, WINDOW_BYTES - MIN(end->other->in_bytes, (size_t)WINDOW_BYTES));
    if (*ret_size > 0) {
        send_piece(end->other, bytes, *ret_size);
    }
    return NULL;
}

static void wire_arm(struct stream *stream, unsigned event, env_fn *fn, void *arg)
{
    struct wire_end *end = self(stream);

    end->armed[event - 1].fn = fn;
    end->armed[event - 1].arg = arg;
    if (fn != NULL && is_ready(end, event)) {
        tell_soon(end);
    } else if (fn != NULL) {
        wait_for_due(end);
    }
}

static void wire_shut(struct stream *stream)
{
    struct wire_end *end = self(stream);

    if (!end->has_shut) {
        end->has_shut = true;
        if (!end->wire->is_broken && !end->other->is_closed) {
            send_piece(end->other, NULL, 0);
        }
    }
}

static void wire_close(struct stream *stream)
{
    struct wire_end *end = self(stream);

    wire_shut(stream);
    end->is_closed = true;
    env_timer_stop(TAKE(end->timer));
    tell_soon(end->other);
    free_unused(end->wire);
}

void network_connect(struct network *network, const char *from, struct stream **ret_a, struct stream **ret_b)
{
    static const struct stream_ops ops = {wire_read, wire_write, wire_arm, wire_shut, wire_close};
    struct wire *wire = MEM_NEW(struct wire);

    wire->network = network;
    wire->from = from;
    for (int i = 0; i < 2; i++) {
        wire->ends[i].stream.ops = &ops;
        wire->ends[i].wire = wire;
        wire->ends[i].other = &wire->ends[1 - i];
        list_init(&wire->ends[i].in);
    }
    list_add_tail(&network->wires, &wire->link);
    *ret_a = &wire->ends[0].stream;
    *ret_b = &wire->ends[1].stream;
}

void network_break(struct network *network, const char *from)
{
    LINK_EACH(link, &network->wires)
    {
        struct wire *wire = CONTAINER_OF(link, struct wire, link);

        if (from != NULL && strcmp(wire->from, from) != 0) {
            continue;
        }
        wire->is_broken = true;
        for (int i = 0; i < 2; i++) {
            drop_pieces(&wire->ends[i]);
            tell_soon(&wire->ends[i]);
        }
    }
}
