#include "kubelet/kubelet_main.h"

#include "base/log.h"
#include "base/version.h"
#include "client/kubeconfig.h"
#include "kubelet/context.h"
#include "kubelet/kubelet_flags.h"
#include "kubelet/serving_files.h"
#include "net/event_loop.h"
#include "net/signals.h"

#include <signal.h>
#include <stdio.h>

struct process {
    struct arena *arena;
    struct kubelet_settings settings;
    struct client *client;
    struct cri *cri;
    struct host *host;
    struct kubelet *kubelet;
    struct kubelet_server *server;
    struct signals *signals;
    int exit_code;
};

static struct status *open_client(struct process *process)
{
    if (process->settings.kubeconfig.n == 0) {
        log_warn("no --kubeconfig: only static pods will run");
        return NULL;
    }
    struct kubeconfig_overrides overrides = {.path = process->settings.kubeconfig};
    struct kubeconfig config;

    TRY(kubeconfig_load(&overrides, process->arena, &config));
    return kubeconfig_connect(&config, STR("kubelet/" KUBERNETES_VERSION " c8s"), &process->client);
}

static struct status *open_parts(struct process *process)
{
    static const int numbers[] = {SIGTERM, SIGINT, 0};

    TRY(signals_open(numbers, &process->signals));
    TRY(open_client(process));
    TRY(cri_grpc_new(process->settings.endpoint, &process->cri));
    process->host = linux_host_new();
    process->kubelet = kubelet_new(&process->settings.options, process->client, process->cri, process->host);
    return NULL;
}

static struct status *start_server(struct process *process)
{
    const struct kubelet_settings *settings = &process->settings;
    struct kubelet_server_options options = {
        .address = settings->address,
        .port = (int)settings->options.port,
        .healthz_address = settings->healthz_address,
        .healthz_port = (int)settings->healthz_port,
        .anonymous = settings->anonymous_auth,
        .token_review = settings->token_webhook,
        .always_allow = str_is(settings->authorization_mode, "AlwaysAllow"),
        .authorized_ttl = settings->authorized_ttl,
        .unauthorized_ttl = settings->unauthorized_ttl,
    };

    if (!settings->options.enable_server) {
        return NULL;
    }
    TRY(serving_files_read(settings, process->kubelet->node_name, process->kubelet->node_ip, process->arena, &options));
    TRY(kubelet_server_start(process->kubelet, &options, &process->server));
    log_info("serving on port %d", kubelet_server_port(process->server));
    return NULL;
}

static struct status *start(struct process *process)
{
    TRY(kubelet_start(process->kubelet));
    return start_server(process);
}

static void start_task(void *arg)
{
    struct process *process = arg;
    struct status *error = start(process);

    if (error != NULL && !status_is(error, STATUS_CANCELLED)) {
        log_error("%.*s", STR_ARG(error->message));
        process->exit_code = 1;
        raise(SIGTERM);
    }
    status_free(error);
}

static struct status *run(struct process *process)
{
    struct task_group starting;
    int number;

    TRY(open_parts(process));
    task_group_init(&starting);
    task_group_spawn(&starting, "kubelet-start", start_task, process);
    TRY(signals_wait(process->signals, TASK_FOREVER, &number));
    log_info("ending: signal %d", number);
    task_group_cancel(&starting);
    kubelet_server_free(process->server);
    kubelet_stop(process->kubelet);
    return NULL;
}

static void run_task(void *arg)
{
    struct process *process = arg;
    struct status *error = run(process);

    if (error != NULL) {
        log_error("%.*s", STR_ARG(error->message));
        process->exit_code = 1;
    }
    status_free(error);
    kubelet_free(process->kubelet);
    host_free(process->host);
    cri_free(process->cri);
    client_free(process->client);
    signals_close(process->signals);
}

int kubelet_main(int argc, char **argv)
{
    struct process process = {.arena = arena_new()};
    struct status *error = kubelet_settings_read(argv + 1, argc > 0 ? (size_t)argc - 1 : 0, process.arena,
                                                 &process.settings);

    log_component("kubelet");
    if (error != NULL) {
        fprintf(stderr, "Error: %.*s\n", STR_ARG(error->message));
        process.exit_code = 1;
    } else if (process.settings.wants_help) {
        printf("Runs the pods of one node.\n\nUsage: kubelet [flags]\n\nFlags:\n%.*s",
               STR_ARG(kubelet_flags_usage(process.arena)));
    } else if (process.settings.wants_version) {
        printf("Kubernetes %s\n", KUBERNETES_VERSION);
    } else {
        log_level(process.settings.verbosity >= 4 ? LOG_DEBUG : LOG_INFO);
        struct env *env = event_loop_new();

        event_loop_run_task(env, "kubelet", run_task, &process);
        event_loop_free(env);
    }
    status_free(error);
    arena_free(process.arena);
    return process.exit_code;
}
