#include "kubelet/pod_admission.h"

#include "kubelet/amounts.h"
#include "kubelet/eviction_manager.h"
#include "kubelet/node_agent.h"
#include "kubelet/pod_workers.h"
#include "schema/map_of.h"
#include "schema/selector.h"

#include <string.h>

static int64_t amount(const struct quantity_map *map, struct str resource)
{
    return str_is(resource, "cpu") ? amount_milli(map, resource) : amount_value(map, resource);
}

static int64_t request_of(const struct core_v1_container *container, struct str resource)
{
    return amount(&container->resources.requests, resource);
}

int64_t pod_request(const struct core_v1_pod *pod, struct str resource)
{
    int64_t running = 0, most = 0;

    LIST_EACH (container, &pod->spec.init_containers) {
        int64_t one = request_of(container, resource);

        most = MAX(most, running + one);
        running += container_is_sidecar(container) ? one : 0;
    }
    LIST_EACH (container, &pod->spec.containers) {
        running += request_of(container, resource);
    }
    most = MAX(most, running);
    if (pod->spec.resources != NULL && amount_has(&pod->spec.resources->requests, resource)) {
        most = amount(&pod->spec.resources->requests, resource);
    }
    return most + amount(&pod->spec.overhead, resource);
}

static bool reject_resource(struct arena *arena, struct str resource, int64_t requested, int64_t used,
                            int64_t capacity, struct pod_rejection *ret)
{
    *ret = (struct pod_rejection){
        arena_printf(arena, "OutOf%.*s", STR_ARG(resource)),
        arena_printf(arena, "Node didn't have enough resource: %.*s, requested: %lld, used: %lld, capacity: %lld",
                     STR_ARG(resource), (long long)requested, (long long)used, (long long)capacity)};
    return false;
}

static bool fits(struct arena *arena, const struct pod_admission_facts *facts, struct pod_rejection *ret)
{
    int64_t pods_max = amount_value(facts->allocatable, STR("pods"));

    if ((int64_t)facts->others.len + 1 > pods_max) {
        return reject_resource(arena, STR("pods"), 1, (int64_t)facts->others.len, pods_max, ret);
    }
    LIST_EACH (entry, facts->allocatable) {
        int64_t requested = pod_request(facts->pod, entry->key), used = 0;
        int64_t capacity = amount(facts->allocatable, entry->key);

        if (requested == 0 || str_is(entry->key, "pods")) {
            continue;
        }
        LIST_EACH (other, &facts->others) {
            used += pod_request(*other, entry->key);
        }
        if (requested > capacity - used) {
            return reject_resource(arena, entry->key, requested, used, capacity, ret);
        }
    }
    return true;
}

static bool reject(struct arena *arena, const char *predicate, const char *why, struct pod_rejection *ret)
{
    *ret = (struct pod_rejection){str_of(predicate), arena_printf(arena, "Predicate %s failed: %s", predicate, why)};
    return false;
}

static bool is_any_address(struct str ip)
{
    return ip.n == 0 || str_is(ip, "0.0.0.0") || str_is(ip, "::");
}

static bool ports_clash(const struct core_v1_container_port *a, const struct core_v1_container_port *b)
{
    struct str a_protocol = a->protocol.n > 0 ? a->protocol : STR("TCP");
    struct str b_protocol = b->protocol.n > 0 ? b->protocol : STR("TCP");

    return a->host_port == b->host_port && str_eq(a_protocol, b_protocol) &&
           (is_any_address(a->host_ip) || is_any_address(b->host_ip) || str_eq(a->host_ip, b->host_ip));
}

static bool port_is_taken(const struct core_v1_container_port *port, const struct core_v1_pod *other)
{
    LIST_EACH (container, &other->spec.containers) {
        LIST_EACH (theirs, &container->ports) {
            if (theirs->host_port > 0 && ports_clash(port, theirs)) {
                return true;
            }
        }
    }
    return false;
}

static bool ports_are_free(const struct pod_admission_facts *facts)
{
    LIST_EACH (container, &facts->pod->spec.containers) {
        LIST_EACH (port, &container->ports) {
            LIST_EACH (other, &facts->others) {
                if (port->host_port > 0 && port_is_taken(port, *other)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool field_lookup(const void *fields, struct str key, struct str *ret)
{
    *ret = *(const struct str *)fields;
    return str_is(key, "metadata.name");
}

struct requirements {
    const struct core_v1_node_selector_requirement *items;
    size_t len;
};

static bool meets(struct arena *arena, const struct requirements *wanted, selector_lookup *lookup, const void *labels)
{
    LIST_EACH (requirement, wanted) {
        struct label_selector one = {0};
        enum selector_operator op;
        struct status *error = selector_operator_of(requirement->operator, true, &op);

        if (error == NULL) {
            error = label_selector_add(arena, &one, requirement->key, op, requirement->values.items,
                                       requirement->values.len);
        }
        bool matches = error == NULL && label_selector_matches(&one, lookup, labels);

        status_free(error);
        if (!matches) {
            return false;
        }
    }
    return true;
}

static bool term_matches(struct arena *arena, const struct core_v1_node_selector_term *term,
                         const struct pod_admission_facts *facts)
{
    struct requirements expressions = {term->match_expressions.items, term->match_expressions.len};
    struct requirements fields = {term->match_fields.items, term->match_fields.len};

    /* A term that asks for nothing matches nothing. */
    return (expressions.len > 0 || fields.len > 0) &&
           meets(arena, &expressions, str_map_lookup, &facts->node->metadata.labels) &&
           meets(arena, &fields, field_lookup, &facts->node_name);
}

static bool node_is_wanted(struct arena *arena, const struct pod_admission_facts *facts)
{
    const struct core_v1_affinity *affinity = facts->pod->spec.affinity;
    const struct core_v1_node_selector *required =
        affinity == NULL || affinity->node_affinity == NULL
            ? NULL
            : affinity->node_affinity->required_during_scheduling_ignored_during_execution;
    bool matches = required == NULL;

    LIST_EACH (label, &facts->pod->spec.node_selector) {
        if (!str_map_has(&facts->node->metadata.labels, label->key) ||
            !str_eq(str_map_get(&facts->node->metadata.labels, label->key), label->value)) {
            return false;
        }
    }
    for (size_t i = 0; required != NULL && i < required->node_selector_terms.len && !matches; i++) {
        matches = term_matches(arena, &required->node_selector_terms.items[i], facts);
    }
    return matches;
}

static bool tolerates(const struct core_v1_toleration *toleration, const struct core_v1_taint *taint)
{
    if ((toleration->effect.n > 0 && !str_eq(toleration->effect, taint->effect)) ||
        (toleration->key.n > 0 && !str_eq(toleration->key, taint->key))) {
        return false;
    }
    return str_is(toleration->operator, "Exists") || str_eq(toleration->value, taint->value);
}

/* Of taints only NoExecute counts here: the others are the scheduler's to heed. */
static bool taints_are_tolerated(const struct pod_admission_facts *facts)
{
    LIST_EACH (taint, &facts->node->spec.taints) {
        bool is_tolerated = !str_is(taint->effect, "NoExecute");

        LIST_EACH (toleration, &facts->pod->spec.tolerations) {
            is_tolerated = is_tolerated || tolerates(toleration, taint);
        }
        if (!is_tolerated) {
            return false;
        }
    }
    return true;
}

/* A node in need takes no pods that would be evicted first. */
static bool has_no_pressure(struct arena *arena, const struct pod_admission_facts *facts, struct pod_rejection *ret)
{
    static const char *const names[] = {"MemoryPressure", "DiskPressure", "PIDPressure"};
    bool only_memory = !facts->pressure[EVICTION_DISK_PRESSURE] && !facts->pressure[EVICTION_PID_PRESSURE];
    struct str list = STR("");

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (facts->pressure[i]) {
            list = arena_printf(arena, "%.*s%s%s", STR_ARG(list), list.n > 0 ? " " : "", names[i]);
        }
    }
    if (list.n == 0 || pod_is_critical(facts->pod) ||
        (only_memory && pod_qos(facts->pod) != QOS_BEST_EFFORT)) {
        return true;
    }
    *ret = (struct pod_rejection){STR("Evicted"),
                                  arena_printf(arena, "The node had condition: [%.*s]. ", STR_ARG(list))};
    return false;
}

bool pod_admission_decide(struct arena *arena, const struct pod_admission_facts *facts, struct pod_rejection *ret)
{
    if (!has_no_pressure(arena, facts, ret) || !fits(arena, facts, ret)) {
        return false;
    }
    if (facts->node != NULL && !node_is_wanted(arena, facts)) {
        return reject(arena, "NodeAffinity", "node(s) didn't match Pod's node affinity/selector", ret);
    }
    if (!ports_are_free(facts)) {
        return reject(arena, "NodePorts", "node(s) didn't have free ports for the requested pod ports", ret);
    }
    if (facts->node != NULL && !pod_is_static(facts->pod) && !taints_are_tolerated(facts)) {
        return reject(arena, "TaintToleration", "node(s) had taints that the pod didn't tolerate", ret);
    }
    return true;
}

bool pod_admission_check(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                         struct pod_rejection *ret)
{
    struct pod_refs pods = pod_workers_admitted(kubelet->workers, arena);
    struct pod_admission_facts facts = {
        .pod = pod,
        .allocatable = &kubelet->allocatable,
        .node = node_agent_node(kubelet->node),
        .node_name = kubelet->node_name,
    };

    memcpy(facts.pressure, eviction_manager_pressure(kubelet->evictions), sizeof(facts.pressure));
    LIST_EACH (other, &pods) {
        if (!str_eq((*other)->pod->metadata.uid, pod->metadata.uid)) {
            *LIST_ADD(arena, &facts.others) = (*other)->pod;
        }
    }
    return pod_admission_decide(arena, &facts, ret);
}
