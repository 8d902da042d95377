#include "kubelet/pod_admission.h"

#include "api/node_affinity.h"
#include "api/pod_amounts.h"
#include "api/tolerations.h"
#include "kubelet/amounts.h"
#include "kubelet/eviction_manager.h"
#include "kubelet/node_agent.h"
#include "kubelet/pod_workers.h"

#include <string.h>

static int64_t amount(const struct quantity_map *map, struct str resource)
{
    return str_is(resource, "cpu") ? amount_milli(map, resource) : amount_value(map, resource);
}

int64_t pod_request(const struct core_v1_pod *pod, struct str resource)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct quantity_map requests = pod_requests(arena, &pod->spec);

    return amount(&requests, resource);
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

bool pod_admission_fits(struct arena *arena, const struct pod_admission_facts *facts, struct pod_rejection *ret)
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

/* Of taints only NoExecute counts here: the others are the scheduler's to heed. */
static bool taints_are_tolerated(const struct pod_admission_facts *facts)
{
    LIST_EACH (taint, &facts->node->spec.taints) {
        if (str_is(taint->effect, "NoExecute") && !tolerations_of_pod_tolerate(facts->pod, taint)) {
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
    if (!has_no_pressure(arena, facts, ret) || !pod_admission_fits(arena, facts, ret)) {
        return false;
    }
    if (facts->node != NULL && !node_affinity_matches(facts->pod, facts->node)) {
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

void pod_admission_facts_of(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                            struct pod_admission_facts *ret)
{
    struct pod_refs pods = pod_workers_admitted(kubelet->workers, arena);

    *ret = (struct pod_admission_facts){
        .pod = pod,
        .allocatable = &kubelet->allocatable,
        .node = node_agent_node(kubelet->node),
    };
    memcpy(ret->pressure, eviction_manager_pressure(kubelet->evictions), sizeof(ret->pressure));
    LIST_EACH (other, &pods) {
        if (!str_eq((*other)->pod->metadata.uid, pod->metadata.uid)) {
            *LIST_ADD(arena, &ret->others) = (*other)->pod;
        }
    }
}

bool pod_admission_check(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                         struct pod_rejection *ret)
{
    struct pod_admission_facts facts;

    pod_admission_facts_of(kubelet, pod, arena, &facts);
    return pod_admission_decide(arena, &facts, ret);
}
