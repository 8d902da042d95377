#include "api/age.h"
#include "api/table_rows.h"
#include "schema/timestamp.h"

/* What is found out about a pod's containers, step by step. */
struct pod_summary {
    struct str reason;
    int64_t restarts, sidecar_restarts;
    struct timestamp restarted, sidecar_restarted; /* when a container ended last */
    size_t total, ready;
};

static bool is_sidecar(const struct core_v1_pod_spec *spec, struct str name)
{
    LIST_EACH(container, &spec->init_containers) {
        if (str_eq(container->name, name)) {
            return container->restart_policy != NULL && str_is(*container->restart_policy, "Always");
        }
    }
    return false;
}

static bool has_condition(const struct core_v1_pod *pod, const char *type)
{
    LIST_EACH(condition, &pod->status.conditions) {
        if (str_is(condition->type, type) && str_is(condition->status, "True")) {
            return true;
        }
    }
    return false;
}

static void keep_later(struct timestamp *latest, const struct core_v1_container_status *status)
{
    const struct core_v1_container_state_terminated *ended = status->last_state.terminated;

    if (ended != NULL && timestamp_cmp(*latest, ended->finished_at) < 0) {
        *latest = ended->finished_at;
    }
}

static struct str ended_reason(struct arena *arena, const char *prefix,
                               const struct core_v1_container_state_terminated *ended)
{
    if (ended->reason.n > 0) {
        return arena_printf(arena, "%s%.*s", prefix, STR_ARG(ended->reason));
    }
    return ended->signal != 0 ? arena_printf(arena, "%sSignal:%d", prefix, ended->signal)
                              : arena_printf(arena, "%sExitCode:%d", prefix, ended->exit_code);
}

/* True while the pod is held up by an init container; the reason says by which. */
static bool add_init_containers(struct arena *arena, const struct core_v1_pod *pod, struct pod_summary *sum)
{
    for (size_t i = 0; i < pod->status.init_container_statuses.len; i++) {
        const struct core_v1_container_status *status = &pod->status.init_container_statuses.items[i];
        const struct core_v1_container_state_terminated *ended = status->state.terminated;
        const struct core_v1_container_state_waiting *waiting = status->state.waiting;
        bool sidecar = is_sidecar(&pod->spec, status->name);

        sum->restarts += status->restart_count;
        keep_later(&sum->restarted, status);
        if (sidecar) {
            sum->sidecar_restarts += status->restart_count;
            keep_later(&sum->sidecar_restarted, status);
        }
        if (ended != NULL && ended->exit_code == 0) {
            continue;
        }
        if (sidecar && status->started != NULL && *status->started) {
            sum->ready += status->ready;
            continue;
        }
        if (ended != NULL) {
            sum->reason = ended_reason(arena, "Init:", ended);
        } else if (waiting != NULL && waiting->reason.n > 0 && !str_is(waiting->reason, "PodInitializing")) {
            sum->reason = arena_printf(arena, "Init:%.*s", STR_ARG(waiting->reason));
        } else {
            sum->reason = arena_printf(arena, "Init:%zu/%zu", i, pod->spec.init_containers.len);
        }
        return true;
    }
    return false;
}

static void add_containers(struct arena *arena, const struct core_v1_pod *pod, struct pod_summary *sum)
{
    bool running = false;

    sum->restarts = sum->sidecar_restarts;
    sum->restarted = sum->sidecar_restarted;
    for (size_t i = pod->status.container_statuses.len; i > 0; i--) {
        const struct core_v1_container_status *status = &pod->status.container_statuses.items[i - 1];
        const struct core_v1_container_state *state = &status->state;

        sum->restarts += status->restart_count;
        keep_later(&sum->restarted, status);
        if (state->waiting != NULL && state->waiting->reason.n > 0) {
            sum->reason = state->waiting->reason;
        } else if (state->terminated != NULL) {
            sum->reason = ended_reason(arena, "", state->terminated);
        } else if (status->ready && state->running != NULL) {
            running = true;
            sum->ready++;
        }
    }
    if (running && str_is(sum->reason, "Completed")) {
        sum->reason = has_condition(pod, "Ready") ? STR("Running") : STR("NotReady");
    }
}

static struct pod_summary summarize(struct arena *arena, const struct core_v1_pod *pod)
{
    bool ended = str_is(pod->status.phase, "Succeeded") || str_is(pod->status.phase, "Failed");
    struct pod_summary sum = {
        .reason = pod->status.reason.n > 0 ? pod->status.reason : pod->status.phase,
        .total = pod->spec.containers.len,
    };

    LIST_EACH(condition, &pod->status.conditions) {
        if (str_is(condition->type, "PodScheduled") && str_is(condition->reason, "SchedulingGated")) {
            sum.reason = condition->reason;
        }
    }
    LIST_EACH(container, &pod->spec.init_containers) {
        sum.total += is_sidecar(&pod->spec, container->name);
    }
    if (!add_init_containers(arena, pod, &sum) || has_condition(pod, "Initialized")) {
        add_containers(arena, pod, &sum);
    }
    if (pod->metadata.deletion_timestamp != NULL) {
        if (str_is(pod->status.reason, "NodeLost")) {
            sum.reason = STR("Unknown");
        } else if (!ended) {
            sum.reason = STR("Terminating");
        }
    }
    return sum;
}

static void cell_readiness_gates(struct cells *cells, const struct core_v1_pod *pod)
{
    size_t ready = 0;

    if (pod->spec.readiness_gates.len == 0) {
        cell_str(cells, STR("<none>"));
        return;
    }
    LIST_EACH(gate, &pod->spec.readiness_gates) {
        LIST_EACH(condition, &pod->status.conditions) {
            if (str_eq(condition->type, gate->condition_type)) {
                ready += str_is(condition->status, "True");
                break;
            }
        }
    }
    cell_printf(cells, "%zu/%zu", ready, pod->spec.readiness_gates.len);
}

void row_pod(struct cells *cells, const void *object)
{
    const struct core_v1_pod *pod = object;
    struct pod_summary sum = summarize(cells->arena, pod);

    if (str_is(pod->status.phase, "Succeeded")) {
        cells->row->completed = STR("Succeeded");
        cells->row->completed_message = STR("The pod has completed successfully.");
    } else if (str_is(pod->status.phase, "Failed")) {
        cells->row->completed = STR("Failed");
        cells->row->completed_message = STR("The pod failed.");
    }
    cell_name(cells, object);
    cell_printf(cells, "%zu/%zu", sum.ready, sum.total);
    cell_str(cells, sum.reason);
    if (sum.restarts != 0 && sum.restarted.is_set) {
        cell_printf(cells, "%lld (%.*s ago)", (long long)sum.restarts,
                    STR_ARG(human_age(cells->arena, sum.restarted, cells->now)));
    } else {
        cell_printf(cells, "%lld", (long long)sum.restarts);
    }
    cell_object_age(cells, object);
    cell_str_or(cells, pod->status.pod_ips.len > 0 ? pod->status.pod_ips.items[0].ip : STR(""), STR("<none>"));
    cell_str_or(cells, pod->spec.node_name, STR("<none>"));
    cell_str_or(cells, pod->status.nominated_node_name, STR("<none>"));
    cell_readiness_gates(cells, pod);
}

void row_pod_template(struct cells *cells, const void *object)
{
    const struct core_v1_pod_template *template = object;

    cell_name(cells, object);
    cell_containers(cells, &template->template.spec);
    cell_labels(cells, &template->template.metadata.labels);
}
