/* Rows of services, endpoints, ingresses and addresses. */
#include "api/discovery_v1.h"
#include "api/networking_v1.h"
#include "api/table_rows.h"

#include <stdlib.h>

enum { SHOWN = 3 }; /* of endpoints, ports and hosts */

static const struct str none = STR_INIT("<none>");

static int compare_strings(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Sorted, each once, with commas. */
static struct str join_set(struct arena *arena, struct str_list *strings)
{
    struct str_list once = {0};

    if (strings->len > 0) {
        qsort(strings->items, strings->len, sizeof(*strings->items), compare_strings);
    }
    LIST_EACH(string, strings) {
        if (once.len == 0 || !str_eq(once.items[once.len - 1], *string)) {
            *LIST_ADD(arena, &once) = *string;
        }
    }
    return join_strings(arena, &once, ",");
}

static struct str service_balancers(struct arena *arena, const struct core_v1_service *service)
{
    struct str_list addresses = {0};

    LIST_EACH(ingress, &service->status.load_balancer.ingress) {
        struct str address = ingress->ip.n > 0 ? ingress->ip : ingress->hostname;

        if (address.n > 0) {
            *LIST_ADD(arena, &addresses) = address;
        }
    }
    return join_set(arena, &addresses);
}

static struct str service_external(struct arena *arena, const struct core_v1_service *service)
{
    struct str type = service->spec.type, addresses = join_strings(arena, &service->spec.external_ips, ",");

    if (str_is(type, "ClusterIP") || str_is(type, "NodePort")) {
        return addresses.n > 0 ? addresses : none;
    }
    if (str_is(type, "LoadBalancer")) {
        struct str balancers = service_balancers(arena, service);

        if (balancers.n > 0 && addresses.n > 0) {
            return arena_printf(arena, "%.*s,%.*s", STR_ARG(balancers), STR_ARG(addresses));
        }
        return balancers.n > 0 ? balancers : addresses.n > 0 ? addresses : STR("<pending>");
    }
    return str_is(type, "ExternalName") ? service->spec.external_name : STR("<unknown>");
}

void row_service(struct cells *cells, const void *object)
{
    const struct core_v1_service *service = object;
    struct str_list ports = {0};

    LIST_EACH(port, &service->spec.ports) {
        *LIST_ADD(cells->arena, &ports) =
            port->node_port > 0
                ? arena_printf(cells->arena, "%d:%d/%.*s", port->port, port->node_port, STR_ARG(port->protocol))
                : arena_printf(cells->arena, "%d/%.*s", port->port, STR_ARG(port->protocol));
    }
    cell_name(cells, object);
    cell_str(cells, service->spec.type);
    cell_str(cells, service->spec.cluster_ips.len > 0 ? service->spec.cluster_ips.items[0] : none);
    cell_str(cells, service_external(cells->arena, service));
    cell_str_or(cells, join_strings(cells->arena, &ports, ","), none);
    cell_object_age(cells, object);
    cell_labels(cells, &service->spec.selector);
}

static struct str host_port(struct arena *arena, struct str host, int32_t port)
{
    bool colons = str_index(host, ':') != SIZE_MAX;

    return arena_printf(arena, "%s%.*s%s:%d", colons ? "[" : "", STR_ARG(host), colons ? "]" : "", port);
}

/* Adds the subset's addresses (with `port`, unless NULL) while few are shown; returns how many there are. */
static size_t add_addresses(struct arena *arena, const struct core_v1_endpoint_subset *subset,
                            const struct core_v1_endpoint_port *port, struct str_list *shown)
{
    for (size_t i = 0; i < subset->addresses.len && shown->len < SHOWN; i++) {
        struct str ip = subset->addresses.items[i].ip;

        *LIST_ADD(arena, shown) = port != NULL ? host_port(arena, ip, port->port) : ip;
    }
    return subset->addresses.len;
}

void row_endpoints(struct cells *cells, const void *object)
{
    const struct core_v1_endpoints *endpoints = object;
    struct str_list shown = {0};
    size_t count = 0;

    LIST_EACH(subset, &endpoints->subsets) {
        if (subset->ports.len == 0) {
            count += add_addresses(cells->arena, subset, NULL, &shown);
        }
        LIST_EACH(port, &subset->ports) {
            count += add_addresses(cells->arena, subset, port, &shown);
        }
    }
    cell_name(cells, object);
    cell_str(cells, endpoints->subsets.len == 0 ? none : join_some(cells->arena, &shown, count, SHOWN));
    cell_object_age(cells, object);
}

void row_endpoint_slice(struct cells *cells, const void *object)
{
    const struct discovery_v1_endpoint_slice *slice = object;
    struct str_list ports = {0}, addresses = {0};
    size_t count = 0;

    LIST_EACH(port, &slice->ports) {
        *LIST_ADD(cells->arena, &ports) = port->port != NULL   ? arena_printf(cells->arena, "%d", *port->port)
                                          : port->name != NULL ? *port->name
                                                               : STR("*");
    }
    LIST_EACH(endpoint, &slice->endpoints) {
        LIST_EACH(address, &endpoint->addresses) {
            if (count++ < SHOWN) {
                *LIST_ADD(cells->arena, &addresses) = *address;
            }
        }
    }
    cell_name(cells, object);
    cell_str(cells, slice->address_type);
    cell_str_or(cells, join_some(cells->arena, &ports, ports.len, SHOWN), STR("<unset>"));
    cell_str_or(cells, join_some(cells->arena, &addresses, count, SHOWN), STR("<unset>"));
    cell_object_age(cells, object);
}

static struct str ingress_hosts(struct arena *arena, const struct networking_v1_ingress *ingress)
{
    struct str_list shown = {0};
    bool more = false;

    LIST_EACH(rule, &ingress->spec.rules) {
        more = more || shown.len == SHOWN;
        if (!more && rule->host.n > 0) {
            *LIST_ADD(arena, &shown) = rule->host;
        }
    }
    if (shown.len == 0) {
        return STR("*");
    }
    return join_some(arena, &shown, more ? ingress->spec.rules.len : shown.len, SHOWN);
}

void row_ingress(struct cells *cells, const void *object)
{
    const struct networking_v1_ingress *ingress = object;
    struct str_list addresses = {0};

    LIST_EACH(balancer, &ingress->status.load_balancer.ingress) {
        struct str address = balancer->ip.n > 0 ? balancer->ip : balancer->hostname;

        if (address.n > 0) {
            *LIST_ADD(cells->arena, &addresses) = address;
        }
    }
    cell_name(cells, object);
    cell_ptr_or(cells, ingress->spec.ingress_class_name, none);
    cell_str(cells, ingress_hosts(cells->arena, ingress));
    cell_str(cells, join_set(cells->arena, &addresses));
    cell_str(cells, ingress->spec.tls.len > 0 ? STR("80, 443") : STR("80"));
    cell_object_age(cells, object);
}

void row_ingress_class(struct cells *cells, const void *object)
{
    const struct networking_v1_ingress_class *class = object;
    const struct networking_v1_ingress_class_parameters_reference *parameters = class->spec.parameters;

    cell_name(cells, object);
    cell_str(cells, class->spec.controller);
    if (parameters == NULL) {
        cell_str(cells, none);
    } else {
        struct str group = parameters->api_group != NULL ? *parameters->api_group : STR("");

        cell_printf(cells, "%.*s%s%.*s/%.*s", STR_ARG(parameters->kind), parameters->api_group != NULL ? "." : "",
                    STR_ARG(group), STR_ARG(parameters->name));
    }
    cell_object_age(cells, object);
}

void row_network_policy(struct cells *cells, const void *object)
{
    const struct networking_v1_network_policy *policy = object;

    cell_name(cells, object);
    cell_selector(cells, &policy->spec.pod_selector, none);
    cell_object_age(cells, object);
}

void row_service_cidr(struct cells *cells, const void *object)
{
    const struct networking_v1_service_cidr *cidr = object;

    cell_name(cells, object);
    cell_str(cells, join_strings(cells->arena, &cidr->spec.cidrs, ","));
    cell_object_age(cells, object);
}

void row_ip_address(struct cells *cells, const void *object)
{
    const struct networking_v1_parent_reference *parent =
        ((const struct networking_v1_ip_address *)object)->spec.parent_ref;

    cell_name(cells, object);
    if (parent == NULL) {
        cell_str(cells, none);
    } else {
        cell_printf(cells, "%.*s%s%.*s%s%.*s/%.*s", STR_ARG(parent->resource), parent->group.n > 0 ? "." : "",
                    STR_ARG(parent->group), parent->namespace.n > 0 ? "/" : "", STR_ARG(parent->namespace),
                    STR_ARG(parent->name));
    }
    cell_object_age(cells, object);
}
