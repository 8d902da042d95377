/* Endpoints and EndpointSlices. */
#include "api/core_v1.h"
#include "api/discovery_v1.h"
#include "api/validation/kinds.h"
#include "api/validation/network.h"
#include "schema/ip.h"

enum { ENDPOINTS_MAX = 1000, ADDRESSES_MAX = 100, PORTS_MAX = 20000 };

static void check_address(struct status *to, const struct path *at, const struct core_v1_endpoint_address *address)
{
    check_ip(to, AT(at, "ip"), address->ip);
    if (address->hostname.n > 0) {
        check_name(to, AT(at, "hostname"), address->hostname, name_is_dns1123_label);
    }
    if (address->node_name != NULL) {
        check_name(to, AT(at, "nodeName"), *address->node_name, name_is_dns1123_subdomain);
    }
    check_endpoint_ip(to, AT(at, "ip"), address->ip);
}

static void check_subset(struct status *to, const struct path *at, const struct core_v1_endpoint_subset *subset)
{
    if (subset->addresses.len + subset->not_ready_addresses.len == 0) {
        check_required(to, at, "must specify `addresses` or `notReadyAddresses`");
    }
    LIST_EACH(address, &subset->addresses) {
        check_address(to, ITEM(AT(at, "addresses"), INDEX_OF(address, &subset->addresses)), address);
    }
    LIST_EACH(address, &subset->not_ready_addresses) {
        check_address(to, ITEM(AT(at, "notReadyAddresses"), INDEX_OF(address, &subset->not_ready_addresses)), address);
    }
    LIST_EACH(port, &subset->ports) {
        const struct path *one = ITEM(AT(at, "ports"), INDEX_OF(port, &subset->ports));

        if (port->name.n != 0) {
            check_name(to, AT(one, "name"), port->name, name_is_dns1123_label);
        } else if (subset->ports.len > 1) {
            check_required(to, AT(one, "name"), "%s", "");
        }
        check_port_number(to, AT(one, "port"), port->port);
        check_protocol(to, AT(one, "protocol"), port->protocol);
        if (port->app_protocol != NULL) {
            check_name(to, AT(one, "appProtocol"), *port->app_protocol, name_is_qualified);
        }
    }
}

void validate_endpoints(struct status *to, const void *object)
{
    const struct core_v1_endpoints *endpoints = object;

    LIST_EACH(subset, &endpoints->subsets) {
        check_subset(to, ITEM(AT(NULL, "subsets"), INDEX_OF(subset, &endpoints->subsets)), subset);
    }
}

void validate_endpoints_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_endpoints(to, object);
}

static void check_endpoint_address(struct status *to, const struct path *addresses, size_t i, struct str address,
                                   struct str type)
{
    struct ip ip;

    if (str_is(type, "FQDN")) {
        check_name(to, ITEM(addresses, i), address, name_is_dns1123_subdomain);
        return;
    }
    if (!str_is(type, "IPv4") && !str_is(type, "IPv6")) {
        return;
    }
    if (!check_ip(to, ITEM(addresses, i), address) || !ip_parse(address, &ip)) {
        return;
    }
    if (ip.length != (str_is(type, "IPv4") ? 4 : 16)) {
        check_invalid_str(to, addresses, address, "must be an %.*s address", STR_ARG(type));
    }
    check_endpoint_ip(to, ITEM(addresses, i), address);
}

static void check_endpoint(struct status *to, const struct path *at, const struct discovery_v1_endpoint *endpoint,
                           struct str type)
{
    const struct path *addresses = AT(at, "addresses");

    if (endpoint->addresses.len == 0) {
        check_required(to, addresses, "%s", "");
    } else if (endpoint->addresses.len > ADDRESSES_MAX) {
        check_too_many(to, addresses, endpoint->addresses.len, ADDRESSES_MAX);
    }
    for (size_t i = 0; i < endpoint->addresses.len; i++) {
        check_endpoint_address(to, addresses, i, endpoint->addresses.items[i], type);
    }
    if (endpoint->node_name != NULL) {
        check_name(to, AT(at, "nodeName"), *endpoint->node_name, name_is_dns1123_subdomain);
    }
    if (endpoint->hostname != NULL) {
        check_name(to, AT(at, "hostname"), *endpoint->hostname, name_is_dns1123_label);
    }
}

static void check_slice_port(struct status *to, const struct path *at, const struct discovery_v1_endpoint_port *port,
                             struct seen *names)
{
    struct str name = port->name == NULL ? STR("") : *port->name;

    if (name.n > 0) {
        check_name(to, AT(at, "name"), name, name_is_dns1123_label);
    }
    if (seen_before(names, name)) {
        check_duplicate(to, AT(at, "name"), name);
    }
    check_protocol(to, AT(at, "protocol"), port->protocol == NULL ? STR("") : *port->protocol);
    if (port->app_protocol != NULL) {
        check_name(to, AT(at, "appProtocol"), *port->app_protocol, name_is_qualified);
    }
}

void validate_endpoint_slice(struct status *to, const void *object)
{
    static const char *const types[] = {"FQDN", "IPv4", "IPv6", NULL};
    const struct discovery_v1_endpoint_slice *slice = object;

    if (check_present(to, AT(NULL, "addressType"), slice->address_type)) {
        check_one_of(to, AT(NULL, "addressType"), slice->address_type, types);
    }
    if (slice->endpoints.len > ENDPOINTS_MAX) {
        check_too_many(to, AT(NULL, "endpoints"), slice->endpoints.len, ENDPOINTS_MAX);
        return;
    }
    LIST_EACH(endpoint, &slice->endpoints) {
        check_endpoint(to, ITEM(AT(NULL, "endpoints"), INDEX_OF(endpoint, &slice->endpoints)), endpoint,
                       slice->address_type);
    }
    if (slice->ports.len > PORTS_MAX) {
        check_too_many(to, AT(NULL, "ports"), slice->ports.len, PORTS_MAX);
        return;
    }
    OWNED(seen_done) struct seen names = {0};

    LIST_EACH(port, &slice->ports) {
        check_slice_port(to, ITEM(AT(NULL, "ports"), INDEX_OF(port, &slice->ports)), port, &names);
    }
}

void validate_endpoint_slice_update(struct status *to, const void *object, const void *old)
{
    const struct discovery_v1_endpoint_slice *slice = object, *before = old;

    validate_endpoint_slice(to, object);
    if (!str_eq(slice->address_type, before->address_type)) {
        check_invalid_json(to, AT(NULL, "addressType"), STR("null"), "field is immutable");
    }
}
