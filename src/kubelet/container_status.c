/* The statuses of a pod's containers (pod_status.h). */
#include "kubelet/amounts.h"
#include "kubelet/pod_status.h"
#include "schema/timestamp.h"

#include <stdlib.h>
#include <string.h>

const struct core_v1_container_status *container_status_find(const struct core_v1_container_status *items, size_t len,
                                                             struct str name)
{
    for (size_t i = 0; i < len; i++) {
        if (str_eq(items[i].name, name)) {
            return &items[i];
        }
    }
    return NULL;
}

static struct core_v1_container_state waiting(struct arena *arena, struct str reason, struct str message)
{
    struct core_v1_container_state state = {.waiting = ARENA_NEW(arena, struct core_v1_container_state_waiting)};

    *state.waiting = (struct core_v1_container_state_waiting){.reason = reason, .message = message};
    return state;
}

static struct core_v1_container_state terminated_unknown(struct arena *arena, struct str message)
{
    struct core_v1_container_state state = {.terminated = ARENA_NEW(arena, struct core_v1_container_state_terminated)};

    *state.terminated = (struct core_v1_container_state_terminated){
        .reason = STR("ContainerStatusUnknown"), .message = message, .exit_code = 137};
    return state;
}

/* What a container without any trace in the runtime starts from. */
static struct core_v1_container_status first_status(struct arena *arena, const struct core_v1_container *spec,
                                                    bool has_init)
{
    struct core_v1_container_status status = {
        .name = spec->name,
        .image = spec->image,
        .state = waiting(arena, has_init ? STR("PodInitializing") : STR("ContainerCreating"), STR("")),
    };

    LIST_EACH (mount, &spec->volume_mounts) {
        struct core_v1_volume_mount_status *at = LIST_ADD(arena, &status.volume_mounts);

        *at = (struct core_v1_volume_mount_status){
            .name = mount->name, .mount_path = mount->mount_path, .read_only = mount->read_only};
        if (mount->read_only) {
            at->recursive_read_only = ARENA_NEW(arena, struct str);
            *at->recursive_read_only = STR("Disabled");
        }
    }
    return status;
}

/* Nothing of it is in the runtime though it ran: it must have ended, we do not know how. */
static void mark_lost(struct arena *arena, const struct pod_status_input *input,
                      struct core_v1_container_status *status, const struct core_v1_container_status *old)
{
    if (old->state.running == NULL || status->last_state.terminated != NULL || status->state.waiting == NULL) {
        return;
    }
    status->last_state = terminated_unknown(
        arena, STR("The container could not be located when the pod was deleted.  The container used to be Running"));
    status->restart_count += input->pod->metadata.deletion_timestamp == NULL;
}

static struct core_v1_container_state state_of(struct arena *arena, const struct runtime_container *container,
                                               const struct core_v1_container_status *old, struct str id,
                                               int32_t *restart_count)
{
    struct core_v1_container_state state = {0};

    switch (container->state) {
    case RUNTIME_RUNNING:
        state.running = ARENA_NEW(arena, struct core_v1_container_state_running);
        state.running->started_at = timestamp_of_nanos(container->started_at);
        return state;
    case RUNTIME_EXITED:
        state.terminated = ARENA_NEW(arena, struct core_v1_container_state_terminated);
        *state.terminated = (struct core_v1_container_state_terminated){
            .exit_code = container->exit_code,
            .reason = container->reason,
            .message = container->message,
            .started_at = timestamp_of_nanos(container->started_at),
            .finished_at = timestamp_of_nanos(container->finished_at),
            .container_id = id,
        };
        return state;
    case RUNTIME_UNKNOWN:
        if (old != NULL && old->state.running != NULL) {
            *restart_count = old->restart_count + 1;
            return terminated_unknown(arena,
                                      STR("The container could not be located when the pod was terminated"));
        }
        return waiting(arena, STR(""), STR(""));
    default:
        return waiting(arena, STR(""), STR(""));
    }
}

static struct core_v1_container_status runtime_status(struct arena *arena, const struct pod_status_input *input,
                                                      const struct core_v1_container *spec,
                                                      const struct runtime_container *container,
                                                      const struct core_v1_container_status *old,
                                                      const struct core_v1_container_status *first)
{
    struct str id =
        arena_printf(arena, "%.*s://%.*s", STR_ARG(input->runtime_name), STR_ARG(container->id));
    struct core_v1_container_status status = {
        .name = spec->name,
        .restart_count = container->restart_count,
        .image = container->image,
        .image_id = container->image_ref,
        .container_id = id,
        .allocated_resources = spec->resources.requests,
        .resources = ARENA_NEW(arena, struct core_v1_resource_requirements),
    };

    memcpy(&status.volume_mounts, &first->volume_mounts, sizeof(status.volume_mounts));
    status.resources->limits = spec->resources.limits;
    status.resources->requests = spec->resources.requests;
    if (old != NULL && str_eq(old->container_id, id) && old->resources != NULL &&
        (input->is_resized == NULL || !input->is_resized(input->arg, container->id))) {
        status.allocated_resources = old->allocated_resources;
        *status.resources = *old->resources;
    }
    status.state = state_of(arena, container, old, id, &status.restart_count);
    if (old != NULL && str_eq(old->container_id, id)) {
        status.started = container->state == RUNTIME_RUNNING ? old->started : NULL;
        status.last_state = old->last_state;
    }
    if (container->has_user) {
        status.user = ARENA_NEW(arena, struct core_v1_container_user);
        status.user->linux_ = ARENA_NEW(arena, struct core_v1_linux_container_user);
        status.user->linux_->uid = container->uid;
        status.user->linux_->gid = container->gid;
        memcpy(&status.user->linux_->supplemental_groups, &container->groups, sizeof(container->groups));
    }
    return status;
}

/* The newest container gives the state, the one before it the last state. */
static void take_runtime(struct arena *arena, const struct pod_status_input *input,
                         const struct core_v1_container *spec, const struct core_v1_container_status *old,
                         struct core_v1_container_status *status)
{
    const struct core_v1_container_status first = *status;
    int seen = 0;

    LIST_EACH (container, &input->runtime->containers) {
        if (!str_eq(container->name, spec->name) || seen == 2) {
            continue;
        }
        struct core_v1_container_status now = runtime_status(arena, input, spec, container, old, &first);

        if (seen++ == 0) {
            *status = now;
        } else {
            status->last_state = now.state;
        }
    }
    if (seen == 0 && old != NULL && old->state.terminated == NULL) {
        mark_lost(arena, input, status, old);
    }
}

/* A container that is about to be started again, but could not be last time, waits. */
static void take_reason(struct arena *arena, const struct pod_status_input *input, const struct plan_pod *plan,
                        const struct plan_container *container, enum plan_kind kind,
                        struct core_v1_container_status *status)
{
    const struct runtime_container *newest = runtime_pod_find(input->runtime, container->name);
    struct str reason, message;

    if (kind == PLAN_INIT) {
        if (newest != NULL && newest->state == RUNTIME_EXITED && newest->exit_code == 0) {
            return;
        }
        if (newest == NULL && !container->is_sidecar && status->state.waiting != NULL &&
            plan_pod_was_initialized(plan, input->runtime)) {
            status->state = (struct core_v1_container_state){
                .terminated = ARENA_NEW(arena, struct core_v1_container_state_terminated)};
            status->state.terminated->reason = STR("Completed");
            status->state.terminated->message =
                STR("Unable to get init container status from container runtime and pod has been initialized, treat it "
                    "as exited normally");
            return;
        }
    }
    if (!plan_container_should_start(plan, container, input->runtime) || input->reason == NULL ||
        !input->reason(input->arg, container->name, &reason, &message)) {
        return;
    }
    if (status->state.terminated != NULL) {
        status->last_state = status->state;
    }
    status->state = waiting(arena, reason, message);
}

static int compare_statuses(const void *a, const void *b)
{
    return str_cmp(((const struct core_v1_container_status *)a)->name,
                   ((const struct core_v1_container_status *)b)->name);
}

struct container_status_list container_statuses(struct arena *arena, const struct pod_status_input *input,
                                                enum plan_kind kind, const struct core_v1_container_status *old,
                                                size_t old_count)
{
    struct container_status_list list = {0};
    struct plan_pod plan = plan_pod_of(arena, input->pod);
    const struct plan_containers *planned = kind == PLAN_INIT      ? &plan.init
                                            : kind == PLAN_REGULAR ? &plan.regular
                                                                   : &plan.ephemeral;

    for (size_t i = 0; i < planned->len; i++) {
        const struct core_v1_container *spec = pod_container_at(arena, input->pod, kind, i);
        const struct core_v1_container_status *before = container_status_find(old, old_count, spec->name);
        struct core_v1_container_status status = first_status(arena, spec, plan.init.len > 0);

        if (before != NULL && before->state.terminated != NULL) {
            status = *before;
        } else if (before != NULL) {
            status.restart_count = before->restart_count;
            status.last_state = before->last_state;
        }
        take_runtime(arena, input, spec, before, &status);
        if (kind != PLAN_EPHEMERAL) {
            take_reason(arena, input, &plan, &planned->items[i], kind, &status);
        }
        *LIST_ADD(arena, &list) = status;
    }
    if (kind != PLAN_INIT && list.len > 1) {
        qsort(list.items, list.len, sizeof(*list.items), compare_statuses);
    }
    return list;
}
