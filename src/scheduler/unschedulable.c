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
    struct str namespace, name, patch;
};

struct str unschedulable_patch(struct arena *arena, const struct core_v1_pod *pod, struct str message, int64_t now)
{
    OWNED(buf_done) struct buf patch = {0};
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
            have->observed_generation == pod->metadata.generation) {
            return (struct str){0};
        }
        condition.last_transition_time = have->last_transition_time;
    }
    buf_printf(&patch, "{\"metadata\":{\"uid\":\"%.*s\"},\"status\":{\"conditions\":[", STR_ARG(pod->metadata.uid));
    json_encode(&core_v1_pod_condition_type, &condition, &patch);
    buf_printf(&patch, "]}}");
    return arena_str(arena, buf_str(&patch));
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
    arena_free(report->arena);
}

void unschedulable_report(struct task_group *tasks, struct client *client, const struct core_v1_pod *pod,
                          struct str message)
{
    struct arena *arena = arena_new();
    struct report *report = ARENA_NEW(arena, struct report);
    struct str patch = unschedulable_patch(arena, pod, message, env_wall());

    if (patch.n == 0) {
        arena_free(arena);
        return;
    }
    *report = (struct report){.arena = arena,
                              .client = client,
                              .namespace = arena_str(arena, pod->metadata.namespace),
                              .name = arena_str(arena, pod->metadata.name),
                              .patch = patch};
    task_group_spawn(tasks, "pod status", report_run, report);
}
