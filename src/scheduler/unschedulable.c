#include "scheduler/unschedulable.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/log.h"
#include "base/task.h"
#include "schema/json.h"
#include "schema/type.h"

/* A patch on its way. */
struct report {
    struct arena *arena; /* holds the report too */
    struct client *client;
    struct str namespace, name, uid, patch;
    bool deletes; /* the pod, after that */
};

/* A nomination that is no more is taken back. */
static struct str status_patch(struct arena *arena, const struct core_v1_pod *pod,
                               const struct core_v1_pod_condition *condition, struct str nominated)
{
    OWNED(buf_done) struct buf patch = {0};

    buf_printf(&patch, "{\"metadata\":{\"uid\":\"%.*s\"},\"status\":{", STR_ARG(pod->metadata.uid));
    if (nominated.n > 0) {
        buf_printf(&patch, "\"nominatedNodeName\":\"%.*s\",", STR_ARG(nominated));
    } else if (pod->status.nominated_node_name.n > 0) {
        buf_printf(&patch, "\"nominatedNodeName\":null,");
    }
    buf_printf(&patch, "\"conditions\":[");
    json_encode(&core_v1_pod_condition_type, condition, &patch);
    buf_printf(&patch, "]}}");
    return arena_str(arena, buf_str(&patch));
}

struct str unschedulable_patch(struct arena *arena, const struct core_v1_pod *pod, struct str message,
                               struct str nominated, int64_t now)
{
    struct core_v1_pod_condition condition = {
        .type = STR("PodScheduled"),
        .status = STR("False"),
        .reason = STR("Unschedulable"),
        .message = message,
        .observed_generation = pod->metadata.generation,
        .last_transition_time = {.seconds = now / ENV_SECOND, .is_set = true},
    };

    LIST_EACH(have, &pod->status.conditions)
    {
        if (!str_is(have->type, "PodScheduled") || !str_is(have->status, "False")) {
            continue;
        }
        if (str_eq(have->message, message) && str_is(have->reason, "Unschedulable") &&
            have->observed_generation == pod->metadata.generation &&
            str_eq(nominated, pod->status.nominated_node_name)) {
            return (struct str){0};
        }
        condition.last_transition_time = have->last_transition_time;
    }
    return status_patch(arena, pod, &condition, nominated);
}

static void report_run(void *arg)
{
    struct report *report = arg;
    struct status *status =
        client_patch(report->client, &core_v1_pod_kind, report->namespace, report->name, STR("status"),
                     CLIENT_PATCH_STRATEGIC, report->patch, NULL, report->arena, NULL);

    if (status != NULL && !status_is(status, STATUS_NOT_FOUND) && !status_is(status, STATUS_CANCELLED)) {
        log_info("status of pod %.*s/%.*s: %.*s", STR_ARG(report->namespace), STR_ARG(report->name),
                 STR_ARG(status->message));
    }
    status_free(status);
    if (report->deletes) {
        struct client_delete_options options = {.uid = report->uid};

        status = client_delete(report->client, &core_v1_pod_kind, report->namespace, report->name, &options);
        if (status != NULL && !status_is(status, STATUS_NOT_FOUND) && !status_is(status, STATUS_CANCELLED)) {
            log_info("preempting pod %.*s/%.*s: %.*s", STR_ARG(report->namespace), STR_ARG(report->name),
                     STR_ARG(status->message));
        }
        status_free(status);
    }
    arena_free(report->arena);
}

static void send(struct task_group *tasks, struct arena *arena, struct client *client, const struct core_v1_pod *pod,
                 struct str patch, bool deletes)
{
    struct report *report = ARENA_NEW(arena, struct report);

    *report = (struct report){.arena = arena,
                              .client = client,
                              .namespace = arena_str(arena, pod->metadata.namespace),
                              .name = arena_str(arena, pod->metadata.name),
                              .uid = arena_str(arena, pod->metadata.uid),
                              .patch = patch,
                              .deletes = deletes};
    task_group_spawn(tasks, "pod status", report_run, report);
}

void unschedulable_report(struct task_group *tasks, struct client *client, const struct core_v1_pod *pod,
                          struct str message, struct str nominated)
{
    struct arena *arena = arena_new();
    struct str patch = unschedulable_patch(arena, pod, message, nominated, env_wall());

    if (patch.n == 0) {
        arena_free(arena);
        return;
    }
    send(tasks, arena, client, pod, patch, false);
}

void unschedulable_evict(struct task_group *tasks, struct client *client, const struct core_v1_pod *victim,
                         struct str scheduler)
{
    struct arena *arena = arena_new();
    struct core_v1_pod_condition condition = {
        .type = STR("DisruptionTarget"),
        .status = STR("True"),
        .reason = STR("PreemptionByScheduler"),
        .message = arena_printf(arena, "%.*s: preempting to accommodate a higher priority pod", STR_ARG(scheduler)),
        .observed_generation = victim->metadata.generation,
        .last_transition_time = {.seconds = env_wall() / ENV_SECOND, .is_set = true},
    };

    send(tasks, arena, client, victim, status_patch(arena, victim, &condition, (struct str){0}), true);
}
