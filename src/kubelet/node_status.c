#include "kubelet/node_status.h"

#include "base/version.h"
#include "kubelet/amounts.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/quantity.h"
#include "schema/timestamp.h"

#include <string.h>

enum { MEBIBYTE = 1 << 20 };

const struct core_v1_node_condition *node_condition_find(const struct core_v1_node_status *status, struct str type)
{
    if (status != NULL) {
        LIST_EACH (condition, &status->conditions) {
            if (str_eq(condition->type, type)) {
                return condition;
            }
        }
    }
    return NULL;
}

static int64_t reserved(const struct kubelet_options *options, struct str name, bool is_milli)
{
    return is_milli ? amount_milli(&options->system_reserved, name) + amount_milli(&options->kube_reserved, name)
                    : amount_value(&options->system_reserved, name) + amount_value(&options->kube_reserved, name);
}

/* What hard eviction keeps free; pods must not count on it. */
static int64_t kept_free(const struct kubelet_options *options, enum eviction_signal signal, int64_t capacity)
{
    LIST_EACH (threshold, &options->eviction) {
        if (threshold->signal == signal && threshold->grace_period == 0) {
            return threshold->percent > 0 ? (int64_t)((double)capacity * threshold->percent) : threshold->value;
        }
    }
    return 0;
}

void node_amounts_make(struct arena *arena, const struct host_facts *facts, const struct host_fs_usage *fs,
                       const struct kubelet_options *options, struct quantity_map *ret_capacity,
                       struct quantity_map *ret_allocatable)
{
    struct quantity_map capacity = {0}, allocatable = {0};
    int64_t pods = options->max_pods;
    int64_t memory = facts->memory_bytes, huge = 0;

    if (options->pods_per_core > 0) {
        pods = MIN(pods, options->pods_per_core * facts->cpus);
    }
    quantity_map_set(arena, &capacity, STR("cpu"), amount_of_value(arena, facts->cpus));
    quantity_map_set(arena, &capacity, STR("memory"), amount_of_kibibytes(arena, memory));
    quantity_map_set(arena, &capacity, STR("pods"), amount_of_value(arena, pods));
    quantity_map_set(arena, &capacity, STR("ephemeral-storage"), amount_of_kibibytes(arena, fs->capacity));
    LIST_EACH (pages, &facts->huge_pages) {
        struct str name = arena_printf(arena, "hugepages-%.*s", STR_ARG(pages->size));

        quantity_map_set(arena, &capacity, name, amount_of_kibibytes(arena, pages->bytes));
        quantity_map_set(arena, &allocatable, name, amount_of_kibibytes(arena, pages->bytes));
        huge += pages->bytes;
    }
    int64_t cpu = facts->cpus * 1000 - reserved(options, STR("cpu"), true);
    int64_t free_memory = memory - huge - reserved(options, STR("memory"), false) -
                          kept_free(options, EVICTION_MEMORY_AVAILABLE, memory);
    int64_t storage = fs->capacity - reserved(options, STR("ephemeral-storage"), false) -
                      kept_free(options, EVICTION_NODEFS_AVAILABLE, fs->capacity);

    quantity_map_set(arena, &allocatable, STR("cpu"), amount_of_milli(arena, MAX(cpu, 0)));
    quantity_map_set(arena, &allocatable, STR("memory"), amount_of_kibibytes(arena, MAX(free_memory, 0)));
    quantity_map_set(arena, &allocatable, STR("pods"), amount_of_value(arena, pods));
    quantity_map_set(arena, &allocatable, STR("ephemeral-storage"), amount_of_value(arena, MAX(storage, 0)));
    *ret_capacity = capacity;
    *ret_allocatable = allocatable;
}

static void add_condition(struct arena *arena, const struct node_status_input *input,
                          struct core_v1_node_status *status, struct core_v1_node_condition condition)
{
    const struct core_v1_node_condition *old = node_condition_find(input->old, condition.type);
    struct timestamp now = {.seconds = input->now / 1000000000, .is_set = true};

    condition.last_heartbeat_time = now;
    condition.last_transition_time =
        old != NULL && str_eq(old->status, condition.status) ? old->last_transition_time : now;
    *LIST_ADD(arena, &status->conditions) = condition;
}

static struct str ready_problem(struct arena *arena, const struct kubelet *kubelet)
{
    if (!kubelet->is_runtime_ready) {
        return kubelet->runtime_problem.n > 0 ? kubelet->runtime_problem : STR("container runtime is down");
    }
    if (!kubelet->is_network_ready) {
        return arena_printf(arena, "container runtime network not ready: %.*s", STR_ARG(kubelet->network_problem));
    }
    return STR("");
}

static void add_conditions(struct arena *arena, const struct node_status_input *input,
                           struct core_v1_node_status *status)
{
    static const struct {
        const char *type, *bad_reason, *bad_message, *good_reason, *good_message;
    } rows[] = {
        {"MemoryPressure", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available",
         "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
        {"DiskPressure", "KubeletHasDiskPressure", "kubelet has disk pressure", "KubeletHasNoDiskPressure",
         "kubelet has no disk pressure"},
        {"PIDPressure", "KubeletHasInsufficientPID", "kubelet has insufficient PID available",
         "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    };
    struct str problem = ready_problem(arena, input->kubelet);

    if (input->old != NULL) {
        /* Those that others own stay in their places. */
        LIST_EACH (condition, &input->old->conditions) {
            bool is_ours = str_is(condition->type, "Ready");

            for (size_t i = 0; i < COUNT_OF(rows); i++) {
                is_ours = is_ours || str_is(condition->type, rows[i].type);
            }
            if (!is_ours) {
                *LIST_ADD(arena, &status->conditions) = *condition;
            }
        }
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool is_bad = input->pressure[i];

        add_condition(arena, input, status,
                      (struct core_v1_node_condition){
                          .type = str_of(rows[i].type),
                          .status = is_bad ? STR("True") : STR("False"),
                          .reason = str_of(is_bad ? rows[i].bad_reason : rows[i].good_reason),
                          .message = str_of(is_bad ? rows[i].bad_message : rows[i].good_message),
                      });
    }
    add_condition(arena, input, status,
                  (struct core_v1_node_condition){
                      .type = STR("Ready"),
                      .status = problem.n == 0 ? STR("True") : STR("False"),
                      .reason = problem.n == 0 ? STR("KubeletReady") : STR("KubeletNotReady"),
                      .message = problem.n == 0 ? STR("kubelet is posting ready status") : problem,
                  });
}

void node_status_make(struct arena *arena, const struct node_status_input *input, struct core_v1_node_status *ret)
{
    const struct kubelet *kubelet = input->kubelet;
    const struct host_facts *facts = &kubelet->facts;
    struct core_v1_node_status status = {0};

    if (input->old != NULL) {
        status = *input->old; /* what others write: volumesAttached, and conditions below */
        memset(&status.addresses, 0, sizeof(status.addresses));
        memset(&status.conditions, 0, sizeof(status.conditions));
        memset(&status.images, 0, sizeof(status.images));
    }
    status.capacity = kubelet->capacity;
    status.allocatable = kubelet->allocatable;
    if (kubelet->node_ip.n > 0) {
        *LIST_ADD(arena, &status.addresses) =
            (struct core_v1_node_address){.type = STR("InternalIP"), .address = kubelet->node_ip};
    }
    *LIST_ADD(arena, &status.addresses) =
        (struct core_v1_node_address){.type = STR("Hostname"), .address = kubelet->node_name};
    status.daemon_endpoints.kubelet_endpoint.port = (int32_t)kubelet->options.port;
    status.node_info = (struct core_v1_node_system_info){
        .machine_id = facts->machine_id,
        .system_uuid = facts->system_uuid,
        .boot_id = facts->boot_id,
        .kernel_version = facts->kernel_version,
        .os_image = facts->os_image,
        .container_runtime_version = arena_printf(arena, "%.*s://%.*s", STR_ARG(kubelet->runtime_name),
                                                  STR_ARG(kubelet->runtime_version)),
        .kubelet_version = STR(KUBERNETES_VERSION),
        .operating_system = facts->operating_system,
        .architecture = facts->architecture,
    };
    status.images.items = input->images.items;
    status.images.len = input->images.len;
    add_conditions(arena, input, &status);
    *ret = status;
}

static void set_label(struct arena *arena, struct core_v1_node *node, const char *key, struct str value)
{
    str_map_set(arena, &node->metadata.labels, str_of(key), value);
}

void node_object_make(struct arena *arena, const struct kubelet *kubelet, struct core_v1_node *ret)
{
    struct core_v1_node node = {.metadata.name = kubelet->node_name};

    set_label(arena, &node, "kubernetes.io/hostname", kubelet->node_name);
    set_label(arena, &node, "kubernetes.io/os", kubelet->facts.operating_system);
    set_label(arena, &node, "kubernetes.io/arch", kubelet->facts.architecture);
    set_label(arena, &node, "beta.kubernetes.io/os", kubelet->facts.operating_system);
    set_label(arena, &node, "beta.kubernetes.io/arch", kubelet->facts.architecture);
    LIST_EACH (label, &kubelet->options.node_labels) {
        str_map_set(arena, &node.metadata.labels, label->key, label->value);
    }
    str_map_set(arena, &node.metadata.annotations, STR("volumes.kubernetes.io/controller-managed-attach-detach"),
                STR("true"));
    node.spec.provider_id = kubelet->options.provider_id;
    LIST_EACH (taint, &kubelet->options.taints) {
        *LIST_ADD(arena, &node.spec.taints) =
            (struct core_v1_taint){.key = taint->key, .value = taint->value, .effect = taint->effect};
    }
    *ret = node;
}

bool node_object_reconcile(struct arena *arena, const struct core_v1_node *wanted, struct core_v1_node *node)
{
    bool has_changed = false;

    LIST_EACH (label, &wanted->metadata.labels) {
        if (!str_map_has(&node->metadata.labels, label->key) ||
            !str_eq(str_map_get(&node->metadata.labels, label->key), label->value)) {
            str_map_set(arena, &node->metadata.labels, label->key, label->value);
            has_changed = true;
        }
    }
    LIST_EACH (annotation, &wanted->metadata.annotations) {
        if (!str_map_has(&node->metadata.annotations, annotation->key)) {
            str_map_set(arena, &node->metadata.annotations, annotation->key, annotation->value);
            has_changed = true;
        }
    }
    if (wanted->spec.provider_id.n > 0 && node->spec.provider_id.n == 0) {
        node->spec.provider_id = wanted->spec.provider_id;
        has_changed = true;
    }
    return has_changed;
}

/* With the times of heartbeats made equal. */
static const struct core_v1_node_status *without_heartbeats(struct arena *arena,
                                                            const struct core_v1_node_status *status)
{
    struct core_v1_node_status *copy = schema_copy_shallow(arena, &core_v1_node_status_type, status);

    LIST_EACH (condition, &copy->conditions) {
        condition->last_heartbeat_time = (struct timestamp){0};
    }
    return copy;
}

bool node_status_differs(struct arena *arena, const struct core_v1_node_status *a, const struct core_v1_node_status *b)
{
    return !schema_equal(&core_v1_node_status_type, without_heartbeats(arena, a), without_heartbeats(arena, b));
}
