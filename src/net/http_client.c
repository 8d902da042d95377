#include "net/http_client.h"

#include "base/mem.h"
#include "base/task.h"
#include "net/http_call.h"
#include "net/socket.h"

#include <stdlib.h>

enum {
    IDLE_MAX = 25, /* HTTP/1.1 connections kept, as client-go does */
    ATTEMPTS = 3,
};
#define DIAL_TIMEOUT (30 * ENV_SECOND)
#define IDLE_TIMEOUT (90 * ENV_SECOND)

struct network_client {
    struct http_client base;
    struct arena *arena;
    struct http_client_options options;
    struct link idle; /* HTTP/1.1 connections, the oldest first */
    size_t idle_count;
    struct env_timer *timer;
    unsigned generation; /* of the TLS context */
    struct link sessions; /* HTTP/2 connections */
    struct task_lock dialling;
    bool knows_http1; /* the server did not choose HTTP/2 */
    struct status *failure; /* of the last that connected in vain */
    int64_t failed_at;
};

struct idle_connection {
    struct link link;
    struct network_client *client;
    struct stream *stream;
    int64_t since;
};

static struct network_client *client_of(struct http_client *base)
{
    return CONTAINER_OF(base, struct network_client, base);
}

/* HTTP/1.1 connections that wait for work */

static struct stream *idle_take(struct idle_connection *idle)
{
    struct stream *stream = idle->stream;

    stream_arm(stream, ENV_READABLE, NULL, NULL);
    list_remove(&idle->link);
    idle->client->idle_count--;
    free(idle);
    return stream;
}

/* The server closed it, or says what nobody asked for. */
static void idle_readable(void *arg)
{
    stream_close(idle_take(arg));
}

static void idle_expired(void *arg)
{
    struct network_client *client = arg;
    int64_t now = env_mono();

    client->timer = NULL;
    LINK_EACH(link, &client->idle)
    {
        struct idle_connection *idle = CONTAINER_OF(link, struct idle_connection, link);

        if (now < idle->since + client->options.idle_timeout) {
            client->timer = env_timer(idle->since + client->options.idle_timeout - now, idle_expired, client);
            return;
        }
        stream_close(idle_take(idle));
    }
}

static void h1_done(void *arg, unsigned generation, struct stream *stream)
{
    struct network_client *client = arg;

    if (client->idle_count >= IDLE_MAX || generation != client->generation) {
        stream_close(stream);
        return;
    }
    struct idle_connection *idle = MEM_NEW(struct idle_connection);

    *idle = (struct idle_connection){.client = client, .stream = stream, .since = env_mono()};
    list_add_tail(&client->idle, &idle->link);
    client->idle_count++;
    stream_arm(stream, ENV_READABLE, idle_readable, idle);
    if (client->timer == NULL) {
        client->timer = env_timer(client->options.idle_timeout, idle_expired, client);
    }
}

/* Connecting */

static struct status *connect_to(struct network_client *client, bool wants_http1, int64_t deadline, struct stream **ret)
{
    const struct http_client_options *options = &client->options;
    struct stream *stream;

    if (options->dial != NULL) {
        TRY(options->dial(options->dial_arg, deadline, &stream));
    } else {
        TRY(socket_dial(options->address, deadline, &stream));
    }
    if (options->tls != NULL) {
        stream = tls_connect(options->tls, stream, options->server_name);
        if (wants_http1) {
            tls_offer_http1(stream);
        }
        struct status *status = tls_handshake(stream, deadline);

        if (status != NULL) {
            stream_close(stream);
            return status;
        }
    }
    *ret = stream;
    return NULL;
}

/* What carries a request: one of the two. */
struct carrier {
    struct http2_session *session;
    struct stream *stream;
    unsigned generation;
    bool was_idle;
};

static bool find_carrier(struct network_client *client, bool wants_http1, struct carrier *ret)
{
    *ret = (struct carrier){0};
    if (!wants_http1) {
        ret->session = http2_session_find(&client->sessions);
    }
    if (ret->session == NULL && !list_empty(&client->idle)) {
        ret->generation = client->generation; /* older ones have been closed */
        ret->stream = idle_take(CONTAINER_OF(client->idle.prev, struct idle_connection, link)); /* the youngest */
        ret->was_idle = true;
    }
    return ret->session != NULL || ret->stream != NULL;
}

static struct status *dial(struct network_client *client, bool wants_http1, int64_t deadline, struct carrier *ret)
{
    const struct http_client_options *options = &client->options;
    struct tls_peer peer = {0};
    unsigned generation = client->generation;
    struct stream *stream;

    TRY(connect_to(client, wants_http1, MIN(deadline, env_mono() + options->dial_timeout), &stream));
    if (options->tls != NULL) {
        tls_peer(stream, &peer);
    }
    *ret = (struct carrier){.stream = stream, .generation = generation};
    if (!wants_http1 && (peer.is_http2 || options->protocol == HTTP_CLIENT_2)) {
        struct http2_session_options session = {.scheme = options->tls != NULL ? STR("https") : STR("http"),
                                                .authority = options->authority,
                                                .idle_timeout = options->idle_timeout,
                                                .is_watched = options->tls != NULL};

        *ret = (struct carrier){.session = http2_session_new(stream, &session, &client->sessions)};
    } else if (!wants_http1) {
        client->knows_http1 = true;
    }
    return NULL;
}

/* One that is there, or a new one. Where HTTP/2 may come of it, one task connects and the others wait to share. */
static struct status *get_carrier(struct network_client *client, bool wants_http1, int64_t deadline,
                                  struct carrier *ret)
{
    if (find_carrier(client, wants_http1, ret)) {
        return NULL;
    }
    if (wants_http1 || client->knows_http1) {
        return dial(client, wants_http1, deadline, ret);
    }
    int64_t since = env_mono();
    struct status *status = NULL;

    if (!task_lock_acquire(&client->dialling)) {
        return status_new(STATUS_CANCELLED, "cancelled");
    }
    if (client->failure != NULL && client->failed_at > since) {
        status = status_copy(client->failure); /* whoever connected while we waited did so for us too */
    } else if (!find_carrier(client, wants_http1, ret)) {
        status = dial(client, wants_http1, deadline, ret);
        if (status != NULL && status_is(status, STATUS_SERVICE_UNAVAILABLE)) {
            status_free(client->failure);
            client->failure = status_copy(status);
            client->failed_at = env_mono();
        }
    }
    task_lock_release(&client->dialling);
    return status;
}

/* Asking */

static struct http_call_failure attempt(struct network_client *client, const struct http_request *request,
                                        struct http_response **ret)
{
    bool wants_http1 = client->options.protocol == HTTP_CLIENT_1 || request->wants_upgrade ||
                       (client->options.protocol == HTTP_CLIENT_AUTO && client->options.tls == NULL);
    struct carrier carrier;
    struct status *status =
        get_carrier(client, wants_http1, request->deadline != 0 ? request->deadline : TASK_FOREVER, &carrier);

    if (status != NULL) {
        return (struct http_call_failure){status, false};
    }
    if (carrier.session != NULL) {
        return http2_session_call(carrier.session, request, ret);
    }
    struct http1_carrier http1 = {.stream = carrier.stream,
                                  .was_idle = carrier.was_idle,
                                  .generation = carrier.generation,
                                  .authority = client->options.authority,
                                  .done = h1_done,
                                  .arg = client};

    return http1_call(&http1, request, ret);
}

static struct status *network_call(struct http_client *base, const struct http_request *request,
                                   struct http_response **ret)
{
    struct http_call_failure failure = {0};

    if (client_of(base)->options.protocol == HTTP_CLIENT_2 && request->wants_upgrade) {
        return status_new(STATUS_BAD_REQUEST, "HTTP/2 has no upgrades");
    }
    for (int i = 0; i < ATTEMPTS; i++) {
        status_free(failure.status);
        failure = attempt(client_of(base), request, ret);
        if (failure.status == NULL || !failure.is_untouched || task_is_cancelled()) {
            break;
        }
    }
    if (failure.status != NULL && status_is(failure.status, STATUS_TIMEOUT) && request->deadline != 0 &&
        env_mono() >= request->deadline) {
        status_free(failure.status);
        return status_new(STATUS_TIMEOUT, "context deadline exceeded");
    }
    return failure.status;
}

void http_client_close_idle(struct http_client *base)
{
    struct network_client *client = client_of(base);

    while (!list_empty(&client->idle)) {
        stream_close(idle_take(CONTAINER_OF(client->idle.next, struct idle_connection, link)));
    }
    http2_sessions_close_idle(&client->sessions);
}

void http_client_set_tls(struct http_client *base, struct tls_context *tls)
{
    struct network_client *client = client_of(base);

    tls_context_ref(tls);
    tls_context_unref(client->options.tls);
    client->options.tls = tls;
    client->generation++;
    client->knows_http1 = false;
    http_client_close_idle(base);
    http2_sessions_retire(&client->sessions);
}

static void network_free(struct http_client *base)
{
    struct network_client *client = client_of(base);

    http_client_close_idle(base);
    http2_sessions_close(&client->sessions);
    env_timer_stop(client->timer);
    tls_context_unref(client->options.tls);
    status_free(client->failure);
    arena_free(client->arena);
    free(client);
}

static const struct http_client_ops network_ops = {network_call, network_free};

struct http_client *http_client_new(const struct http_client_options *options)
{
    struct network_client *client = MEM_NEW(struct network_client);
    struct http_client_options *kept = &client->options;
    bool is_unix = str_has_prefix(options->address, STR("unix:"));
    struct str host;
    int port;

    client->base.ops = &network_ops;
    client->arena = arena_new();
    list_init(&client->idle);
    list_init(&client->sessions);
    task_lock_init(&client->dialling);
    *kept = *options;
    kept->address = arena_str(client->arena, options->address);
    kept->tls = options->tls != NULL ? tls_context_ref(options->tls) : NULL;
    if (kept->server_name.n == 0 && !is_unix && socket_split(kept->address, &host, &port)) {
        kept->server_name = host;
    }
    kept->server_name = arena_str(client->arena, kept->server_name);
    kept->authority = options->authority.n > 0 ? arena_str(client->arena, options->authority)
                      : is_unix || kept->address.n == 0 ? STR("localhost")
                                                        : kept->address;
    kept->dial_timeout = options->dial_timeout > 0 ? options->dial_timeout : DIAL_TIMEOUT;
    kept->idle_timeout = options->idle_timeout > 0 ? options->idle_timeout : IDLE_TIMEOUT;
    return &client->base;
}
