#include "net/http_server.h"

#include "base/log.h"
#include "base/mem.h"
#include "net/http_connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECTIONS_MAX = 20000,
    STREAMS_MAX = 250, /* as Go's server */
    SNIFF_BYTES = 24,  /* HTTP/2's preface */
};
#define HEADER_TIMEOUT (32 * ENV_SECOND) /* as stock's API server */
#define IDLE_TIMEOUT (90 * ENV_SECOND)
#define ACCEPT_PAUSE (100 * ENV_MS) /* when accepting fails, for want of file descriptors most likely */

struct http_server {
    struct http_serving serving;
    struct link connections;
    size_t connection_count;
    struct task_group listening;
    struct cond changed; /* a connection ended */
};

/* A connection whose protocol is not known yet. */
struct sniff {
    struct http_connection connection;
    struct env_timer *timer;
    size_t size;
    char bytes[SNIFF_BYTES];
};

struct listening {
    struct http_server *server;
    struct listener *listener;
    struct tls_context *tls;
};

static _Thread_local char scratch[HTTP_SCRATCH_BYTES];

struct str http_scratch(void)
{
    return (struct str){scratch, sizeof(scratch)};
}

struct http_server *http_server_new(http_handler *handler, void *arg)
{
    struct http_server *server = MEM_NEW(struct http_server);

    server->serving.handler = handler;
    server->serving.arg = arg;
    server->serving.limits = (struct http_server_limits){.header_timeout = HEADER_TIMEOUT,
                                                         .idle_timeout = IDLE_TIMEOUT,
                                                         .connections_max = CONNECTIONS_MAX,
                                                         .streams_max = STREAMS_MAX};
    task_group_init(&server->serving.handlers);
    task_group_init(&server->listening);
    list_init(&server->connections);
    cond_init(&server->changed);
    return server;
}

struct http_server_limits *http_server_limits(struct http_server *server)
{
    return &server->serving.limits;
}

size_t http_server_request_count(const struct http_server *server)
{
    return server->serving.request_count;
}

size_t http_server_connection_count(const struct http_server *server)
{
    return server->connection_count;
}

/* For the protocols */

struct http_serving *http_connection_serving(struct http_connection *connection)
{
    return &connection->server->serving;
}

struct http_peer http_connection_peer(const struct http_connection *connection)
{
    struct http_peer peer = {.address = str_of(connection->address.text), .is_tls = connection->is_tls};
    struct tls_peer tls = {0};

    if (connection->is_tls) {
        tls_peer(connection->stream, &tls);
        peer.certificate = tls.certificate;
        peer.is_verified = tls.is_verified;
    }
    return peer;
}

void http_connection_began(struct http_connection *connection)
{
    list_add_tail(&connection->server->connections, &connection->link);
    connection->server->connection_count++;
}

void http_connection_ended(struct http_connection *connection)
{
    list_remove(&connection->link);
    connection->server->connection_count--;
    cond_broadcast(&connection->server->changed);
}

/* Telling the protocols apart */

static void sniff_free(struct sniff *sniff)
{
    env_timer_stop(sniff->timer);
    http_connection_ended(&sniff->connection);
    free(sniff);
}

static void sniff_close(struct http_connection *connection)
{
    struct sniff *sniff = CONTAINER_OF(connection, struct sniff, connection);

    stream_close(connection->stream);
    sniff_free(sniff);
}

static const struct http_connection_ops sniff_ops = {sniff_close, sniff_close};

static void sniff_timed_out(void *arg)
{
    struct sniff *sniff = arg;

    sniff->timer = NULL;
    sniff_close(&sniff->connection);
}

/* Whether what came is the start of HTTP/2's preface, as far as it goes. */
static bool is_preface(struct str bytes)
{
    return str_has_prefix(STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), bytes);
}

static void sniff_readable(void *arg)
{
    struct sniff *sniff = arg;
    struct stream *stream = sniff->connection.stream;
    struct tls_peer tls = {0};
    size_t got;
    struct status *status = stream_read_now(stream, sniff->bytes + sniff->size, SNIFF_BYTES - sniff->size, &got);

    if (status != NULL || got == 0) {
        status_free(status);
        sniff_close(&sniff->connection);
        return;
    }
    sniff->size += got != STREAM_BLOCKED ? got : 0;
    if (got != STREAM_BLOCKED && sniff->connection.is_tls) {
        tls_peer(stream, &tls);
    }
    struct str bytes = {sniff->bytes, sniff->size};

    if (got == STREAM_BLOCKED || (!tls.is_http2 && is_preface(bytes) && sniff->size < SNIFF_BYTES)) {
        stream_arm(stream, ENV_READABLE, sniff_readable, sniff);
        return;
    }
    if (tls.is_http2 || is_preface(bytes)) {
        http2_serve(&sniff->connection, bytes);
    } else {
        http1_serve(&sniff->connection, bytes);
    }
    sniff_free(sniff);
}

void http_server_serve(struct http_server *server, struct stream *stream, bool is_tls, struct str peer_address)
{
    struct sniff *sniff = MEM_NEW(struct sniff);

    sniff->connection =
        (struct http_connection){.ops = &sniff_ops, .server = server, .stream = stream, .is_tls = is_tls};
    snprintf(sniff->connection.address.text, sizeof(sniff->connection.address.text), "%.*s", STR_ARG(peer_address));
    http_connection_began(&sniff->connection);
    sniff->timer = env_timer(server->serving.limits.header_timeout, sniff_timed_out, sniff);
    stream_arm(stream, ENV_READABLE, sniff_readable, sniff);
}

/* Listening */

static void listen_run(void *arg)
{
    struct listening *listening = arg;
    struct http_server *server = listening->server;

    while (!task_is_cancelled()) {
        struct stream *stream;
        struct socket_name peer;

        while (server->connection_count >= server->serving.limits.connections_max && !task_is_cancelled()) {
            cond_wait(&server->changed, TASK_FOREVER);
        }
        struct status *status = listener_accept(listening->listener, TASK_FOREVER, &stream, &peer);

        if (status != NULL) {
            if (!status_is(status, STATUS_CANCELLED)) {
                log_warn("%.*s; trying again", STR_ARG(status->message));
                task_sleep(ACCEPT_PAUSE);
            }
            status_free(status);
            continue;
        }
        if (listening->tls != NULL) {
            stream = tls_accept(listening->tls, stream);
        }
        http_server_serve(server, stream, listening->tls != NULL, str_of(peer.text));
    }
    listener_close(listening->listener);
    tls_context_unref(listening->tls);
    free(listening);
}

void http_server_listen(struct http_server *server, struct listener *listener, struct tls_context *tls)
{
    struct listening *listening = MEM_NEW(struct listening);

    *listening = (struct listening){server, listener, tls != NULL ? tls_context_ref(tls) : NULL};
    task_group_spawn(&server->listening, "http listen", listen_run, listening);
}

void http_server_stop(struct http_server *server, int64_t grace)
{
    int64_t deadline = env_mono() + grace;

    server->serving.is_stopping = true;
    task_group_cancel(&server->listening);
    LINK_EACH(link, &server->connections)
    {
        struct http_connection *connection = CONTAINER_OF(link, struct http_connection, link);

        connection->ops->stop(connection);
    }
    while (server->connection_count > 0 && cond_wait(&server->changed, deadline)) {
    }
    LINK_EACH(link, &server->connections)
    {
        struct http_connection *connection = CONTAINER_OF(link, struct http_connection, link);

        connection->ops->cancel(connection);
    }
    task_group_cancel(&server->serving.handlers);
    while (server->connection_count > 0) { /* what their handlers were cancelled in ends by itself */
        cond_wait(&server->changed, env_mono() + ENV_SECOND);
        task_yield();
    }
}

void http_server_free(struct http_server *server)
{
    if (server != NULL) {
        http_server_stop(server, 0);
        free(server);
    }
}
