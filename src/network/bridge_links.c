#include "network/bridge.h"

#include "network/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <unistd.h>

struct status *bridge_ensure(struct netlink *host, const struct bridge_conf *conf, struct netlink_link *ret)
{
    struct netlink_link link;
    struct status *bad = netlink_link_find(host, conf->bridge.p, &link);

    if (status_free_if(&bad, STATUS_NOT_FOUND)) {
        bad = netlink_bridge_add(host, conf->bridge.p, conf->mtu);
        if (status_free_if(&bad, STATUS_ALREADY_EXISTS)) {
            bad = NULL; /* another call was quicker */
        }
        TRY(bad);
        TRY(netlink_link_find(host, conf->bridge.p, &link));
        /* One that is set does not follow the ports' addresses as they come and go. */
        TRY(netlink_link_mac(host, link.index, link.mac));
    }
    TRY(bad);
    if (!str_is(str_of(link.kind), "bridge")) {
        return status_new(STATUS_INTERNAL_ERROR, "\"%s\" already exists but is not a bridge", conf->bridge.p);
    }
    if (conf->promiscuous && !(link.flags & IFF_PROMISC)) {
        TRY(netlink_link_promiscuous(host, link.index));
    }
    if (!(link.flags & IFF_UP)) {
        TRY(netlink_link_up(host, link.index));
    }
    *ret = link;
    return NULL;
}

static struct status *interface_sysctl(struct arena *arena, const char *family, struct str interface, const char *name,
                                       const char *text)
{
    return cni_sysctl(
        arena_printf(arena, "/proc/sys/net/%s/conf/%.*s/%s", family, STR_ARG(interface), name).p, text);
}

/* An address on the bridge that has the gateway's place. */
static struct status *give_gateway(struct netlink *host, const struct bridge_conf *conf,
                                   const struct netlink_link *bridge, const struct cidr *gateway,
                                   const struct netlink_addresses *addresses)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    LIST_EACH(address, addresses) {
        if (ip_equal(&address->ip, &gateway->ip) && address->prefix == gateway->prefix) {
            return NULL;
        }
        if (address->ip.length != gateway->ip.length ||
            (gateway->ip.length == 16 && !cidr_contains(address, &gateway->ip) &&
             !cidr_contains(gateway, &address->ip))) {
            continue; /* IPv6 interfaces have several */
        }
        if (!conf->force_address) {
            return status_new(STATUS_INTERNAL_ERROR, "failed to set bridge addr: \"%s\" already has an IP address "
                              "different from %.*s", conf->bridge.p, STR_ARG(cidr_format(arena, gateway)));
        }
        TRY(netlink_address_delete(host, bridge->index, address));
    }
    struct status *bad = netlink_address_add(host, bridge->index, gateway);

    return status_free_if(&bad, STATUS_ALREADY_EXISTS) ? NULL : bad;
}

struct status *bridge_be_gateway(struct netlink *host, const struct bridge_conf *conf,
                                 const struct netlink_link *bridge, const struct cni_result *result)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct netlink_addresses addresses;

    TRY(netlink_address_list(host, bridge->index, arena, &addresses));
    LIST_EACH(address, &result->addresses) {
        bool is_v4 = address->gateway.length == 4;

        if (address->gateway.length == 0) {
            continue;
        }
        TRY(cni_sysctl(is_v4 ? "/proc/sys/net/ipv4/ip_forward" : "/proc/sys/net/ipv6/conf/all/forwarding", "1"));
        if (is_v4) { /* what comes from 127.0.0.1 to a mapped port may go on to a pod */
            TRY(interface_sysctl(arena, "ipv4", conf->bridge, "route_localnet", "1"));
        } else {
            TRY(interface_sysctl(arena, "ipv6", conf->bridge, "disable_ipv6", "0"));
        }
        if (is_v4 && conf->is_routed) { /* the next hop is meant to be the host, whatever is nearer */
            TRY(interface_sysctl(arena, "ipv4", conf->bridge, "send_redirects", "0"));
        }
        struct cidr gateway = {.ip = address->gateway, .prefix = address->address.prefix};

        LIST_EACH(set, &conf->ipam.sets) {
            LIST_EACH(range, set) {
                gateway.prefix = cidr_contains(&range->subnet, &gateway.ip) ? range->subnet.prefix : gateway.prefix;
            }
        }
        TRY(give_gateway(host, conf, bridge, &gateway, &addresses));
    }
    return NULL;
}

struct str bridge_host_end(const struct cni_call *call)
{
    struct str what = arena_printf(call->arena, "%.*s %.*s %.*s", STR_ARG(call->name), STR_ARG(call->container),
                                   STR_ARG(call->interface));

    return arena_printf(call->arena, "veth%08x", (unsigned)(str_hash(what) >> 32));
}

struct status *bridge_plug(struct netlink *host, const struct bridge_conf *conf, const struct cni_call *call,
                           const struct netlink_link *bridge, struct netlink_link *ret_host_end)
{
    struct str host_end = bridge_host_end(call);
    int netns = open(arena_cstr(call->arena, call->netns), O_RDONLY | O_CLOEXEC);

    if (netns < 0) {
        return status_errno(errno, "failed to open netns \"%.*s\"", STR_ARG(call->netns));
    }
    struct netlink_veth veth = {
        .name = host_end.p,
        .peer_name = arena_cstr(call->arena, call->interface),
        .master = bridge->index,
        .mtu = conf->mtu,
        .peer_netns_fd = netns,
        .peer_mac = conf->has_mac ? conf->mac : NULL,
    };
    struct status *bad = netlink_veth_add(host, &veth);

    close(netns);
    if (bad != NULL) {
        return status_while(bad, "container veth name (\"%s\") peer provided (\"%s\")", veth.peer_name, veth.name);
    }
    TRY(netlink_link_find(host, host_end.p, ret_host_end));
    return conf->hairpin ? netlink_port_hairpin(host, ret_host_end->index) : NULL;
}

/* The pod's side */

static struct status *allow_ipv6(void *arg)
{
    const struct cni_call *call = arg;
    struct status *bad = interface_sysctl(call->arena, "ipv6", call->interface, "disable_ipv6", "0");

    return status_free_if(&bad, STATUS_NOT_FOUND) ? NULL : bad; /* the kernel has no IPv6: the address will tell */
}

static struct ip gateway_of(const struct cni_result *result, const struct cni_route *route)
{
    struct ip none = {0};

    if (route->gateway.length > 0) {
        return route->gateway;
    }
    LIST_EACH(address, &result->addresses) {
        if (address->gateway.length == route->destination.ip.length) {
            return address->gateway;
        }
    }
    return none;
}

struct status *bridge_configure_pod(const struct cni_call *call, const struct cni_result *result,
                                    struct netlink_link *ret_pod_end)
{
    OWNED(netlink_closep) struct netlink *pod = NULL;
    const char *netns = arena_cstr(call->arena, call->netns);
    struct netlink_link link;

    TRY(netlink_open(netns, &pod));
    TRY(netlink_link_find(pod, arena_cstr(call->arena, call->interface), &link));
    LIST_EACH(address, &result->addresses) {
        if (address->address.ip.length == 16) {
            TRY(netns_do(netns, allow_ipv6, (void *)call));
        }
        TRY(netlink_address_add(pod, link.index, &address->address));
    }
    TRY(netlink_link_up(pod, link.index));
    LIST_EACH(address, &result->addresses) {
        struct netlink_route on_link = {.destination = {.ip = address->gateway,
                                                        .prefix = (uint8_t)(address->gateway.length * 8)}};

        if (address->gateway.length > 0 && !cidr_contains(&address->address, &address->gateway)) {
            struct status *bad = netlink_route_add(pod, link.index, &on_link);

            TRY(status_free_if(&bad, STATUS_ALREADY_EXISTS) ? NULL : bad);
        }
    }
    LIST_EACH(route, &result->routes) {
        struct netlink_route wanted = {.destination = route->destination, .gateway = gateway_of(result, route)};
        struct status *bad = netlink_route_add(pod, link.index, &wanted);

        TRY(status_free_if(&bad, STATUS_ALREADY_EXISTS) ? NULL : bad);
    }
    *ret_pod_end = link;
    return NULL;
}

static bool has_address(const struct netlink_addresses *addresses, const struct cidr *wanted)
{
    LIST_EACH(address, addresses) {
        if (address->prefix == wanted->prefix && ip_equal(&address->ip, &wanted->ip)) {
            return true;
        }
    }
    return false;
}

static bool has_route(const struct netlink_routes *routes, const struct cidr *destination, const struct ip *gateway)
{
    struct cidr masked = cidr_masked(destination);

    LIST_EACH(route, routes) {
        if (route->destination.prefix == masked.prefix && ip_equal(&route->destination.ip, &masked.ip) &&
            ip_equal(&route->gateway, gateway)) {
            return true;
        }
    }
    return false;
}

struct status *bridge_check_pod(const struct cni_call *call, const struct cni_result *result)
{
    OWNED(netlink_closep) struct netlink *pod = NULL;
    struct netlink_link link;
    struct netlink_addresses addresses;
    struct netlink_routes routes;

    TRY(netlink_open(arena_cstr(call->arena, call->netns), &pod));
    TRY(netlink_link_find(pod, arena_cstr(call->arena, call->interface), &link));
    TRY(netlink_address_list(pod, link.index, call->arena, &addresses));
    TRY(netlink_route_list(pod, link.index, call->arena, &routes));
    if (!(link.flags & IFF_UP)) {
        return status_new(STATUS_NOT_FOUND, "interface %s is down", link.name);
    }
    LIST_EACH(address, &result->addresses) {
        if (cni_address_is_pod(result, address) && !has_address(&addresses, &address->address)) {
            return status_new(STATUS_NOT_FOUND, "Failed to find address %.*s on interface %s",
                              STR_ARG(cidr_format(call->arena, &address->address)), link.name);
        }
    }
    LIST_EACH(route, &result->routes) {
        struct ip gateway = gateway_of(result, route);

        if (!has_route(&routes, &route->destination, &gateway)) {
            return status_new(STATUS_NOT_FOUND, "Failed to find route to %.*s through interface %s",
                              STR_ARG(cidr_format(call->arena, &route->destination)), link.name);
        }
    }
    return NULL;
}
