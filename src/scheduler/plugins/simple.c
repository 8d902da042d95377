/* NodeUnschedulable, NodeName, NodePorts: plugins of a few lines each. */
#include "scheduler/plugin.h"

#include "api/tolerations.h"
static enum verdict unschedulable_filter(const struct attempt *attempt, const struct node_info *node,
                                         struct reasons *ret)
{
    static const struct core_v1_taint taint = {.key = STR_INIT("node.kubernetes.io/unschedulable"),
                                               .effect = STR_INIT("NoSchedule")};

    if (!node->node->spec.unschedulable || tolerations_of_pod_tolerate(attempt->pod->pod, &taint)) {
        return VERDICT_FITS;
    }
    reasons_add(attempt->arena, ret, STR("node(s) were unschedulable"));
    return VERDICT_UNRESOLVABLE;
}

const struct plugin node_unschedulable_plugin = {.name = "NodeUnschedulable", .filter = unschedulable_filter};

static enum verdict name_filter(const struct attempt *attempt, const struct node_info *node, struct reasons *ret)
{
    struct str wanted = attempt->pod->pod->spec.node_name;

    if (wanted.n == 0 || str_eq(wanted, node->name)) {
        return VERDICT_FITS;
    }
    reasons_add(attempt->arena, ret, STR("node(s) didn't match the requested node name"));
    return VERDICT_UNRESOLVABLE;
}

const struct plugin node_name_plugin = {.name = "NodeName", .filter = name_filter};

/* Two host ports clash when protocol and number are the same and the addresses are, or one is all addresses. */
static bool ports_clash(const struct core_v1_container_port *a, const struct core_v1_container_port *b)
{
    struct str any = STR("0.0.0.0"), tcp = STR("TCP");
    struct str ip_a = a->host_ip.n ? a->host_ip : any, ip_b = b->host_ip.n ? b->host_ip : any;
    struct str protocol_a = a->protocol.n ? a->protocol : tcp, protocol_b = b->protocol.n ? b->protocol : tcp;

    return a->host_port > 0 && a->host_port == b->host_port && str_eq(protocol_a, protocol_b) &&
           (str_eq(ip_a, ip_b) || str_eq(ip_a, any) || str_eq(ip_b, any));
}

static bool is_sidecar(const struct core_v1_container *container)
{
    return container->restart_policy != NULL && str_is(*container->restart_policy, "Always");
}

static bool port_is_taken(const struct core_v1_container_port *port, const struct core_v1_pod *by)
{
    LIST_EACH(container, &by->spec.containers)
    {
        LIST_EACH(other, &container->ports)
        {
            if (ports_clash(port, other)) {
                return true;
            }
        }
    }
    LIST_EACH(container, &by->spec.init_containers)
    {
        LIST_EACH(other, &container->ports)
        {
            if (is_sidecar(container) && ports_clash(port, other)) {
                return true;
            }
        }
    }
    return false;
}

static bool port_is_free(const struct core_v1_container_port *port, const struct node_info *node)
{
    for (size_t i = 0; port->host_port > 0 && i < node->pod_count; i++) {
        if (port_is_taken(port, node->pods[i]->pod)) {
            return false;
        }
    }
    return true;
}

static enum verdict ports_filter(const struct attempt *attempt, const struct node_info *node, struct reasons *ret)
{
    bool free = true;

    LIST_EACH(container, &attempt->pod->pod->spec.containers)
    {
        LIST_EACH(port, &container->ports)
        {
            free = free && port_is_free(port, node);
        }
    }
    LIST_EACH(container, &attempt->pod->pod->spec.init_containers)
    {
        LIST_EACH(port, &container->ports)
        {
            free = free && (!is_sidecar(container) || port_is_free(port, node));
        }
    }
    if (free) {
        return VERDICT_FITS;
    }
    reasons_add(attempt->arena, ret, STR("node(s) didn't have free ports for the requested pod ports"));
    return VERDICT_UNSCHEDULABLE;
}

const struct plugin node_ports_plugin = {.name = "NodePorts", .filter = ports_filter};
