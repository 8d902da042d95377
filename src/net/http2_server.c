#include "base/mem.h"
#include "net/http2.h"
#include "net/http_connection.h"
#include "net/http_date.h"

#include <stdlib.h>

struct h2_connection {
    struct http_connection base;
    struct http2 *http2; /* NULL when it is over */
    struct env_timer *timer;
    int64_t deadline; /* for a stream to open while none is */
    size_t running;   /* handlers */
};

struct h2_exchange {
    struct http_exchange base;
    struct h2_connection *connection;
    struct http2_stream *stream;
    struct task *task;
    bool has_no_body; /* of the answer */
    bool is_gone;
};

static struct h2_exchange *exchange_of(struct http_exchange *base)
{
    return CONTAINER_OF(base, struct h2_exchange, base);
}

/* When neither wire nor handlers need it any more. */
static void free_unused(struct h2_connection *connection)
{
    if (connection->http2 == NULL && connection->running == 0) {
        http_connection_ended(&connection->base);
        free(connection);
    }
}

/* Time */

static void timed_out(void *arg)
{
    struct h2_connection *connection = arg;

    connection->timer = NULL;
    if (http2_stream_count(connection->http2) > 0) {
        return; /* set again when it is quiet */
    }
    if (env_mono() < connection->deadline) {
        connection->timer = env_timer(connection->deadline - env_mono(), timed_out, connection);
        return;
    }
    http2_close(connection->http2);
}

static void on_quiet(void *arg)
{
    struct h2_connection *connection = arg;
    int64_t timeout = http_connection_serving(&connection->base)->limits.idle_timeout;

    connection->deadline = env_mono() + timeout;
    if (connection->timer == NULL) {
        connection->timer = env_timer(timeout, timed_out, connection);
    }
}

/* One request */

static struct status *h2_read(struct http_exchange *base, void *bytes, size_t size, size_t *ret_size)
{
    return http2_read(exchange_of(base)->stream, bytes, size, TASK_FOREVER, ret_size);
}

static struct status *h2_start(struct http_exchange *base, int code, const struct http_headers *headers)
{
    struct h2_exchange *exchange = exchange_of(base);
    struct http_headers all = {0};

    LIST_EACH(header, headers)
    {
        *LIST_ADD(base->arena, &all) = *header;
    }
    if (http_header_find(headers, STR("date")).n == 0) {
        http_header_add(base->arena, &all, STR("date"), http_date(env_wall()));
    }
    exchange->has_no_body = str_is(base->method, "HEAD") || code == 204 || code == 304 ||
                            str_is(http_header_find(headers, STR("content-length")), "0");
    return http2_respond(exchange->stream, code, &all, !exchange->has_no_body);
}

static struct status *h2_write(struct http_exchange *base, struct str bytes)
{
    struct h2_exchange *exchange = exchange_of(base);

    return exchange->has_no_body ? NULL : http2_write(exchange->stream, bytes, TASK_FOREVER);
}

static struct status *h2_end(struct http_exchange *base, const struct http_headers *trailers)
{
    return http2_end(exchange_of(base)->stream, trailers);
}

static bool h2_is_gone(struct http_exchange *base)
{
    return exchange_of(base)->is_gone;
}

static const struct http_exchange_ops h2_ops = {h2_read, h2_start, h2_write, h2_end, NULL, h2_is_gone};

static void exchange_run(void *arg)
{
    struct h2_exchange *exchange = arg;
    struct h2_connection *connection = exchange->connection;
    struct http_serving *serving = http_connection_serving(&connection->base);

    serving->handler(&exchange->base, serving->arg);
    if (!exchange->is_gone) {
        status_free(http_end(&exchange->base, NULL));
    }
    exchange->stream->user = NULL;
    http2_release(exchange->stream); /* the exchange is in its arena */
    serving->request_count--;
    connection->running--;
    free_unused(connection);
}

static void exchange_begin(struct h2_connection *connection, struct http2_stream *stream)
{
    struct http_serving *serving = http_connection_serving(&connection->base);
    struct h2_exchange *exchange = ARENA_NEW(stream->arena, struct h2_exchange);

    exchange->base = (struct http_exchange){
        .ops = &h2_ops,
        .arena = stream->arena,
        .method = stream->method,
        .authority = stream->authority.n > 0 ? stream->authority : http_header_find(&stream->headers, STR("host")),
        .headers = stream->headers,
        .peer = http_connection_peer(&connection->base),
        .version = 20};
    str_cut(stream->target, '?', &exchange->base.path, &exchange->base.query);
    /* The handler may outlive the connection. */
    exchange->base.peer.certificate = arena_str(stream->arena, exchange->base.peer.certificate);
    exchange->connection = connection;
    exchange->stream = stream;
    stream->user = exchange;
    connection->running++;
    serving->request_count++;
    exchange->task = task_group_spawn(&serving->handlers, "http/2 request", exchange_run, exchange);
}

static void refuse(struct http2_stream *stream, int code)
{
    const struct http_headers none = {0};

    status_free(http2_respond(stream, code, &none, false));
    http2_release(stream);
}

static void on_head(void *arg, struct http2_stream *stream)
{
    struct h2_connection *connection = arg;

    if (stream->is_too_large) {
        refuse(stream, 431);
    } else if (stream->target.n == 0) {
        refuse(stream, 400); /* CONNECT */
    } else if (connection->running >= 2 * (size_t)http_connection_serving(&connection->base)->limits.streams_max) {
        /* Handlers of streams that the client gave up have not all ended, and it opens more and more. */
        http2_refuse(connection->http2);
        http2_release(stream);
    } else {
        exchange_begin(connection, stream);
    }
}

static void on_closed(void *arg, struct http2_stream *stream)
{
    struct h2_exchange *exchange = stream->user;

    (void)arg;
    if (exchange != NULL && stream->broken != NULL) {
        exchange->is_gone = true;
        task_cancel(exchange->task);
    }
}

static void on_over(void *arg)
{
    struct h2_connection *connection = arg;

    connection->http2 = NULL;
    env_timer_stop(TAKE(connection->timer));
    free_unused(connection);
}

static const struct http2_ops http2_ops = {on_head, on_closed, on_quiet, on_over};

/* The connection */

static void h2_stop(struct http_connection *base)
{
    struct h2_connection *connection = CONTAINER_OF(base, struct h2_connection, base);

    if (connection->http2 != NULL) {
        http2_stop(connection->http2);
    }
}

static void h2_cancel(struct http_connection *base)
{
    struct h2_connection *connection = CONTAINER_OF(base, struct h2_connection, base);

    if (connection->http2 != NULL) {
        http2_close(connection->http2);
    }
}

static const struct http_connection_ops h2_connection_ops = {h2_stop, h2_cancel};

void http2_serve(const struct http_connection *base, struct str first)
{
    struct h2_connection *connection = MEM_NEW(struct h2_connection);

    connection->base = *base;
    connection->base.link = (struct link){0};
    connection->base.ops = &h2_connection_ops;
    http_connection_began(&connection->base);
    connection->http2 = http2_new(true, base->stream, http_connection_serving(&connection->base)->limits.streams_max,
                                  &http2_ops, connection);
    on_quiet(connection);
    http2_begin(connection->http2, first);
}
