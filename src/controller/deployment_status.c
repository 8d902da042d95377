#include "controller/deployment_status.h"

#include "base/env.h"

#include <limits.h>

const struct apps_v1_deployment_condition *deployment_condition_find(const struct apps_v1_deployment_status *status,
                                                                     const char *type)
{
    LIST_EACH(condition, &status->conditions)
    {
        if (str_is(condition->type, type)) {
            return condition;
        }
    }
    return NULL;
}

static void condition_remove(struct apps_v1_deployment_status *status, const char *type)
{
    size_t kept = 0;

    for (size_t i = 0; i < status->conditions.len; i++) {
        if (!str_is(status->conditions.items[i].type, type)) {
            status->conditions.items[kept++] = status->conditions.items[i];
        }
    }
    status->conditions.len = kept;
}

static struct timestamp time_of(int64_t now)
{
    return (struct timestamp){.seconds = now / ENV_SECOND, .is_set = true};
}

/* Sets a condition; nothing changes when status and reason stay the same. The time of transition moves only when the
 * status does. */
static void condition_set(struct arena *arena, struct apps_v1_deployment_status *status, const char *type,
                          const char *value, const char *reason, struct str message, int64_t now)
{
    const struct apps_v1_deployment_condition *before = deployment_condition_find(status, type);
    struct timestamp transition = time_of(now);

    if (before != NULL && str_is(before->status, value)) {
        if (str_is(before->reason, reason)) {
            return;
        }
        transition = before->last_transition_time;
    }
    condition_remove(status, type);
    struct {
        struct apps_v1_deployment_condition *items;
        size_t len;
    } list = {0};

    LIST_EACH(condition, &status->conditions)
    {
        *LIST_ADD(arena, &list) = *condition;
    }
    *LIST_ADD(arena, &list) = (struct apps_v1_deployment_condition){
        .type = str_of(type),
        .status = str_of(value),
        .reason = str_of(reason),
        .message = message,
        .last_update_time = time_of(now),
        .last_transition_time = transition,
    };
    status->conditions.items = list.items;
    status->conditions.len = list.len;
}

/* The counts, with the conditions as they were. */
static struct apps_v1_deployment_status counted(struct arena *arena, const struct apps_v1_deployment *deployment,
                                                const struct replica_sets *all,
                                                const struct apps_v1_replica_set *new_set)
{
    struct apps_v1_deployment_status status = {
        .observed_generation = deployment->metadata.generation,
        .collision_count = deployment->status.collision_count,
        .replicas = rollout_total_actual(all),
        .updated_replicas = new_set ? new_set->status.replicas : 0,
        .available_replicas = rollout_total_available(all),
    };
    int32_t *terminating = NULL;

    LIST_EACH(set, all)
    {
        status.ready_replicas += (*set)->status.ready_replicas;
        if ((*set)->status.terminating_replicas != NULL) {
            terminating = terminating ? terminating : ARENA_NEW(arena, int32_t);
            *terminating += *(*set)->status.terminating_replicas;
        }
    }
    status.terminating_replicas = terminating;
    int32_t missing = rollout_total(all) - status.available_replicas;

    status.unavailable_replicas = missing > 0 ? missing : 0;
    LIST_EACH(condition, &deployment->status.conditions)
    {
        *LIST_ADD(arena, &status.conditions) = *condition;
    }
    return status;
}

bool deployment_is_complete(const struct apps_v1_deployment *deployment,
                            const struct apps_v1_deployment_status *status)
{
    int32_t wanted = rollout_wanted(deployment);

    return status->updated_replicas == wanted && status->replicas == wanted && status->available_replicas == wanted &&
           status->observed_generation >= deployment->metadata.generation;
}

static bool has_deadline(const struct apps_v1_deployment *deployment)
{
    return deployment->spec.progress_deadline_seconds != NULL &&
           *deployment->spec.progress_deadline_seconds != INT32_MAX;
}

/* More updated or ready pods, or fewer old ones, than the status of before says. */
static bool is_progressing(const struct apps_v1_deployment *deployment,
                           const struct apps_v1_deployment_status *status)
{
    const struct apps_v1_deployment_status *before = &deployment->status;

    return status->updated_replicas > before->updated_replicas || status->ready_replicas > before->ready_replicas ||
           status->available_replicas > before->available_replicas ||
           status->replicas - status->updated_replicas < before->replicas - before->updated_replicas;
}

static bool is_timed_out(const struct apps_v1_deployment *deployment,
                         const struct apps_v1_deployment_status *status, int64_t now)
{
    const struct apps_v1_deployment_condition *progressing = deployment_condition_find(status, "Progressing");

    if (progressing == NULL || str_is(progressing->reason, "NewReplicaSetAvailable")) {
        return false;
    }
    if (str_is(progressing->reason, "ProgressDeadlineExceeded")) {
        return true;
    }
    return progressing->last_update_time.seconds + *deployment->spec.progress_deadline_seconds < now / ENV_SECOND;
}

int64_t deployment_deadline_in(const struct apps_v1_deployment *deployment,
                               const struct apps_v1_deployment_status *status, int64_t now)
{
    const struct apps_v1_deployment_condition *progressing = deployment_condition_find(status, "Progressing");

    if (!has_deadline(deployment) || progressing == NULL || deployment_is_complete(deployment, status) ||
        !str_is(progressing->status, "True") || deployment->spec.paused) {
        return 0;
    }
    int64_t due = progressing->last_update_time.seconds + *deployment->spec.progress_deadline_seconds + 1;
    int64_t left = due * ENV_SECOND - now;

    return left > 0 ? left : ENV_SECOND;
}

static void set_available(struct arena *arena, const struct apps_v1_deployment *deployment,
                          struct apps_v1_deployment_status *status, int64_t now)
{
    int32_t enough = rollout_wanted(deployment) - rollout_bounds_of(deployment).max_unavailable;

    if (status->available_replicas >= enough) {
        condition_set(arena, status, "Available", "True", "MinimumReplicasAvailable",
                      STR("Deployment has minimum availability."), now);
    } else {
        condition_set(arena, status, "Available", "False", "MinimumReplicasUnavailable",
                      STR("Deployment does not have minimum availability."), now);
    }
}

static void set_progressing(struct arena *arena, const struct apps_v1_deployment *deployment,
                            struct apps_v1_deployment_status *status, const struct apps_v1_replica_set *new_set,
                            int64_t now)
{
    const struct apps_v1_deployment_condition *current = deployment_condition_find(status, "Progressing");
    struct str subject = new_set ? arena_printf(arena, "ReplicaSet \"%.*s\"", STR_ARG(new_set->metadata.name))
                                 : arena_printf(arena, "Deployment \"%.*s\"", STR_ARG(deployment->metadata.name));
    bool was_complete = status->replicas == status->updated_replicas && current != NULL &&
                        str_is(current->reason, "NewReplicaSetAvailable");

    if (was_complete) {
        return; /* scaled, or a pod restarted: not a rollout */
    }
    if (deployment_is_complete(deployment, status)) {
        condition_set(arena, status, "Progressing", "True", "NewReplicaSetAvailable",
                      arena_printf(arena, "%.*s has successfully progressed.", STR_ARG(subject)), now);
    } else if (is_progressing(deployment, status)) {
        struct str message = arena_printf(arena, "%.*s is progressing.", STR_ARG(subject));
        struct timestamp transition =
            current && str_is(current->status, "True") ? current->last_transition_time : time_of(now);

        condition_remove(status, "Progressing"); /* so that the time of update moves though the reason stays */
        condition_set(arena, status, "Progressing", "True", "ReplicaSetUpdated", message, now);
        status->conditions.items[status->conditions.len - 1].last_transition_time = transition;
    } else if (is_timed_out(deployment, status, now)) {
        condition_set(arena, status, "Progressing", "False", "ProgressDeadlineExceeded",
                      arena_printf(arena, "%.*s has timed out progressing.", STR_ARG(subject)), now);
    }
}

static const struct apps_v1_replica_set_condition *failure_of(const struct apps_v1_replica_set *set)
{
    LIST_EACH(condition, &set->status.conditions)
    {
        if (str_is(condition->type, "ReplicaFailure")) {
            return condition;
        }
    }
    return NULL;
}

/* Of the new set, or else of any other. */
static const struct apps_v1_replica_set_condition *find_failure(const struct replica_sets *all,
                                                                const struct apps_v1_replica_set *new_set)
{
    const struct apps_v1_replica_set_condition *failure = new_set != NULL ? failure_of(new_set) : NULL;

    for (size_t i = 0; i < all->len && failure == NULL; i++) {
        failure = failure_of(all->items[i]);
    }
    return failure;
}

struct apps_v1_deployment_status deployment_status(struct arena *arena, const struct apps_v1_deployment *deployment,
                                                   const struct replica_sets *all,
                                                   const struct apps_v1_replica_set *new_set,
                                                   const struct deployment_progress *progress)
{
    struct apps_v1_deployment_status status = counted(arena, deployment, all, new_set);

    if (deployment->metadata.deletion_timestamp != NULL) {
        return status;
    }
    if (progress->reason != NULL && has_deadline(deployment)) {
        condition_set(arena, &status, "Progressing", progress->status, progress->reason, progress->message,
                      progress->now);
    }
    if (has_deadline(deployment) && !deployment->spec.paused) {
        set_progressing(arena, deployment, &status, new_set, progress->now);
    } else if (!has_deadline(deployment)) {
        condition_remove(&status, "Progressing");
    }
    set_available(arena, deployment, &status, progress->now);
    const struct apps_v1_replica_set_condition *failure = find_failure(all, new_set);

    if (failure != NULL) {
        condition_set(arena, &status, "ReplicaFailure", arena_cstr(arena, failure->status),
                      arena_cstr(arena, failure->reason), failure->message, progress->now);
    } else {
        condition_remove(&status, "ReplicaFailure");
    }
    return status;
}
