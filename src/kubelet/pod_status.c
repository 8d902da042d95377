#include "kubelet/pod_status.h"
#include "schema/timestamp.h"

#include "base/buf.h"

#include <string.h>

static const char *const own_conditions[] = {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
                                             "PodScheduled",     "PodResizePending", "PodResizeInProgress"};

bool pod_condition_is_kubelets(struct str type)
{
    for (size_t i = 0; i < COUNT_OF(own_conditions); i++) {
        if (str_is(type, own_conditions[i])) {
            return true;
        }
    }
    return false;
}

struct names {
    struct str *items;
    size_t len;
};

/* "[a b]", as Go prints a list of strings. */
static void print_names(struct buf *out, const char *what, const struct names *names)
{
    if (names->len == 0) {
        return;
    }
    buf_printf(out, "%s%s: [", out->n > 0 ? ", " : "", what);
    LIST_EACH (name, names) {
        buf_printf(out, "%s%.*s", name == names->items ? "" : " ", STR_ARG(*name));
    }
    buf_add_char(out, ']');
}

static struct str containers_message(struct arena *arena, const struct names *unknown, const char *what,
                                     const struct names *wrong)
{
    struct buf out = {0};

    print_names(&out, "containers with unknown status", unknown);
    print_names(&out, what, wrong);
    struct str text = arena_str(arena, buf_str(&out));

    buf_done(&out);
    return text;
}

struct verdict {
    bool is_true;
    struct str reason, message;
};

static struct verdict containers_ready(struct arena *arena, const struct pod_status_input *input,
                                       const struct core_v1_pod_status *status)
{
    struct names unknown = {0}, unready = {0};
    struct pod_containers all = pod_all_containers(arena, input->pod);

    if (status->container_statuses.len == 0) {
        return (struct verdict){.reason = STR("UnknownContainerStatuses")};
    }
    LIST_EACH (container, &all) {
        if (container->kind == PLAN_EPHEMERAL ||
            (container->kind == PLAN_INIT && !container_is_sidecar(container->spec))) {
            continue;
        }
        const struct core_v1_container_status *found =
            container->kind == PLAN_INIT
                ? container_status_find(status->init_container_statuses.items, status->init_container_statuses.len,
                                        container->spec->name)
                : container_status_find(status->container_statuses.items, status->container_statuses.len,
                                        container->spec->name);

        if (found == NULL) {
            *LIST_ADD(arena, &unknown) = container->spec->name;
        } else if (!found->ready) {
            *LIST_ADD(arena, &unready) = container->spec->name;
        }
    }
    if (str_is(status->phase, "Succeeded") && unknown.len == 0) {
        return (struct verdict){.reason = STR("PodCompleted")};
    }
    if (str_is(status->phase, "Failed")) {
        return (struct verdict){.reason = STR("PodFailed")};
    }
    struct str message = containers_message(arena, &unknown, "containers with unready status", &unready);

    return message.n > 0 ? (struct verdict){.reason = STR("ContainersNotReady"), .message = message}
                         : (struct verdict){.is_true = true};
}

static struct verdict pod_ready(struct arena *arena, const struct pod_status_input *input,
                                const struct core_v1_pod_status *status)
{
    struct verdict verdict = containers_ready(arena, input, status);
    struct buf out = {0};

    if (!verdict.is_true) {
        return verdict;
    }
    LIST_EACH (gate, &input->pod->spec.readiness_gates) {
        const struct core_v1_pod_condition *condition = pod_condition_find(status, gate->condition_type);
        const char *separator = out.n > 0 ? ", " : "";

        if (condition == NULL) {
            buf_printf(&out, "%scorresponding condition of pod readiness gate \"%.*s\" does not exist.", separator,
                       STR_ARG(gate->condition_type));
        } else if (!str_is(condition->status, "True")) {
            buf_printf(&out, "%sthe status of pod readiness gate \"%.*s\" is not \"True\", but %.*s", separator,
                       STR_ARG(gate->condition_type), STR_ARG(condition->status));
        }
    }
    if (out.n > 0) {
        verdict = (struct verdict){.reason = STR("ReadinessGatesNotReady"), .message = arena_str(arena, buf_str(&out))};
    }
    buf_done(&out);
    return verdict;
}

static bool regular_started(const struct core_v1_pod_status *status)
{
    LIST_EACH (container, &status->container_statuses) {
        if (container->state.running != NULL || container->state.terminated != NULL) {
            return true;
        }
    }
    return false;
}

static struct verdict initialized(struct arena *arena, const struct pod_status_input *input,
                                  const struct core_v1_pod_status *status)
{
    struct names unknown = {0}, incomplete = {0};

    LIST_EACH (container, &input->pod->spec.init_containers) {
        const struct core_v1_container_status *found = container_status_find(
            status->init_container_statuses.items, status->init_container_statuses.len, container->name);

        if (found == NULL) {
            *LIST_ADD(arena, &unknown) = container->name;
        } else if (container_is_sidecar(container) ? found->started == NULL || !*found->started : !found->ready) {
            *LIST_ADD(arena, &incomplete) = container->name;
        }
    }
    if (str_is(status->phase, "Succeeded") && unknown.len == 0) {
        return (struct verdict){.is_true = true, .reason = STR("PodCompleted")};
    }
    if (regular_started(status)) {
        return (struct verdict){.is_true = true};
    }
    struct str message = containers_message(arena, &unknown, "containers with incomplete status", &incomplete);

    return message.n > 0 ? (struct verdict){.reason = STR("ContainersNotInitialized"), .message = message}
                         : (struct verdict){.is_true = true};
}

static struct verdict ready_to_start(struct arena *arena, const struct pod_status_input *input)
{
    struct plan_pod plan = plan_pod_of(arena, input->pod);
    uint32_t attempt;
    struct str id, reason;

    if (!pod_plan_needs_sandbox(&plan, input->runtime, &attempt, &id, &reason)) {
        return (struct verdict){.is_true = true};
    }
    return (struct verdict){.reason = STR("PodSandboxNotReady"), .message = reason};
}

/* The time of the last change stays when the status is the one reported before. */
static void add_condition(struct arena *arena, const struct pod_status_input *input,
                          struct core_v1_pod_status *status, struct str type, struct verdict verdict)
{
    struct str value = verdict.is_true ? STR("True") : STR("False");
    const struct core_v1_pod_condition *old = pod_condition_find(input->old, type);

    if (old == NULL) {
        old = pod_condition_find(&input->pod->status, type);
    }
    bool is_same = old != NULL && str_eq(old->status, value) && old->last_transition_time.is_set;

    *LIST_ADD(arena, &status->conditions) = (struct core_v1_pod_condition){
        .type = type,
        .status = value,
        .reason = verdict.reason,
        .message = verdict.message,
        .observed_generation = input->pod->metadata.generation,
        .last_transition_time = is_same ? old->last_transition_time : timestamp_of_nanos(input->now),
    };
}

void pod_status_conditions(struct arena *arena, const struct pod_status_input *input,
                           struct core_v1_pod_status *status)
{
    status->conditions.items = NULL;
    status->conditions.len = 0;
    LIST_EACH (condition, &input->pod->status.conditions) {
        bool is_disruption = input->disruption_reason.n > 0 && str_is(condition->type, "DisruptionTarget");

        if (!pod_condition_is_kubelets(condition->type) && !is_disruption) {
            *LIST_ADD(arena, &status->conditions) = *condition;
        }
    }
    if (input->disruption_reason.n > 0) {
        add_condition(arena, input, status, STR("DisruptionTarget"),
                      (struct verdict){.is_true = true,
                                       .reason = input->disruption_reason,
                                       .message = input->disruption_message});
    }
    if (input->resize_reason.n > 0) {
        add_condition(arena, input, status, STR("PodResizePending"),
                      (struct verdict){.is_true = true,
                                       .reason = input->resize_reason,
                                       .message = input->resize_message});
    }
    if (input->resize_error.n > 0) {
        add_condition(arena, input, status, STR("PodResizeInProgress"),
                      (struct verdict){.is_true = true, .reason = STR("Error"), .message = input->resize_error});
    }
    add_condition(arena, input, status, STR("PodReadyToStartContainers"), ready_to_start(arena, input));
    add_condition(arena, input, status, STR("Initialized"), initialized(arena, input, status));
    add_condition(arena, input, status, STR("Ready"), pod_ready(arena, input, status));
    add_condition(arena, input, status, STR("ContainersReady"), containers_ready(arena, input, status));
    add_condition(arena, input, status, STR("PodScheduled"), (struct verdict){.is_true = true});
}

static bool has_ready_sandbox(const struct runtime_pod *runtime)
{
    LIST_EACH (sandbox, &runtime->sandboxes) {
        if (sandbox->is_ready) {
            return true;
        }
    }
    return false;
}

/* A pod that is over keeps the addresses it had. */
static void set_addresses(struct arena *arena, const struct pod_status_input *input, struct core_v1_pod_status *status)
{
    if (input->runtime->sandboxes.len > 0 && !input->pod->spec.host_network) {
        LIST_EACH (ip, &input->runtime->sandboxes.items[0].ips) {
            LIST_ADD(arena, &status->pod_ips)->ip = *ip;
        }
    }
    if (status->pod_ips.len == 0 && !has_ready_sandbox(input->runtime) && input->old->pod_ips.len > 0 &&
        !input->pod->spec.host_network) {
        memcpy(&status->pod_ips, &input->old->pod_ips, sizeof(status->pod_ips));
    }
    if (input->host_ip.n > 0) {
        status->host_ip = input->host_ip;
        LIST_ADD(arena, &status->host_ips)->ip = input->host_ip;
        if (input->pod->spec.host_network && status->pod_ips.len == 0) {
            LIST_ADD(arena, &status->pod_ips)->ip = input->host_ip;
        }
    }
    if (status->pod_ips.len > 0) {
        status->pod_ip = status->pod_ips.items[0].ip;
    }
}

/* Phases do not go back from the end. */
static void set_phase(struct arena *arena, const struct pod_status_input *input, struct core_v1_pod_status *status)
{
    const struct core_v1_pod_status *in_api = &input->pod->status;
    struct plan_pod plan = plan_pod_of(arena, input->pod);

    status->phase = pod_status_phase(&plan, status, input->is_terminal,
                                     plan_pod_is_initialized(&plan, input->runtime), pod_is_static(input->pod));
    if (!pod_is_terminal(status)) {
        status->phase = pod_is_terminal(input->old) ? input->old->phase
                        : pod_is_terminal(in_api)   ? in_api->phase
                                                    : status->phase;
    }
    if (str_eq(status->phase, input->old->phase)) {
        status->reason = input->old->reason.n > 0 ? input->old->reason : in_api->reason;
        status->message = input->old->message.n > 0 ? input->old->message : in_api->message;
    }
    if (input->failed_reason.n > 0) {
        status->phase = STR("Failed");
        status->reason = input->failed_reason;
        status->message = input->failed_message;
    }
    if (pod_is_terminal(in_api)) {
        status->phase = in_api->phase;
    }
}

static void set_containers(struct arena *arena, const struct pod_status_input *input,
                           struct core_v1_pod_status *status)
{
    const struct core_v1_pod_status *old = input->old;
    struct container_status_list list = container_statuses(arena, input, PLAN_REGULAR, old->container_statuses.items,
                                                           old->container_statuses.len);

    status->container_statuses.items = list.items;
    status->container_statuses.len = list.len;
    list = container_statuses(arena, input, PLAN_INIT, old->init_container_statuses.items,
                              old->init_container_statuses.len);
    status->init_container_statuses.items = list.items;
    status->init_container_statuses.len = list.len;
    list = container_statuses(arena, input, PLAN_EPHEMERAL, old->ephemeral_container_statuses.items,
                              old->ephemeral_container_statuses.len);
    status->ephemeral_container_statuses.items = list.items;
    status->ephemeral_container_statuses.len = list.len;
}

static void keep_start_time(struct arena *arena, const struct pod_status_input *input,
                            struct core_v1_pod_status *status)
{
    const struct timestamp *start =
        input->old->start_time != NULL ? input->old->start_time : input->pod->status.start_time;

    status->start_time = ARENA_NEW(arena, struct timestamp);
    *status->start_time = start != NULL && start->is_set ? *start : timestamp_of_nanos(input->now);
}

void pod_status_generate(struct arena *arena, const struct pod_status_input *input, struct core_v1_pod_status *ret)
{
    struct core_v1_pod_status status = {
        .observed_generation = input->pod->metadata.generation,
        .qos_class = str_of(qos_class_name(pod_qos(input->pod))),
        .nominated_node_name = input->pod->status.nominated_node_name,
    };

    set_containers(arena, input, &status);
    set_phase(arena, input, &status);
    pod_status_probe(arena, input, &status);
    pod_status_conditions(arena, input, &status);
    set_addresses(arena, input, &status);
    keep_start_time(arena, input, &status);
    *ret = status;
}

static void end_unknown(struct arena *arena, struct core_v1_container_status *status)
{
    if (status->state.terminated != NULL) {
        return;
    }
    status->state =
        (struct core_v1_container_state){.terminated = ARENA_NEW(arena, struct core_v1_container_state_terminated)};
    *status->state.terminated = (struct core_v1_container_state_terminated){
        .reason = STR("ContainerStatusUnknown"),
        .message = STR("The container could not be located when the pod was terminated"),
        .exit_code = 137,
    };
}

void pod_status_terminate(struct arena *arena, const struct core_v1_pod *pod, struct core_v1_pod_status *status,
                          int64_t now)
{
    bool was_initialized = pod->spec.init_containers.len == 0 || regular_started(status);
    size_t begun = 0;

    if (was_initialized) {
        LIST_EACH (container, &status->container_statuses) {
            end_unknown(arena, container);
        }
    }
    /* Init containers up to the last that shows it was started. */
    for (size_t i = 0; i < status->init_container_statuses.len; i++) {
        const struct core_v1_container_status *container = &status->init_container_statuses.items[i];

        if (container->state.terminated != NULL || container->state.running != NULL ||
            container->last_state.terminated != NULL) {
            begun = i + 1;
        }
    }
    for (size_t i = 0; i < begun; i++) {
        end_unknown(arena, &status->init_container_statuses.items[i]);
    }
    if (!pod_is_static(pod) && !pod_is_terminal(status)) {
        status->phase = STR("Failed");
    }
    LIST_EACH (condition, &status->conditions) {
        bool is_ready = str_is(condition->type, "Ready") || str_is(condition->type, "ContainersReady");

        if (is_ready && str_is(condition->status, "True") && pod_is_terminal(status)) {
            condition->status = STR("False");
            condition->reason = str_is(status->phase, "Failed") ? STR("PodFailed") : STR("PodCompleted");
            condition->last_transition_time = timestamp_of_nanos(now);
        }
    }
}
