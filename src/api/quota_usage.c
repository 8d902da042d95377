#include "api/quota_usage.h"

#include "api/pod_amounts.h"
#include "api/pod_qos.h"
#include "base/buf.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

#include <stdlib.h>

#define STORAGE_CLASS_SUFFIX ".storageclass.storage.k8s.io/"

static const char *const compute_names[] = {"cpu",        "memory",        "ephemeral-storage",
                                            "limits.cpu", "limits.memory", "limits.ephemeral-storage",
                                            "requests.cpu", "requests.memory", "requests.ephemeral-storage"};

/* Core kinds that were counted by their plural alone before all were. */
static const char *const plain_counts[] = {"pods",    "services",   "persistentvolumeclaims", "replicationcontrollers",
                                           "secrets", "configmaps", "resourcequotas"};

static bool has(const struct str_list *list, struct str text)
{
    LIST_EACH(item, list)
    {
        if (str_eq(*item, text)) {
            return true;
        }
    }
    return false;
}

static struct str joined(struct arena *arena, const struct str_list *list, const char *separator)
{
    OWNED(buf_done) struct buf out = {0};

    LIST_EACH(item, list)
    {
        buf_printf(&out, "%s%.*s", item == list->items ? "" : separator, STR_ARG(*item));
    }
    return arena_str(arena, buf_str(&out));
}

static bool is_one_of(struct str name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_is(name, list[i])) {
            return true;
        }
    }
    return false;
}

static bool has_plain_count(const struct kind *kind)
{
    return kind->group.n == 0 && is_one_of(kind->plural, plain_counts, COUNT_OF(plain_counts));
}

static bool is_count_of(const struct kind *kind, struct str name)
{
    if (has_plain_count(kind) && str_eq(name, kind->plural)) {
        return true;
    }
    struct str rest = str_from(name, sizeof "count/" - 1), plural, group;

    if (!str_has_prefix(name, STR("count/"))) {
        return false;
    }
    str_cut(rest, '.', &plural, &group);
    return str_eq(plural, kind->plural) && str_eq(group, kind->group);
}

static bool is_compute(struct str name)
{
    bool is_huge = str_has_prefix(name, STR("hugepages-")) || str_has_prefix(name, STR("requests.hugepages-"));
    bool is_extended = str_has_prefix(name, STR("requests.")) && str_index(name, '/') != SIZE_MAX;

    return is_huge || is_extended || is_one_of(name, compute_names, COUNT_OF(compute_names));
}

static bool is_storage(struct str name)
{
    return str_is(name, "requests.storage") || str_contains(name, STR(STORAGE_CLASS_SUFFIX));
}

bool quota_name_concerns(const struct kind *kind, struct str name)
{
    if (is_count_of(kind, name)) {
        return true;
    }
    if (kind == &core_v1_pod_kind) {
        return is_compute(name) && !is_storage(name);
    }
    if (kind == &core_v1_service_kind) {
        return str_is(name, "services.nodeports") || str_is(name, "services.loadbalancers");
    }
    return kind == &core_v1_persistent_volume_claim_kind && is_storage(name);
}

static void set(struct arena *arena, struct quantity_map *usage, struct str name, int64_t count)
{
    quantity_map_set(arena, usage, name, quantity_of(arena, count, QUANTITY_DECIMAL_SI));
}

static bool is_native(struct str name)
{
    return str_index(name, '/') == SIZE_MAX || str_contains(name, STR("kubernetes.io/"));
}

static void add_requests(struct arena *arena, struct quantity_map *usage, const struct quantity_map *requests)
{
    LIST_EACH(entry, requests) {
        struct str name = entry->key;
        bool is_known = str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage") ||
                        str_has_prefix(name, STR("hugepages-"));

        if (is_known) {
            quantity_map_set(arena, usage, name, entry->value);
        }
        if (is_known || !is_native(name)) {
            quantity_map_set(arena, usage, arena_printf(arena, "requests.%.*s", STR_ARG(name)), entry->value);
        }
    }
}

static void add_limits(struct arena *arena, struct quantity_map *usage, const struct quantity_map *limits)
{
    LIST_EACH(entry, limits) {
        struct str name = entry->key;

        if (str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage")) {
            quantity_map_set(arena, usage, arena_printf(arena, "limits.%.*s", STR_ARG(name)), entry->value);
        }
    }
}

/* Pods that have ended cost nothing but their place in the store. */
static void add_pod(struct arena *arena, struct quantity_map *usage, const struct core_v1_pod *pod)
{
    if (str_is(pod->status.phase, "Failed") || str_is(pod->status.phase, "Succeeded")) {
        quantity_map_set(arena, usage, STR("pods"), quantity_of(arena, 0, QUANTITY_DECIMAL_SI));
        return;
    }
    struct quantity_map requests = pod_requests(arena, &pod->spec), limits = pod_limits(arena, &pod->spec);

    add_requests(arena, usage, &requests);
    add_limits(arena, usage, &limits);
}

static void add_service(struct arena *arena, struct quantity_map *usage, const struct core_v1_service_spec *spec)
{
    bool balances = str_is(spec->type, "LoadBalancer");
    bool has_ports = str_is(spec->type, "NodePort") ||
                     (balances && (spec->allocate_load_balancer_node_ports == NULL ||
                                   *spec->allocate_load_balancer_node_ports));

    set(arena, usage, STR("services.nodeports"), has_ports ? (int64_t)spec->ports.len : 0);
    set(arena, usage, STR("services.loadbalancers"), balances ? 1 : 0);
}

static void add_claim(struct arena *arena, struct quantity_map *usage,
                      const struct core_v1_persistent_volume_claim *claim)
{
    const struct quantity *storage = quantity_map_get(&claim->spec.resources.requests, STR("storage"));
    struct str beta = str_map_get(&claim->metadata.annotations, STR("volume.beta.kubernetes.io/storage-class"));
    struct str class = beta.p != NULL                          ? beta
                       : claim->spec.storage_class_name != NULL ? *claim->spec.storage_class_name
                                                                : (struct str){0};

    if (class.n != 0) {
        set(arena, usage, arena_printf(arena, "%.*s" STORAGE_CLASS_SUFFIX "persistentvolumeclaims", STR_ARG(class)), 1);
    }
    if (storage == NULL) {
        return;
    }
    quantity_map_set(arena, usage, STR("requests.storage"), *storage);
    if (class.n != 0) {
        quantity_map_set(arena, usage,
                         arena_printf(arena, "%.*s" STORAGE_CLASS_SUFFIX "requests.storage", STR_ARG(class)), *storage);
    }
}

struct quantity_map quota_usage(struct arena *arena, const struct kind *kind, const void *object)
{
    struct quantity_map usage = {0};

    set(arena, &usage,
        arena_printf(arena, "count/%.*s%s%.*s", STR_ARG(kind->plural), kind->group.n == 0 ? "" : ".",
                     STR_ARG(kind->group)),
        1);
    if (has_plain_count(kind)) {
        set(arena, &usage, kind->plural, 1);
    }
    if (kind == &core_v1_pod_kind) {
        add_pod(arena, &usage, object);
    } else if (kind == &core_v1_service_kind) {
        add_service(arena, &usage, &((const struct core_v1_service *)object)->spec);
    } else if (kind == &core_v1_persistent_volume_claim_kind) {
        add_claim(arena, &usage, object);
    }
    return usage;
}

/* --- scopes --- */

static bool crosses_namespaces(const struct core_v1_pod_affinity_term *term)
{
    return term->namespaces.len != 0 || term->namespace_selector != NULL;
}

static bool has_cross_namespace_affinity(const struct core_v1_affinity *affinity)
{
    if (affinity == NULL) {
        return false;
    }
    bool crosses = false;

    if (affinity->pod_affinity != NULL) {
        LIST_EACH(term, &affinity->pod_affinity->required_during_scheduling_ignored_during_execution) {
            crosses = crosses || crosses_namespaces(term);
        }
        LIST_EACH(term, &affinity->pod_affinity->preferred_during_scheduling_ignored_during_execution) {
            crosses = crosses || crosses_namespaces(&term->pod_affinity_term);
        }
    }
    if (affinity->pod_anti_affinity != NULL) {
        LIST_EACH(term, &affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution) {
            crosses = crosses || crosses_namespaces(term);
        }
        LIST_EACH(term, &affinity->pod_anti_affinity->preferred_during_scheduling_ignored_during_execution) {
            crosses = crosses || crosses_namespaces(&term->pod_affinity_term);
        }
    }
    return crosses;
}

static bool matches_values(struct str value, struct str operator, const struct str_list *values)
{
    if (str_is(operator, "In")) {
        return value.n != 0 && has(values, value);
    }
    if (str_is(operator, "NotIn")) {
        return !has(values, value);
    }
    return str_is(operator, "DoesNotExist") ? value.n == 0 : value.n != 0;
}

static bool matches_scope(const struct core_v1_pod_spec *spec, struct str scope, struct str operator,
                          const struct str_list *values)
{
    bool terminates = spec->active_deadline_seconds != NULL && *spec->active_deadline_seconds >= 0;
    bool best_effort = str_is(pod_qos_class(spec), "BestEffort");

    if (str_is(scope, "Terminating")) {
        return terminates;
    }
    if (str_is(scope, "NotTerminating")) {
        return !terminates;
    }
    if (str_is(scope, "BestEffort")) {
        return best_effort;
    }
    if (str_is(scope, "NotBestEffort")) {
        return !best_effort;
    }
    if (str_is(scope, "PriorityClass")) {
        return matches_values(spec->priority_class_name, operator, values);
    }
    return str_is(scope, "CrossNamespacePodAffinity") && has_cross_namespace_affinity(spec->affinity);
}

bool quota_scopes_match(const struct core_v1_resource_quota_spec *quota, const struct kind *kind, const void *object)
{
    bool has_selector = quota->scope_selector != NULL && quota->scope_selector->match_expressions.len != 0;

    if (kind != &core_v1_pod_kind) {
        return quota->scopes.len == 0 && !has_selector;
    }
    const struct core_v1_pod_spec *spec = &((const struct core_v1_pod *)object)->spec;
    static const struct str_list none = {0};

    LIST_EACH(scope, &quota->scopes) {
        if (!matches_scope(spec, *scope, STR("Exists"), &none)) {
            return false;
        }
    }
    for (size_t i = 0; has_selector && i < quota->scope_selector->match_expressions.len; i++) {
        const struct core_v1_scoped_resource_selector_requirement *wanted =
            &quota->scope_selector->match_expressions.items[i];

        if (!matches_scope(spec, wanted->scope_name, wanted->operator, &wanted->values)) {
            return false;
        }
    }
    return true;
}

/* --- constraints --- */

static bool says(const struct core_v1_container *container, struct str name)
{
    const struct quantity_map *amounts = &container->resources.requests;

    if (str_has_prefix(name, STR("limits."))) {
        amounts = &container->resources.limits;
        name = str_from(name, sizeof "limits." - 1);
    } else if (str_has_prefix(name, STR("requests."))) {
        name = str_from(name, sizeof "requests." - 1);
    }
    return quantity_map_get(amounts, name) != NULL;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Containers that don't say the amount, by name; empty: none. */
static struct str silent_ones(struct arena *arena, const struct core_v1_pod_spec *spec, struct str name)
{
    struct str_list names = {0};

    LIST_EACH(container, &spec->containers) {
        if (!says(container, name)) {
            *LIST_ADD(arena, &names) = container->name;
        }
    }
    LIST_EACH(container, &spec->init_containers) {
        if (!says(container, name)) {
            *LIST_ADD(arena, &names) = container->name;
        }
    }
    if (names.len != 0) {
        qsort(names.items, names.len, sizeof *names.items, by_text);
    }
    return joined(arena, &names, ",");
}

struct str quota_constraints(struct arena *arena, const struct str_list *names, const struct kind *kind,
                             const void *object)
{
    static const char *const explicit[] = {"cpu",          "memory",     "requests.cpu",
                                           "requests.memory", "limits.cpu", "limits.memory"};
    const struct core_v1_pod_spec *spec = &((const struct core_v1_pod *)object)->spec;
    struct str_list missing = {0};

    if (kind != &core_v1_pod_kind || spec->resources != NULL) {
        return (struct str){0};
    }
    LIST_EACH(name, names) {
        struct str silent = is_one_of(*name, explicit, COUNT_OF(explicit)) ? silent_ones(arena, spec, *name)
                                                                           : (struct str){0};

        if (silent.n != 0) {
            *LIST_ADD(arena, &missing) =
                arena_printf(arena, "%.*s for: %.*s", STR_ARG(*name), STR_ARG(silent));
        }
    }
    return missing.len == 0 ? (struct str){0}
                            : arena_printf(arena, "must specify %.*s", STR_ARG(joined(arena, &missing, "; ")));
}

/* --- amounts --- */

struct str_list quota_names(struct arena *arena, const struct quantity_map *amounts)
{
    struct str_list names = {0};

    LIST_EACH(entry, amounts) {
        *LIST_ADD(arena, &names) = entry->key;
    }
    return names;
}

struct quantity_map quota_mask(struct arena *arena, const struct quantity_map *amounts, const struct str_list *names)
{
    struct quantity_map masked = {0};

    LIST_EACH(entry, amounts) {
        if (has(names, entry->key)) {
            quantity_map_set(arena, &masked, entry->key, entry->value);
        }
    }
    return masked;
}

struct str quota_text(struct arena *arena, const struct quantity_map *amounts)
{
    struct str_list parts = {0};

    LIST_EACH(entry, amounts) {
        *LIST_ADD(arena, &parts) =
            arena_printf(arena, "%.*s=%.*s", STR_ARG(entry->key), STR_ARG(entry->value.text));
    }
    return joined(arena, &parts, ",");
}
