#include "kubelet/pod_workers.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/trace.h"
#include "kubelet/pod_worker.h"
#include "kubelet/status_manager.h"
#include "schema/copy.h"
#include "schema/map_of.h"

#include <stdlib.h>

/* A pass that failed is tried again after a second, twice that, and so on up to stock's ten. */
enum { RETRY_SECONDS_MAX = 10 };

struct pod_workers {
    struct kubelet *kubelet;
    struct map workers; /* by UID */
};

struct pod_workers *pod_workers_new(struct kubelet *kubelet)
{
    struct pod_workers *workers = MEM_NEW(struct pod_workers);

    workers->kubelet = kubelet;
    return workers;
}

static void problem_free(struct pod_worker_problem *problem)
{
    if (problem != NULL) {
        free(problem->reason);
        free(problem->message);
        free(problem);
    }
}

static void worker_free(struct pod_worker *worker)
{
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&worker->problems, &at)) != NULL;) {
        problem_free(e->value);
    }
    map_done(&worker->problems);
    map_done(&worker->resized);
    pod_unref(worker->pod);
    arena_free(worker->arena);
    free(worker);
}

void pod_workers_free(struct pod_workers *workers)
{
    size_t at = 0;

    if (workers == NULL) {
        return;
    }
    for (struct map_entry *e; (e = map_next(&workers->workers, &at)) != NULL;) {
        worker_free(e->value);
    }
    map_done(&workers->workers);
    free(workers);
}

static char *text_of(struct str s)
{
    char *text = mem_zalloc(s.n + 1);

    __builtin_memcpy(text, s.n > 0 ? s.p : "", s.n);
    return text;
}

void pod_worker_set_problem(struct pod_worker *worker, struct str container, struct str reason, struct str message)
{
    struct pod_worker_problem *problem = NULL;

    if (reason.n > 0) {
        problem = MEM_NEW(struct pod_worker_problem);
        *problem = (struct pod_worker_problem){text_of(reason), text_of(message)};
    }
    problem_free(problem != NULL ? map_set(&worker->problems, container, problem)
                                 : map_remove(&worker->problems, container));
}

/* One pass in a task of its own, so that it can be given up when something else is to be done. */
struct job {
    struct pod_worker *worker;
    struct status *error;
};

static void job_task(void *arg)
{
    struct job *job = arg;
    struct pod_worker *worker = job->worker;

    job->error = worker->state == WORKER_SYNCING       ? pod_pass_sync(worker)
                 : worker->state == WORKER_TERMINATING ? pod_pass_terminating(worker)
                                                       : pod_pass_terminated(worker);
}

static struct status *run_pass(struct pod_worker *worker)
{
    struct job job = {.worker = worker};

    worker->is_interrupted = false;
    task_group_spawn(&worker->jobs, "pod-pass", job_task, &job);
    while (!task_group_empty(&worker->jobs)) {
        bool is_signalled = cond_wait(&worker->jobs.ended, TASK_FOREVER);

        if (!task_group_empty(&worker->jobs) && (worker->is_interrupted || !is_signalled)) {
            task_group_cancel(&worker->jobs);
        }
    }
    return job.error;
}

/* What happens now makes no sense any more, or the pod is to be looked at. */
static void nudge(struct pod_worker *worker, bool interrupts)
{
    worker->is_dirty = true;
    if (interrupts) {
        worker->is_interrupted = true;
        cond_broadcast(&worker->jobs.ended);
    }
    if (worker->task != NULL) {
        task_wake(worker->task);
    }
}

bool pod_worker_is_deleted(const struct pod_worker *worker)
{
    return worker->is_gone || worker->pod == NULL || worker->pod->pod->metadata.deletion_timestamp != NULL;
}

/* A pod that is over keeps its dead containers until it is deleted. */
static bool must_be_removed(const struct pod_worker *worker)
{
    return pod_worker_is_deleted(worker) && !worker->is_removed;
}

static bool is_forgotten(const struct pod_worker *worker)
{
    return worker->state == WORKER_FINISHED && worker->is_gone && worker->is_removed;
}

static void work(struct pod_worker *worker)
{
    enum pod_worker_state before = worker->state;
    struct status *error = run_pass(worker);
    int64_t delay = worker->kubelet->options.sync_frequency;

    if (error == NULL) {
        worker->failures = 0;
        worker->is_dirty = worker->is_dirty || worker->state != before;
    } else if (status_is(error, STATUS_CANCELLED) || worker->is_interrupted) {
        worker->is_dirty = true;
    } else {
        int seconds = 1 << MIN(worker->failures, 4);

        log_info("pod %.*s/%.*s: %.*s", STR_ARG(worker->namespace), STR_ARG(worker->name), STR_ARG(error->message));
        worker->failures++;
        delay = MIN(seconds, RETRY_SECONDS_MAX) * ENV_SECOND;
    }
    status_free(error);
    worker->next_look = MIN(worker->next_look, env_mono() + delay);
}

static void worker_task(void *arg)
{
    struct pod_worker *worker = arg;
    struct kubelet *kubelet = worker->kubelet;

    while (!task_is_cancelled() && !is_forgotten(worker)) {
        if (worker->state == WORKER_FINISHED && must_be_removed(worker)) {
            worker->state = WORKER_TERMINATED;
            worker->is_dirty = true;
        } else if (worker->state == WORKER_FINISHED) {
            task_park(TASK_FOREVER);
        } else if (worker->is_dirty || env_mono() >= worker->next_look) {
            worker->is_dirty = false;
            worker->next_look = TASK_FOREVER;
            work(worker);
        } else {
            task_park(worker->next_look);
        }
    }
    worker->task = NULL;
    if (is_forgotten(worker)) {
        status_manager_forget(kubelet->statuses, worker->uid);
        map_remove(&kubelet->workers->workers, worker->uid);
        worker_free(worker);
    }
}

static struct pod_worker *start_worker(struct pod_workers *workers, struct str uid, struct str namespace,
                                       struct str name)
{
    struct pod_worker *worker = MEM_NEW(struct pod_worker);
    struct arena *arena = arena_new();

    *worker = (struct pod_worker){
        .kubelet = workers->kubelet,
        .arena = arena,
        .uid = arena_str(arena, uid),
        .name = arena_str(arena, name),
        .namespace = arena_str(arena, namespace),
        .is_dirty = true,
        .grace_seconds = -1,
        .next_look = TASK_FOREVER,
    };
    task_group_init(&worker->jobs);
    map_set(&workers->workers, uid, worker);
    worker->task = task_group_spawn(&workers->kubelet->tasks, "pod-worker", worker_task, worker);
    return worker;
}

static int64_t grace_of(const struct core_v1_pod *pod)
{
    return pod->metadata.deletion_grace_period_seconds != NULL ? *pod->metadata.deletion_grace_period_seconds
                                                               : INT64_MAX;
}

/* From now on the pod is to end. */
static void end(struct pod_worker *worker)
{
    if (worker->state == WORKER_SYNCING) {
        worker->state = WORKER_TERMINATING;
        nudge(worker, true);
    }
}

/* More than the status is another: most changes of a pod are what we wrote ourselves. */
static bool is_changed(const struct core_v1_pod *old, const struct core_v1_pod *new)
{
    return !schema_equal(&core_v1_pod_spec_type, &old->spec, &new->spec) ||
           !str_map_equal(&old->metadata.labels, &new->metadata.labels) ||
           !str_map_equal(&old->metadata.annotations, &new->metadata.annotations) ||
           grace_of(old) != grace_of(new) ||
           (old->metadata.deletion_timestamp != NULL) != (new->metadata.deletion_timestamp != NULL) ||
           pod_is_terminal(&old->status) != pod_is_terminal(&new->status);
}

void pod_workers_update(struct pod_workers *workers, struct pod_ref *pod)
{
    const struct core_v1_pod *object = pod->pod;
    struct pod_worker *worker = map_find(&workers->workers, object->metadata.uid);
    int64_t now = env_wall(), old_grace = INT64_MAX;
    bool is_news = true;

    if (worker == NULL) {
        worker = start_worker(workers, object->metadata.uid, object->metadata.namespace, object->metadata.name);
        kubelet_trace_pod(object, TRACE_POD_OBSERVED, TRACE_OK, now, "resourceVersion %.*s",
                          STR_ARG(object->metadata.resource_version));
    } else if (worker->pod != NULL) {
        old_grace = grace_of(worker->pod->pod);
        is_news = is_changed(worker->pod->pod, object);
    }
    struct pod_ref *old = worker->pod;

    worker->pod = pod_ref(pod);
    pod_unref(old);
    status_manager_observe(workers->kubelet->statuses, pod);
    if (object->metadata.deletion_timestamp != NULL || pod_is_terminal(&object->status)) {
        end(worker);
    }
    /* A grace period may be made shorter while the pod is being stopped. */
    if (is_news) {
        nudge(worker, worker->state == WORKER_TERMINATING && grace_of(object) < old_grace);
    }
}

void pod_workers_remove(struct pod_workers *workers, struct str uid)
{
    struct pod_worker *worker = map_find(&workers->workers, uid);

    if (worker == NULL || worker->is_gone) {
        return;
    }
    worker->is_gone = true;
    end(worker);
    nudge(worker, false);
}

void pod_workers_orphan(struct pod_workers *workers, struct str uid, struct str name, struct str namespace)
{
    if (map_find(&workers->workers, uid) == NULL) {
        struct pod_worker *worker = start_worker(workers, uid, namespace, name);

        worker->state = WORKER_TERMINATING;
        worker->is_gone = true;
    }
}

void pod_workers_wake(struct pod_workers *workers, struct str uid)
{
    struct pod_worker *worker = map_find(&workers->workers, uid);

    if (worker != NULL) {
        nudge(worker, false);
    }
}

bool pod_workers_evict(struct pod_workers *workers, struct str uid, struct str reason, struct str message,
                       int64_t grace_seconds)
{
    struct pod_worker *worker = map_find(&workers->workers, uid);

    if (worker == NULL || worker->state != WORKER_SYNCING || worker->pod == NULL) {
        return false;
    }
    worker->failed_reason = arena_str(worker->arena, reason);
    worker->failed_message = arena_str(worker->arena, message);
    worker->disruption_reason = STR("TerminationByKubelet");
    worker->disruption_message = worker->failed_message;
    worker->grace_seconds = grace_seconds;
    end(worker);
    return true;
}

struct pod_refs pod_workers_pods(struct pod_workers *workers, struct arena *arena)
{
    struct pod_refs pods = {0};
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&workers->workers, &at)) != NULL;) {
        struct pod_worker *worker = e->value;

        if (worker->pod != NULL) {
            *LIST_ADD(arena, &pods) = worker->pod;
        }
    }
    return pods;
}

struct pod_refs pod_workers_admitted(struct pod_workers *workers, struct arena *arena)
{
    struct pod_refs pods = {0};
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&workers->workers, &at)) != NULL;) {
        struct pod_worker *worker = e->value;

        if (worker->pod != NULL && worker->is_admitted && worker->state <= WORKER_TERMINATING) {
            *LIST_ADD(arena, &pods) = worker->pod;
        }
    }
    return pods;
}

struct pod_ref *pod_workers_find(struct pod_workers *workers, struct str namespace, struct str name)
{
    size_t at = 0;
    struct pod_ref *found = NULL;

    for (struct map_entry *e; (e = map_next(&workers->workers, &at)) != NULL;) {
        struct pod_worker *worker = e->value;

        if (worker->pod != NULL && str_eq(worker->namespace, namespace) && str_eq(worker->name, name)) {
            found = worker->pod; /* the newest, when an old one of that name is still being removed */
        }
    }
    return found;
}

bool pod_workers_is_name_taken(const struct pod_workers *workers, const struct core_v1_pod *pod)
{
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&workers->workers, &at)) != NULL;) {
        const struct pod_worker *worker = e->value;

        if (worker->state != WORKER_FINISHED && !str_eq(worker->uid, pod->metadata.uid) &&
            str_eq(worker->name, pod->metadata.name) && str_eq(worker->namespace, pod->metadata.namespace) &&
            pod_worker_is_deleted(worker)) {
            return true;
        }
    }
    return false;
}

bool pod_workers_has(const struct pod_workers *workers, struct str uid)
{
    return map_find(&workers->workers, uid) != NULL;
}

bool pod_workers_is_active(const struct pod_workers *workers, struct str uid)
{
    const struct pod_worker *worker = map_find(&workers->workers, uid);

    return worker != NULL && worker->state <= WORKER_TERMINATING;
}
