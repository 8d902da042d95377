/* WebSocket (RFC 6455), both ends: messages over an upgraded HTTP/1.1 connection. Without extensions.
 *
 * One task may read while others write. A message is at most LIMIT_WEBSOCKET_MESSAGE_BYTES; what breaks the protocol ends
 * the connection with the code the specification gives. Pings are answered while reading. */
#ifndef NET_WEBSOCKET_H
#define NET_WEBSOCKET_H

#include "base/buf.h"
#include "net/http.h"

struct websocket;

enum websocket_kind { WEBSOCKET_TEXT = 1, WEBSOCKET_BINARY = 2 };

enum websocket_close_code {
    WEBSOCKET_NORMAL = 1000,
    WEBSOCKET_GOING_AWAY = 1001,
    WEBSOCKET_PROTOCOL_ERROR = 1002,
    WEBSOCKET_TOO_BIG = 1009,
    WEBSOCKET_INTERNAL_ERROR = 1011,
};

/* The request asks for a WebSocket. */
bool websocket_is_wanted(const struct http_headers *headers);
/* Answers 101 and takes the connection. The protocol is the first the client offers that is among `protocols`
 * (NULL-terminated, outlives the WebSocket); BAD_REQUEST when the handshake is broken, or it offers protocols and none of them is ours. Nothing
 * has been answered then. */
MUST_USE struct status *websocket_accept(struct http_exchange *exchange, const char *const *protocols,
                                         struct websocket **ret);
/* Asks a server, with the request's target and headers. An answer other than 101 is its Status, or one of its code. */
MUST_USE struct status *websocket_dial(struct http_client *client, const struct http_request *request,
                                       const char *const *protocols, struct websocket **ret);
/* The one agreed on, as it stands in the caller's list; empty when there is none. */
struct str websocket_protocol(const struct websocket *socket);
/* The next whole message replaces what is in `message`; *ret_more is false when the other end closed. A connection that
 * ends without a close frame is an error. */
MUST_USE struct status *websocket_read(struct websocket *socket, struct buf *message, enum websocket_kind *ret_kind,
                                       bool *ret_more);
/* A message of `head` and `body`, in one frame. */
MUST_USE struct status *websocket_write(struct websocket *socket, enum websocket_kind kind, struct str head,
                                        struct str body);
MUST_USE struct status *websocket_ping(struct websocket *socket);
/* Sends a close frame, unless one was sent or the connection is broken, and frees it. NULL is fine. Parks for a moment
 * at most. */
void websocket_close(struct websocket *socket, enum websocket_close_code code, struct str reason);

/* For tests: a WebSocket over a stream whose handshake is done. Takes the stream. */
struct websocket *websocket_over(struct stream *stream, bool is_client);

#endif
