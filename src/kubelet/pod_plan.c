#include "kubelet/pod_plan.h"

struct planning {
    struct arena *arena;
    const struct plan_pod *pod;
    const struct runtime_pod *runtime;
    plan_probe *probe;
    void *arg;
    struct pod_plan plan;
};

static void add_start(struct planning *planning, enum plan_kind kind, size_t index)
{
    *LIST_ADD(planning->arena, &planning->plan.starts) = (struct plan_start){.kind = kind, .index = index};
}

static void add_kill(struct planning *planning, const struct runtime_container *container, enum plan_kind kind,
                     size_t index, enum kill_reason reason, struct str message)
{
    *LIST_ADD(planning->arena, &planning->plan.kills) = (struct plan_kill){
        .container = container, .kind = kind, .index = index, .message = message, .reason = reason};
}

static enum probe_result result_of(const struct planning *planning, const struct runtime_container *container,
                                   enum probe_kind kind)
{
    return planning->probe == NULL ? PROBE_UNKNOWN : planning->probe(planning->arg, container->id, kind);
}

bool pod_plan_needs_sandbox(const struct plan_pod *pod, const struct runtime_pod *runtime, uint32_t *ret_attempt,
                            struct str *ret_id, struct str *ret_reason)
{
    size_t ready = 0;

    *ret_attempt = 0;
    *ret_id = STR("");
    if (runtime->sandboxes.len == 0) {
        *ret_reason = STR("no pod sandbox exists");
        return true;
    }
    LIST_EACH (sandbox, &runtime->sandboxes) {
        ready += sandbox->is_ready;
    }
    const struct runtime_sandbox *newest = &runtime->sandboxes.items[0];

    *ret_attempt = newest->attempt + 1;
    *ret_id = newest->id;
    if (ready > 1) {
        *ret_reason = STR("multiple pod sandboxes are ready and need to be reconciled");
        return true;
    }
    if (!newest->is_ready) {
        *ret_reason = STR("pod sandbox is not ready");
        return true;
    }
    if (newest->is_host_network != pod->is_host_network) {
        *ret_id = STR("");
        *ret_reason = STR("network namespace mode changed and sandbox needs to be recreated");
        return true;
    }
    if (!pod->is_host_network && newest->has_network && newest->ips.len == 0) {
        *ret_reason = STR("pod sandbox has no IP address");
        return true;
    }
    *ret_attempt = newest->attempt;
    *ret_reason = STR("");
    return false;
}

bool plan_container_restarts(const struct plan_container *container, int32_t exit_code)
{
    LIST_EACH (rule, &container->rules) {
        bool is_among = false;

        for (size_t i = 0; i < rule->value_count; i++) {
            is_among = is_among || rule->values[i] == exit_code;
        }
        if (is_among != rule->is_not_in) {
            return true;
        }
    }
    return container->restart == RESTART_ALWAYS || (container->restart == RESTART_ON_FAILURE && exit_code != 0);
}

bool plan_container_should_start(const struct plan_pod *pod, const struct plan_container *container,
                                 const struct runtime_pod *runtime)
{
    if (pod->is_deleted) {
        return false;
    }
    const struct runtime_container *newest = runtime_pod_find(runtime, container->name);

    if (newest == NULL) {
        return true;
    }
    switch (newest->state) {
    case RUNTIME_RUNNING:
        return false;
    case RUNTIME_EXITED:
        return plan_container_restarts(container, newest->exit_code);
    default:
        return true;
    }
}

bool plan_pod_was_initialized(const struct plan_pod *pod, const struct runtime_pod *runtime)
{
    LIST_EACH (container, &pod->regular) {
        const struct runtime_container *newest = runtime_pod_find(runtime, container->name);

        if (newest != NULL && newest->state != RUNTIME_UNKNOWN) {
            return true;
        }
    }
    return false;
}

bool plan_pod_is_initialized(const struct plan_pod *pod, const struct runtime_pod *runtime)
{
    LIST_EACH (container, &pod->regular) {
        if (runtime_pod_find_active(runtime, container->name) != NULL) {
            return true;
        }
    }
    return false;
}

/* Everything starts over in a new sandbox, unless the pod is done and only its sandbox is gone. */
static void plan_new_sandbox(struct planning *planning)
{
    const struct plan_pod *pod = planning->pod;
    struct pod_plan *plan = &planning->plan;

    if (pod->restart == RESTART_NEVER && plan->attempt != 0 && planning->runtime->containers.len != 0) {
        plan->create_sandbox = false;
        return;
    }
    size_t wanted = 0;

    for (size_t i = 0; i < pod->regular.len; i++) {
        const struct plan_container *container = &pod->regular.items[i];
        const struct runtime_container *newest = runtime_pod_find(planning->runtime, container->name);
        bool succeeded = newest != NULL && newest->state == RUNTIME_EXITED && newest->exit_code == 0;

        if (container->restart == RESTART_ON_FAILURE && succeeded) {
            continue;
        }
        wanted++;
        if (pod->init.len == 0) {
            add_start(planning, PLAN_REGULAR, i);
        }
    }
    if (wanted == 0 && plan_pod_was_initialized(pod, planning->runtime)) {
        plan->create_sandbox = false;
        plan->starts.len = 0;
    } else if (pod->init.len > 0) {
        add_start(planning, PLAN_INIT, 0);
    }
}

static bool init_failed(const struct runtime_container *container)
{
    return str_is(container->reason, "OOMKilled") || container->state == RUNTIME_UNKNOWN ||
           (container->state == RUNTIME_EXITED && container->exit_code != 0);
}

/* Progress through the init containers, found backwards, since the runtime may have lost finished ones. `starts` holds
 * for each whether it is to be started. */
struct init_progress {
    bool was_initialized; /* the one after this has been reached */
    bool is_initialized;  /* all are done */
    bool has_failed;      /* for good */
    bool *starts;
};

/* A running sidecar: it may need a restart, and the next init container may begin. */
static void plan_running_sidecar(struct planning *planning, struct init_progress *progress, size_t i,
                                 const struct runtime_container *running)
{
    const struct plan_container *container = &planning->pod->init.items[i];

    if (container->has_startup_probe) {
        enum probe_result startup = result_of(planning, running, PROBE_STARTUP);

        if (startup == PROBE_FAILURE) {
            add_kill(planning, running, PLAN_INIT, i, KILL_STARTUP_PROBE,
                     arena_printf(planning->arena, "Init container %.*s failed startup probe",
                                  STR_ARG(container->name)));
            progress->starts[i] = true;
        }
        if (startup != PROBE_SUCCESS) {
            return;
        }
    }
    if (i == planning->pod->init.len - 1) {
        progress->is_initialized = true;
    } else if (!progress->was_initialized) {
        progress->starts[i + 1] = true;
    }
    if (running->hash != 0 && running->hash != container->hash) {
        add_kill(planning, running, PLAN_INIT, i, KILL_OTHER,
                 arena_printf(planning->arena, "Init container %.*s definition changed", STR_ARG(container->name)));
        progress->starts[i] = true;
    } else if (container->has_liveness_probe && result_of(planning, running, PROBE_LIVENESS) == PROBE_FAILURE) {
        add_kill(planning, running, PLAN_INIT, i, KILL_LIVENESS_PROBE,
                 arena_printf(planning->arena, "Init container %.*s failed liveness probe", STR_ARG(container->name)));
        progress->starts[i] = true;
    }
}

static void plan_dead_init(struct planning *planning, struct init_progress *progress, size_t i,
                           const struct runtime_container *dead)
{
    const struct plan_container *container = &planning->pod->init.items[i];
    bool is_unknown = dead->state == RUNTIME_UNKNOWN;

    if (!container->is_sidecar && !init_failed(dead)) {
        if (i == planning->pod->init.len - 1) {
            progress->is_initialized = true;
        } else {
            progress->starts[i + 1] = true;
        }
        return;
    }
    bool comes_back = container->is_sidecar ||
                      (is_unknown ? container->restart != RESTART_NEVER
                                  : plan_container_should_start(planning->pod, container, planning->runtime));

    if (!comes_back) {
        progress->has_failed = true;
        return;
    }
    if (is_unknown) {
        add_kill(planning, dead, PLAN_INIT, i, KILL_OTHER,
                 arena_printf(planning->arena, "Init container is in \"%s\" state, try killing it before restart",
                              runtime_state_name(dead->state)));
    }
    progress->starts[i] = true;
}

static bool plan_init(struct planning *planning)
{
    const struct plan_containers *init = &planning->pod->init;
    struct init_progress progress = {.starts = ARENA_ARRAY(planning->arena, bool, init->len + 1)};

    if (init->len == 0) {
        return true;
    }
    progress.is_initialized = plan_pod_is_initialized(planning->pod, planning->runtime);
    progress.was_initialized = progress.is_initialized;
    for (size_t i = init->len; i-- > 0 && !progress.has_failed;) {
        const struct runtime_container *newest = runtime_pod_find_active(planning->runtime, init->items[i].name);

        if (newest == NULL) {
            progress.starts[i] = progress.starts[i] || (progress.was_initialized && init->items[i].is_sidecar);
            continue;
        }
        if (progress.was_initialized && !init->items[i].is_sidecar) {
            continue;
        }
        if (newest->state == RUNTIME_CREATED) {
            progress.starts[i] = true; /* starting it must have failed */
        } else if (newest->state == RUNTIME_RUNNING) {
            if (init->items[i].is_sidecar) {
                plan_running_sidecar(planning, &progress, i, newest);
            }
        } else {
            plan_dead_init(planning, &progress, i, newest);
        }
        progress.was_initialized = true;
    }
    if (progress.has_failed) {
        planning->plan.kill_pod = true;
        planning->plan.starts.len = 0;
        return false;
    }
    progress.starts[0] = progress.starts[0] || !progress.was_initialized;
    for (size_t i = 0; i < init->len; i++) {
        if (progress.starts[i]) {
            add_start(planning, PLAN_INIT, i);
        }
    }
    return progress.is_initialized;
}

/* Why a running container must go; false when it may stay. */
static bool must_go(struct planning *planning, const struct plan_container *container,
                    const struct runtime_container *running, enum kill_reason *ret_reason, struct str *ret_message,
                    bool *ret_restart)
{
    *ret_reason = KILL_OTHER;
    *ret_restart = container->restart != RESTART_NEVER;
    if (running->hash != 0 && running->hash != container->hash) {
        *ret_message =
            arena_printf(planning->arena, "Container %.*s definition changed", STR_ARG(container->name));
        *ret_restart = true;
        return true;
    }
    if (result_of(planning, running, PROBE_LIVENESS) == PROBE_FAILURE) {
        *ret_reason = KILL_LIVENESS_PROBE;
        *ret_message =
            arena_printf(planning->arena, "Container %.*s failed liveness probe", STR_ARG(container->name));
        return true;
    }
    if (result_of(planning, running, PROBE_STARTUP) == PROBE_FAILURE) {
        *ret_reason = KILL_STARTUP_PROBE;
        *ret_message = arena_printf(planning->arena, "Container %.*s failed startup probe", STR_ARG(container->name));
        return true;
    }
    return false;
}

/* Returns whether a container is running and stays. */
static bool plan_regular(struct planning *planning, size_t i)
{
    const struct plan_container *container = &planning->pod->regular.items[i];
    const struct runtime_container *newest = runtime_pod_find(planning->runtime, container->name);
    enum kill_reason reason;
    struct str message;
    bool restart;

    if (newest == NULL || newest->state != RUNTIME_RUNNING) {
        if (plan_container_should_start(planning->pod, container, planning->runtime)) {
            add_start(planning, PLAN_REGULAR, i);
            if (newest != NULL && newest->state == RUNTIME_UNKNOWN) {
                add_kill(planning, newest, PLAN_REGULAR, i, KILL_OTHER,
                         arena_printf(planning->arena, "Container is in \"%s\" state, try killing it before restart",
                                      runtime_state_name(newest->state)));
            }
        }
        return false;
    }
    if (!must_go(planning, container, newest, &reason, &message, &restart)) {
        return true;
    }
    if (restart) {
        message = arena_printf(planning->arena, "%.*s, will be restarted", STR_ARG(message));
        add_start(planning, PLAN_REGULAR, i);
    }
    add_kill(planning, newest, PLAN_REGULAR, i, reason, message);
    return false;
}

static void plan_all_regular(struct planning *planning)
{
    size_t kept = 0, before = planning->plan.starts.len;

    for (size_t i = 0; i < planning->pod->regular.len; i++) {
        kept += plan_regular(planning, i);
    }
    if (kept == 0 && planning->plan.starts.len == before) {
        /* The pod is done: sidecars must not keep it alive. */
        planning->plan.kill_pod = true;
        planning->plan.starts.len = 0;
    }
}

void pod_plan(struct arena *arena, const struct plan_pod *pod, const struct runtime_pod *runtime, plan_probe *probe,
              void *arg, struct pod_plan *ret)
{
    struct planning planning = {.arena = arena, .pod = pod, .runtime = runtime, .probe = probe, .arg = arg};
    struct pod_plan *plan = &planning.plan;

    if (pod_plan_needs_sandbox(pod, runtime, &plan->attempt, &plan->sandbox_id, &plan->sandbox_reason)) {
        plan->kill_pod = plan->create_sandbox = true;
        plan_new_sandbox(&planning);
        *ret = *plan;
        return;
    }
    for (size_t i = 0; i < pod->ephemeral.len; i++) {
        if (runtime_pod_find(runtime, pod->ephemeral.items[i].name) == NULL) {
            add_start(&planning, PLAN_EPHEMERAL, i);
        }
    }
    if (plan_init(&planning) && !plan->kill_pod) {
        plan_all_regular(&planning);
    }
    *ret = *plan;
}
