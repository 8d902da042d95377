/* Between remote_command.c, which has the channels, and the two ways they travel. */
#ifndef CRI_REMOTE_TRANSPORT_H
#define CRI_REMOTE_TRANSPORT_H

#include "base/task.h"
#include "cri/remote_command.h"

struct remote_transport;

struct remote_transport_ops {
    struct status *(*write)(struct remote_transport *transport, enum remote_channel channel, struct str bytes);
    /* Parks until the client has gone, or the deadline. */
    bool (*wait_gone)(struct remote_transport *transport, int64_t deadline);
    /* Lets the client see the end, and frees it. */
    void (*close)(struct remote_transport *transport);
};

struct remote_transport {
    const struct remote_transport_ops *ops;
    struct stream *inputs[REMOTE_CHANNELS]; /* to read what the client sends: stdin, resize; still the transport's */
    int version; /* of the protocol */
};

/* Each takes the connection only on success. */
MUST_USE struct status *remote_websocket_accept(struct http_exchange *exchange, const struct remote_wants *wants,
                                                struct remote_transport **ret);
MUST_USE struct status *remote_spdy_accept(struct http_exchange *exchange, const struct remote_wants *wants,
                                           struct remote_transport **ret);
/* The client asked for SPDY. */
bool remote_spdy_is_wanted(const struct http_headers *headers);

#endif
