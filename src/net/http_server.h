/* An HTTP server: takes connections and calls a handler for each request, in a task of its own.
 *
 * Over TLS the protocol is chosen by ALPN; without, a connection that starts with HTTP/2's preface speaks that (gRPC
 * does), others HTTP/1.1. A connection on which nothing happens has no task and no buffers. Handlers are cancelled when
 * their client goes away and when the server stops. */
#ifndef NET_HTTP_SERVER_H
#define NET_HTTP_SERVER_H

#include "net/http.h"
#include "net/socket.h"
#include "net/tls.h"

struct http_server;

/* What may be changed between http_server_new() and the first connection. */
struct http_server_limits {
    int64_t header_timeout;  /* for a request's head to come, and for a TLS handshake */
    int64_t idle_timeout;    /* for the next request to begin */
    size_t connections_max;  /* more wait in the kernel's queue */
    uint32_t streams_max;    /* requests at once on one HTTP/2 connection */
};

struct http_server *http_server_new(http_handler *handler, void *arg);
struct http_server_limits *http_server_limits(struct http_server *server);
/* Takes connections from it from now on. Takes the listener; shares `tls`, which is NULL for plain text. */
void http_server_listen(struct http_server *server, struct listener *listener, struct tls_context *tls);
/* Serves one connection made elsewhere, such as a pipe. Takes the stream, which may be a TLS stream (`is_tls`). */
void http_server_serve(struct http_server *server, struct stream *stream, bool is_tls, struct str peer_address);
/* Requests being served. */
size_t http_server_request_count(const struct http_server *server);
size_t http_server_connection_count(const struct http_server *server);
/* Takes no more connections, lets requests go on for at most `grace`, then cancels their handlers; parks until all is
 * over. */
void http_server_stop(struct http_server *server, int64_t grace);
/* Stops without grace, and frees. Parks. NULL is fine. */
void http_server_free(struct http_server *server);

#endif
