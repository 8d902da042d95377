#include "base/mem.h"
#include "net/http2.h"
#include "net/http_call.h"

#include <stdlib.h>

#define SILENCE (30 * ENV_SECOND)     /* after which a sign of life is asked for, as client-go does */
#define PING_TIMEOUT (15 * ENV_SECOND) /* to get it in */

struct http2_session {
    struct link link;
    struct http2 *http2;
    struct http2_session_options options;
    struct env_timer *timer;
    int64_t quiet_since;
    int64_t pinged; /* 0: no answer is waited for */
    bool is_retired;
};

struct h2_response {
    struct http_response base;
    struct http2_stream *stream;
};

/* Time */

static void tick(void *arg);

static void tick_after(struct http2_session *session, int64_t delay)
{
    if (session->timer == NULL) {
        session->timer = env_timer(delay, tick, session);
    }
}

static void tick(void *arg)
{
    struct http2_session *session = arg;
    int64_t now = env_mono(), silent = now - http2_heard(session->http2);

    session->timer = NULL;
    if (http2_stream_count(session->http2) == 0) {
        int64_t left = session->quiet_since + session->options.idle_timeout - now;

        if (left <= 0) {
            http2_close(session->http2);
            return;
        }
        tick_after(session, left);
    } else if (!session->options.is_watched) {
        return; /* set again when it is quiet */
    } else if (silent < SILENCE) {
        session->pinged = 0;
        tick_after(session, SILENCE - silent);
    } else if (session->pinged == 0) {
        session->pinged = now;
        http2_ping(session->http2);
        tick_after(session, PING_TIMEOUT);
    } else if (now - session->pinged >= PING_TIMEOUT) {
        http2_close(session->http2);
    } else {
        tick_after(session, session->pinged + PING_TIMEOUT - now);
    }
}

/* What the connection tells */

static void on_head(void *arg, struct http2_stream *stream)
{
    (void)arg, (void)stream; /* whoever asked waits for it */
}

static void on_closed(void *arg, struct http2_stream *stream)
{
    (void)arg, (void)stream;
}

static void on_quiet(void *arg)
{
    struct http2_session *session = arg;

    session->quiet_since = env_mono();
    if (session->is_retired) {
        http2_stop(session->http2);
    }
    tick_after(session, session->options.idle_timeout);
}

static void on_over(void *arg)
{
    struct http2_session *session = arg;

    env_timer_stop(session->timer);
    list_remove(&session->link);
    free(session);
}

static const struct http2_ops http2_ops = {on_head, on_closed, on_quiet, on_over};

struct http2_session *http2_session_new(struct stream *stream, const struct http2_session_options *options,
                                        struct link *sessions)
{
    struct http2_session *session = MEM_NEW(struct http2_session);

    session->options = *options;
    list_add_tail(sessions, &session->link);
    session->http2 = http2_new(false, stream, 0, &http2_ops, session);
    http2_begin(session->http2, STR(""));
    on_quiet(session);
    return session;
}

struct http2_session *http2_session_find(const struct link *sessions)
{
    LINK_EACH(link, sessions)
    {
        struct http2_session *session = CONTAINER_OF(link, struct http2_session, link);

        if (!session->is_retired && http2_has_room(session->http2)) {
            return session;
        }
    }
    return NULL;
}

/* Requests */

static struct status *h2_read(struct http_response *base, void *bytes, size_t size, int64_t deadline, size_t *ret_size)
{
    struct http2_stream *stream = CONTAINER_OF(base, struct h2_response, base)->stream;

    TRY(http2_read(stream, bytes, size, deadline, ret_size));
    if (*ret_size == 0) {
        base->trailers = stream->trailers;
    }
    return NULL;
}

static void h2_close(struct http_response *base)
{
    http2_release(CONTAINER_OF(base, struct h2_response, base)->stream); /* the response is in its arena */
}

static const struct http_response_ops h2_ops = {h2_read, h2_close};

/* Sends the body and waits for the head. A server may answer before it has read all, and then stop the stream. */
static struct status *exchange(struct http2_stream *stream, const struct http_request *request, int64_t deadline)
{
    struct status *sent = http2_write(stream, request->body, deadline);

    if (sent == NULL) {
        sent = http2_end(stream, NULL);
    }
    if (sent != NULL && !stream->has_head) {
        return sent;
    }
    status_free(sent);
    TRY(http2_wait_head(stream, deadline));
    return stream->is_too_large ? status_new(STATUS_SERVICE_UNAVAILABLE, "http2: response header list too large")
                                : NULL;
}

struct http_call_failure http2_session_call(struct http2_session *session, const struct http_request *request,
                                            struct http_response **ret)
{
    struct http2_stream *stream;
    struct status *status = http2_request(session->http2, request, session->options.scheme, session->options.authority,
                                          session, &stream);

    if (status != NULL) {
        return (struct http_call_failure){status, true};
    }
    if (session->options.is_watched) {
        env_timer_stop(TAKE(session->timer));
        tick_after(session, SILENCE);
    }
    status = exchange(stream, request, request->deadline != 0 ? request->deadline : TASK_FOREVER);
    if (status != NULL) {
        struct http_call_failure failure = {status, stream->is_refused};

        http2_release(stream);
        return failure;
    }
    struct h2_response *response = ARENA_NEW(stream->arena, struct h2_response);

    response->base = (struct http_response){
        .ops = &h2_ops, .arena = stream->arena, .code = stream->code, .headers = stream->headers};
    response->stream = stream;
    *ret = &response->base;
    return (struct http_call_failure){0};
}

/* All of them */

void http2_sessions_close_idle(struct link *sessions)
{
    LINK_EACH(link, sessions)
    {
        struct http2_session *session = CONTAINER_OF(link, struct http2_session, link);

        if (http2_stream_count(session->http2) == 0) {
            http2_close(session->http2);
        }
    }
}

void http2_sessions_close(struct link *sessions)
{
    while (!list_empty(sessions)) {
        http2_close(CONTAINER_OF(sessions->next, struct http2_session, link)->http2);
    }
}

void http2_sessions_retire(struct link *sessions)
{
    LINK_EACH(link, sessions)
    {
        CONTAINER_OF(link, struct http2_session, link)->is_retired = true;
    }
    http2_sessions_close_idle(sessions);
}
