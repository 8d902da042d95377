/* Between http_client.c, which connects and keeps connections, and the protocols that carry a request over one. */
#ifndef NET_HTTP_CALL_H
#define NET_HTTP_CALL_H

#include "base/list.h"
#include "net/http.h"

/* What happened to a request that failed. */
struct http_call_failure {
    struct status *status;
    bool is_untouched; /* the server surely did nothing about it */
};

/* Takes the stream back once the response is closed: it may serve the next request. */
typedef void http1_done_fn(void *arg, unsigned generation, struct stream *stream);

/* A connection for one request. */
struct http1_carrier {
    struct stream *stream;
    bool was_idle;       /* it served requests before, so its end may have come before ours */
    unsigned generation; /* what `done` wants to know of it */
    struct str authority;
    http1_done_fn *done;
    void *arg;
};

/* Sends the request and parks until the response's head is there. Takes the stream, which is closed when it cannot be
 * used again. Without a status in the result *ret is there. */
struct http_call_failure http1_call(const struct http1_carrier *carrier, const struct http_request *request,
                                    struct http_response **ret);

/* A client's HTTP/2 connection. */
struct http2_session;

struct http2_session_options {
    struct str scheme, authority; /* must outlive it */
    int64_t idle_timeout;
    bool is_watched; /* ask for a sign of life when nothing was heard for long while there are streams */
};

/* Takes `stream`. It is in the list until it ends, by itself or by http2_session_close(). */
struct http2_session *http2_session_new(struct stream *stream, const struct http2_session_options *options,
                                        struct link *sessions);
/* One of the list that can take another request; NULL when there is none. */
struct http2_session *http2_session_find(const struct link *sessions);
struct http_call_failure http2_session_call(struct http2_session *session, const struct http_request *request,
                                            struct http_response **ret);
/* Ends those without a stream; all of them; or lets none take another request. */
void http2_sessions_close_idle(struct link *sessions);
void http2_sessions_close(struct link *sessions);
void http2_sessions_retire(struct link *sessions);

#endif
