/* One HTTP/2 connection (RFC 9113), either end, without knowing what is said over it: http2_server.c and http2_client.c
 * do.
 *
 * Reading and sending go on by themselves on the event loop; a connection on which nothing happens has no task. Streams
 * are handles of their users: each is valid until http2_release(), also when the connection is long gone. */
#ifndef NET_HTTP2_H
#define NET_HTTP2_H

#include "base/buf.h"
#include "base/list.h"
#include "base/task.h"
#include "net/http.h"

struct http2;

/* Bytes waiting, taken from the front. */
struct http2_queue {
    struct buf buf;
    size_t at;
};

struct http2_stream {
    struct http2 *connection; /* NULL when that has ended */
    int32_t id;
    struct arena *arena; /* holds all below; freed with the stream */
    struct str method, target, authority;         /* of a request */
    int code;                                     /* of a response */
    struct http_headers headers, trailers;
    bool is_too_large; /* some headers were left out */
    bool has_head;
    bool has_ended; /* the other end has sent all */
    bool is_closed; /* nothing more can come or go */
    struct status *broken; /* why, when it closed before its end */
    bool is_refused; /* closed before the other end did anything about it: may be asked again */
    void *user;

    /* http2.c's */
    struct link link;
    struct cond changed;
    struct http2_queue in, out;
    struct http_headers ending; /* trailers to send */
    size_t header_bytes;
    bool out_ended, end_sent, is_released;
};

/* Called on the bare event loop, or from calls below; they must not park, nor end the connection or release streams
 * that they did not just get. */
struct http2_ops {
    /* A head has come whole: a request's (its user must release the stream in the end), or a response's. */
    void (*on_head)(void *arg, struct http2_stream *stream);
    /* A stream that is not released yet has closed: it broke, or both ends have said all. */
    void (*on_closed)(void *arg, struct http2_stream *stream);
    /* No stream is open any more. */
    void (*on_quiet)(void *arg);
    /* The connection has ended and is freed after this. */
    void (*on_over)(void *arg);
};

/* Takes `stream`. `streams_max` is how many streams the other end of a server's may open. */
struct http2 *http2_new(bool is_server, struct stream *stream, uint32_t streams_max, const struct http2_ops *ops,
                        void *arg);
/* Bytes read from the stream before; then reads on by itself. Once. */
void http2_begin(struct http2 *connection, struct str first);
/* No new streams from now on; ends when those that are open have closed. */
void http2_stop(struct http2 *connection);
/* Ends it now. */
void http2_close(struct http2 *connection);
/* Ends it soon, telling the other end that it asks too much; fine in callbacks. */
void http2_refuse(struct http2 *connection);
size_t http2_stream_count(const struct http2 *connection);
/* Whether another request may be sent now. */
bool http2_has_room(const struct http2 *connection);
/* Neither end has said goodbye. */
bool http2_is_open(const struct http2 *connection);
/* When something was last heard, env_mono(). */
int64_t http2_heard(const struct http2 *connection);
void http2_ping(struct http2 *connection);

/* Sends a request's head; http2_write() and http2_end() go on when `has_body`. `headers` has no pseudo ones. */
MUST_USE struct status *http2_request(struct http2 *connection, const struct http_request *request, struct str scheme,
                                      struct str authority, void *user, struct http2_stream **ret);
/* Sends a response's head. Without a body the stream ends with it. */
MUST_USE struct status *http2_respond(struct http2_stream *stream, int code, const struct http_headers *headers,
                                      bool has_body);
/* Parks while too much is under way; CANCELLED, TIMEOUT, or why the stream broke. */
MUST_USE struct status *http2_write(struct http2_stream *stream, struct str bytes, int64_t deadline);
/* `trailers` may be NULL. */
MUST_USE struct status *http2_end(struct http2_stream *stream, const struct http_headers *trailers);
/* Parks for bytes; *ret_size is 0 at the end. */
MUST_USE struct status *http2_read(struct http2_stream *stream, void *bytes, size_t size, int64_t deadline,
                                   size_t *ret_size);
/* Parks until a response's head has come. */
MUST_USE struct status *http2_wait_head(struct http2_stream *stream, int64_t deadline);
/* The user is done with it: what is ended is still sent, what is not is reset. */
void http2_release(struct http2_stream *stream);

#endif
