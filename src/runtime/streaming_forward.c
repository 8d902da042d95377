/* Port forwarding into a pod's network namespace, over SPDY: the client opens a pair of streams, data and error, for each
 * connection it wants. */
#include "runtime/streaming.h"

#include "base/env.h"
#include "base/mem.h"
#include "net/fd_stream.h"
#include "net/spdy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROTOCOL "portforward.k8s.io"
#define CONNECT_TIMEOUT (30 * ENV_SECOND)

enum { COPY_BYTES = 16 << 10 };

/* A connection into the pod. */
struct pair {
    struct link link;
    struct forward *forward;
    struct str request_id;
    int port;
    struct spdy_stream *data, *error;
    struct stream *pod;
};

struct forward {
    struct runtime *runtime;
    struct sandbox *sandbox;
    struct arena *arena;
    struct spdy *spdy;
    struct link pairs; /* whose second stream has not come yet */
    struct task_group running;
};

/* What a worker does in the pod's network namespace, so that the loop's thread never leaves its own. */
struct opening {
    const char *netns;
    int family, fd, error;
};

static void open_in_pod(void *arg)
{
    struct opening *opening = arg;
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    int pod = open(opening->netns, O_RDONLY | O_CLOEXEC);

    opening->fd = -1;
    if (own < 0 || pod < 0 || setns(pod, CLONE_NEWNET) != 0) {
        opening->error = errno;
    } else {
        /* A socket belongs to the namespace it was made in, wherever it is used. */
        opening->fd = socket(opening->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        opening->error = errno;
        if (setns(own, CLONE_NEWNET) != 0) {
            abort(); /* this thread is one of a pool: nobody could tell what it would do next */
        }
    }
    close(own);
    close(pod);
}

static struct status *connect_to(struct pair *pair, int family, int *ret_fd)
{
    struct opening opening = {.netns = pair->forward->sandbox->record.netns_path.p, .family = family};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)pair->port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)pair->port),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t size = sizeof(int);

    if (pair->forward->sandbox->record.netns_path.n == 0) {
        opening.fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        opening.error = errno;
    } else {
        task_offload(open_in_pod, &opening);
    }
    if (opening.fd < 0) {
        return status_errno(opening.error, "making a socket in the pod");
    }
    int error = 0;

    if (connect(opening.fd, family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6,
                family == AF_INET ? sizeof(v4) : sizeof(v6)) != 0) {
        error = errno;
    }
    if (error == EINPROGRESS) {
        struct status *status = task_wait_fd(opening.fd, ENV_WRITABLE, env_mono() + CONNECT_TIMEOUT);

        if (status != NULL) {
            close(opening.fd);
            return status;
        }
        getsockopt(opening.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error != 0) {
        close(opening.fd);
        return stream_errno(error, "dial tcp %s:%d: connect", family == AF_INET ? "127.0.0.1" : "[::1]", pair->port);
    }
    *ret_fd = opening.fd;
    return NULL;
}

static struct status *connect_pod(struct pair *pair)
{
    int fd = -1;
    struct status *status = connect_to(pair, AF_INET, &fd);

    if (status != NULL) {
        struct status *other = connect_to(pair, AF_INET6, &fd);

        if (other != NULL) {
            status_free(other);
            return status;
        }
        status_free(status);
    }
    pair->pod = fd_stream_new(fd);
    return NULL;
}

static void copy_to_pod(void *arg)
{
    struct pair *pair = arg;
    struct stream *from = spdy_stream_input(pair->data);

    for (;;) {
        char bytes[COPY_BYTES];
        size_t n = 0;
        struct status *status = stream_read(from, bytes, sizeof(bytes), TASK_FOREVER, &n);

        if (status == NULL && n > 0) {
            status = stream_write(pair->pod, bytes, n, TASK_FOREVER);
        }
        if (status != NULL || n == 0) {
            status_free(status);
            stream_shut(pair->pod);
            return;
        }
    }
}

static void copy_from_pod(struct pair *pair)
{
    for (;;) {
        char bytes[COPY_BYTES];
        size_t n = 0;
        struct status *status = stream_read(pair->pod, bytes, sizeof(bytes), TASK_FOREVER, &n);

        if (status == NULL && n > 0) {
            status = spdy_stream_write(pair->data, (struct str){bytes, n});
        }
        if (status != NULL || n == 0) {
            status_free(status);
            return;
        }
    }
}

static void run_pair(void *arg)
{
    struct pair *pair = arg;
    struct forward *forward = pair->forward;
    struct status *status = connect_pod(pair);
    struct task_group sending;

    if (status == NULL) {
        task_group_init(&sending);
        task_group_spawn(&sending, "forward to pod", copy_to_pod, pair);
        copy_from_pod(pair);
        task_group_cancel(&sending);
        stream_close(pair->pod);
    } else {
        OWNED(arena_freep) struct arena *arena = arena_new();

        status_free(spdy_stream_write(
            pair->error, arena_printf(arena, "error forwarding port %d to pod %.*s, uid : failed to execute portforward "
                                             "in network namespace \"%.*s\": failed to connect to localhost:%d inside "
                                             "namespace \"%.*s\": %.*s",
                                      pair->port, STR_ARG(forward->sandbox->record.id),
                                      STR_ARG(forward->sandbox->record.netns_path), pair->port,
                                      STR_ARG(forward->sandbox->record.id), STR_ARG(status->message))));
        status_free(status);
    }
    status_free(spdy_stream_end(pair->data));
    status_free(spdy_stream_end(pair->error));
    free(pair);
}

static struct pair *find_pair(struct forward *forward, struct str request_id, int port)
{
    LINK_EACH(at, &forward->pairs) {
        struct pair *pair = CONTAINER_OF(at, struct pair, link);

        if (str_eq(pair->request_id, request_id) && pair->port == port) {
            return pair;
        }
    }
    struct pair *pair = MEM_NEW(struct pair);

    pair->forward = forward;
    pair->request_id = arena_str(forward->arena, request_id);
    pair->port = port;
    list_add_tail(&forward->pairs, &pair->link);
    return pair;
}

static void take_stream(struct forward *forward, struct spdy_stream *stream)
{
    const struct http_headers *headers = spdy_stream_headers(stream);
    struct str kind = http_header_find(headers, STR("streamtype"));
    int64_t port = 0;

    if (!str_to_i64(http_header_find(headers, STR("port")), &port) || port < 1 || port > 65535 ||
        (!str_is(kind, "data") && !str_is(kind, "error"))) {
        status_free(spdy_stream_end(stream));
        return;
    }
    struct pair *pair = find_pair(forward, http_header_find(headers, STR("requestid")), (int)port);

    if (str_is(kind, "data")) {
        pair->data = stream;
    } else {
        pair->error = stream;
    }
    if (pair->data != NULL && pair->error != NULL) {
        list_remove(&pair->link);
        task_group_spawn(&forward->running, "port forward", run_pair, pair);
    }
}

static void forward_all(struct forward *forward)
{
    struct spdy_stream *stream;
    struct status *status;

    while ((status = spdy_accept(forward->spdy, TASK_FOREVER, &stream)) == NULL) {
        take_stream(forward, stream);
    }
    status_free(status);
    task_group_cancel(&forward->running);
    LINK_EACH(at, &forward->pairs) {
        list_remove(at);
        free(CONTAINER_OF(at, struct pair, link));
    }
}

static struct status *upgrade(struct http_exchange *exchange, struct stream **ret)
{
    struct http_headers headers = {0};

    if (!http_header_has_token(&exchange->headers, STR("upgrade"), STR("SPDY/3.1"))) {
        return status_new(STATUS_BAD_REQUEST, "unable to upgrade: missing upgrade headers in request");
    }
    http_header_add(exchange->arena, &headers, STR("upgrade"), STR("SPDY/3.1"));
    http_header_add(exchange->arena, &headers, STR("x-stream-protocol-version"), STR(PROTOCOL));
    return http_upgrade(exchange, &headers, ret);
}

void streaming_forward(struct runtime *runtime, const struct streaming_request *request,
                       struct http_exchange *exchange)
{
    struct forward forward = {.runtime = runtime, .arena = exchange->arena};
    struct stream *stream = NULL;
    struct status *status = sandbox_get(runtime, request->id, &forward.sandbox);

    if (status == NULL) {
        status = upgrade(exchange, &stream);
    }
    if (status != NULL) {
        streaming_refuse(exchange, status);
    } else {
        list_init(&forward.pairs);
        task_group_init(&forward.running);
        forward.spdy = spdy_new(stream);
        forward_all(&forward);
        spdy_free(forward.spdy);
    }
    sandbox_unref(forward.sandbox);
}
