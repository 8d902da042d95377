#include "net/http2_parts.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/http_connection.h"
#include "net/outgoing.h"

#include <stdlib.h>
#include <string.h>

enum {
    QUEUE_ENOUGH = 64 << 10,        /* of one stream, on its way out: writers wait */
    SERVER_WINDOW = 256 << 10,      /* a request's body that nobody has read yet (stock's API server) */
    CLIENT_WINDOW = 1 << 20,        /* a response's */
    CONNECTION_WINDOW = 16 << 20,   /* opened again at once: what bounds memory is the streams' windows */
    QUEUED_FRAMES_MAX = 4000,       /* of control, for a peer that does not read what it asks for */
};

/* Queues */

static size_t queue_size(const struct http2_queue *queue)
{
    return queue->buf.n - queue->at;
}

static size_t queue_take(struct http2_queue *queue, void *bytes, size_t size)
{
    size_t count = MIN(size, queue_size(queue));

    if (count > 0) {
        memcpy(bytes, queue->buf.p + queue->at, count);
    }
    queue->at += count;
    if (queue_size(queue) == 0) {
        buf_done(&queue->buf);
        queue->at = 0;
    } else if (queue->at > queue->buf.n / 2) {
        buf_consume(&queue->buf, queue->at);
        queue->at = 0;
    }
    return count;
}

/* The end */

static void over(struct http2 *connection, struct status *why)
{
    connection->is_over = true;
    stream_arm(connection->stream, ENV_READABLE, NULL, NULL);
    while (!list_empty(&connection->streams)) {
        struct http2_stream *stream = CONTAINER_OF(connection->streams.next, struct http2_stream, link);

        http2_stream_closed(stream, stream->has_ended && stream->end_sent ? NULL : status_copy(why));
    }
    status_free(why);
    outgoing_close(connection->out, connection->is_server);
    nghttp2_session_del(connection->session);
    connection->ops->on_over(connection->arg);
    if (!connection->is_checking) {
        free(connection);
    }
}

static bool is_done(const struct http2 *connection)
{
    return connection->is_abused ||
           (!nghttp2_session_want_read(connection->session) && !nghttp2_session_want_write(connection->session)) ||
           (connection->is_stopping && connection->stream_count == 0 &&
            !nghttp2_session_want_write(connection->session));
}

static struct status *gone(void)
{
    return status_new(STATUS_SERVICE_UNAVAILABLE, "http2: connection closed");
}

static void check_over(void *arg)
{
    struct http2 *connection = arg;

    connection->is_checking = false;
    if (connection->is_over) {
        free(connection);
    } else if (is_done(connection)) {
        over(connection, gone());
    }
}

/* There may be something to send, or nothing ever again. */
static void pump(struct http2 *connection)
{
    outgoing_send(connection->out);
    if (!connection->is_checking) {
        connection->is_checking = true;
        env_post(check_over, connection);
    }
}

static void refill(void *arg, struct buf *buf)
{
    struct http2 *connection = arg;
    const uint8_t *bytes;

    while (!connection->is_over && buf->n < OUTGOING_ENOUGH) {
        ssize_t size = nghttp2_session_mem_send(connection->session, &bytes);

        if (size <= 0) {
            break;
        }
        buf_add(buf, bytes, (size_t)size);
    }
    if (!connection->is_over && is_done(connection) && !connection->is_checking) {
        connection->is_checking = true;
        env_post(check_over, connection);
    }
}

/* Sending */

static bool is_of_connection(struct str name)
{
    static const struct str names[] = {STR_INIT("connection"), STR_INIT("transfer-encoding"), STR_INIT("keep-alive"),
                                       STR_INIT("upgrade"),    STR_INIT("proxy-connection"),  STR_INIT("host")};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_eq_nocase(name, names[i])) {
            return true;
        }
    }
    return false;
}

/* Without line breaks, which no value may have. */
static struct str clean(struct arena *arena, struct str value)
{
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '\r' || value.p[i] == '\n' || value.p[i] == '\0') {
            char *copy = arena_cstr(arena, value);

            for (; i < value.n; i++) {
                copy[i] = copy[i] == '\r' || copy[i] == '\n' || copy[i] == '\0' ? ' ' : copy[i];
            }
            return (struct str){copy, value.n};
        }
    }
    return value;
}

static nghttp2_nv field(struct str name, struct str value)
{
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name.p,
                        .value = (uint8_t *)(uintptr_t)value.p,
                        .namelen = name.n,
                        .valuelen = value.n};
}

/* Adds the headers to `count` pseudo ones. nghttp2 copies all. */
static nghttp2_nv *fields(struct arena *arena, const nghttp2_nv *pseudo, size_t count,
                          const struct http_headers *headers, size_t *ret_count)
{
    size_t more = headers != NULL ? headers->len : 0;
    nghttp2_nv *all = ARENA_ARRAY(arena, nghttp2_nv, count + more);

    for (size_t i = 0; i < count; i++) {
        all[i] = pseudo[i];
    }
    for (size_t i = 0; i < more; i++) {
        if (!is_of_connection(headers->items[i].name)) {
            all[count++] = field(headers->items[i].name, clean(arena, headers->items[i].value));
        }
    }
    *ret_count = count;
    return all;
}

static ssize_t give(nghttp2_session *session, int32_t id, uint8_t *bytes, size_t size, uint32_t *flags,
                    nghttp2_data_source *source, void *arg)
{
    struct http2_stream *stream = source->ptr;
    bool was_full = queue_size(&stream->out) >= QUEUE_ENOUGH;
    size_t given = queue_take(&stream->out, bytes, size), count;

    (void)arg;
    if (given == 0 && !stream->out_ended) {
        return NGHTTP2_ERR_DEFERRED;
    }
    if (was_full && queue_size(&stream->out) < QUEUE_ENOUGH) {
        cond_broadcast(&stream->changed);
    }
    if (stream->out_ended && queue_size(&stream->out) == 0) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (stream->ending.len > 0) {
            nghttp2_nv *trailers = fields(stream->arena, NULL, 0, &stream->ending, &count);

            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            nghttp2_submit_trailer(session, id, trailers, count);
        }
    }
    return (ssize_t)given;
}

static struct status *closed(const struct http2_stream *stream)
{
    return stream->broken != NULL ? status_copy(stream->broken) : gone();
}

struct status *http2_request(struct http2 *connection, const struct http_request *request, struct str scheme,
                             struct str authority, void *user, struct http2_stream **ret)
{
    struct http2_stream *stream = http2_stream_new(connection);
    nghttp2_data_provider provider = {.source.ptr = stream, .read_callback = give};
    const nghttp2_nv pseudo[] = {field(STR(":method"), request->method), field(STR(":scheme"), scheme),
                                 field(STR(":authority"), authority),
                                 field(STR(":path"), clean(stream->arena, request->target))};
    struct http_headers headers = {0};
    size_t count;

    LIST_EACH(header, &request->headers)
    {
        *LIST_ADD(stream->arena, &headers) = *header;
    }
    if (request->body.n > 0) {
        http_header_add(stream->arena, &headers, STR("content-length"),
                        arena_printf(stream->arena, "%zu", request->body.n));
    }
    nghttp2_nv *all = fields(stream->arena, pseudo, COUNT_OF(pseudo), &headers, &count);

    stream->user = user;
    stream->out_ended = request->body.n == 0;
    stream->id =
        nghttp2_submit_request(connection->session, NULL, all, count, request->body.n > 0 ? &provider : NULL, stream);
    if (stream->id < 0) {
        const char *why = nghttp2_strerror(stream->id);

        list_remove(&stream->link);
        connection->stream_count--;
        connection->is_stopping = true; /* out of stream numbers most likely */
        http2_stream_free(stream);
        return status_new(STATUS_SERVICE_UNAVAILABLE, "http2: %s", why);
    }
    pump(connection);
    *ret = stream;
    return NULL;
}

struct status *http2_respond(struct http2_stream *stream, int code, const struct http_headers *headers, bool has_body)
{
    if (stream->is_closed) {
        return closed(stream);
    }
    nghttp2_data_provider provider = {.source.ptr = stream, .read_callback = give};
    struct str text = arena_printf(stream->arena, "%03d", code);
    const nghttp2_nv pseudo[] = {field(STR(":status"), text)};
    size_t count;
    nghttp2_nv *all = fields(stream->arena, pseudo, 1, headers, &count);

    stream->out_ended = !has_body;
    nghttp2_submit_response(stream->connection->session, stream->id, all, count, has_body ? &provider : NULL);
    pump(stream->connection);
    return NULL;
}

/* Parks for a change. */
static struct status *wait(struct http2_stream *stream, int64_t deadline)
{
    if (cond_wait(&stream->changed, deadline)) {
        return NULL;
    }
    return task_is_cancelled() ? status_new(STATUS_CANCELLED, "cancelled") : status_new(STATUS_TIMEOUT, "i/o timeout");
}

struct status *http2_write(struct http2_stream *stream, struct str bytes, int64_t deadline)
{
    while (bytes.n > 0) {
        while (!stream->is_closed && queue_size(&stream->out) >= QUEUE_ENOUGH) {
            TRY(wait(stream, deadline));
        }
        if (stream->is_closed) {
            return closed(stream);
        }
        struct str now = str_sub(bytes, 0, QUEUE_ENOUGH - queue_size(&stream->out));

        buf_add_str(&stream->out.buf, now);
        bytes = str_from(bytes, now.n);
        nghttp2_session_resume_data(stream->connection->session, stream->id);
        pump(stream->connection);
    }
    return NULL;
}

struct status *http2_end(struct http2_stream *stream, const struct http_headers *trailers)
{
    if (stream->out_ended) {
        return NULL;
    }
    if (stream->is_closed) {
        return closed(stream);
    }
    for (size_t i = 0; trailers != NULL && i < trailers->len; i++) {
        *LIST_ADD(stream->arena, &stream->ending) =
            (struct http_header){arena_str(stream->arena, trailers->items[i].name),
                                 arena_str(stream->arena, trailers->items[i].value)};
    }
    stream->out_ended = true;
    nghttp2_session_resume_data(stream->connection->session, stream->id);
    pump(stream->connection);
    return NULL;
}

/* Receiving */

struct status *http2_read(struct http2_stream *stream, void *bytes, size_t size, int64_t deadline, size_t *ret_size)
{
    while (queue_size(&stream->in) == 0 && !stream->has_ended && size > 0) {
        if (stream->is_closed) {
            return closed(stream);
        }
        TRY(wait(stream, deadline));
    }
    *ret_size = queue_take(&stream->in, bytes, size);
    if (!stream->is_closed && *ret_size > 0) {
        nghttp2_session_consume_stream(stream->connection->session, stream->id, *ret_size);
        pump(stream->connection);
    }
    return NULL;
}

struct status *http2_wait_head(struct http2_stream *stream, int64_t deadline)
{
    while (!stream->has_head) {
        if (stream->is_closed) {
            return closed(stream);
        }
        TRY(wait(stream, deadline));
    }
    return NULL;
}

void http2_release(struct http2_stream *stream)
{
    stream->is_released = true;
    if (stream->is_closed) {
        http2_stream_free(stream);
        return;
    }
    struct http2 *connection = stream->connection;
    size_t unread = queue_size(&stream->in);

    if (unread > 0) {
        nghttp2_session_consume_stream(connection->session, stream->id, unread);
    }
    buf_done(&stream->in.buf);
    stream->in.at = 0;
    if (!stream->out_ended || (!connection->is_server && !stream->has_ended)) {
        nghttp2_submit_rst_stream(connection->session, NGHTTP2_FLAG_NONE, stream->id,
                                  connection->is_server ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_CANCEL);
    }
    http2_stop_request(stream);
    pump(connection);
}

/* The connection */

static void readable(void *arg)
{
    struct http2 *connection = arg;
    struct str scratch = http_scratch();
    size_t got = 0;
    struct status *status = stream_read_now(connection->stream, (char *)scratch.p, scratch.n, &got);

    if (status != NULL || got == 0) {
        over(connection,
             status != NULL ? status : status_new(STATUS_SERVICE_UNAVAILABLE, "http2: client connection lost"));
        return;
    }
    if (got != STREAM_BLOCKED) {
        connection->heard = env_mono();
        if (nghttp2_session_mem_recv(connection->session, (const uint8_t *)scratch.p, got) < 0 ||
            nghttp2_session_get_outbound_queue_size(connection->session) > QUEUED_FRAMES_MAX) {
            over(connection, gone());
            return;
        }
        pump(connection);
    }
    stream_arm(connection->stream, ENV_READABLE, readable, connection);
}

struct http2 *http2_new(bool is_server, struct stream *stream, uint32_t streams_max, const struct http2_ops *ops,
                        void *arg)
{
    const nghttp2_settings_entry server[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, SERVER_WINDOW},
                                             {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, LIMIT_HTTP_HEADER_BYTES}};
    const nghttp2_settings_entry client[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, CLIENT_WINDOW}};
    struct http2 *connection = MEM_NEW(struct http2);

    connection->is_server = is_server;
    connection->stream = stream;
    connection->ops = ops;
    connection->arg = arg;
    connection->heard = connection->resets_since = env_mono();
    list_init(&connection->streams);
    connection->session = http2_nghttp2_new(connection);
    connection->out = outgoing_new(stream, refill, connection);
    if (nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, is_server ? server : client,
                                is_server ? COUNT_OF(server) : COUNT_OF(client)) != 0 ||
        nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) != 0) {
        mem_die("out of memory");
    }
    return connection;
}

void http2_begin(struct http2 *connection, struct str first)
{
    if (first.n > 0 && nghttp2_session_mem_recv(connection->session, (const uint8_t *)first.p, first.n) < 0) {
        connection->is_abused = true; /* the posted check ends it */
    }
    stream_arm(connection->stream, ENV_READABLE, readable, connection);
    pump(connection);
}

void http2_stop(struct http2 *connection)
{
    connection->is_stopping = true;
    nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(connection->session), NGHTTP2_NO_ERROR, NULL, 0);
    pump(connection);
}

void http2_refuse(struct http2 *connection)
{
    nghttp2_session_terminate_session(connection->session, NGHTTP2_ENHANCE_YOUR_CALM);
    pump(connection);
}

void http2_close(struct http2 *connection)
{
    const uint8_t *bytes;
    ssize_t size;

    nghttp2_session_terminate_session(connection->session, NGHTTP2_NO_ERROR);
    while ((size = nghttp2_session_mem_send(connection->session, &bytes)) > 0) {
        buf_add(outgoing_buf(connection->out), bytes, (size_t)size);
    }
    over(connection, gone());
}

size_t http2_stream_count(const struct http2 *connection)
{
    return connection->stream_count;
}

bool http2_is_open(const struct http2 *connection)
{
    return !connection->is_stopping && !connection->is_over && !connection->is_abused;
}

bool http2_has_room(const struct http2 *connection)
{
    return http2_is_open(connection) && nghttp2_session_check_request_allowed(connection->session) &&
           connection->stream_count <
               nghttp2_session_get_remote_settings(connection->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

int64_t http2_heard(const struct http2 *connection)
{
    return connection->heard;
}

void http2_ping(struct http2 *connection)
{
    nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, NULL);
    pump(connection);
}
