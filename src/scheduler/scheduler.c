#include "scheduler/scheduler.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/planted.h"
#include "base/task.h"
#include "client/event_recorder.h"
#include "client/informer.h"
#include "scheduler/cycle.h"
#include "scheduler/nominations.h"
#include "scheduler/scheduler_trace.h"
#include "scheduler/preemption.h"
#include "scheduler/queue.h"
#include "scheduler/unschedulable.h"
#include "schema/copy.h"
#include "schema/object.h"
#include "schema/type.h"

#include <stdlib.h>

struct scheduler {
    struct client *client;
    struct arena *arena;
    struct str name;
    struct informer *pods, *nodes, *namespaces;
    struct snapshot *snapshot;
    struct queue *queue;
    struct nominations *nominations;
    struct event_recorder *recorder;
    struct task_group tasks;
};

/* A binding on its way. */
struct binding {
    struct scheduler *scheduler;
    struct queued_pod pod;
    struct arena *arena;
    struct str node_name;
};

static bool is_finished(const struct core_v1_pod *pod)
{
    return str_is(pod->status.phase, "Succeeded") || str_is(pod->status.phase, "Failed");
}

/* A pod that names no scheduler, which a server that sets defaults does not give out, is the default scheduler's. */
static bool is_mine(const struct scheduler *scheduler, const struct core_v1_pod *pod)
{
    struct str name = pod->spec.scheduler_name.n > 0 ? pod->spec.scheduler_name : STR("default-scheduler");

    return str_eq(name, scheduler->name);
}

static bool is_waiting(const struct scheduler *scheduler, const struct core_v1_pod *pod)
{
    return pod->spec.node_name.n == 0 && pod->spec.scheduling_gates.len == 0 && !is_finished(pod) &&
           pod->metadata.deletion_timestamp == NULL && is_mine(scheduler, pod);
}

/* The object's newest state in the cache; NULL when it is gone. */
static struct cached *hold(struct informer *informer, const void *object)
{
    const struct meta_v1_object_meta *metadata = &((const struct object *)object)->metadata;
    OWNED(arena_freep) struct arena *arena = arena_new();

    return informer_ref(informer, metadata->namespace.n == 0
                                      ? metadata->name
                                      : arena_printf(arena, "%.*s/%.*s", STR_ARG(metadata->namespace),
                                                     STR_ARG(metadata->name)));
}

static void pod_gone(struct scheduler *scheduler, const struct core_v1_pod *pod)
{
    queue_remove(scheduler->queue, pod->metadata.uid);
    nominations_remove(scheduler->nominations, pod->metadata.uid);
    snapshot_remove_pod(scheduler->snapshot, pod->metadata.uid);
    if (pod->spec.node_name.n > 0) {
        queue_stir(scheduler->queue); /* its place is free */
    }
}

/* A pod on a node may be what another wants to be near, or far from, by its labels. */
static bool pod_stirs(const struct core_v1_pod *was, const struct core_v1_pod *pod)
{
    return was == NULL || was->spec.node_name.n == 0 ||
           !schema_field_equal(type_field(&meta_v1_object_meta_type, STR("labels")), &was->metadata.labels,
                               &pod->metadata.labels) ||
           (was->metadata.deletion_timestamp == NULL) != (pod->metadata.deletion_timestamp == NULL) ||
           was->metadata.generation != pod->metadata.generation;
}

static void pod_waits(struct scheduler *scheduler, const struct core_v1_pod *was, const struct core_v1_pod *pod)
{
    bool is_new = was == NULL || !is_waiting(scheduler, was);

    if (is_new) {
        scheduler_trace(pod, TRACE_POD_QUEUED, TRACE_OK, env_wall(), STR("active queue"));
    }
    if (snapshot_has_pod(scheduler->snapshot, pod->metadata.uid)) {
        return; /* its binding is on its way */
    }
    if (is_new || was->metadata.generation != pod->metadata.generation) {
        queue_put(scheduler->queue, hold(scheduler->pods, pod));
    }
}

static void pod_changed(void *arg, const void *old, const void *new)
{
    struct scheduler *scheduler = arg;
    const struct core_v1_pod *pod = new, *was = old;

    if (was != NULL && (pod == NULL || !str_eq(pod->metadata.uid, was->metadata.uid) || is_finished(pod))) {
        pod_gone(scheduler, was);
        was = NULL;
    }
    if (pod == NULL || is_finished(pod)) {
        return;
    }
    if (pod->spec.node_name.n > 0) {
        queue_remove(scheduler->queue, pod->metadata.uid);
        nominations_remove(scheduler->nominations, pod->metadata.uid);
        snapshot_set_pod(scheduler->snapshot, hold(scheduler->pods, new));
        if (pod_stirs(was, pod)) {
            queue_stir(scheduler->queue);
        }
    } else if (is_waiting(scheduler, pod)) {
        pod_waits(scheduler, was, pod);
    } else {
        queue_remove(scheduler->queue, pod->metadata.uid);
    }
}

/* A heartbeat changes nothing for pods that did not fit. */
static bool node_stirs(const struct core_v1_node *was, const struct core_v1_node *node)
{
    return was == NULL || was->spec.unschedulable != node->spec.unschedulable ||
           !schema_field_equal(type_field(&core_v1_node_spec_type, STR("taints")), &was->spec.taints,
                               &node->spec.taints) ||
           !schema_field_equal(type_field(&core_v1_node_status_type, STR("allocatable")), &was->status.allocatable,
                               &node->status.allocatable) ||
           !schema_field_equal(type_field(&meta_v1_object_meta_type, STR("labels")), &was->metadata.labels,
                               &node->metadata.labels);
}

static void node_changed(void *arg, const void *old, const void *new)
{
    struct scheduler *scheduler = arg;

    if (new == NULL) {
        snapshot_remove_node(scheduler->snapshot, ((const struct object *)old)->metadata.name);
        return;
    }
    snapshot_set_node(scheduler->snapshot, hold(scheduler->nodes, new));
    if (node_stirs(old, new)) {
        queue_stir(scheduler->queue);
    }
}

static void namespace_changed(void *arg, const void *old, const void *new)
{
    struct scheduler *scheduler = arg;

    if (new == NULL) {
        snapshot_remove_namespace(scheduler->snapshot, ((const struct object *)old)->metadata.name);
    } else {
        snapshot_set_namespace(scheduler->snapshot, hold(scheduler->namespaces, new));
    }
}

struct scheduler *scheduler_new(struct client *client, struct str name)
{
    struct scheduler *scheduler = MEM_NEW(struct scheduler);

    scheduler->client = client;
    scheduler->arena = arena_new();
    scheduler->name = arena_str(scheduler->arena, name);
    scheduler->pods = informer_new(client, &core_v1_pod_kind, STR(""), NULL);
    scheduler->nodes = informer_new(client, &core_v1_node_kind, STR(""), NULL);
    scheduler->namespaces = informer_new(client, &core_v1_namespace_kind, STR(""), NULL);
    informer_on_change(scheduler->pods, pod_changed, scheduler);
    informer_on_change(scheduler->nodes, node_changed, scheduler);
    informer_on_change(scheduler->namespaces, namespace_changed, scheduler);
    scheduler->snapshot = snapshot_new();
    scheduler->queue = queue_new();
    scheduler->nominations = nominations_new();
    scheduler->recorder = event_recorder_new(client, scheduler->name, STR(""));
    task_group_init(&scheduler->tasks);
    return scheduler;
}

static struct status *bind(struct binding *binding)
{
    const struct core_v1_pod *pod = binding->pod.held->object;
    struct core_v1_binding *object = ARENA_NEW(binding->arena, struct core_v1_binding);

    object->metadata.namespace = pod->metadata.namespace;
    object->metadata.name = pod->metadata.name;
    object->metadata.uid = pod->metadata.uid;
    object->target.kind = STR("Node");
    object->target.name = binding->node_name;
    return client_create_sub(binding->scheduler->client, &core_v1_pod_kind, pod->metadata.namespace,
                             pod->metadata.name, STR("binding"), &core_v1_binding_kind, object, binding->arena, NULL);
}

/* The attempt failed. The pod comes again unless it has gone, or been bound, meanwhile. */
static void put_back(struct scheduler *scheduler, struct queued_pod *queued, bool is_unschedulable)
{
    const struct core_v1_pod *pod = queued->held->object;
    struct cached *now = hold(scheduler->pods, pod);

    if (now == NULL || !str_eq(((const struct object *)now->object)->metadata.uid, pod->metadata.uid) ||
        !is_waiting(scheduler, now->object)) {
        cached_unref(now);
        cached_unref(queued->held);
        return;
    }
    cached_unref(queued->held);
    queued->held = now;
    queue_put_back(scheduler->queue, queued, is_unschedulable);
}

static void binding_failed(struct binding *binding, const struct status *status)
{
    struct scheduler *scheduler = binding->scheduler;
    const struct core_v1_pod *pod = binding->pod.held->object;

    snapshot_remove_pod(scheduler->snapshot, pod->metadata.uid);
    if (!status_is(status, STATUS_NOT_FOUND) && !status_is(status, STATUS_CONFLICT) &&
        !status_is(status, STATUS_CANCELLED)) {
        log_info("binding %.*s/%.*s: %.*s", STR_ARG(pod->metadata.namespace), STR_ARG(pod->metadata.name),
                 STR_ARG(status->message));
        event_record(scheduler->recorder, &core_v1_pod_kind, pod, STR(""), "Warning", "FailedScheduling",
                     "binding rejected: %.*s", STR_ARG(status->message));
    }
    put_back(scheduler, &binding->pod, false);
    queue_stir(scheduler->queue); /* the place it was to have is free */
}

static void binding_run(void *arg)
{
    struct binding *binding = arg;
    struct scheduler *scheduler = binding->scheduler;
    const struct core_v1_pod *pod = binding->pod.held->object;
    int64_t start = env_wall();
    struct status *status = bind(binding);

    if (status == NULL) {
        scheduler_trace(pod, TRACE_BINDING_CREATED, TRACE_OK, start, binding->node_name);
        event_record(scheduler->recorder, &core_v1_pod_kind, pod, STR(""), "Normal", "Scheduled",
                     "Successfully assigned %.*s/%.*s to %.*s", STR_ARG(pod->metadata.namespace),
                     STR_ARG(pod->metadata.name), STR_ARG(binding->node_name));
        cached_unref(binding->pod.held);
    } else {
        scheduler_trace(pod, TRACE_BINDING_CREATED, TRACE_FAILED, start, status->message);
        binding_failed(binding, status);
        status_free(status);
    }
    arena_free(binding->arena); /* holds the binding itself */
}

static void start_binding(struct scheduler *scheduler, struct queued_pod *queued, struct str node_name)
{
    struct arena *arena = arena_new();
    struct binding *binding = ARENA_NEW(arena, struct binding);

    *binding = (struct binding){scheduler, *queued, arena, arena_str(arena, node_name)};
    if (!planted(SCHEDULER_FORGETS_ASSUMED)) {
        snapshot_assume(scheduler->snapshot, cached_ref(queued->held), binding->node_name);
    }
    task_group_spawn(&scheduler->tasks, "binding", binding_run, binding);
}

/* No node takes the pod: pods of lower priority may have to go. */
static void no_fit(struct scheduler *scheduler, struct queued_pod *queued, const struct decision *decision,
                   const struct preemption *preemption, struct arena *arena)
{
    const struct core_v1_pod *pod = queued->held->object;
    struct str message = arena_printf(arena, "%.*s%.*s", STR_ARG(decision->message), STR_ARG(preemption->message));
    struct str nominated = preemption->node != NULL ? preemption->node->name : (struct str){0};

    event_record(scheduler->recorder, &core_v1_pod_kind, pod, STR(""), "Warning", "FailedScheduling", "%.*s",
                 STR_ARG(message));
    LIST_EACH(at, &preemption->victims)
    {
        const struct core_v1_pod *victim = (*at)->pod;

        event_record(scheduler->recorder, &core_v1_pod_kind, victim, STR(""), "Normal", "Preempted",
                     "Preempted by pod %.*s on node %.*s", STR_ARG(pod->metadata.uid), STR_ARG(nominated));
        unschedulable_evict(&scheduler->tasks, scheduler->client, victim, scheduler->name);
    }
    if (nominated.n > 0) {
        nominations_set(scheduler->nominations, cached_ref(queued->held), nominated);
    }
    bool keeps = nominated.n == 0 && str_has_suffix(message, STR("on the nominated node."));

    unschedulable_report(&scheduler->tasks, scheduler->client, pod, message,
                         keeps ? pod->status.nominated_node_name : nominated);
    put_back(scheduler, queued, true);
}

static void schedule_one(struct scheduler *scheduler, struct queued_pod *queued)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct core_v1_pod *pod = queued->held->object;
    struct pod_info info;
    struct decision decision;
    struct preemption preemption;
    uint64_t tie;
    int64_t start = env_wall();

    pod_info_of(pod, &info);
    nominations_apply(scheduler->nominations, scheduler->snapshot, pod);
    cycle_filter(scheduler->snapshot, &info, arena, &decision);
    if (decision.fit_count == 0) {
        scheduler_trace(pod, TRACE_PREDICATES, TRACE_FAILED, start, decision.message);
        preemption_find(scheduler->snapshot, &info, &decision, arena, &preemption);
        nominations_revert(scheduler->nominations, scheduler->snapshot);
        no_fit(scheduler, queued, &decision, &preemption, arena);
        return;
    }
    nominations_revert(scheduler->nominations, scheduler->snapshot);
    scheduler_trace(pod, TRACE_PREDICATES, TRACE_OK, start,
                    arena_printf(arena, "%zu of %zu nodes fit", decision.fit_count, decision.verdict_count));
    start = env_wall();
    env_random(&tie, sizeof(tie));
    cycle_score(scheduler->snapshot, &info, tie, arena, &decision);
    scheduler_trace(pod, TRACE_PRIORITIES, TRACE_OK, start, decision.message);
    start_binding(scheduler, queued, decision.node->name);
}

void scheduler_run(struct scheduler *scheduler)
{
    struct queued_pod queued;

    informer_start(scheduler->namespaces);
    informer_start(scheduler->nodes);
    informer_start(scheduler->pods);
    if (informer_wait_synced(scheduler->namespaces) && informer_wait_synced(scheduler->nodes) &&
        informer_wait_synced(scheduler->pods)) {
        while (queue_take(scheduler->queue, &queued)) {
            schedule_one(scheduler, &queued);
        }
    }
    task_group_cancel(&scheduler->tasks);
}

void scheduler_free(struct scheduler *scheduler)
{
    if (scheduler == NULL) {
        return;
    }
    informer_free(scheduler->pods);
    informer_free(scheduler->nodes);
    informer_free(scheduler->namespaces);
    snapshot_free(scheduler->snapshot);
    queue_free(scheduler->queue);
    nominations_free(scheduler->nominations);
    event_recorder_free(scheduler->recorder);
    arena_free(scheduler->arena);
    free(scheduler);
}
