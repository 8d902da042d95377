/* What the files of HTTP/2 share: http2.c sends, receives and ends, http2_events.c has what nghttp2 tells. */
#ifndef NET_HTTP2_PARTS_H
#define NET_HTTP2_PARTS_H

#include "net/http2.h"

#include <nghttp2/nghttp2.h>

struct http2 {
    nghttp2_session *session;
    struct stream *stream;
    struct outgoing *out;
    const struct http2_ops *ops;
    void *arg;
    struct link streams;
    size_t stream_count; /* open ones */
    bool is_server;
    bool is_stopping; /* either end said goodbye */
    bool is_checking; /* a call of check_over() is posted */
    bool is_over;     /* freed by that call */
    int64_t heard;
    int64_t resets, resets_since; /* the bucket that client's resets fill */
    bool is_abused;
};

/* One that `connection` holds until it has closed. */
struct http2_stream *http2_stream_new(struct http2 *connection);
void http2_stream_free(struct http2_stream *stream);
/* Takes `broken`, NULL when all went well. */
void http2_stream_closed(struct http2_stream *stream, struct status *broken);
/* The answer is out and nobody will read the rest of the request: the client may stop sending it. */
void http2_stop_request(struct http2_stream *stream);

/* Calls into the connection, and its streams, as frames come and go. */
nghttp2_session *http2_nghttp2_new(struct http2 *connection);

#endif
