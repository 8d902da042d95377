#include "cri/remote_transport.h"

#include "base/base64.h"
#include "base/mem.h"
#include "net/pipe.h"
#include "net/websocket.h"

#include <stdlib.h>
#include <string.h>

enum { INPUT_BYTES = 64 << 10, CLOSE_SIGNAL = 255 };

static const char *const protocols[] = {"v5.channel.k8s.io",        "v4.channel.k8s.io", "channel.k8s.io",
                                        "v4.base64.channel.k8s.io", "base64.channel.k8s.io", NULL};

struct over_websocket {
    struct remote_transport base;
    struct websocket *socket;
    struct stream *feeds[REMOTE_CHANNELS]; /* the other ends of the inputs */
    bool is_base64, has_gone;
    struct cond gone;
    struct task_group tasks;
};

static struct over_websocket *over(struct remote_transport *base)
{
    return CONTAINER_OF(base, struct over_websocket, base);
}

static struct status *write_channel(struct remote_transport *base, enum remote_channel channel, struct str bytes)
{
    struct over_websocket *transport = over(base);
    char head = (char)(transport->is_base64 ? '0' + (int)channel : (int)channel);
    OWNED(buf_done) struct buf text = {0};

    if (transport->is_base64) {
        base64_add(&text, bytes);
        bytes = buf_str(&text);
    }
    return websocket_write(transport->socket, transport->is_base64 ? WEBSOCKET_TEXT : WEBSOCKET_BINARY,
                           (struct str){&head, 1}, bytes);
}

/* One message of the client: its channel's number, then bytes for it; or the signal that a channel has ended. What is for
 * a channel that is not read is dropped. False when waiting was cancelled. */
static bool take_message(struct over_websocket *transport, struct str message)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    unsigned channel = message.n > 0 ? (unsigned char)message.p[0] : REMOTE_CHANNELS;
    struct str bytes = str_from(message, 1);

    if (transport->base.version >= 5 && channel == CLOSE_SIGNAL && bytes.n == 1) {
        channel = (unsigned char)bytes.p[0];
        if (channel < REMOTE_CHANNELS && transport->feeds[channel] != NULL) {
            stream_shut(transport->feeds[channel]);
        }
        return true;
    }
    if (transport->is_base64) {
        channel -= '0';
        if (!base64_decode(arena, bytes, &bytes)) {
            return true;
        }
    }
    if (channel >= REMOTE_CHANNELS || transport->feeds[channel] == NULL || bytes.n == 0) {
        return true;
    }
    struct status *status = stream_write(transport->feeds[channel], bytes.p, bytes.n, TASK_FOREVER);
    bool is_cancelled = status_is(status, STATUS_CANCELLED);

    status_free(status);
    return !is_cancelled;
}

static void read_run(void *arg)
{
    struct over_websocket *transport = arg;
    OWNED(buf_done) struct buf message = {0};
    enum websocket_kind kind;
    bool more = true;

    while (more) {
        struct status *status = websocket_read(transport->socket, &message, &kind, &more);

        more = status == NULL && more && take_message(transport, buf_str(&message));
        status_free(status);
    }
    transport->has_gone = true;
    for (int i = 0; i < REMOTE_CHANNELS; i++) {
        if (transport->feeds[i] != NULL) {
            stream_shut(transport->feeds[i]);
        }
    }
    cond_broadcast(&transport->gone);
}

static bool wait_gone(struct remote_transport *base, int64_t deadline)
{
    struct over_websocket *transport = over(base);

    while (!transport->has_gone && cond_wait(&transport->gone, deadline)) {
    }
    return transport->has_gone;
}

static void close_it(struct remote_transport *base)
{
    struct over_websocket *transport = over(base);

    task_group_cancel(&transport->tasks);
    websocket_close(transport->socket, WEBSOCKET_NORMAL, STR(""));
    for (int i = 0; i < REMOTE_CHANNELS; i++) {
        stream_close(transport->feeds[i]);
        stream_close(base->inputs[i]);
    }
    free(transport);
}

static const struct remote_transport_ops ops = {write_channel, wait_gone, close_it};

struct status *remote_websocket_accept(struct http_exchange *exchange, const struct remote_wants *wants,
                                       struct remote_transport **ret)
{
    struct websocket *socket;
    enum remote_channel lowest = wants->stdout ? REMOTE_STDOUT : wants->stderr ? REMOTE_STDERR : REMOTE_ERROR;

    TRY(websocket_accept(exchange, protocols, &socket));
    struct over_websocket *transport = MEM_NEW(struct over_websocket);
    struct str protocol = websocket_protocol(socket);

    transport->base.ops = &ops;
    transport->base.version = str_has_prefix(protocol, STR("v5.")) ? 5 : str_has_prefix(protocol, STR("v4.")) ? 4 : 1;
    transport->is_base64 = str_contains(protocol, STR("base64."));
    transport->socket = socket;
    cond_init(&transport->gone);
    task_group_init(&transport->tasks);
    if (wants->stdin) {
        pipe_new(INPUT_BYTES, &transport->feeds[REMOTE_STDIN], &transport->base.inputs[REMOTE_STDIN]);
    }
    if (wants->tty) {
        pipe_new(INPUT_BYTES, &transport->feeds[REMOTE_RESIZE], &transport->base.inputs[REMOTE_RESIZE]);
    }
    task_group_spawn(&transport->tasks, "remote-command", read_run, transport);
    /* Clients wait for a first message to know that there is somebody. */
    status_free(write_channel(&transport->base, lowest, STR("")));
    *ret = &transport->base;
    return NULL;
}
