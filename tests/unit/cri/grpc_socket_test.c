/* A client and a server over a unix socket, as a kubelet and a runtime have them. */
#include "test.h"

#include "base/env.h"
#include "cri/grpc.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "schema/cri_v1.h"

#include <stdio.h>
#include <unistd.h>

static struct status *version(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_version_request *asked = request;
    struct cri_v1_version_response *answer = response;

    (void)arg;
    if (str_is(asked->version, "slow") && !task_sleep(60 * ENV_SECOND)) {
        return status_new(STATUS_CANCELLED, "context canceled");
    }
    if (str_is(asked->version, "none")) {
        return status_new(STATUS_NOT_FOUND, "no such thing");
    }
    answer->version = arena_str(arena, asked->version);
    return NULL;
}

static struct status *events(void *arg, struct arena *arena, const void *request,
                             struct status *(*send)(void *sink, const void *response), void *sink)
{
    (void)arg, (void)request;
    for (int i = 0; i < 100; i++) {
        struct cri_v1_container_event_response event = {.container_id = arena_printf(arena, "c%d", i),
                                                        .created_at = i};

        TRY(send(sink, &event));
    }
    return NULL;
}

static const struct grpc_method rows[] = {
    {.rpc = &cri_v1_runtime_service_version_rpc, .handle = version},
    {.rpc = &cri_v1_runtime_service_get_container_events_rpc, .stream = events},
};
static struct grpc_methods methods = {rows, COUNT_OF(rows), NULL};

struct place {
    char path[64], endpoint[80];
};

static struct http_server *serve(const struct place *place)
{
    char address[80];
    struct listener *listener;
    struct http_server *server = http_server_new(grpc_serve, &methods);

    snprintf(address, sizeof(address), "unix:%s", place->path);
    CHECK_OK(listener_open(str_of(address), 0600, &listener));
    http_server_listen(server, listener, NULL);
    return server;
}

static struct status *ask(struct grpc_client *client, const char *text, int64_t timeout)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_version_request request = {.version = str_of(text)};
    struct cri_v1_version_response answer = {0};

    TRY(grpc_call(client, arena, &cri_v1_runtime_service_version_rpc, &request, &answer, env_mono() + timeout));
    CHECK_STR(answer.version, text);
    return NULL;
}

static void read_events(struct grpc_client *client)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_get_events_request request = {0};
    struct grpc_stream *stream;
    bool more = true;
    int count = 0;

    CHECK_OK(grpc_stream_open(client, &cri_v1_runtime_service_get_container_events_rpc, &request, &stream));
    for (;; count++) {
        struct cri_v1_container_event_response event = {0};

        CHECK_OK(grpc_stream_next(stream, arena, &event, &more));
        if (!more) {
            break;
        }
        CHECK_INT(event.created_at, count);
    }
    CHECK_INT(count, 100);
    grpc_stream_close(stream);
}

static void over_a_socket(void *arg)
{
    struct place *place = arg;
    struct grpc_client *client;
    struct status *error;

    CHECK_OK(grpc_client_new(str_of(place->endpoint), &client));
    error = ask(client, "v1", ENV_SECOND);
    CHECK(status_is(error, STATUS_SERVICE_UNAVAILABLE)); /* nobody is there yet */
    status_free(error);
    struct http_server *server = serve(place);

    CHECK_OK(ask(client, "v1", 10 * ENV_SECOND));
    error = ask(client, "none", 10 * ENV_SECOND);
    CHECK(status_is(error, STATUS_NOT_FOUND));
    CHECK_ERROR(error, "no such thing");
    read_events(client);
    error = ask(client, "slow", 50 * ENV_MS);
    CHECK(status_is(error, STATUS_TIMEOUT));
    status_free(error);
    CHECK_OK(ask(client, "v1", 10 * ENV_SECOND));
    http_server_free(server);
    server = serve(place); /* the runtime was started again */
    CHECK_OK(ask(client, "v2", 10 * ENV_SECOND));
    grpc_client_free(client);
    http_server_free(server);
}

static void run_with(const char *prefix)
{
    struct place place;
    struct env *env = event_loop_new();

    snprintf(place.path, sizeof(place.path), "/tmp/c8s-grpc-test-%d.sock", (int)getpid());
    snprintf(place.endpoint, sizeof(place.endpoint), "%s%s", prefix, place.path);
    event_loop_run_task(env, "test", over_a_socket, &place);
    event_loop_free(env);
    unlink(place.path);
}

TEST("cri/grpc_socket/speaks over a unix socket, and again after the server came back")
{
    run_with("unix://");
}

TEST("cri/grpc_socket/takes a bare path for a unix socket")
{
    run_with("");
}

TEST("cri/grpc_socket/refuses what is not a unix socket")
{
    struct grpc_client *client;

    CHECK_ERROR(grpc_client_new(STR("tcp://127.0.0.1:1"), &client), "is not a unix socket");
    CHECK_ERROR(grpc_client_new(STR(""), &client), "is not a unix socket");
}
