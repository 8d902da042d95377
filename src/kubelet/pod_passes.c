/* What a pod's worker does in one pass, by the state it is in (pod_worker.h). */
#include "base/env.h"
#include "base/log.h"
#include "base/planted.h"
#include "base/trace.h"
#include "kubelet/container_kill.h"
#include "kubelet/mirror_pods.h"
#include "kubelet/object_cache.h"
#include "kubelet/pod_admission.h"
#include "kubelet/pod_cgroups.h"
#include "kubelet/pod_resize.h"
#include "kubelet/pod_status.h"
#include "kubelet/pod_sync.h"
#include "kubelet/pod_worker.h"
#include "kubelet/probes.h"
#include "kubelet/runtime_fetch.h"
#include "kubelet/status_manager.h"
#include "kubelet/volumes/tokens.h"
#include "kubelet/volumes/volumes.h"
#include "schema/timestamp.h"

#define MIRROR_RETRY (2 * ENV_SECOND)
#define RESIZE_RETRY (10 * ENV_SECOND)

/* What one pass holds on to. */
struct pass {
    struct pod_worker *worker;
    struct kubelet *kubelet;
    struct arena *arena;
    struct pod_ref *pod; /* may be NULL */
    struct runtime_pod runtime;
};

static enum probe_result probe_of(void *arg, struct str container_id, enum probe_kind kind)
{
    const struct pod_worker *worker = arg;

    return probe_manager_result(worker->kubelet->probes, container_id, kind);
}

static bool problem_of(void *arg, struct str container, struct str *ret_reason, struct str *ret_message)
{
    const struct pod_worker *worker = arg;
    const struct pod_worker_problem *problem = map_find(&worker->problems, container);

    if (problem == NULL) {
        return false;
    }
    *ret_reason = str_of(problem->reason);
    *ret_message = str_of(problem->message);
    return true;
}

static bool is_resized(void *arg, struct str container_id)
{
    const struct pod_worker *worker = arg;

    return map_find(&worker->resized, container_id) != NULL;
}

static void make_status(struct pass *pass, bool is_terminal, struct core_v1_pod_status *ret)
{
    struct pod_worker *worker = pass->worker;
    const struct core_v1_pod_status *old = status_manager_find(pass->kubelet->statuses, worker->uid);
    struct pod_status_input input = {
        .pod = pass->pod->pod,
        .runtime = &pass->runtime,
        .old = old != NULL ? old : &pass->pod->pod->status,
        .is_terminal = is_terminal,
        .runtime_name = pass->kubelet->runtime_name,
        .host_ip = pass->kubelet->node_ip,
        .now = env_wall(),
        .probe = probe_of,
        .reason = problem_of,
        .arg = worker,
        .is_resized = is_resized,
        .resize_reason = worker->resize_reason,
        .resize_message = worker->resize_message,
        .resize_error = worker->resize_error,
        .failed_reason = worker->failed_reason,
        .failed_message = worker->failed_message,
        .disruption_reason = worker->disruption_reason,
        .disruption_message = worker->disruption_message,
    };

    pod_status_generate(pass->arena, &input, ret);
}

static void report(struct pass *pass, const struct core_v1_pod_status *status)
{
    status_manager_set(pass->kubelet->statuses, pass->pod, status);
    probe_manager_wake(pass->kubelet->probes, pass->worker->uid);
}

static struct status *fetch(struct pass *pass)
{
    TRY(runtime_pod_fetch(pass->kubelet, pass->worker->uid, pass->arena, &pass->runtime));
    pass->runtime.name = pass->worker->name;
    pass->runtime.namespace = pass->worker->namespace;
    return NULL;
}

/* Decides once whether the pod may run here. A pod that runs already has been let in before the kubelet was started. */
static bool admit(struct pass *pass)
{
    struct pod_worker *worker = pass->worker;
    struct pod_rejection rejection;
    int64_t from = env_wall();

    if (worker->is_admitted) {
        return true;
    }
    if (!runtime_pod_is_running(&pass->runtime) &&
        !pod_admission_check(pass->kubelet, pass->pod->pod, pass->arena, &rejection)) {
        pod_event(pass->kubelet, pass->pod->pod, "Warning", rejection.reason.p, "%.*s", STR_ARG(rejection.message));
        kubelet_trace_pod(pass->pod->pod, TRACE_POD_STATUS, TRACE_FAILED, from, "rejected: %.*s: %.*s",
                          STR_ARG(rejection.reason), STR_ARG(rejection.message));
        worker->failed_reason = arena_str(worker->arena, rejection.reason);
        worker->failed_message =
            arena_printf(worker->arena, "Pod was rejected: %.*s", STR_ARG(rejection.message));
        return false;
    }
    worker->is_admitted = true;
    kubelet_trace_pod(pass->pod->pod, TRACE_POD_STATUS, TRACE_OK, from, "admitted, %s",
                      qos_class_name(pod_qos(pass->pod->pod)));
    return true;
}

/* Whether the pod has run for longer than it may; else when that will be so (env_mono) is noted. */
static bool is_past_deadline(struct pass *pass, const struct core_v1_pod_status *status)
{
    const int64_t *seconds = pass->pod->pod->spec.active_deadline_seconds;

    if (seconds == NULL || status->start_time == NULL) {
        return false;
    }
    int64_t left = timestamp_nanos(*status->start_time) + *seconds * ENV_SECOND - env_wall();

    if (left > 0) {
        pass->worker->next_look = MIN(pass->worker->next_look, env_mono() + left);
        return false;
    }
    pass->worker->failed_reason = STR("DeadlineExceeded");
    pass->worker->failed_message = STR("Pod was active on the node longer than the specified deadline");
    pod_event(pass->kubelet, pass->pod->pod, "Normal", "DeadlineExceeded",
              "Pod was active on the node longer than the specified deadline");
    return true;
}

static void note_result(void *arg, struct str container, const struct start_problem *problem)
{
    pod_worker_set_problem(arg, container, problem->reason, problem->message);
}

/* Of each container the newest that is dead is kept, for its log and for what happened to it; older ones go. */
static void prune(struct pass *pass)
{
    for (size_t i = 0; i < pass->runtime.containers.len; i++) {
        const struct runtime_container *container = &pass->runtime.containers.items[i];
        int newer_dead = 0;

        for (size_t j = 0; j < i; j++) {
            const struct runtime_container *newer = &pass->runtime.containers.items[j];

            newer_dead += str_eq(newer->name, container->name) && newer->state == RUNTIME_EXITED;
        }
        if (container->state == RUNTIME_EXITED && newer_dead > 0) {
            struct cri_v1_remove_container_request request = {.container_id = container->id};
            struct cri_v1_remove_container_response *response;

            status_free(cri_remove_container(pass->kubelet->cri, &request, pass->arena, &response));
            if (container->log_path.n > 0) {
                status_free(host_remove(pass->kubelet->host, arena_cstr(pass->arena, container->log_path)));
            }
        }
    }
}

static void begin_end(struct pass *pass)
{
    if (pass->worker->state == WORKER_SYNCING) {
        pass->worker->state = WORKER_TERMINATING;
    }
}

/* A static pod whose manifest has changed is another pod of the same name: the old one must be over first. */
static struct status *wait_for_name(struct pass *pass)
{
    return !pod_workers_is_name_taken(pass->kubelet->workers, pass->pod->pod)
               ? NULL
               : status_new(STATUS_CONFLICT, "the static pod of that name is still being stopped");
}

/* A missing mirror does not keep the pod from running. */
static void keep_mirror(struct pass *pass)
{
    struct status *error = mirror_pods_ensure(pass->kubelet->mirrors, pass->pod->pod);

    if (error != NULL && !status_is(error, STATUS_CANCELLED)) {
        log_debug("mirror of static pod %.*s/%.*s: %.*s", STR_ARG(pass->worker->namespace), STR_ARG(pass->worker->name),
                  STR_ARG(error->message));
        pass->worker->next_look = MIN(pass->worker->next_look, env_mono() + MIRROR_RETRY);
    }
    status_free(error);
}

static void keep_text(struct pod_worker *worker, struct str *place, struct str text)
{
    if (!str_eq(*place, text)) {
        *place = arena_str(worker->arena, text);
    }
}

static void note_resized(void *arg, struct str container_id)
{
    struct pod_worker *worker = arg;

    map_set(&worker->resized, container_id, worker);
}

/* A change that cannot be made now is told, and looked at again. */
static void put_off(struct pass *pass, const struct pod_rejection *rejection)
{
    struct pod_worker *worker = pass->worker;

    if (!str_eq(worker->resize_reason, rejection->reason)) {
        pod_event(pass->kubelet, pass->pod->pod, "Warning",
                  str_is(rejection->reason, "Infeasible") ? "ResizeInfeasible" : "ResizeDeferred", "%.*s",
                  STR_ARG(rejection->message));
    }
    keep_text(worker, &worker->resize_reason, rejection->reason);
    keep_text(worker, &worker->resize_message, rejection->message);
    worker->next_look = MIN(worker->next_look, env_mono() + RESIZE_RETRY);
}

/* Gives running containers the resources their spec has by now. *ret_has_acted tells that some have changed. */
static struct status *resize(struct pass *pass, const struct core_v1_pod_status *status, bool *ret_has_acted)
{
    struct pod_worker *worker = pass->worker;
    struct resize_changes changes;
    struct pod_admission_facts facts;
    struct pod_rejection rejection = {STR(""), STR("")};
    struct status *error = NULL;

    *ret_has_acted = false;
    pod_resize_find(pass->arena, pass->pod->pod, &pass->runtime, status, &changes);
    if (changes.len > 0) {
        pod_admission_facts_of(pass->kubelet, pass->pod->pod, pass->arena, &facts);
        if (!pod_resize_fits(pass->arena, &facts, &rejection)) {
            *ret_has_acted = !str_eq(worker->resize_message, rejection.message);
            put_off(pass, &rejection);
            return NULL;
        }
        error = pod_resize(pass->kubelet, pass->pod->pod, &changes, note_resized, worker);
        *ret_has_acted = !task_is_cancelled();
    }
    *ret_has_acted = *ret_has_acted || worker->resize_reason.n > 0 || worker->resize_error.n > 0;
    worker->resize_reason = worker->resize_message = STR("");
    keep_text(worker, &worker->resize_error, error == NULL ? STR("") : error->message);
    return error;
}

static struct status *resize_and_report(struct pass *pass, struct core_v1_pod_status *status)
{
    bool has_acted;
    struct status *error = resize(pass, status, &has_acted);

    if (has_acted) {
        pass->runtime = (struct runtime_pod){0};
        struct status *second = fetch(pass);

        if (second != NULL) {
            status_free(error);
            return second;
        }
        make_status(pass, false, status);
        report(pass, status);
        map_done(&pass->worker->resized);
        pass->worker->resized = (struct map){0};
    }
    return error;
}

static struct status *sync(struct pass *pass)
{
    struct pod_worker *worker = pass->worker;
    struct core_v1_pod_status status;
    bool has_acted;

    TRY(fetch(pass));
    if (pod_is_static(pass->pod->pod)) {
        TRY(wait_for_name(pass));
        keep_mirror(pass);
    }
    bool is_let_in = admit(pass);

    make_status(pass, false, &status);
    bool is_late = is_let_in && is_past_deadline(pass, &status);

    if (is_late) {
        make_status(pass, false, &status);
    }
    report(pass, &status);
    if (!is_let_in || is_late || pod_is_terminal(&status)) {
        begin_end(pass);
        return NULL;
    }
    TRY(resize_and_report(pass, &status));
    struct status *error = pod_sync(pass->kubelet, pass->pod, &pass->runtime, &worker->memory, note_result, worker,
                                    &has_acted);

    if (has_acted && !task_is_cancelled()) {
        pass->runtime = (struct runtime_pod){0};
        struct status *second = fetch(pass);

        if (second != NULL) {
            status_free(second);
            return error;
        }
        make_status(pass, false, &status);
        report(pass, &status);
        prune(pass);
        worker->is_dirty = worker->is_dirty || error == NULL; /* what was started may have ended already */
    }
    return error;
}

struct status *pod_pass_sync(struct pod_worker *worker)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(pod_unrefp) struct pod_ref *pod = pod_ref(worker->pod);
    struct pass pass = {.worker = worker, .kubelet = worker->kubelet, .arena = arena, .pod = pod};

    return sync(&pass);
}

static int64_t grace_of(const struct pod_worker *worker)
{
    if (worker->pod == NULL) {
        return worker->grace_seconds;
    }
    const int64_t *deletion = worker->pod->pod->metadata.deletion_grace_period_seconds;

    return worker->grace_seconds < 0  ? -1
           : deletion != NULL && *deletion < worker->grace_seconds ? *deletion
                                                                   : worker->grace_seconds;
}

static struct status *terminate(struct pass *pass)
{
    struct pod_worker *worker = pass->worker;
    struct core_v1_pod_status status;

    if (planted(KUBELET_FORGETS_DELETED)) {
        worker->state = WORKER_TERMINATED;
        return NULL;
    }
    TRY(fetch(pass));
    if (pass->pod != NULL) {
        make_status(pass, false, &status);
        report(pass, &status);
    }
    probe_manager_stop_liveness(pass->kubelet->probes, worker->uid);
    TRY(pod_kill(pass->kubelet, pass->pod != NULL ? pass->pod->pod : NULL, &pass->runtime, grace_of(worker)));
    probe_manager_remove(pass->kubelet->probes, worker->uid);
    pass->runtime = (struct runtime_pod){0};
    TRY(fetch(pass));
    LIST_EACH (container, &pass->runtime.containers) {
        if (container->state == RUNTIME_RUNNING) {
            return status_new(STATUS_INTERNAL_ERROR, "container %.*s still runs after it was stopped",
                              STR_ARG(container->name));
        }
    }
    if (pass->pod != NULL) {
        make_status(pass, true, &status);
        report(pass, &status);
    }
    worker->state = WORKER_TERMINATED;
    return NULL;
}

struct status *pod_pass_terminating(struct pod_worker *worker)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(pod_unrefp) struct pod_ref *pod = worker->pod != NULL ? pod_ref(worker->pod) : NULL;
    struct pass pass = {.worker = worker, .kubelet = worker->kubelet, .arena = arena, .pod = pod};

    return terminate(&pass);
}

static struct status *remove_containers(struct pass *pass)
{
    TRY(fetch(pass));
    LIST_EACH (container, &pass->runtime.containers) {
        struct cri_v1_remove_container_request request = {.container_id = container->id};
        struct cri_v1_remove_container_response *response;
        struct status *error = cri_remove_container(pass->kubelet->cri, &request, pass->arena, &response);

        if (error != NULL && !status_free_if(&error, STATUS_NOT_FOUND)) {
            return error;
        }
    }
    LIST_EACH (sandbox, &pass->runtime.sandboxes) {
        struct cri_v1_remove_pod_sandbox_request request = {.pod_sandbox_id = sandbox->id};
        struct cri_v1_remove_pod_sandbox_response *response;
        struct status *error = cri_remove_pod_sandbox(pass->kubelet->cri, &request, pass->arena, &response);

        if (error != NULL && !status_free_if(&error, STATUS_NOT_FOUND)) {
            return error;
        }
    }
    return NULL;
}

static void remove_logs(struct pass *pass)
{
    const struct pod_worker *worker = pass->worker;
    struct kubelet *kubelet = pass->kubelet;
    struct str directory = arena_printf(pass->arena, "%.*s/%.*s_%.*s_%.*s", STR_ARG(kubelet->options.pod_logs_dir),
                                        STR_ARG(worker->namespace), STR_ARG(worker->name), STR_ARG(worker->uid));
    struct str prefix =
        arena_printf(pass->arena, "%.*s_%.*s_", STR_ARG(worker->name), STR_ARG(worker->namespace));
    struct host_names links = {0};

    status_free(host_remove(kubelet->host, directory.p));
    if (kubelet->options.container_logs_dir.n == 0) {
        return;
    }
    status_free(host_list(kubelet->host, kubelet->options.container_logs_dir.p, pass->arena, &links));
    LIST_EACH (link, &links) {
        const char *path = arena_printf(pass->arena, "%.*s/%.*s", STR_ARG(kubelet->options.container_logs_dir),
                                        STR_ARG(*link))
                               .p;
        struct str target;
        struct status *error = str_has_prefix(*link, prefix) ? host_read_link(kubelet->host, path, pass->arena, &target)
                                                             : status_new(STATUS_NOT_FOUND, "another pod's");

        if (error == NULL && str_has_prefix(target, directory)) {
            error = host_remove(kubelet->host, path);
        }
        status_free(error);
    }
}

static struct status *remove_all(struct pass *pass)
{
    struct pod_worker *worker = pass->worker;
    struct kubelet *kubelet = pass->kubelet;
    bool is_deleted = pod_worker_is_deleted(worker);

    TRY(pod_cgroup_remove(kubelet, worker->uid));
    TRY(volumes_tear_down(kubelet, worker->uid)); /* the directory goes last: housekeeping.c */
    object_cache_forget(kubelet->objects, worker->uid);
    token_manager_forget(kubelet->tokens, worker->uid);
    if (is_deleted && !planted(KUBELET_FORGETS_DELETED)) {
        TRY(remove_containers(pass));
        remove_logs(pass);
    }
    if (is_deleted) {
        backoff_forget_prefix(&kubelet->crash_backoff,
                              arena_printf(pass->arena, "%.*s_%.*s_%.*s_", STR_ARG(worker->name),
                                           STR_ARG(worker->namespace), STR_ARG(worker->uid)));
        worker->is_removed = true;
    }
    if (pass->pod != NULL && pod_is_static(pass->pod->pod)) {
        if (is_deleted && !pod_workers_is_name_taken(kubelet->workers, pass->pod->pod)) {
            TRY(mirror_pods_delete(kubelet->mirrors, worker->namespace, worker->name));
        }
    } else if (pass->pod != NULL && !worker->is_gone) {
        status_manager_finish(kubelet->statuses, pass->pod);
    }
    worker->state = WORKER_FINISHED;
    return NULL;
}

struct status *pod_pass_terminated(struct pod_worker *worker)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(pod_unrefp) struct pod_ref *pod = worker->pod != NULL ? pod_ref(worker->pod) : NULL;
    struct pass pass = {.worker = worker, .kubelet = worker->kubelet, .arena = arena, .pod = pod};

    return remove_all(&pass);
}
