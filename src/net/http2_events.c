/* What nghttp2 tells, and the lives of streams, which follow from it. */
#include "net/http2_parts.h"

#include "base/limits.h"
#include "base/mem.h"
#include "net/http_connection.h"

#include <stdlib.h>
#include <string.h>

enum {
    RESETS_BURST = 1000, /* streams that a client may give up, at once and a second: nghttp2's own bounds */
    RESETS_PER_SECOND = 33,
};

struct http2_stream *http2_stream_new(struct http2 *connection)
{
    struct arena *arena = arena_new();
    struct http2_stream *stream = ARENA_NEW(arena, struct http2_stream);

    stream->arena = arena;
    stream->connection = connection;
    cond_init(&stream->changed);
    list_add_tail(&connection->streams, &stream->link);
    connection->stream_count++;
    return stream;
}

void http2_stream_free(struct http2_stream *stream)
{
    buf_done(&stream->in.buf);
    buf_done(&stream->out.buf);
    status_free(stream->broken);
    arena_free(stream->arena); /* holds the stream itself */
}

void http2_stream_closed(struct http2_stream *stream, struct status *broken)
{
    struct http2 *connection = stream->connection;

    stream->is_closed = true;
    stream->broken = broken;
    list_remove(&stream->link);
    connection->stream_count--;
    cond_broadcast(&stream->changed);
    if (stream->is_released) {
        http2_stream_free(stream);
    } else {
        connection->ops->on_closed(connection->arg, stream);
        stream->connection = NULL;
    }
    if (connection->stream_count == 0 && !connection->is_over) {
        connection->ops->on_quiet(connection->arg);
    }
}

static struct http2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return id > 0 ? nghttp2_session_get_stream_user_data(session, id) : NULL;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct http2 *connection = arg;

    if (connection->is_server && frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        struct http2_stream *stream = http2_stream_new(connection);

        stream->id = frame->hd.stream_id;
        stream->is_released = true; /* nobody has it yet */
        nghttp2_session_set_stream_user_data(session, stream->id, stream);
    }
    return 0;
}

static void take_pseudo(struct http2_stream *stream, struct str name, struct str value)
{
    int64_t code;

    if (str_is(name, ":method")) {
        stream->method = arena_str(stream->arena, value);
    } else if (str_is(name, ":path")) {
        stream->target = arena_str(stream->arena, value);
    } else if (str_is(name, ":authority")) {
        stream->authority = arena_str(stream->arena, value);
    } else if (str_is(name, ":status") && str_to_i64(value, &code)) {
        stream->code = (int)code;
    }
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                     const uint8_t *value, size_t value_size, uint8_t flags, void *arg)
{
    struct http2_stream *stream = stream_of(session, frame->hd.stream_id);
    struct str key = {(const char *)name, name_size}, text = {(const char *)value, value_size};

    (void)flags, (void)arg;
    if (stream == NULL) {
        return 0;
    }
    struct http_headers *headers = stream->has_head ? &stream->trailers : &stream->headers;

    stream->header_bytes += name_size + value_size;
    if (stream->header_bytes > LIMIT_HTTP_HEADER_BYTES || headers->len == LIMIT_HTTP_HEADERS) {
        stream->is_too_large = true;
    } else if (name_size > 0 && name[0] == ':') {
        take_pseudo(stream, key, text);
    } else {
        http_header_add(stream->arena, headers, arena_str(stream->arena, key), arena_str(stream->arena, text));
    }
    return 0;
}

/* A client that opens streams only to give them up makes us work for nothing (CVE-2023-44487). */
static void count_reset(struct http2 *connection)
{
    int64_t now = env_mono(), leaked = (now - connection->resets_since) / ENV_SECOND * RESETS_PER_SECOND;

    if (leaked > 0) {
        connection->resets = MAX(connection->resets - leaked, 0);
        connection->resets_since = now;
    }
    if (++connection->resets > RESETS_BURST) {
        http2_refuse(connection);
    }
}

static void head_came(struct http2 *connection, struct http2_stream *stream)
{
    if (!connection->is_server && stream->code / 100 == 1) {
        stream->headers.len = 0; /* what counts is still to come */
        return;
    }
    if (!stream->has_head) {
        stream->has_head = true;
        stream->is_released &= !connection->is_server;
        cond_broadcast(&stream->changed);
        connection->ops->on_head(connection->arg, stream);
    }
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct http2 *connection = arg;
    struct http2_stream *stream = stream_of(session, frame->hd.stream_id);

    if (frame->hd.type == NGHTTP2_GOAWAY) {
        connection->is_stopping = true;
    } else if (frame->hd.type == NGHTTP2_RST_STREAM && connection->is_server) {
        count_reset(connection);
    }
    if (stream == NULL || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) {
        return 0;
    }
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        stream->has_ended = true;
        cond_broadcast(&stream->changed);
    }
    if (frame->hd.type == NGHTTP2_HEADERS) {
        head_came(connection, stream);
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t size, void *arg)
{
    struct http2_stream *stream = stream_of(session, id);

    (void)flags, (void)arg;
    nghttp2_session_consume_connection(session, size);
    if (stream == NULL || stream->is_released) {
        nghttp2_session_consume_stream(session, id, size);
        return 0;
    }
    buf_add(&stream->in.buf, bytes, size);
    cond_broadcast(&stream->changed);
    return 0;
}

void http2_stop_request(struct http2_stream *stream)
{
    if (stream->connection->is_server && stream->is_released && stream->end_sent && !stream->has_ended) {
        nghttp2_submit_rst_stream(stream->connection->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
    }
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct http2_stream *stream = stream_of(session, frame->hd.stream_id);

    (void)arg;
    if (stream != NULL && (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        stream->end_sent = true;
        http2_stop_request(stream);
    }
    return 0;
}

static struct status *stream_error(const struct http2_stream *stream, uint32_t code)
{
    const char *name = nghttp2_http2_strerror(code);

    return status_new(STATUS_SERVICE_UNAVAILABLE, "stream error: stream ID %d; %s", stream->id, name);
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
    struct http2_stream *stream = stream_of(session, id);

    (void)arg;
    if (stream != NULL) {
        bool is_whole = stream->has_ended && (stream->end_sent || code == NGHTTP2_NO_ERROR);

        stream->is_refused = code == NGHTTP2_REFUSED_STREAM;
        http2_stream_closed(stream, is_whole ? NULL : stream_error(stream, code));
    }
    return 0;
}

nghttp2_session *http2_nghttp2_new(struct http2 *connection)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    nghttp2_session *session = NULL;

    if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0) {
        mem_die("out of memory");
    }
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_stream_reset_rate_limit(option, UINT64_MAX,
                                               UINT64_MAX); /* it asks the real clock; see count_reset() */
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    int error = connection->is_server ? nghttp2_session_server_new2(&session, callbacks, connection, option)
                                      : nghttp2_session_client_new2(&session, callbacks, connection, option);

    if (error != 0) {
        mem_die("out of memory");
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    return session;
}
