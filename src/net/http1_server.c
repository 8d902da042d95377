#include "base/log.h"
#include "base/mem.h"
#include "net/http1.h"
#include "net/http_connection.h"
#include "net/http_date.h"
#include "net/outgoing.h"

#include <stdlib.h>
#include <string.h>

enum { PIPELINED_MAX = 64 << 10 }; /* read ahead of the request being served */

struct h1_exchange;

struct h1_connection {
    struct http_connection base;
    struct outgoing *out;
    struct buf in; /* read, not used yet */
    size_t scanned;
    struct h1_exchange *exchange; /* NULL between requests */
    struct env_timer *timer;
    int64_t deadline; /* for the next request's head */
    bool has_ended;   /* the client will send no more */
};

struct h1_exchange {
    struct http_exchange base;
    struct h1_connection *connection;
    struct task *task;
    struct http1_body body;
    bool expects_continue;
    bool keeps_alive;
    bool is_chunked;
    bool has_no_body; /* of the answer: HEAD, 204, 304 */
    bool has_length;
    uint64_t length_left; /* of the answer */
    bool is_upgraded;
    bool is_gone;
};

static void next_request(struct h1_connection *connection);
static void arm(struct h1_connection *connection);

static struct h1_connection *connection_of(struct http_connection *base)
{
    return CONTAINER_OF(base, struct h1_connection, base);
}

static struct h1_exchange *exchange_of(struct http_exchange *base)
{
    return CONTAINER_OF(base, struct h1_exchange, base);
}

static void connection_free(struct h1_connection *connection)
{
    env_timer_stop(connection->timer);
    buf_done(&connection->in);
    http_connection_ended(&connection->base);
    free(connection);
}

/* Between requests, or after the last. */
static void connection_close(struct h1_connection *connection, bool lingers)
{
    outgoing_close(connection->out, lingers);
    connection_free(connection);
}

/* Time */

static void timed_out(void *arg)
{
    struct h1_connection *connection = arg;

    connection->timer = NULL;
    if (connection->exchange != NULL) {
        return; /* set again after it */
    }
    if (env_mono() < connection->deadline) {
        connection->timer = env_timer(connection->deadline - env_mono(), timed_out, connection);
        return;
    }
    connection_close(connection, false);
}

/* A timer that is set already looks at the deadline when it fires: a request costs no timer. */
static void expect_before(struct h1_connection *connection, int64_t timeout)
{
    connection->deadline = env_mono() + timeout;
    if (connection->timer == NULL) {
        connection->timer = env_timer(timeout, timed_out, connection);
    }
}

/* Reading requests' bodies */

/* Reads what has come into `in`, with one call. False when there was nothing. */
static bool read_more(struct h1_connection *connection)
{
    struct str scratch = http_scratch();
    size_t got = 0;
    struct status *status = stream_read_now(connection->base.stream, (char *)scratch.p, scratch.n, &got);

    if (status != NULL || got == 0) {
        status_free(status);
        connection->has_ended = true;
        return true;
    }
    if (got == STREAM_BLOCKED) {
        return false;
    }
    buf_add(&connection->in, scratch.p, got);
    return true;
}

static void in_consume(struct h1_connection *connection, size_t size)
{
    buf_consume(&connection->in, size);
    if (connection->in.n == 0) {
        buf_done(&connection->in);
    }
}

static struct status *h1_read(struct http_exchange *base, void *bytes, size_t size, size_t *ret_size)
{
    struct h1_exchange *exchange = exchange_of(base);
    struct h1_connection *connection = exchange->connection;
    size_t used, given = 0;

    if (exchange->expects_continue && !exchange->body.is_done && !base->is_started) {
        exchange->expects_continue = false;
        buf_add_str(outgoing_buf(connection->out), STR("HTTP/1.1 100 Continue\r\n\r\n"));
        outgoing_send(connection->out);
    }
    while (!exchange->body.is_done && size > 0) {
        TRY(http1_body_take(&exchange->body, buf_str(&connection->in), bytes, size, &used, &given));
        in_consume(connection, used);
        if (given > 0 || exchange->body.is_done) {
            break;
        }
        if (connection->has_ended) {
            return status_new(STATUS_BAD_REQUEST, "unexpected EOF");
        }
        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "cancelled");
        }
        if (!read_more(connection)) {
            TRY(stream_wait(connection->base.stream, ENV_READABLE, TASK_FOREVER));
        }
    }
    if (exchange->body.is_done) {
        arm(connection); /* from now on, what comes is the next request, or the end */
    }
    *ret_size = given;
    return NULL;
}

/* Answering */

static void add_headers(struct h1_exchange *exchange, struct buf *out, const struct http_headers *headers)
{
    LIST_EACH(header, headers)
    {
        uint64_t length;

        if (str_eq_nocase(header->name, STR("connection"))) {
            exchange->keeps_alive &= !str_eq_nocase(header->value, STR("close"));
            continue;
        }
        if (str_eq_nocase(header->name, STR("transfer-encoding"))) {
            continue;
        }
        if (str_eq_nocase(header->name, STR("content-length")) && str_to_u64(header->value, &length)) {
            exchange->has_length = true;
            exchange->length_left = length;
        }
        http1_add_header(out, header->name, header->value);
    }
    if (http_header_find(headers, STR("date")).n == 0) {
        http1_add_header(out, STR("date"), http_date(env_wall()));
    }
}

static struct status *h1_start(struct http_exchange *base, int code, const struct http_headers *headers)
{
    struct h1_exchange *exchange = exchange_of(base);
    struct buf *out = outgoing_buf(exchange->connection->out);

    http1_add_status_line(out, code);
    add_headers(exchange, out, headers);
    exchange->has_no_body = str_is(base->method, "HEAD") || code == 204 || code == 304;
    if (!exchange->has_length && !exchange->has_no_body) {
        exchange->is_chunked = base->version == 11;
        exchange->keeps_alive &= exchange->is_chunked;
    }
    if (exchange->is_chunked) {
        buf_add_str(out, STR("Transfer-Encoding: chunked\r\n"));
    }
    /* A body nobody asked for yet may never come, and then what does come is no request. */
    exchange->keeps_alive &= !exchange->expects_continue;
    if (!exchange->keeps_alive || http_connection_serving(&exchange->connection->base)->is_stopping) {
        exchange->keeps_alive = false;
        buf_add_str(out, STR("Connection: close\r\n"));
    } else if (base->version == 10) {
        buf_add_str(out, STR("Connection: keep-alive\r\n"));
    }
    buf_add_str(out, STR("\r\n"));
    outgoing_send(exchange->connection->out);
    return NULL;
}

static struct status *write_piece(struct h1_exchange *exchange, struct str bytes)
{
    struct outgoing *outgoing = exchange->connection->out;

    if (exchange->is_gone) {
        return status_new(STATUS_CANCELLED, "the client is gone");
    }
    if (exchange->is_chunked) {
        http1_add_chunk(outgoing_buf(outgoing), bytes);
    } else {
        buf_add_str(outgoing_buf(outgoing), bytes);
    }
    outgoing_send(outgoing);
    return outgoing_wait(outgoing, TASK_FOREVER);
}

/* A large body goes out piece by piece, so that it is never there twice. */
static struct status *h1_write(struct http_exchange *base, struct str bytes)
{
    struct h1_exchange *exchange = exchange_of(base);

    if (exchange->is_gone) {
        return status_new(STATUS_CANCELLED, "the client is gone");
    }
    TRY(outgoing_wait(exchange->connection->out, TASK_FOREVER));
    if (exchange->has_no_body) {
        return NULL;
    }
    if (exchange->has_length) {
        if (bytes.n > exchange->length_left) {
            return status_new(STATUS_INTERNAL_ERROR, "the answer is longer than its content-length");
        }
        exchange->length_left -= bytes.n;
    }
    while (bytes.n > OUTGOING_ENOUGH) {
        TRY(write_piece(exchange, str_sub(bytes, 0, OUTGOING_ENOUGH)));
        bytes = str_from(bytes, OUTGOING_ENOUGH);
    }
    return bytes.n > 0 ? write_piece(exchange, bytes) : NULL;
}

static struct status *h1_end(struct http_exchange *base, const struct http_headers *trailers)
{
    struct h1_exchange *exchange = exchange_of(base);

    (void)trailers; /* HTTP/1.1 clients do not look for them */
    if (exchange->is_chunked) {
        buf_add_str(outgoing_buf(exchange->connection->out), STR("0\r\n\r\n"));
        outgoing_send(exchange->connection->out);
    } else if (exchange->has_length && exchange->length_left > 0 && !exchange->has_no_body) {
        exchange->keeps_alive = false; /* what is missing cannot be said in another way */
    }
    return NULL;
}

static struct status *h1_upgrade(struct http_exchange *base, const struct http_headers *headers,
                                 struct stream **ret_stream)
{
    struct h1_exchange *exchange = exchange_of(base);
    struct h1_connection *connection = exchange->connection;
    struct buf *out = outgoing_buf(connection->out);

    if (!exchange->body.is_done || exchange->is_gone) {
        return status_new(STATUS_BAD_REQUEST, "a request with a body cannot be upgraded");
    }
    http1_add_status_line(out, 101);
    buf_add_str(out, STR("Connection: Upgrade\r\n"));
    LIST_EACH(header, headers)
    {
        if (!str_eq_nocase(header->name, STR("connection"))) {
            http1_add_header(out, header->name, header->value);
        }
    }
    buf_add_str(out, STR("\r\n"));
    TRY(outgoing_drain(connection->out, TASK_FOREVER));
    if (exchange->is_gone) {
        return status_new(STATUS_CANCELLED, "the client is gone");
    }
    stream_arm(connection->base.stream, ENV_READABLE, NULL, NULL);
    outgoing_release(TAKE(connection->out));
    base->peer.certificate = arena_str(base->arena, base->peer.certificate); /* was the stream's */
    *ret_stream = stream_with_prefix(TAKE(connection->base.stream), buf_str(&connection->in));
    exchange->is_upgraded = true;
    return NULL;
}

static bool h1_is_gone(struct http_exchange *base)
{
    return exchange_of(base)->is_gone;
}

static const struct http_exchange_ops h1_ops = {h1_read, h1_start, h1_write, h1_end, h1_upgrade, h1_is_gone};

/* Serving one request */

/* Whether the connection can go on after the request: what is left of its body must be here already. */
static bool skip_body(struct h1_exchange *exchange)
{
    struct h1_connection *connection = exchange->connection;
    struct str scratch = http_scratch();
    size_t used = 1, given = 1;

    while (!exchange->body.is_done && connection->in.n > 0 && used > 0) {
        struct status *status =
            http1_body_take(&exchange->body, buf_str(&connection->in), (char *)scratch.p, scratch.n, &used, &given);

        if (status != NULL) {
            status_free(status);
            return false;
        }
        in_consume(connection, used);
    }
    return exchange->body.is_done;
}

static void exchange_free(struct h1_exchange *exchange)
{
    http_connection_serving(&exchange->connection->base)->request_count--;
    arena_free(exchange->base.arena); /* holds the exchange itself */
}

static void finish(struct h1_exchange *exchange)
{
    struct h1_connection *connection = exchange->connection;

    if (exchange->is_upgraded) {
        exchange_free(exchange);
        connection_free(connection);
        return;
    }
    if (!exchange->is_gone) {
        status_free(http_end(&exchange->base, NULL));
        /* A client that sends request after request without reading the answers waits here. */
        status_free(outgoing_wait(connection->out,
                                  env_mono() + http_connection_serving(&connection->base)->limits.idle_timeout));
    }
    bool goes_on = exchange->keeps_alive && !exchange->is_gone && !task_is_cancelled() &&
                   !outgoing_is_broken(connection->out) && skip_body(exchange);
    bool lingers = !exchange->is_gone;

    exchange_free(exchange);
    connection->exchange = NULL;
    if (!goes_on || (connection->has_ended && connection->in.n == 0)) {
        connection_close(connection, lingers);
        return;
    }
    next_request(connection);
}

static void exchange_run(void *arg)
{
    struct h1_exchange *exchange = arg;
    struct http_serving *serving = http_connection_serving(&exchange->connection->base);

    serving->handler(&exchange->base, serving->arg);
    finish(exchange);
}

static struct status *begin(struct h1_connection *connection, struct arena *arena, struct str head)
{
    struct http1_head parsed;
    struct h1_exchange *exchange = ARENA_NEW(arena, struct h1_exchange);

    TRY(http1_parse_request(arena, head, &parsed));
    TRY(http1_request_body(&parsed, &exchange->body));
    exchange->base = (struct http_exchange){.ops = &h1_ops,
                                            .arena = arena,
                                            .method = parsed.method,
                                            .authority = http_header_find(&parsed.headers, STR("host")),
                                            .headers = parsed.headers,
                                            .peer = http_connection_peer(&connection->base),
                                            .version = parsed.version};
    str_cut(parsed.target, '?', &exchange->base.path, &exchange->base.query);
    exchange->connection = connection;
    exchange->keeps_alive = http1_keeps_alive(&parsed);
    exchange->expects_continue = parsed.version == 11 && !exchange->body.is_done &&
                                 str_eq_nocase(http_header_find(&parsed.headers, STR("expect")), STR("100-continue"));
    connection->exchange = exchange;
    return NULL;
}

/* Tells a client that does not speak right, and lets it go. */
static void refuse(struct h1_connection *connection, struct status *status)
{
    struct buf *out = outgoing_buf(connection->out);
    struct str text = http_code_text(status->code);

    http1_add_status_line(out, status->code);
    buf_printf(out, "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n%d %.*s: %.*s", status->code,
               STR_ARG(text), STR_ARG(status->message));
    status_free(status);
    connection_close(connection, true);
}

/* Starts serving the next request if its head has come, else waits for it. */
static void next_request(struct h1_connection *connection)
{
    struct http_serving *serving = http_connection_serving(&connection->base);
    size_t size = 0, empty = 0;

    while (empty < connection->in.n && (connection->in.p[empty] == '\r' || connection->in.p[empty] == '\n')) {
        empty++; /* some clients end a body with a line break too many */
    }
    if (empty > 0) {
        in_consume(connection, empty);
    }
    struct status *status = http1_find_head(buf_str(&connection->in), &connection->scanned, &size);

    if (status == NULL && size == 0) {
        if (connection->has_ended || (serving->is_stopping && connection->in.n == 0)) {
            connection_close(connection, false);
            return;
        }
        expect_before(connection, connection->in.n > 0 ? serving->limits.header_timeout : serving->limits.idle_timeout);
        arm(connection);
        return;
    }
    struct arena *arena = arena_new();

    if (status == NULL) {
        status = begin(connection, arena, str_sub(buf_str(&connection->in), 0, size));
    }
    if (status != NULL) {
        arena_free(arena);
        refuse(connection, status);
        return;
    }
    in_consume(connection, size);
    connection->scanned = 0;
    serving->request_count++;
    connection->exchange->task =
        task_group_spawn(&serving->handlers, "http/1.1 request", exchange_run, connection->exchange);
    if (connection->exchange->body.is_done) {
        arm(connection);
    }
}

static void readable(void *arg)
{
    struct h1_connection *connection = arg;
    struct h1_exchange *exchange = connection->exchange;

    if (!read_more(connection)) {
        arm(connection);
        return;
    }
    if (exchange == NULL) {
        next_request(connection);
    } else if (connection->has_ended) {
        exchange->is_gone = true;
        task_cancel(exchange->task);
    } else {
        arm(connection);
    }
}

/* Waits for a request, or while one is served for its client to go away. */
static void arm(struct h1_connection *connection)
{
    if (!connection->has_ended && (connection->exchange == NULL || connection->in.n < PIPELINED_MAX)) {
        stream_arm(connection->base.stream, ENV_READABLE, readable, connection);
    }
}

static void h1_stop(struct http_connection *base)
{
    struct h1_connection *connection = connection_of(base);

    if (connection->exchange == NULL && connection->in.n == 0) {
        connection_close(connection, false);
    } else if (connection->exchange != NULL) {
        connection->exchange->keeps_alive = false;
    }
}

static void h1_cancel(struct http_connection *base)
{
    struct h1_connection *connection = connection_of(base);

    if (connection->exchange == NULL) {
        connection_close(connection, false);
    } else {
        connection->exchange->keeps_alive = false;
        task_cancel(connection->exchange->task);
    }
}

static const struct http_connection_ops h1_connection_ops = {h1_stop, h1_cancel};

void http1_serve(const struct http_connection *base, struct str first)
{
    struct h1_connection *connection = MEM_NEW(struct h1_connection);

    connection->base = *base;
    connection->base.link = (struct link){0};
    connection->base.ops = &h1_connection_ops;
    connection->out = outgoing_new(base->stream, NULL, NULL);
    buf_add_str(&connection->in, first);
    http_connection_began(&connection->base);
    /* More than the first bytes has most likely come with them. */
    read_more(connection);
    next_request(connection);
}
