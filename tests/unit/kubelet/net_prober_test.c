/* Probes over real connections on loopback. */
#include "kubelet/prober.h"

#include "test.h"

#include "base/env.h"
#include "base/task.h"
#include "cri/grpc.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "schema/grpc_health_v1.h"

static struct status *check_health(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct grpc_health_v1_health_check_request *asked = request;
    struct grpc_health_v1_health_check_response *answer = response;

    (void)arg, (void)arena;
    if (str_is(asked->service, "slow") && !task_sleep(60 * ENV_SECOND)) {
        return status_new(STATUS_CANCELLED, "context canceled");
    }
    if (str_is(asked->service, "unknown")) {
        return status_new(STATUS_NOT_FOUND, "unknown service");
    }
    answer->status = str_is(asked->service, "ill") ? 2 : 1;
    return NULL;
}

static const struct grpc_method rows[] = {{.rpc = &grpc_health_v1_health_check_rpc, .handle = check_health}};
static struct grpc_methods methods = {rows, COUNT_OF(rows), NULL}, nothing = {NULL, 0, NULL};

/* /CODE answers so; /to/PATH redirects there; /slow does not answer in time. */
static void answer_http(struct http_exchange *exchange, void *arg)
{
    struct http_headers headers = {0};
    struct str path = str_from(exchange->path, 1);
    int code = 200;

    (void)arg;
    if (str_is(path, "slow") && !task_sleep(60 * ENV_SECOND)) {
        return;
    }
    if (str_has_prefix(path, STR("to/"))) {
        code = 302;
        http_header_add(exchange->arena, &headers, STR("location"), str_from(path, 2));
    } else if (path.n == 3) {
        code = (path.p[0] - '0') * 100 + (path.p[1] - '0') * 10 + (path.p[2] - '0');
    }
    status_free(http_respond(exchange, code, &headers, STR("said")));
}

static struct http_server *serve(http_handler *handler, void *arg, int *ret_port)
{
    struct http_server *server = http_server_new(handler, arg);
    struct listener *listener;

    CHECK_OK(listener_open(STR("127.0.0.1:0"), 0, &listener));
    *ret_port = listener_port(listener);
    http_server_listen(server, listener, NULL);
    return server;
}

/* A port where nobody listens: one that was somebody's a moment ago. */
static int closed_port(void)
{
    int port;

    http_server_free(serve(answer_http, NULL, &port));
    return port;
}

static void probe_without_service(struct prober *prober, int port)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str output;

    CHECK_INT(prober->ops->grpc(prober, STR("127.0.0.1"), port, STR(""), env_mono() + 2 * ENV_SECOND, arena, &output),
              PROBE_FAILURE);
    CHECK(str_has_prefix(output, STR("error: this server does not implement the grpc health protocol "
                                     "(grpc.health.v1.Health): ")));
}

static void probe_grpc(void *arg)
{
    static const struct {
        const char *service;
        enum probe_result result;
        const char *output;
    } table[] = {
        {"", PROBE_SUCCESS, "service healthy"},
        {"ill", PROBE_FAILURE, "service unhealthy (responded with \"NOT_SERVING\")"},
        {"unknown", PROBE_FAILURE, "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service"},
        {"slow", PROBE_FAILURE, "timeout: health rpc did not complete within 300ms"},
    };
    struct prober *prober = net_prober();
    int port;
    struct http_server *server = serve(grpc_serve, &methods, &port);

    (void)arg;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str output;

        CHECK_INT(prober->ops->grpc(prober, STR("127.0.0.1"), port, str_of(table[i].service),
                                    env_mono() + 300 * ENV_MS, arena, &output),
                  table[i].result);
        CHECK(str_contains(output, str_of(table[i].output)));
    }
    http_server_free(server);
    server = serve(grpc_serve, &nothing, &port);
    probe_without_service(prober, port);
    http_server_free(server);
}

static void probe_http(void *arg)
{
    static const struct {
        const char *path;
        enum probe_result result;
        const char *output;
    } table[] = {
        {"/200", PROBE_SUCCESS, "said"},
        {"/399", PROBE_SUCCESS, "said"}, /* a redirect to nowhere else */
        {"/400", PROBE_FAILURE, "HTTP probe failed with statuscode: 400"},
        {"/503", PROBE_FAILURE, "HTTP probe failed with statuscode: 503"},
        {"/to/204", PROBE_SUCCESS, ""},
        {"/to/500", PROBE_FAILURE, "HTTP probe failed with statuscode: 500"},
        {"/slow", PROBE_FAILURE, "/slow\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"},
    };
    struct prober *prober = net_prober();
    int port;
    struct http_server *server = serve(answer_http, NULL, &port);

    (void)arg;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str output;
        struct prober_http request = {
            .host = STR("127.0.0.1"),
            .port = port,
            .path = str_of(table[i].path),
            .url = arena_printf(arena, "http://127.0.0.1:%d%s", port, table[i].path),
            .authority = STR("127.0.0.1"),
        };

        CHECK_INT(prober->ops->http(prober, &request, env_mono() + 300 * ENV_MS, arena, &output), table[i].result);
        CHECK(str_contains(output, str_of(table[i].output)));
    }
    http_server_free(server);
}

static void probe_tcp(void *arg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct prober *prober = net_prober();
    int64_t deadline = env_mono() + 2 * ENV_SECOND;
    struct str output;
    int port, nobody = closed_port();
    struct http_server *server = serve(answer_http, NULL, &port);

    (void)arg;
    CHECK_INT(prober->ops->tcp(prober, STR("127.0.0.1"), port, deadline, arena, &output), PROBE_SUCCESS);
    CHECK_STR(output, "");
    CHECK_INT(prober->ops->tcp(prober, STR("127.0.0.1"), nobody, deadline, arena, &output), PROBE_FAILURE);
    CHECK_STR(output, arena_printf(arena, "dial tcp 127.0.0.1:%d: connect: connection refused", nobody).p);
    CHECK_INT(prober->ops->grpc(prober, STR("127.0.0.1"), nobody, STR(""), deadline, arena, &output), PROBE_FAILURE);
    http_server_free(server);
}

static void run(void (*body)(void *arg))
{
    struct env *env = event_loop_new();

    event_loop_run_task(env, "test", body, NULL);
    event_loop_free(env);
}

TEST("kubelet/net_prober/asks gRPC's health service")
{
    run(probe_grpc);
}

TEST("kubelet/net_prober/takes HTTP answers and redirects as stock does")
{
    run(probe_http);
}

TEST("kubelet/net_prober/knows an open port")
{
    run(probe_tcp);
}
