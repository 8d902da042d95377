#include "kubelet/runtime_health.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubelet/node_agent.h"

#include <stdlib.h>

/* Stock's period, and a shorter one until the runtime is ready for the first time. */
#define PERIOD (5 * ENV_SECOND)
#define IMPATIENT (50 * ENV_MS)

/* Replaces an owned string; true when it is another now. */
static bool set_text(struct str *place, struct str text)
{
    if (str_eq(*place, text)) {
        return false;
    }
    char *copy = mem_zalloc(text.n + 1);

    if (text.n > 0) {
        __builtin_memcpy(copy, text.p, text.n);
    }
    free((void *)(uintptr_t)place->p);
    *place = (struct str){copy, text.n};
    return true;
}

static struct str problem_text(struct arena *arena, const struct cri_v1_runtime_condition *condition)
{
    return arena_printf(arena, "%.*s=%s reason:%.*s message:%.*s", STR_ARG(condition->type),
                        condition->status ? "true" : "false", STR_ARG(condition->reason), STR_ARG(condition->message));
}

struct findings {
    bool is_runtime_ready, is_network_ready;
    struct str runtime_problem, network_problem;
};

static void take_in(struct kubelet *kubelet, const struct findings *found)
{
    bool is_news = kubelet->is_runtime_ready != found->is_runtime_ready ||
                   kubelet->is_network_ready != found->is_network_ready;

    kubelet->is_runtime_ready = found->is_runtime_ready;
    kubelet->is_network_ready = found->is_network_ready;
    is_news |= set_text(&kubelet->runtime_problem, found->runtime_problem);
    is_news |= set_text(&kubelet->network_problem, found->network_problem);
    if (is_news) {
        node_agent_wake(kubelet->node);
    }
}

static void ask(struct kubelet *kubelet)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_status_request request = {0};
    struct cri_v1_status_response *response;
    struct findings found = {.runtime_problem = STR("container runtime is down")};
    struct status *error = cri_status(kubelet->cri, &request, arena, &response);

    if (error != NULL || response->status == NULL) {
        if (error != NULL && kubelet->is_runtime_ready) {
            log_warn("the container runtime does not answer: %.*s", STR_ARG(error->message));
        }
        found.network_problem = STR("container runtime is down");
        if (!task_is_cancelled()) {
            take_in(kubelet, &found);
        }
        status_free(error);
        return;
    }
    found = (struct findings){.runtime_problem = STR("container runtime status check may not have completed yet")};
    LIST_EACH (condition, &response->status->conditions) {
        bool is_runtime = str_is(condition->type, "RuntimeReady");

        if (is_runtime) {
            found.is_runtime_ready = condition->status;
            found.runtime_problem = condition->status ? STR("") : problem_text(arena, condition);
        } else if (str_is(condition->type, "NetworkReady")) {
            found.is_network_ready = condition->status;
            found.network_problem = condition->status ? STR("") : problem_text(arena, condition);
        }
    }
    take_in(kubelet, &found);
}

static void health_task(void *arg)
{
    struct kubelet *kubelet = arg;
    int64_t impatient_until = env_mono() + 60 * ENV_SECOND;

    do {
        ask(kubelet);
    } while (task_sleep(kubelet->is_runtime_ready && kubelet->is_network_ready ? PERIOD
                        : env_mono() < impatient_until                         ? IMPATIENT
                                                                               : PERIOD));
}

void runtime_health_start(struct kubelet *kubelet)
{
    task_group_spawn(&kubelet->tasks, "runtime-health", health_task, kubelet);
}

struct status *runtime_health_wait(struct kubelet *kubelet)
{
    int64_t delay = 20 * ENV_MS;
    bool has_complained = false;

    for (;;) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct cri_v1_version_request request = {.version = STR("0.1.0")};
        struct cri_v1_version_response *response;
        struct status *error = cri_version(kubelet->cri, &request, arena, &response);

        if (error == NULL) {
            kubelet->runtime_name = arena_str(kubelet->arena, response->runtime_name);
            kubelet->runtime_version = arena_str(kubelet->arena, response->runtime_version);
            return NULL;
        }
        if (!has_complained && delay >= ENV_SECOND) {
            log_info("waiting for the container runtime: %.*s", STR_ARG(error->message));
            has_complained = true;
        }
        status_free(error);
        if (!task_sleep(delay)) {
            return status_new(STATUS_CANCELLED, "cancelled while waiting for the container runtime");
        }
        delay = MIN(delay * 2, ENV_SECOND);
    }
}
