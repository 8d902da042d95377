#include "kubelet/probes.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/trace.h"
#include "cri/grpc.h"
#include "kubelet/hooks.h"
#include "kubelet/pod_status.h"
#include "kubelet/pod_workers.h"
#include "kubelet/status_manager.h"

#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS_MAX = 3, OUTPUT_BYTES_MAX = 10 * 1024 };

/* One probe of one container of a pod. */
struct probe_worker {
    struct probe_manager *manager;
    struct pod_ref *pod;
    struct str uid;
    const struct core_v1_container *container;
    enum plan_kind container_kind;
    enum probe_kind kind;
    const struct core_v1_probe *spec;
    struct probe_state state;
    char container_id[96]; /* the container the state is about; empty: none yet */
    bool is_stopped, is_traced;
    struct task *task; /* NULL when it has ended */
};

struct probe_manager {
    struct kubelet *kubelet;
    VEC(struct probe_worker *) workers;
};

struct probe_manager *probe_manager_new(struct kubelet *kubelet)
{
    struct probe_manager *manager = MEM_NEW(struct probe_manager);

    manager->kubelet = kubelet;
    return manager;
}

static void worker_free(struct probe_worker *worker)
{
    pod_unref(worker->pod);
    free(worker);
}

void probe_manager_free(struct probe_manager *manager)
{
    if (manager == NULL) {
        return;
    }
    for (size_t i = 0; i < manager->workers.len; i++) {
        worker_free(manager->workers.items[i]);
    }
    free(manager->workers.items);
    free(manager);
}

enum probe_result probe_manager_result(void *arg, struct str container_id, enum probe_kind kind)
{
    struct probe_manager *manager = arg;

    for (size_t i = 0; i < manager->workers.len; i++) {
        struct probe_worker *worker = manager->workers.items[i];

        if (worker->kind == kind && !worker->is_stopped && container_id.n > 0 &&
            str_is(container_id, worker->container_id)) {
            return worker->state.result;
        }
    }
    return PROBE_UNKNOWN;
}

/* The status of the worker's container that was reported last; NULL when there is none. */
static const struct core_v1_container_status *status_of(const struct probe_worker *worker)
{
    const struct core_v1_pod_status *status = status_manager_find(worker->manager->kubelet->statuses, worker->uid);

    if (status == NULL) {
        return NULL;
    }
    return worker->container_kind == PLAN_INIT
               ? container_status_find(status->init_container_statuses.items, status->init_container_statuses.len,
                                       worker->container->name)
               : container_status_find(status->container_statuses.items, status->container_statuses.len,
                                       worker->container->name);
}

static struct str pod_ip_of(const struct probe_worker *worker, struct arena *arena)
{
    const struct core_v1_pod_status *status = status_manager_find(worker->manager->kubelet->statuses, worker->uid);

    return status == NULL ? STR("") : arena_str(arena, status->pod_ip);
}

static enum probe_result run_exec(struct probe_worker *worker, struct arena *arena, int64_t timeout,
                                  struct str *ret_output)
{
    struct cri_v1_exec_sync_request request = {.container_id = str_of(worker->container_id),
                                               .cmd = worker->spec->probe_handler.exec->command,
                                               .timeout = timeout};
    struct cri_v1_exec_sync_response *response;
    struct status *error = cri_exec_sync(worker->manager->kubelet->cri, &request, arena, &response);

    if (error != NULL) {
        bool is_timeout = status_is(error, STATUS_TIMEOUT);

        *ret_output = is_timeout ? arena_printf(arena, "command timed out: \"%.*s\" timed out after %llds",
                                                STR_ARG(request.cmd.items[0]), (long long)timeout)
                                 : grpc_error_text(arena, error);
        status_free(error);
        return is_timeout ? PROBE_FAILURE : PROBE_UNKNOWN;
    }
    *ret_output = str_sub(arena_printf(arena, "%.*s%.*s", STR_ARG(response->stdout), STR_ARG(response->stderr)), 0,
                          OUTPUT_BYTES_MAX);
    return response->exit_code == 0 ? PROBE_SUCCESS : PROBE_FAILURE;
}

/* PROBE_UNKNOWN: it could not be carried out, which changes nothing. */
static enum probe_result run_once(struct probe_worker *worker, struct arena *arena, struct str *ret_output)
{
    struct prober *prober = worker->manager->kubelet->prober;
    const struct core_v1_probe_handler *handler = &worker->spec->probe_handler;
    int64_t timeout = MAX(worker->spec->timeout_seconds, 1), deadline = env_mono() + timeout * ENV_SECOND;
    struct str ip = pod_ip_of(worker, arena);

    *ret_output = STR("");
    if (handler->exec != NULL) {
        return run_exec(worker, arena, timeout, ret_output);
    }
    if (handler->http_get != NULL) {
        struct prober_http request;

        return http_get_make(arena, handler->http_get, worker->container, ip, "kube-probe/1.37", &request)
                   ? prober->ops->http(prober, &request, deadline, arena, ret_output)
                   : PROBE_UNKNOWN;
    }
    if (handler->tcp_socket != NULL) {
        int port = container_port_find(worker->container, &handler->tcp_socket->port);
        struct str host = handler->tcp_socket->host.n > 0 ? handler->tcp_socket->host : ip;

        return port < 0 ? PROBE_UNKNOWN : prober->ops->tcp(prober, host, port, deadline, arena, ret_output);
    }
    if (handler->grpc != NULL) {
        struct str service = handler->grpc->service != NULL ? *handler->grpc->service : STR("");

        return prober->ops->grpc(prober, ip, handler->grpc->port, service, deadline, arena, ret_output);
    }
    return PROBE_SUCCESS;
}

static enum probe_result run(struct probe_worker *worker)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet *kubelet = worker->manager->kubelet;
    enum probe_result result = PROBE_UNKNOWN;
    struct str output = STR("");
    int64_t from = env_wall();

    for (int i = 0; i < ATTEMPTS_MAX && result == PROBE_UNKNOWN && !task_is_cancelled(); i++) {
        result = run_once(worker, arena, &output);
    }
    if (task_is_cancelled() || worker->is_stopped) {
        return PROBE_UNKNOWN;
    }
    if (result == PROBE_UNKNOWN) {
        container_event(kubelet, worker->pod->pod, worker->container_kind, worker->container->name, "Warning",
                        "Unhealthy", "%s probe errored and resulted in %s state: %.*s", probe_kind_name(worker->kind),
                        "unknown", STR_ARG(output));
    } else if (result == PROBE_FAILURE) {
        container_event(kubelet, worker->pod->pod, worker->container_kind, worker->container->name, "Warning",
                        "Unhealthy", "%s probe failed: %.*s", probe_kind_name(worker->kind), STR_ARG(output));
    }
    if (result != PROBE_UNKNOWN && (!worker->is_traced || result == PROBE_FAILURE)) {
        worker->is_traced = result == PROBE_SUCCESS;
        kubelet_trace_pod(worker->pod->pod, TRACE_HOOKS_AND_PROBES, result == PROBE_SUCCESS ? TRACE_OK : TRACE_FAILED,
                          from, "%s probe of %.*s: %.*s", probe_kind_name(worker->kind),
                          STR_ARG(worker->container->name),
                          STR_ARG(result == PROBE_SUCCESS ? STR("ok") : str_sub(output, 0, 200)));
    }
    return result;
}

static struct str bare_id(struct str id)
{
    size_t at = str_find(id, STR("://"));

    return at == SIZE_MAX ? id : str_from(id, at + 3);
}

/* Takes in which container is meant now. Returns when it may be probed (env_mono): now or earlier, or never as things
 * stand. */
static int64_t look(struct probe_worker *worker)
{
    const struct core_v1_container_status *status = status_of(worker);

    if (status == NULL || status->container_id.n == 0) {
        return TASK_FOREVER;
    }
    struct str id = bare_id(status->container_id);

    if (!str_is(id, worker->container_id) && id.n < sizeof(worker->container_id)) {
        memcpy(worker->container_id, id.p, id.n);
        worker->container_id[id.n] = '\0';
        probe_state_start(&worker->state, worker->kind, MAX(worker->spec->success_threshold, 1),
                          MAX(worker->spec->failure_threshold, 1));
        pod_workers_wake(worker->manager->kubelet->workers, worker->uid);
    }
    /* Liveness and readiness wait for the startup probe; that one ends with its success. */
    bool is_started = status->started != NULL && *status->started;
    bool is_wanted = worker->kind == PROBE_STARTUP ? !is_started
                                                   : is_started || worker->container->startup_probe == NULL;

    if (worker->state.is_on_hold || status->state.running == NULL || !is_wanted) {
        return TASK_FOREVER;
    }
    int64_t age = env_wall() - status->state.running->started_at.seconds * ENV_SECOND;

    return env_mono() + MAX(worker->spec->initial_delay_seconds * ENV_SECOND - age, 0);
}

static bool is_over(const struct probe_worker *worker)
{
    const struct core_v1_pod_status *status = status_manager_find(worker->manager->kubelet->statuses, worker->uid);

    return worker->is_stopped || (status != NULL && pod_is_terminal(status));
}

static void probe_task(void *arg)
{
    struct probe_worker *worker = arg;
    int64_t period = MAX(worker->spec->period_seconds, 1) * ENV_SECOND, next = 0;

    while (!task_is_cancelled() && !is_over(worker)) {
        int64_t ripe = look(worker);
        int64_t at = MAX(ripe, next);

        if (at > env_mono()) {
            task_park(at);
            continue;
        }
        enum probe_result result = run(worker);

        next = env_mono() + period;
        if (result != PROBE_UNKNOWN && !worker->is_stopped && probe_state_take(&worker->state, result)) {
            pod_workers_wake(worker->manager->kubelet->workers, worker->uid);
        }
    }
    worker->task = NULL;
}

void probe_manager_wake(struct probe_manager *manager, struct str uid)
{
    for (size_t i = 0; i < manager->workers.len; i++) {
        struct probe_worker *worker = manager->workers.items[i];

        if (worker->task != NULL && str_eq(worker->uid, uid)) {
            task_wake(worker->task);
        }
    }
}

static const struct core_v1_probe *spec_of(const struct core_v1_container *container, enum probe_kind kind)
{
    return kind == PROBE_STARTUP     ? container->startup_probe
           : kind == PROBE_READINESS ? container->readiness_probe
                                     : container->liveness_probe;
}

static void add_worker(struct probe_manager *manager, struct pod_ref *pod, const struct pod_container *container,
                       enum probe_kind kind)
{
    struct probe_worker *worker = MEM_NEW(struct probe_worker);

    *worker = (struct probe_worker){
        .manager = manager,
        .pod = pod_ref(pod),
        .uid = pod->pod->metadata.uid,
        .container = container->spec,
        .container_kind = container->kind,
        .kind = kind,
        .spec = spec_of(container->spec, kind),
    };
    *VEC_ADD(&manager->workers) = worker;
    worker->task = task_group_spawn(&manager->kubelet->tasks, "probe", probe_task, worker);
}

static bool is_known(const struct probe_manager *manager, struct str uid)
{
    for (size_t i = 0; i < manager->workers.len; i++) {
        if (str_eq(manager->workers.items[i]->uid, uid)) {
            return true;
        }
    }
    return false;
}

void probe_manager_add(struct probe_manager *manager, struct pod_ref *pod)
{
    OWNED(arena_freep) struct arena *scratch = arena_new();
    struct pod_containers all = pod_all_containers(scratch, pod->pod);

    if (is_known(manager, pod->pod->metadata.uid)) {
        return;
    }
    LIST_EACH (container, &all) {
        if (container->kind == PLAN_EPHEMERAL ||
            (container->kind == PLAN_INIT && !container_is_sidecar(container->spec))) {
            continue;
        }
        for (enum probe_kind kind = PROBE_STARTUP; kind <= PROBE_LIVENESS; kind++) {
            if (spec_of(container->spec, kind) != NULL) {
                add_worker(manager, pod, container, kind);
            }
        }
    }
}

/* The worker's task sees that it is stopped and ends by itself; the struct is freed once it has. */
static void stop(struct probe_worker *worker)
{
    worker->is_stopped = true;
    if (worker->task != NULL) {
        task_cancel(worker->task);
    }
}

void probe_manager_stop_liveness(struct probe_manager *manager, struct str uid)
{
    for (size_t i = 0; i < manager->workers.len; i++) {
        if (str_eq(manager->workers.items[i]->uid, uid) && manager->workers.items[i]->kind != PROBE_READINESS) {
            stop(manager->workers.items[i]);
        }
    }
}

void probe_manager_remove(struct probe_manager *manager, struct str uid)
{
    for (size_t i = 0; i < manager->workers.len; i++) {
        if (str_eq(manager->workers.items[i]->uid, uid)) {
            stop(manager->workers.items[i]);
        }
    }
    /* Those whose tasks have ended go now, the others with a later removal or at the end. */
    for (size_t i = manager->workers.len; i-- > 0;) {
        struct probe_worker *worker = manager->workers.items[i];

        if (worker->is_stopped && worker->task == NULL) {
            worker_free(worker);
            VEC_REMOVE(&manager->workers, i);
        }
    }
}
