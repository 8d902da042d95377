/* Between http_server.c, which takes connections and counts them, and the protocols that serve them. */
#ifndef NET_HTTP_CONNECTION_H
#define NET_HTTP_CONNECTION_H

#include "base/list.h"
#include "base/task.h"
#include "net/http_server.h"

struct http_connection;

struct http_connection_ops {
    /* No more requests; those being served go on. */
    void (*stop)(struct http_connection *connection);
    /* Cancels the handlers. */
    void (*cancel)(struct http_connection *connection);
};

/* The common start of each protocol's connection. */
struct http_connection {
    const struct http_connection_ops *ops;
    struct http_server *server;
    struct link link;
    struct stream *stream;
    bool is_tls;
    struct socket_name address;
};

/* What a protocol needs of the server. */
struct http_serving {
    http_handler *handler;
    void *arg;
    struct http_server_limits limits;
    struct task_group handlers;
    size_t request_count;
    bool is_stopping;
};

struct http_serving *http_connection_serving(struct http_connection *connection);
/* Who is at the other end; borrowed from the connection's stream. */
struct http_peer http_connection_peer(const struct http_connection *connection);
/* It is over: takes it off the server's list. The protocol frees it. */
void http_connection_ended(struct http_connection *connection);

/* Start serving with the bytes read so far; take the connection's stream and copy the rest. */
void http1_serve(const struct http_connection *connection, struct str first);
void http2_serve(const struct http_connection *connection, struct str first);
/* Puts a protocol's connection on the server's list. */
void http_connection_began(struct http_connection *connection);

/* One buffer for the thread to read into, on the bare loop or between two parks: what must stay is copied out of it. */
struct str http_scratch(void);
enum { HTTP_SCRATCH_BYTES = 32 << 10 };

#endif
