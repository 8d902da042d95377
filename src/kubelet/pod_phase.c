/* The phase of a pod, and which of its containers count as started and ready (pod_status.h). */
#include "kubelet/pod_status.h"

struct tally {
    int pending_init, pending_sidecars, init_failed_for_good;
    int unknown, running, waiting, stopped, stopped_for_good, succeeded;
};

static const struct core_v1_container_status *find(const struct core_v1_pod_status *status, struct str name)
{
    const struct core_v1_container_status *found =
        container_status_find(status->container_statuses.items, status->container_statuses.len, name);

    return found != NULL ? found
                         : container_status_find(status->init_container_statuses.items,
                                                 status->init_container_statuses.len, name);
}

static void count_init(struct tally *tally, const struct plan_container *container,
                       const struct core_v1_container_status *status)
{
    const struct core_v1_container_state_terminated *ended =
        status == NULL ? NULL : status->state.terminated != NULL ? status->state.terminated : NULL;

    if (status != NULL && ended == NULL && status->state.waiting != NULL) {
        ended = status->last_state.terminated;
    }
    if (ended == NULL) {
        tally->pending_init++;
    } else if (ended->exit_code != 0 && !plan_container_restarts(container, ended->exit_code)) {
        tally->init_failed_for_good++;
    }
}

static void count_sidecar(struct tally *tally, const struct core_v1_container_status *status)
{
    if (status == NULL) {
        tally->unknown++;
    } else if (status->state.running != NULL) {
        tally->pending_sidecars += status->started == NULL || !*status->started;
        tally->running++;
    } else if (status->state.waiting != NULL) {
        if (status->last_state.terminated == NULL) {
            tally->pending_sidecars++;
            tally->waiting++;
        }
    } else if (status->state.terminated == NULL) {
        tally->pending_sidecars++;
        tally->unknown++;
    }
}

static void count_regular(struct tally *tally, const struct plan_container *container,
                          const struct core_v1_container_status *status)
{
    const struct core_v1_container_state_terminated *ended = NULL;

    if (status == NULL) {
        tally->unknown++;
        return;
    }
    if (status->state.running != NULL) {
        tally->running++;
        return;
    }
    if (status->state.terminated != NULL) {
        ended = status->state.terminated;
        tally->succeeded += ended->exit_code == 0;
    } else if (status->state.waiting != NULL) {
        ended = status->last_state.terminated;
        tally->waiting += ended == NULL;
    } else {
        tally->unknown++;
    }
    if (ended != NULL) {
        tally->stopped++;
        tally->stopped_for_good += !plan_container_restarts(container, ended->exit_code);
    }
}

struct str pod_status_phase(const struct plan_pod *plan, const struct core_v1_pod_status *status, bool is_terminal,
                            bool has_initialized, bool is_static)
{
    struct tally tally = {0};

    LIST_EACH (container, &plan->init) {
        if (container->is_sidecar) {
            count_sidecar(&tally, find(status, container->name));
        } else {
            count_init(&tally, container, find(status, container->name));
        }
    }
    LIST_EACH (container, &plan->regular) {
        count_regular(&tally, container, find(status, container->name));
    }
    if (tally.init_failed_for_good > 0) {
        return STR("Failed");
    }
    if (tally.pending_init > 0 || (tally.pending_sidecars > 0 && !has_initialized) || tally.waiting > 0) {
        return STR("Pending");
    }
    if (tally.running > 0 && tally.unknown == 0) {
        return STR("Running");
    }
    if (tally.running == 0 && tally.stopped > 0 && tally.unknown == 0) {
        if (is_terminal && !is_static) {
            return tally.stopped == tally.succeeded ? STR("Succeeded") : STR("Failed");
        }
        if (tally.stopped != tally.stopped_for_good) {
            return STR("Running"); /* some will be restarted */
        }
        return tally.stopped == tally.succeeded ? STR("Succeeded") : STR("Failed");
    }
    return STR("Pending");
}

static struct str bare_id(const struct core_v1_container_status *status)
{
    size_t at = str_find(status->container_id, STR("://"));

    return at == SIZE_MAX ? status->container_id : str_from(status->container_id, at + 3);
}

static enum probe_result result_of(const struct pod_status_input *input, const struct core_v1_container_status *status,
                                   enum probe_kind kind)
{
    return input->probe == NULL ? PROBE_UNKNOWN : input->probe(input->arg, bare_id(status), kind);
}

static bool is_started(const struct pod_status_input *input, const struct core_v1_container *spec,
                       const struct core_v1_container_status *status)
{
    if (status->state.running == NULL) {
        return false;
    }
    enum probe_result result = result_of(input, status, PROBE_STARTUP);

    if (result != PROBE_UNKNOWN) {
        return result == PROBE_SUCCESS;
    }
    if (status->started != NULL && *status->started) {
        return true; /* before the kubelet was restarted */
    }
    return spec->startup_probe == NULL;
}

/* Without a result yet, a container that was ready stays so: the kubelet was restarted, not the container. */
static bool is_ready(const struct pod_status_input *input, const struct core_v1_container *spec,
                     const struct core_v1_container_status *status)
{
    if (spec->readiness_probe == NULL) {
        return true;
    }
    enum probe_result result = result_of(input, status, PROBE_READINESS);

    if (result != PROBE_UNKNOWN) {
        return result == PROBE_SUCCESS;
    }
    const struct core_v1_container_status *old = find(input->old, status->name);

    return old != NULL && old->ready && str_eq(old->container_id, status->container_id);
}

static void probe_one(struct arena *arena, const struct pod_status_input *input, enum plan_kind kind,
                      struct core_v1_container_status *status)
{
    const struct core_v1_container *spec = pod_find_container(arena, input->pod, status->name, NULL);
    bool started = is_started(input, spec, status);

    status->started = ARENA_NEW(arena, bool);
    *status->started = started;
    if (kind == PLAN_INIT && !container_is_sidecar(spec)) {
        status->ready = status->state.terminated != NULL && status->state.terminated->exit_code == 0;
    } else {
        status->ready = started && is_ready(input, spec, status);
    }
}

void pod_status_probe(struct arena *arena, const struct pod_status_input *input, struct core_v1_pod_status *status)
{
    LIST_EACH (container, &status->container_statuses) {
        probe_one(arena, input, PLAN_REGULAR, container);
    }
    LIST_EACH (container, &status->init_container_statuses) {
        probe_one(arena, input, PLAN_INIT, container);
    }
}
