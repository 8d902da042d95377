#include "main/stop.h"

#include "base/file.h"
#include "base/log.h"
#include "cri/grpc.h"
#include "kubelet/pod_leftovers.h"
#include "main/components.h"
#include "net/event_loop.h"
#include "schema/cri_v1.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNTIME_STARTS_WITHIN (10 * ENV_SECOND)
#define CALL_TAKES_AT_MOST (60 * ENV_SECOND)

enum { SERVER_ENDS_WITHIN_MS = 90 * 1000 };

/* Waits until the server has ended, so that nothing starts containers again while we end them. */
static struct status *stop_server(const struct places *places)
{
    pid_t pid = places_running(places);

    if (pid == 0) {
        return NULL;
    }
    int pidfd = pidfd_open(pid, 0);

    if (pidfd < 0) {
        return errno == ESRCH ? NULL : status_errno(errno, "looking at the server, pid %d", (int)pid);
    }
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    bool signalled = kill(pid, SIGTERM) == 0;
    int error = errno;
    int ready = signalled ? poll(&ended, 1, SERVER_ENDS_WITHIN_MS) : 0;

    close(pidfd);
    if (!signalled) {
        return status_errno(error, "ending the server, pid %d", (int)pid);
    }
    return ready == 1 ? NULL : status_new(STATUS_TIMEOUT, "the server, pid %d, does not end", (int)pid);
}

struct stopping {
    const struct places *places;
    struct arena *arena;
    size_t stopped;
    struct status *status;
};

static struct status *remove_sandbox(struct grpc_client *client, struct arena *arena, struct str id)
{
    struct cri_v1_stop_pod_sandbox_request stop = {.pod_sandbox_id = id};
    struct cri_v1_stop_pod_sandbox_response stopped = {0};
    struct cri_v1_remove_pod_sandbox_request remove = {.pod_sandbox_id = id};
    struct cri_v1_remove_pod_sandbox_response removed = {0};

    TRY(grpc_call(client, arena, &cri_v1_runtime_service_stop_pod_sandbox_rpc, &stop, &stopped,
                  env_mono() + CALL_TAKES_AT_MOST));
    return grpc_call(client, arena, &cri_v1_runtime_service_remove_pod_sandbox_rpc, &remove, &removed,
                     env_mono() + CALL_TAKES_AT_MOST);
}

/* The runtime was started a moment ago: until it listens there is nobody to ask. */
static struct status *list_sandboxes(struct grpc_client *client, struct arena *arena,
                                     struct cri_v1_list_pod_sandbox_response *ret)
{
    const struct cri_v1_list_pod_sandbox_request request = {0};
    int64_t deadline = env_mono() + RUNTIME_STARTS_WITHIN;

    for (;;) {
        struct status *status = grpc_call(client, arena, &cri_v1_runtime_service_list_pod_sandbox_rpc, &request, ret,
                                          env_mono() + CALL_TAKES_AT_MOST);

        if (!status_is(status, STATUS_SERVICE_UNAVAILABLE) || env_mono() > deadline) {
            return status;
        }
        status_free(status);
        task_sleep(20 * ENV_MS);
    }
}

static struct status *remove_all(struct stopping *stopping)
{
    struct grpc_client *client;
    struct cri_v1_list_pod_sandbox_response response = {0};

    TRY(grpc_client_new(stopping->places->cri_socket, &client));
    struct status *status = list_sandboxes(client, stopping->arena, &response);

    LIST_EACH(sandbox, &response.items)
    {
        if (status == NULL) {
            status = remove_sandbox(client, stopping->arena, sandbox->id);
            stopping->stopped += status == NULL;
        }
    }
    grpc_client_free(client);
    return status;
}

static void remove_all_task(void *arg)
{
    struct stopping *stopping = arg;

    stopping->status = remove_all(stopping);
    if (stopping->status == NULL) {
        struct host *host = linux_host_new();

        stopping->status = pod_leftovers_release(host, stopping->places->kubelet, STR("/"));
        host_free(host);
    }
}

/* The runtime knows how containers end, so it is started once more, for this alone. */
static struct status *stop_containers(const struct server_options *options, struct places *places, struct arena *arena,
                                      size_t *ret_stopped)
{
    struct cluster cluster = {.options = options, .places = places, .listen_fd = -1};
    struct component components[COMPONENTS_MAX];
    struct component *runtime = NULL;
    struct stopping stopping = {.places = places, .arena = arena};
    size_t count;

    TRY(components_of(&cluster, arena, components, &count));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(components[i].name, "cri") == 0) {
            runtime = &components[i];
        }
    }
    if (runtime == NULL || geteuid() != 0 || !file_exists(places->runtime.p)) {
        return NULL;
    }
    pid_t pid = component_fork(runtime);

    if (pid < 0) {
        return status_errno(errno, "starting the runtime");
    }
    struct env *env = event_loop_new();

    event_loop_run_task(env, "stop", remove_all_task, &stopping);
    event_loop_free(env);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    *ret_stopped = stopping.stopped;
    return stopping.status;
}

/* As the server was told, then as we are: where its CNI plugins are, say, only its arguments tell. */
static struct status *parse(int argc, char **argv, struct arena *arena, struct server_options *ret, bool *ret_wants_help)
{
    TRY(server_options_parse(argc, argv, arena, ret, ret_wants_help));
    struct places places = places_of(arena, ret->data_dir);

    TRY(server_arguments_join(places.arguments.p, argc, argv, arena, &argc, &argv));
    return server_options_parse(argc, argv, arena, ret, &(bool){false});
}

static struct status *stop(const struct server_options *options, struct arena *arena)
{
    struct places places = places_of(arena, options->data_dir);
    int lock_fd;
    size_t stopped = 0;

    TRY(stop_server(&places));
    if (!file_exists(places.data.p)) {
        return status_new(STATUS_NOT_FOUND, "there is no %s", places.data.p);
    }
    TRY(places_make(&places, 0, geteuid() == 0)); /* the run directory is gone after a reboot */
    TRY(places_lock(&places, &lock_fd));          /* no server of this directory may start meanwhile */
    TRY(stop_containers(options, &places, arena, &stopped));
    printf("stopped the cluster of %s and %zu pods\n", places.data.p, stopped);
    return NULL;
}

int stop_main(int argc, char **argv)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct server_options options;
    bool wants_help = false;

    log_component("stop");
    log_level(LOG_WARN);
    struct status *status = parse(argc, argv, arena, &options, &wants_help);

    if (status == NULL && wants_help) {
        printf("Ends the server of a data directory and all of its containers.\n\nUsage: c8s stop [--data-dir DIR]\n");
        return 0;
    }
    if (status == NULL) {
        status = stop(&options, arena);
    }
    if (status != NULL) {
        fprintf(stderr, "c8s stop: %.*s\n", STR_ARG(status->message));
        status_free(status);
        return 1;
    }
    return 0;
}
