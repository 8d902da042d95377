#include "kubelet/container_kill.h"

#include "base/env.h"
#include "kubelet/hooks.h"
#include "kubelet/status_manager.h"

enum { GRACE_SECONDS_MIN = 2 };

/* Runs the hook for at most the grace period; returns the seconds it took. */
static int64_t run_pre_stop(struct kubelet *kubelet, const struct core_v1_pod *pod, enum plan_kind kind,
                            const struct core_v1_container *spec, const struct container_kill *kill)
{
    int64_t from = env_mono();
    const struct core_v1_pod_status *status = status_manager_find(kubelet->statuses, pod->metadata.uid);
    struct status *error = hook_run(kubelet, spec, spec->lifecycle->pre_stop, kill->container->id,
                                    status != NULL ? status->pod_ip : STR(""), kill->grace_seconds * ENV_SECOND);

    if (error != NULL && !status_is(error, STATUS_TIMEOUT)) {
        container_event(kubelet, pod, kind, spec->name, "Warning", "FailedPreStopHook", "PreStopHook failed");
    }
    status_free(error);
    return (env_mono() - from) / ENV_SECOND;
}

struct status *container_kill(struct kubelet *kubelet, const struct core_v1_pod *pod,
                              const struct container_kill *kill)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    enum plan_kind kind = PLAN_REGULAR;
    const struct core_v1_container *spec =
        pod == NULL ? NULL : pod_find_container(arena, pod, kill->container->name, &kind);
    int64_t grace = kill->grace_seconds;
    struct cri_v1_stop_container_request request = {.container_id = kill->container->id};
    struct cri_v1_stop_container_response *response;

    if (spec != NULL) {
        struct str message = kill->message.n > 0 ? kill->message
                                                 : arena_printf(arena, "Stopping container %.*s",
                                                                STR_ARG(kill->container->name));

        container_event(kubelet, pod, kind, spec->name, "Normal", "Killing", "%.*s", STR_ARG(message));
        if (!kill->is_forced && grace > 0 && kill->container->state == RUNTIME_RUNNING && spec->lifecycle != NULL &&
            spec->lifecycle->pre_stop != NULL) {
            grace -= run_pre_stop(kubelet, pod, kind, spec, kill);
        }
    }
    request.timeout = kill->is_forced ? MAX(grace, 0) : MAX(grace, GRACE_SECONDS_MIN);
    struct status *error = cri_stop_container(kubelet->cri, &request, arena, &response);

    return status_free_if(&error, STATUS_NOT_FOUND) ? NULL : error;
}

/* One of several kills at the same time. */
struct killing {
    struct kubelet *kubelet;
    const struct core_v1_pod *pod;
    struct container_kill kill;
    struct status *error;
};

static void kill_task(void *arg)
{
    struct killing *killing = arg;

    killing->error = container_kill(killing->kubelet, killing->pod, &killing->kill);
}

struct killings {
    struct killing **items;
    size_t len;
};

/* Parks until all have stopped, or this task is cancelled; the first error counts. */
static struct status *kill_together(const struct killings *killings)
{
    struct task_group group;
    struct status *error = NULL;

    task_group_init(&group);
    LIST_EACH (killing, killings) {
        task_group_spawn(&group, "kill-container", kill_task, *killing);
    }
    while (!task_group_empty(&group)) {
        if (!cond_wait(&group.ended, TASK_FOREVER) && task_is_cancelled()) {
            task_group_cancel(&group);
        }
    }
    LIST_EACH (killing, killings) {
        if (error == NULL) {
            error = TAKE((*killing)->error);
        }
        status_free((*killing)->error);
    }
    return error;
}

static int sidecar_index(const struct core_v1_pod *pod, struct str name)
{
    for (size_t i = 0; pod != NULL && i < pod->spec.init_containers.len; i++) {
        if (str_eq(pod->spec.init_containers.items[i].name, name) &&
            container_is_sidecar(&pod->spec.init_containers.items[i])) {
            return (int)i;
        }
    }
    return -1;
}

static struct status *stop_sandboxes(struct kubelet *kubelet, struct arena *arena, const struct runtime_pod *runtime)
{
    LIST_EACH (sandbox, &runtime->sandboxes) {
        struct cri_v1_stop_pod_sandbox_request request = {.pod_sandbox_id = sandbox->id};
        struct cri_v1_stop_pod_sandbox_response *response;
        struct status *error = cri_stop_pod_sandbox(kubelet->cri, &request, arena, &response);

        if (error != NULL && !status_free_if(&error, STATUS_NOT_FOUND)) {
            return error;
        }
    }
    return NULL;
}

static int64_t grace_of(const struct core_v1_pod *pod, const struct runtime_container *container)
{
    if (pod == NULL) {
        return container->grace_seconds >= 0 ? container->grace_seconds : 30;
    }
    return pod->metadata.deletion_grace_period_seconds != NULL ? *pod->metadata.deletion_grace_period_seconds
                                                               : pod_grace_seconds(pod);
}

struct status *pod_kill(struct kubelet *kubelet, const struct core_v1_pod *pod, const struct runtime_pod *runtime,
                        int64_t grace_seconds)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct killings together = {0};
    size_t sidecars = pod != NULL ? pod->spec.init_containers.len : 0;
    struct killing **by_index = ARENA_ARRAY(arena, struct killing *, sidecars);
    int64_t from = env_mono();

    LIST_EACH (container, &runtime->containers) {
        if (container->state == RUNTIME_EXITED) {
            continue;
        }
        struct killing *killing = ARENA_NEW(arena, struct killing);
        int at = sidecar_index(pod, container->name);

        *killing = (struct killing){
            .kubelet = kubelet,
            .pod = pod,
            .kill = {.container = container,
                     .grace_seconds = grace_seconds >= 0 ? grace_seconds : grace_of(pod, container),
                     .is_forced = grace_seconds >= 0 && grace_seconds < GRACE_SECONDS_MIN}};
        if (at >= 0 && by_index[at] == NULL) {
            by_index[at] = killing;
        } else {
            *LIST_ADD(arena, &together) = killing;
        }
    }
    TRY(kill_together(&together));
    for (size_t i = sidecars; i-- > 0;) {
        if (by_index[i] != NULL) {
            /* They have what the others left of the grace period. */
            int64_t left = by_index[i]->kill.grace_seconds - (env_mono() - from) / ENV_SECOND;

            by_index[i]->kill.grace_seconds = MAX(left, 0);
            TRY(container_kill(kubelet, pod, &by_index[i]->kill));
        }
    }
    return stop_sandboxes(kubelet, arena, runtime);
}
