#include "client/component_process.h"

#include "base/log.h"
#include "base/task.h"
#include "base/trace.h"
#include "client/kubeconfig.h"
#include "client/leader_election.h"
#include "net/event_loop.h"
#include "net/signals.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

struct options {
    struct str kubeconfig, master, trace_dir;
    bool leader_elect;
    struct str lease_name, lease_namespace;
    int64_t lease_duration, renew_deadline, retry_period;
};

#define OPTION(kind, member, name, help) FLAG(kind, struct options, member, name, 0, help)
static const struct flag common_flags[] = {
    OPTION(STRING, kubeconfig, "kubeconfig", "kubeconfig file that says how to reach the API server"),
    OPTION(STRING, master, "master", "address of the API server, instead of the kubeconfig's"),
    OPTION(STRING, trace_dir, "trace-dir", "directory of the flight recorder"),
    OPTION(BOOL, leader_elect, "leader-elect", "work only while holding the lease"),
    OPTION(STRING, lease_name, "leader-elect-resource-name", "name of the lease"),
    OPTION(STRING, lease_namespace, "leader-elect-resource-namespace", "namespace of the lease"),
    OPTION(DURATION, lease_duration, "leader-elect-lease-duration", "how long others wait after a renewal"),
    OPTION(DURATION, renew_deadline, "leader-elect-renew-deadline", "how long the leader tries to renew"),
    OPTION(DURATION, retry_period, "leader-elect-retry-period", "time between tries"),
    FLAG_IGNORE("leader-elect-resource-lock"),
    FLAG_IGNORE("authentication-kubeconfig"),
    FLAG_IGNORE("authorization-kubeconfig"),
    FLAG_IGNORE("bind-address"),
    FLAG_IGNORE("secure-port"),
    FLAG_IGNORE("kube-api-qps"),
    FLAG_IGNORE("kube-api-burst"),
    FLAG_IGNORE("v"),
};

struct process {
    const struct component_process *component;
    struct arena *arena;
    struct options options;
    struct component_clients clients;
    struct signals *signals;
    struct task *waiter;
    int exit_code;
};

static void work(void *arg)
{
    struct process *process = arg;

    process->component->run(&process->clients, process->component->flags.options);
}

static struct str identity(struct arena *arena)
{
    char host[256] = "";
    uint64_t random;

    if (gethostname(host, sizeof(host) - 1) != 0) {
        host[0] = '\0';
    }
    env_random(&random, sizeof(random));
    return arena_printf(arena, "%s_%016llx", host, (unsigned long long)random);
}

/* Works until cancelled, or until another has taken the lease: then the process ends, as stock's does. */
static void lead(void *arg)
{
    struct process *process = arg;
    const struct options *options = &process->options;

    if (!options->leader_elect) {
        work(process);
        return;
    }
    struct leader_election_options election = {
        .namespace = options->lease_namespace,
        .name = options->lease_name.n > 0 ? options->lease_name : str_of(process->component->name),
        .identity = identity(process->arena),
        .lease_duration = options->lease_duration,
        .renew_deadline = options->renew_deadline,
        .retry_period = options->retry_period,
    };
    struct status *status = leader_election_run(process->clients.own, &election, work, process);

    if (status != NULL) {
        log_error("leader election lost: %.*s", STR_ARG(status->message));
        status_free(status);
        process->exit_code = 1;
        task_cancel(process->waiter);
    }
}

static struct status *connect(struct process *process)
{
    const struct options *options = &process->options;
    struct str name = str_of(process->component->name);
    struct kubeconfig config;

    TRY(kubeconfig_load(&(struct kubeconfig_overrides){.path = options->kubeconfig, .server = options->master},
                        process->arena, &config));
    TRY(kubeconfig_connect(&config, name, &process->clients.own));
    config.certificate_pem = config.key_pem = config.token = config.token_path = (struct str){0};
    config.username = config.password = config.impersonate = (struct str){0};
    return kubeconfig_connect(&config, name, &process->clients.bare);
}

static struct status *run_until_signal(struct process *process)
{
    const struct options *options = &process->options;
    struct task_group group;
    int number;

    if (options->trace_dir.n > 0) {
        TRY(trace_open(arena_cstr(process->arena, options->trace_dir), process->component->trace_name));
    }
    TRY(connect(process));
    process->waiter = task_current();
    task_group_init(&group);
    task_group_spawn(&group, process->component->name, lead, process);
    struct status *status = signals_wait(process->signals, TASK_FOREVER, &number);

    task_group_cancel(&group);
    client_free(process->clients.bare);
    client_free(process->clients.own);
    return status_free_if(&status, STATUS_CANCELLED) ? NULL : status;
}

static void run(void *arg)
{
    struct process *process = arg;
    struct status *status = run_until_signal(process);

    if (status != NULL) {
        log_error("%.*s", STR_ARG(status->message));
        status_free(status);
        process->exit_code = 1;
    }
}

static struct status *parse(struct process *process, int argc, char **argv, bool *ret_help)
{
    const struct component_process *component = process->component;
    struct flag_table tables[] = {{common_flags, COUNT_OF(common_flags), &process->options}, component->flags};
    struct flags_result result = {0};

    TRY(flags_parse(tables, COUNT_OF(tables), argv + 1, (size_t)(argc - 1), true, process->arena, &result));
    *ret_help = result.wants_help;
    if (result.positional.len != 0) {
        return status_new(STATUS_BAD_REQUEST, "\"%s\" does not take any arguments, got [\"%.*s\"]", argv[0],
                          STR_ARG(result.positional.items[0]));
    }
    return component->check == NULL || result.wants_help ? NULL : component->check(component->flags.options);
}

static void print_help(struct process *process, const char *program)
{
    struct flag_table common = {common_flags, COUNT_OF(common_flags), &process->options};
    struct str own = flags_usage(&process->component->flags, process->arena);
    struct str usage = flags_usage(&common, process->arena);

    printf("%s\n\nUsage:\n  %s [flags]\n\nFlags:\n%.*s%.*s", process->component->about, program, STR_ARG(own),
           STR_ARG(usage));
}

int component_process_main(const struct component_process *component, int argc, char **argv)
{
    static const int numbers[] = {SIGTERM, SIGINT, 0};
    struct process process = {.component = component,
                              .arena = arena_new(),
                              .options = {.leader_elect = true, .lease_namespace = STR("kube-system")}};
    bool wants_help = false;

    log_component(component->trace_name);
    struct status *status = parse(&process, argc, argv, &wants_help);

    if (status != NULL || wants_help) {
        int code = status != NULL;

        if (status != NULL) {
            fprintf(stderr, "Error: %.*s\n", STR_ARG(status->message));
            status_free(status);
        } else {
            print_help(&process, argv[0]);
        }
        arena_free(process.arena);
        return code;
    }
    struct env *env = event_loop_new();

    status = signals_open(numbers, &process.signals);
    if (status == NULL) {
        event_loop_run_task(env, component->name, run, &process);
    } else {
        log_error("%.*s", STR_ARG(status->message));
        status_free(status);
        process.exit_code = 1;
    }
    signals_close(process.signals);
    event_loop_free(env);
    arena_free(process.arena);
    return process.exit_code;
}
