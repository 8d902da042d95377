#include "apiserver/apiserver_main.h"

#include "apiserver/server.h"
#include "base/file.h"
#include "base/log.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "net/signals.h"
#include "store/lmdb.h"
#include "store/memory.h"

#include <signal.h>
#include <stdio.h>

enum { FILE_BYTES_MAX = 4 << 20 };

/* How long requests may go on once the server is told to stop. */
static const int64_t stop_grace = 5 * ENV_SECOND;

struct process {
    struct arena *arena;
    struct apiserver_options options;
    struct memory_disk *disk; /* of --storage=memory */
    struct store *store;
    struct tls_context *tls;
    struct http_server *http;
    struct apiserver *server;
    struct signals *signals;
    int exit_code;
};

static struct status *open_store(struct process *process)
{
    const struct apiserver_options *options = &process->options;
    struct store_options store = {.keep = options->compaction_interval};

    if (str_is(options->storage, "memory")) {
        process->disk = memory_disk_new();
        return store_open_memory(process->disk, &store, &process->store);
    }
    if (options->data_dir.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "--data-dir is required");
    }
    char *directory = arena_cstr(process->arena, options->data_dir);

    TRY(file_make_directories(directory, 0700));
    return store_open_lmdb(directory, &store, &process->store);
}

static struct status *read_file(struct process *process, struct str path, const char *flag, struct str *ret)
{
    *ret = (struct str){0};
    if (path.n == 0) {
        return NULL;
    }
    struct status *status = file_read(process->arena, arena_cstr(process->arena, path), FILE_BYTES_MAX, ret);

    return status == NULL ? NULL : status_while(status, "--%s", flag);
}

static struct status *open_tls(struct process *process)
{
    const struct apiserver_options *options = &process->options;
    struct tls_server_options tls = {.offers_http2 = true};

    if (options->tls_cert_file.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "--tls-cert-file and --tls-private-key-file are required");
    }
    TRY(read_file(process, options->tls_cert_file, "tls-cert-file", &tls.certificate));
    TRY(read_file(process, options->tls_private_key_file, "tls-private-key-file", &tls.key));
    TRY(read_file(process, options->client_ca_file, "client-ca-file", &tls.client_ca));
    return tls_server_new(&tls, &process->tls);
}

static void take_listener(struct process *process, struct listener *listener)
{
    process->server->port = listener_port(listener);
    log_info("listening on %s", listener_name(listener).text); /* for whoever asked for port 0 */
    http_server_listen(process->http, listener, process->tls);
}

static struct status *listen_on(struct process *process)
{
    const struct apiserver_options *options = &process->options;
    struct listener *listener;

    if (options->listen_fd >= 0) {
        TRY(listener_adopt((int)options->listen_fd, &listener));
        take_listener(process, listener);
        return NULL;
    }
    bool is_v6 = str_index(options->bind_address, ':') != SIZE_MAX;
    struct str address = arena_printf(process->arena, is_v6 ? "[%.*s]:%d" : "%.*s:%d", STR_ARG(options->bind_address),
                                      (int)options->secure_port);

    TRY(listener_open(address, 0, &listener));
    take_listener(process, listener);
    return NULL;
}

static struct status *start(struct process *process)
{
    const struct apiserver_options *options = &process->options;

    if (options->trace_dir.n != 0 && !trace_is_open()) {
        TRY(trace_open(arena_cstr(process->arena, options->trace_dir), "apiserver"));
    }
    TRY(open_tls(process));
    TRY(open_store(process));
    TRY(apiserver_new(options, TAKE(process->store), &process->server));
    process->http = http_server_new(apiserver_serve, process->server);
    TRY(listen_on(process));
    return apiserver_bootstrap(process->server);
}

static struct status *wait_for_signal(struct process *process)
{
    int number;

    log_info("ready");
    return signals_wait(process->signals, TASK_FOREVER, &number);
}

static struct status *stop(struct process *process)
{
    struct status *status = NULL;

    if (process->server != NULL) {
        apiserver_stop(process->server);
    }
    if (process->http != NULL) {
        http_server_stop(process->http, stop_grace);
        http_server_free(process->http);
    }
    if (process->server != NULL) {
        status = apiserver_free(process->server);
    } else if (process->store != NULL) {
        status = store_close(process->store);
    }
    tls_context_unref(process->tls);
    if (process->disk != NULL) {
        memory_disk_free(process->disk);
    }
    return status;
}

static void report(struct process *process, struct status *status)
{
    if (status != NULL) {
        log_error("%.*s", STR_ARG(status->message));
        status_free(status);
        process->exit_code = 1;
    }
}

static void run(void *arg)
{
    struct process *process = arg;
    struct status *status = start(process);

    status = status != NULL ? status : wait_for_signal(process);
    report(process, status);
    report(process, stop(process));
}

static struct status *parse(struct process *process, int argc, char **argv, bool *ret_help)
{
    struct flag_table table = apiserver_options_flags(&process->options);
    struct flags_result result = {0};

    TRY(flags_parse(&table, 1, argv + 1, (size_t)(argc - 1), true, process->arena, &result));
    *ret_help = result.wants_help;
    if (result.positional.len != 0) {
        return status_new(STATUS_BAD_REQUEST, "\"%s\" does not take any arguments, got [\"%.*s\"]", argv[0],
                          STR_ARG(result.positional.items[0]));
    }
    return result.wants_help ? NULL : apiserver_options_check(&process->options);
}

int apiserver_main(int argc, char **argv)
{
    static const int numbers[] = {SIGTERM, SIGINT, 0};
    struct process process = {.arena = arena_new()};
    bool wants_help = false;

    log_component("apiserver");
    apiserver_options_init(&process.options);
    struct status *status = parse(&process, argc, argv, &wants_help);

    if (status != NULL) {
        fprintf(stderr, "Error: %.*s\n", STR_ARG(status->message));
        status_free(status);
        arena_free(process.arena);
        return 1;
    }
    if (wants_help) {
        struct flag_table table = apiserver_options_flags(&process.options);
        struct str usage = flags_usage(&table, process.arena);

        printf("The Kubernetes API server of c8s.\n\nUsage:\n  %s [flags]\n\nFlags:\n%.*s", argv[0], STR_ARG(usage));
        arena_free(process.arena);
        return 0;
    }
    struct env *env = event_loop_new();

    status = signals_open(numbers, &process.signals);
    if (status == NULL) {
        event_loop_run_task(env, "apiserver", run, &process);
    }
    report(&process, status);
    signals_close(process.signals);
    event_loop_free(env);
    arena_free(process.arena);
    return process.exit_code;
}
