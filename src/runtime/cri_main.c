#include "runtime/cri_main.h"

#include "base/file.h"
#include "base/flags.h"
#include "base/log.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "net/signals.h"
#include "runtime/images/image_service.h"
#include "runtime/network_conf.h"
#include "runtime/own_plugin.h"
#include "runtime/service.h"
#include "runtime/shim/spawner.h"
#include "runtime/streaming.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#define STOP_GRACE (2 * ENV_SECOND)

struct cri_options {
    struct str root, state, socket, cni_conf_dir, cni_bin_dir, cluster_cidr, pod_cidr, registries, oci_runtimes;
};

static const struct flag flags[] = {
    FLAG(STRING, struct cri_options, root, "root", 0, "directory for images and containers"),
    FLAG(STRING, struct cri_options, state, "state", 0, "directory for what does not outlive the machine's running"),
    FLAG(STRING, struct cri_options, socket, "socket", 0, "unix socket to serve CRI on"),
    FLAG(STRING, struct cri_options, cni_conf_dir, "cni-conf-dir", 0, "directory of CNI network configurations"),
    FLAG(STRING, struct cri_options, cni_bin_dir, "cni-bin-dir", 0, "directories of CNI plugins, separated by colons"),
    FLAG(STRING, struct cri_options, cluster_cidr, "cluster-cidr", 0, "addresses of all pods of the cluster"),
    FLAG(STRING, struct cri_options, pod_cidr, "pod-cidr", 0,
         "addresses of this node's pods, when the kubelet is not to say"),
    FLAG(STRING, struct cri_options, oci_runtimes, "oci-runtimes", 0,
         "handlers of RuntimeClasses that are OCI runtimes: NAME or NAME=PROGRAM, separated by commas"),
    FLAG(STRING, struct cri_options, registries, "registries", 0, "file with registry mirrors and credentials"),
};

/* One run of the component. */
struct cri {
    struct arena *arena;
    struct cri_options options;
    struct runtime runtime;
    struct network_conf network_conf;
    struct image_service *images;
    struct grpc_methods *runtime_methods;
    struct http_server *server;
    int spawner_pidfd;
    bool is_spawner_gone;
    struct status *failure;
};

static void serve(struct http_exchange *exchange, void *arg)
{
    struct cri *cri = arg;

    grpc_serve(exchange, str_has_prefix(exchange->path, STR(IMAGE_SERVICE_PATH)) ? image_service_methods(cri->images)
                                                                               : cri->runtime_methods);
}

static struct status *take_pod_cidr(void *arg, struct str pod_cidr)
{
    struct cri *cri = arg;

    return network_conf_write(&cri->network_conf, pod_cidr);
}

static struct str machine_name(struct arena *arena)
{
    char name[65] = "localhost";

    gethostname(name, sizeof(name) - 1);
    return arena_str(arena, str_of(name));
}

static struct status *make_directories(struct cri *cri)
{
    TRY(file_make_directories(cri->runtime.root.p, 0711));
    return file_make_directories(cri->runtime.netns_directory.p, 0711);
}

static struct status *prepare(struct cri *cri)
{
    struct runtime *runtime = &cri->runtime;
    const struct cri_options *options = &cri->options;

    runtime->arena = cri->arena;
    runtime->root = arena_str(cri->arena, options->root);
    runtime->netns_directory = arena_printf(cri->arena, "%.*s/netns", STR_ARG(options->state));
    runtime->hostname = machine_name(cri->arena);
    runtime->oci_runtimes = arena_str(cri->arena, options->oci_runtimes);
    runtime->has_apparmor = file_exists("/sys/kernel/security/apparmor/profiles");
    runtime->network.conf_dir = options->cni_conf_dir;
    runtime->network.cache_dir = arena_printf(cri->arena, "%.*s/cni", STR_ARG(options->root));
    runtime->network.run_own = own_plugin_run;
    runtime->network.run_own_arg = runtime;
    for (struct str rest = options->cni_bin_dir, item; str_next(&rest, ':', &item);) {
        *LIST_ADD(cri->arena, &runtime->network.plugin_dirs) = item;
    }
    cri->network_conf = (struct network_conf){options->cni_conf_dir, runtime->network.plugin_dirs.items[0],
                                              options->cluster_cidr,
                                              arena_printf(cri->arena, "%.*s/networks",
                                                           STR_ARG(runtime->network.cache_dir))};
    runtime->on_pod_cidr = take_pod_cidr;
    runtime->on_pod_cidr_arg = cri;
    TRY(make_directories(cri));
    TRY(cgroup_machine_read(cri->arena, &runtime->machine));
    TRY(image_store_open(arena_printf(cri->arena, "%.*s/images", STR_ARG(options->root)), &runtime->images));
    return options->pod_cidr.n > 0 ? network_conf_write(&cri->network_conf, options->pod_cidr) : NULL;
}

static struct status *listen_on(struct cri *cri)
{
    struct str address = arena_printf(cri->arena, "unix:%.*s", STR_ARG(cri->options.socket));
    struct listener *listener;

    TRY(listener_open(address, 0600, &listener));
    cri->server = http_server_new(serve, cri);
    http_server_listen(cri->server, listener, NULL);
    return NULL;
}

/* Without it no pod can be made, and it can only be made while there are no threads: by whoever starts us anew. */
static void on_spawner_gone(void *arg, unsigned events)
{
    struct cri *cri = arg;

    if (!cri->is_spawner_gone) {
        cri->is_spawner_gone = true;
        kill(getpid(), SIGTERM);
    }
}

static struct status *run(struct cri *cri, struct signals *signals)
{
    struct image_service_options options = {.store = cri->runtime.images, .registries_file = cri->options.registries};
    int number;

    TRY(state_recover(&cri->runtime));
    state_sweep(&cri->runtime);
    TRY(image_service_new(&options, &cri->images));
    TRY(streaming_new(&cri->runtime, &cri->runtime.streaming));
    cri->runtime_methods = runtime_service_methods(&cri->runtime);
    TRY(listen_on(cri));
    log_info("serving CRI on %.*s, %zu sandboxes and %zu containers known", STR_ARG(cri->options.socket),
             cri->runtime.sandboxes.count, cri->runtime.containers.count);
    struct env_watch *watch = env_watch(cri->spawner_pidfd, ENV_READABLE, on_spawner_gone, cri);
    struct status *status = signals_wait(signals, TASK_FOREVER, &number);

    env_watch_stop(watch);
    TRY(status);
    if (cri->is_spawner_gone) {
        return status_new(STATUS_INTERNAL_ERROR, "the process that makes shims is gone");
    }
    log_info("ending by signal %d; containers go on", number);
    return NULL;
}

static void run_task(void *arg)
{
    static const int numbers[] = {SIGTERM, SIGINT, 0};
    struct cri *cri = arg;
    struct signals *signals = NULL;

    cri->failure = signals_open(numbers, &signals);
    if (cri->failure == NULL) {
        cri->failure = run(cri, signals);
    }
    if (cri->server != NULL) {
        http_server_stop(cri->server, STOP_GRACE);
        http_server_free(cri->server);
    }
    streaming_free(cri->runtime.streaming);
    image_service_free(cri->images);
    state_leave(&cri->runtime);
    signals_close(signals);
}

static int complain(struct status *failure)
{
    log_error("%.*s", STR_ARG(failure->message));
    status_free(failure);
    return 1;
}

static int run_cri(struct cri *cri)
{
    /* The spawner and all shims are made of this process as it is now: without threads, loop and connections. */
    struct status *failure = spawner_start(&cri->runtime.spawner, &cri->spawner_pidfd);

    if (failure != NULL) {
        return complain(failure);
    }
    struct env *env = event_loop_new();

    failure = prepare(cri);
    if (failure == NULL) {
        event_loop_run_task(env, "cri", run_task, cri);
        failure = cri->failure;
    }
    image_store_close(cri->runtime.images);
    event_loop_free(env);
    close(cri->runtime.spawner);
    close(cri->spawner_pidfd);
    return failure != NULL ? complain(failure) : 0;
}

int cri_main(int argc, char **argv)
{
    struct cri cri = {
        .arena = arena_new(),
        .options = {.root = STR("/var/lib/c8s/runtime"), .state = STR("/run/c8s"), .socket = STR("/run/c8s/cri.sock"),
                    .cni_conf_dir = STR("/etc/cni/net.d"), .cni_bin_dir = STR("/opt/cni/bin"),
                    .cluster_cidr = STR("10.42.0.0/16"), .oci_runtimes = STR("runc,crun,youki")},
    };
    struct flag_table table = {flags, COUNT_OF(flags), &cri.options};
    struct flags_result result;
    int code;

    log_component("cri");
    struct status *failure =
        flags_parse(&table, 1, argv + 1, (size_t)(argc > 0 ? argc - 1 : 0), false, cri.arena, &result);

    if (failure == NULL && result.positional.len > 0) {
        failure = status_new(STATUS_BAD_REQUEST, "unknown argument \"%.*s\"", STR_ARG(result.positional.items[0]));
    }
    if (failure != NULL) {
        code = complain(failure);
    } else if (result.wants_help) {
        printf("Usage: c8s cri [flags]\n\n%.*s", STR_ARG(flags_usage(&table, cri.arena)));
        code = 0;
    } else {
        code = run_cri(&cri);
    }
    arena_free(cri.arena);
    return code;
}
