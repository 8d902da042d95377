#include "kubelet/status_manager.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/planted.h"
#include "base/trace.h"
#include "kubelet/mirror_pods.h"
#include "kubelet/pod_status.h"
#include "kubelet/status_patch.h"
#include "schema/copy.h"
#include "schema/json_lexer.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES_ALL = 12288 }; /* of all termination messages of a pod together (stock's) */

struct entry {
    struct status_manager *manager;
    struct pod_ref *pod; /* as it is known */
    struct arena *arena;
    struct core_v1_pod_status *status; /* in the arena; NULL: only to be deleted */
    /* As the API answered our last write, when that is newer than `pod`. */
    struct arena *answer_arena;
    const struct core_v1_pod *answer;
    bool is_dirty, is_busy, is_finished, is_gone;
    bool was_running; /* step 46 has been told */
    int64_t retry_delay;
};

struct status_manager {
    struct kubelet *kubelet;
    struct map entries; /* by UID */
    struct cond changed;
};

struct status_manager *status_manager_new(struct kubelet *kubelet)
{
    struct status_manager *manager = MEM_NEW(struct status_manager);

    manager->kubelet = kubelet;
    cond_init(&manager->changed);
    return manager;
}

static void entry_free(struct entry *entry)
{
    pod_unref(entry->pod);
    arena_free(entry->arena);
    arena_free(entry->answer_arena);
    free(entry);
}

void status_manager_free(struct status_manager *manager)
{
    size_t at = 0;

    if (manager == NULL) {
        return;
    }
    for (struct map_entry *e; (e = map_next(&manager->entries, &at)) != NULL;) {
        entry_free(e->value);
    }
    map_done(&manager->entries);
    free(manager);
}

static bool is_older(const struct core_v1_pod *pod, const struct core_v1_pod *known)
{
    uint64_t a, b;

    return str_to_u64(pod->metadata.resource_version, &a) && str_to_u64(known->metadata.resource_version, &b) && a < b;
}

/* A pass that began before others changed the pod's status still has the older pod: it must not hide the change. */
static struct entry *entry_of(struct status_manager *manager, struct pod_ref *pod)
{
    struct entry *entry = map_find(&manager->entries, pod->pod->metadata.uid);

    if (entry == NULL) {
        entry = MEM_NEW(struct entry);
        entry->manager = manager;
        map_set(&manager->entries, pod->pod->metadata.uid, entry);
    }
    struct pod_ref *old = entry->pod;

    if (old == NULL || !is_older(pod->pod, old->pod) || planted(KUBELET_HIDES_STATUS)) {
        entry->pod = pod_ref(pod);
        pod_unref(old);
    }
    return entry;
}

static void mark(struct entry *entry)
{
    entry->is_dirty = true;
    cond_signal(&entry->manager->changed);
}

const struct core_v1_pod_status *status_manager_find(const struct status_manager *manager, struct str uid)
{
    const struct entry *entry = map_find(&manager->entries, uid);

    return entry == NULL ? NULL : entry->status;
}

static void whole_seconds(struct timestamp *time)
{
    time->nanos = 0;
}

static void normalize_state(struct core_v1_container_state *state, size_t bytes_max)
{
    if (state->running != NULL) {
        whole_seconds(&state->running->started_at);
    }
    if (state->terminated != NULL) {
        whole_seconds(&state->terminated->started_at);
        whole_seconds(&state->terminated->finished_at);
        state->terminated->message = str_sub(state->terminated->message, 0, bytes_max);
    }
}

/* The API keeps whole seconds; a comparison with it must not find the fractions. */
static void normalize(struct core_v1_pod_status *status)
{
    size_t containers = status->container_statuses.len + status->init_container_statuses.len;
    size_t bytes_max = containers > 0 ? MESSAGE_BYTES_ALL / containers : MESSAGE_BYTES_ALL;

    if (status->start_time != NULL) {
        whole_seconds(status->start_time);
    }
    LIST_EACH (condition, &status->conditions) {
        whole_seconds(&condition->last_probe_time);
        whole_seconds(&condition->last_transition_time);
    }
    LIST_EACH (container, &status->container_statuses) {
        normalize_state(&container->state, bytes_max);
        normalize_state(&container->last_state, bytes_max);
    }
    LIST_EACH (container, &status->init_container_statuses) {
        normalize_state(&container->state, bytes_max);
        normalize_state(&container->last_state, bytes_max);
    }
    LIST_EACH (container, &status->ephemeral_container_statuses) {
        normalize_state(&container->state, bytes_max);
        normalize_state(&container->last_state, bytes_max);
    }
}

void status_manager_set(struct status_manager *manager, struct pod_ref *pod, const struct core_v1_pod_status *status)
{
    struct entry *entry = entry_of(manager, pod);
    struct arena *arena = arena_new();
    struct core_v1_pod_status *copy = schema_copy(arena, &core_v1_pod_status_type, status);

    normalize(copy);
    if (entry->status != NULL && schema_equal(&core_v1_pod_status_type, entry->status, copy)) {
        arena_free(arena);
        return;
    }
    arena_free(entry->arena);
    entry->arena = arena;
    entry->status = copy;
    mark(entry);
}

void status_manager_finish(struct status_manager *manager, struct pod_ref *pod)
{
    struct entry *entry = entry_of(manager, pod);

    entry->is_finished = true;
    mark(entry);
}

void status_manager_observe(struct status_manager *manager, struct pod_ref *pod)
{
    struct entry *entry = entry_of(manager, pod);

    if (entry->status != NULL || entry->is_finished) {
        mark(entry);
    }
}

void status_manager_forget(struct status_manager *manager, struct str uid)
{
    struct entry *entry = map_remove(&manager->entries, uid);

    if (entry == NULL) {
        return;
    }
    if (entry->is_busy) {
        entry->is_gone = true; /* freed when the write is over */
    } else {
        entry_free(entry);
    }
}

static bool is_running(const struct core_v1_pod_status *status)
{
    LIST_EACH (container, &status->container_statuses) {
        if (container->state.running != NULL) {
            return true;
        }
    }
    LIST_EACH (container, &status->init_container_statuses) {
        if (container->state.running != NULL) {
            return true;
        }
    }
    return false;
}

void status_manager_merge(struct arena *arena, const struct core_v1_pod_status *in_api,
                          const struct core_v1_pod_status *ours, struct core_v1_pod_status *ret)
{
    struct core_v1_pod_status merged = *ours;
    bool ends = !pod_is_terminal(in_api) && pod_is_terminal(ours);
    bool waits = ends && is_running(ours);

    merged.conditions.items = NULL;
    merged.conditions.len = 0;
    LIST_EACH (condition, &in_api->conditions) {
        bool is_replaced = str_is(condition->type, "DisruptionTarget") && !waits &&
                           pod_condition_find(ours, condition->type) != NULL;

        if (!pod_condition_is_kubelets(condition->type) && !is_replaced) {
            *LIST_ADD(arena, &merged.conditions) = *condition;
        }
    }
    LIST_EACH (condition, &ours->conditions) {
        bool is_shared = str_is(condition->type, "DisruptionTarget") && !waits && pod_is_terminal(ours);

        if (pod_condition_is_kubelets(condition->type) || is_shared) {
            *LIST_ADD(arena, &merged.conditions) = *condition;
        }
    }
    if (waits) {
        merged.phase = in_api->phase;
        merged.reason = in_api->reason;
        merged.message = in_api->message;
    }
    /* These are written by others: the scheduler, the resize subresource, DRA. */
    merged.nominated_node_name = in_api->nominated_node_name;
    merged.resize = in_api->resize;
    memcpy(&merged.resource_claim_statuses, &in_api->resource_claim_statuses, sizeof(merged.resource_claim_statuses));
    merged.extended_resource_claim_status = in_api->extended_resource_claim_status;
    *ret = merged;
}

/* The pod as the watch showed it: of a static pod its mirror, NULL while there is none. */
static struct pod_ref *shown(const struct entry *entry)
{
    return pod_is_static(entry->pod->pod) ? mirror_pods_find(entry->manager->kubelet->mirrors, entry->pod->pod)
                                          : entry->pod;
}

/* The newer of what the watch and our last write showed; resource versions are numbers that grow. */
static const struct core_v1_pod *newest(const struct entry *entry, const struct core_v1_pod *watched)
{
    uint64_t seen = 0, answered = 0;

    if (entry->answer == NULL || !str_eq(entry->answer->metadata.uid, watched->metadata.uid) ||
        !str_to_u64(entry->answer->metadata.resource_version, &answered) ||
        !str_to_u64(watched->metadata.resource_version, &seen) || seen >= answered) {
        return watched;
    }
    return entry->answer;
}

static struct str patch_text(struct arena *arena, const struct core_v1_pod *pod,
                             const struct core_v1_pod_status *wanted)
{
    OWNED(buf_done) struct buf out = {0};

    buf_add_str(&out, STR("{\"metadata\":{\"uid\":"));
    json_add_string(&out, pod->metadata.uid);
    buf_add_str(&out, STR("},\"status\":"));
    if (!status_patch(&core_v1_pod_status_type, &pod->status, wanted, &out)) {
        return STR("");
    }
    buf_add_char(&out, '}');
    return arena_str(arena, buf_str(&out));
}

static struct status *write_status(struct entry *entry, const struct core_v1_pod *watched, struct arena *arena)
{
    const struct core_v1_pod *pod = newest(entry, watched);
    struct core_v1_pod_status wanted;
    int64_t start = env_wall();

    status_manager_merge(arena, &pod->status, entry->status, &wanted);
    struct str patch = patch_text(arena, pod, &wanted);
    const struct core_v1_pod_condition *ready = pod_condition_find(&wanted, STR("Ready"));
    bool runs = str_is(wanted.phase, "Running") && ready != NULL && str_is(ready->status, "True");
    struct str ip = arena_str(arena, wanted.pod_ip); /* what `wanted` borrows may be gone after the write */

    if (patch.n > 0) {
        struct arena *answer_arena = arena_new();
        void *answer = NULL;
        struct status *error =
            client_patch(entry->manager->kubelet->client, &core_v1_pod_kind, pod->metadata.namespace,
                         pod->metadata.name, STR("status"), CLIENT_PATCH_STRATEGIC, patch, NULL, answer_arena, &answer);

        if (error != NULL) {
            arena_free(answer_arena);
            return error;
        }
        arena_free(entry->answer_arena);
        entry->answer_arena = answer_arena;
        entry->answer = answer;
    }
    if (!entry->was_running && runs) {
        entry->was_running = true;
        kubelet_trace_pod(entry->pod->pod, TRACE_RUNNING, TRACE_OK, start, "phase Running, Ready, podIP %.*s",
                          STR_ARG(ip));
    }
    return NULL;
}

static struct status *delete_pod(struct entry *entry)
{
    static const int64_t zero;
    const struct core_v1_pod *pod = entry->pod->pod;
    struct client_delete_options options = {.grace_period_seconds = &zero, .uid = pod->metadata.uid};

    return client_delete(entry->manager->kubelet->client, &core_v1_pod_kind, pod->metadata.namespace,
                         pod->metadata.name, &options);
}

static struct status *write_entry(struct entry *entry)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct pod_ref *found = shown(entry);

    if (found == NULL) {
        return NULL;
    }
    OWNED(pod_unrefp) struct pod_ref *watched = pod_ref(found); /* while the calls park */
    bool must_delete = entry->is_finished && newest(entry, watched->pod)->metadata.deletion_timestamp != NULL;

    if (entry->status != NULL) {
        TRY(write_status(entry, watched->pod, arena));
    }
    return must_delete ? delete_pod(entry) : NULL;
}

static bool is_lost(const struct status *error)
{
    return status_is(error, STATUS_NOT_FOUND) || status_is(error, STATUS_CONFLICT) ||
           status_is(error, STATUS_INVALID) || status_is(error, STATUS_FORBIDDEN);
}

/* Writes one entry in a task of its own, so that a slow pod does not hold up others. */
static void write_task(void *arg)
{
    struct entry *entry = arg;
    int64_t delay = 0;

    while (entry->is_dirty && !entry->is_gone && !task_is_cancelled()) {
        entry->is_dirty = false;
        struct status *error = write_entry(entry);

        if (error == NULL || is_lost(error)) {
            if (error != NULL && !status_is(error, STATUS_NOT_FOUND)) {
                log_warn("pod %.*s/%.*s: status not written: %.*s", STR_ARG(entry->pod->pod->metadata.namespace),
                         STR_ARG(entry->pod->pod->metadata.name), STR_ARG(error->message));
            }
            status_free(error);
            delay = 0;
            continue;
        }
        log_debug("status of pod %.*s not written: %.*s", STR_ARG(entry->pod->pod->metadata.name),
                  STR_ARG(error->message));
        status_free(error);
        entry->is_dirty = true;
        delay = delay == 0 ? 100 * ENV_MS : MIN(delay * 2, 10 * ENV_SECOND);
        if (!task_sleep(delay)) {
            break;
        }
    }
    entry->is_busy = false;
    if (entry->is_gone) {
        entry_free(entry);
    }
}

static void manager_task(void *arg)
{
    struct status_manager *manager = arg;

    while (!task_is_cancelled()) {
        size_t at = 0;

        for (struct map_entry *e; (e = map_next(&manager->entries, &at)) != NULL;) {
            struct entry *entry = e->value;

            if (entry->is_dirty && !entry->is_busy) {
                entry->is_busy = true;
                task_group_spawn(&manager->kubelet->tasks, "pod-status", write_task, entry);
            }
        }
        cond_wait(&manager->changed, TASK_FOREVER);
    }
}

void status_manager_start(struct status_manager *manager)
{
    if (manager->kubelet->client != NULL) {
        task_group_spawn(&manager->kubelet->tasks, "status-manager", manager_task, manager);
    }
}
