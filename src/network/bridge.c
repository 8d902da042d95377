#include "network/bridge.h"

#include "network/netns.h"

#include <unistd.h>

static struct str table_of(const struct cni_call *call)
{
    return arena_printf(call->arena, "c8s-cni-%.*s", STR_ARG(call->name));
}

static bool has_default_route(const struct cni_result *result, uint8_t length)
{
    LIST_EACH(route, &result->routes) {
        if (route->destination.prefix == 0 && route->destination.ip.length == length) {
            return true;
        }
    }
    return false;
}

/* What IPAM gave, as this bridge uses it: a default route, and addresses that stand alone where all is routed. */
static void adapt(struct arena *arena, const struct bridge_conf *conf, struct cni_result *result)
{
    LIST_EACH(address, &result->addresses) {
        uint8_t length = address->address.ip.length;

        address->interface = 2; /* bridge, host's end, pod's end */
        if (conf->is_routed) {
            address->address.prefix = (uint8_t)(length * 8);
        }
        if ((conf->is_default_gateway || conf->is_routed) && !has_default_route(result, length)) {
            *LIST_ADD(arena, &result->routes) =
                (struct cni_route){.destination = {.ip = {.length = length}}, .gateway = address->gateway};
        }
    }
}

static struct status *read_nat(const struct cni_call *call, const struct bridge_conf *conf,
                               const struct cni_result *result, struct host_nat *nat, struct host_nat_pod *pod)
{
    *pod = (struct host_nat_pod){.container = call->container, .interface = call->interface};
    *nat = (struct host_nat){.table = table_of(call),
                             .masquerades = conf->masquerades,
                             .near = conf->near,
                             .is_bridged = !conf->is_routed};
    LIST_EACH(set, &conf->ipam.sets) {
        LIST_EACH(range, set) {
            *LIST_ADD(call->arena, &nat->subnets) = range->subnet;
        }
    }
    cni_pod_addresses(call->arena, result, pod);
    return conf->maps_ports ? cni_port_mappings(call->arena, call->input, pod) : NULL;
}

static bool wants_nat(const struct bridge_conf *conf, const struct host_nat_pod *pod)
{
    return pod->addresses.len > 0 && (conf->masquerades || conf->maps_ports);
}

static struct status *plug(const struct cni_call *call, const struct bridge_conf *conf, struct cni_result *result)
{
    OWNED(netlink_closep) struct netlink *host = NULL;
    struct netlink_link bridge, host_end, pod_end;
    struct host_nat nat;
    struct host_nat_pod pod;
    struct arena *arena = call->arena;

    TRY(netlink_open(NULL, &host));
    TRY(bridge_ensure(host, conf, &bridge));
    TRY(bridge_plug(host, conf, call, &bridge, &host_end));
    if (conf->is_gateway) {
        TRY(bridge_be_gateway(host, conf, &bridge, result));
    }
    TRY(bridge_configure_pod(call, result, &pod_end));
    *LIST_ADD(arena, &result->interfaces) = (struct cni_interface){
        .name = conf->bridge, .mac = netlink_mac_text(arena, bridge.mac)};
    *LIST_ADD(arena, &result->interfaces) = (struct cni_interface){
        .name = arena_str(arena, str_of(host_end.name)), .mac = netlink_mac_text(arena, host_end.mac)};
    *LIST_ADD(arena, &result->interfaces) = (struct cni_interface){
        .name = call->interface, .mac = netlink_mac_text(arena, pod_end.mac), .sandbox = call->netns};
    TRY(read_nat(call, conf, result, &nat, &pod));
    return wants_nat(conf, &pod) ? host_nat_add(&nat, &pod) : NULL;
}

/* Takes away the pair of interfaces, by either end: it may have been made by another plugin of that kind. */
static struct status *unplug(const struct cni_call *call)
{
    OWNED(netlink_closep) struct netlink *host = NULL, *pod = NULL;
    struct netlink_link link;

    TRY(netlink_open(NULL, &host));
    struct status *bad = netlink_link_find(host, bridge_host_end(call).p, &link);

    if (bad == NULL) {
        bad = netlink_link_delete(host, link.index);
        return status_free_if(&bad, STATUS_NOT_FOUND) ? NULL : bad;
    }
    if (!status_free_if(&bad, STATUS_NOT_FOUND)) {
        return bad;
    }
    const char *netns = arena_cstr(call->arena, call->netns);

    if (call->netns.n == 0 || !netns_exists(netns)) {
        return NULL;
    }
    TRY(netlink_open(netns, &pod));
    bad = netlink_link_find(pod, arena_cstr(call->arena, call->interface), &link);
    if (bad == NULL) {
        bad = netlink_link_delete(pod, link.index);
    }
    return status_free_if(&bad, STATUS_NOT_FOUND) ? NULL : bad;
}

/* Everything is tried; the address goes last, when nothing leads to it any more. */
static struct status *take_away(const struct cni_call *call, const struct bridge_conf *conf)
{
    TRY(unplug(call));
    TRY(host_nat_remove(table_of(call), call->container, call->interface));
    return conf->has_ipam ? ipam_give(&conf->ipam, call->container, call->interface) : NULL;
}

static struct status *add(const struct cni_call *call, bool is_c8s, struct cni_result *result)
{
    struct bridge_conf conf;

    TRY(bridge_conf_read(call, is_c8s, &conf));
    if (!netns_exists(arena_cstr(call->arena, call->netns))) {
        return status_new(STATUS_GONE, "failed to open netns \"%.*s\": no such network namespace",
                          STR_ARG(call->netns));
    }
    *result = (struct cni_result){0};
    TRY(cni_read_dns(call->arena, call->input, conf.ipam.resolv_conf, &result->dns));
    if (conf.has_ipam) {
        TRY(ipam_take(call->arena, &conf.ipam, call->container, call->interface, result));
    }
    adapt(call->arena, &conf, result);
    struct status *bad = plug(call, &conf, result);

    if (bad != NULL) {
        status_free(take_away(call, &conf)); /* the first error says more */
    }
    return bad;
}

static struct status *del(const struct cni_call *call, bool is_c8s)
{
    struct bridge_conf conf;

    TRY(bridge_conf_read(call, is_c8s, &conf));
    return take_away(call, &conf);
}

static struct status *check(const struct cni_call *call, bool is_c8s)
{
    OWNED(netlink_closep) struct netlink *host = NULL;
    struct bridge_conf conf;
    struct netlink_link bridge, host_end;
    struct host_nat nat;
    struct host_nat_pod pod;

    TRY(bridge_conf_read(call, is_c8s, &conf));
    if (!call->has_previous) {
        return status_new(STATUS_BAD_REQUEST, "required prevResult missing");
    }
    TRY(netlink_open(NULL, &host));
    TRY(netlink_link_find(host, conf.bridge.p, &bridge));
    TRY(netlink_link_find(host, bridge_host_end(call).p, &host_end));
    if (host_end.master != bridge.index) {
        return status_new(STATUS_NOT_FOUND, "interface %s is no port of bridge %s", host_end.name, conf.bridge.p);
    }
    TRY(bridge_check_pod(call, &call->previous));
    if (conf.has_ipam) {
        TRY(ipam_check(&conf.ipam, call->container, call->interface));
    }
    TRY(read_nat(call, &conf, &call->previous, &nat, &pod));
    return wants_nat(&conf, &pod) ? host_nat_check(&nat, &pod) : NULL;
}

static struct status *bridge_status(const struct cni_call *call, bool is_c8s)
{
    OWNED(netlink_closep) struct netlink *host = NULL;
    struct bridge_conf conf;

    TRY(bridge_conf_read(call, is_c8s, &conf));
    return netlink_open(NULL, &host);
}

static struct status *collect(const struct cni_call *call, bool is_c8s,
                              bool (*is_valid)(void *call, struct str container, struct str interface))
{
    struct bridge_conf conf;

    TRY(bridge_conf_read(call, is_c8s, &conf));
    TRY(host_nat_collect(table_of(call), is_valid, (void *)call));
    return conf.has_ipam ? ipam_collect(&conf.ipam, is_valid, (void *)call) : NULL;
}

#define PLUGIN(name, text, is_c8s)                                                                                    \
    static struct status *name##_add(const struct cni_call *call, struct cni_result *result)                         \
    {                                                                                                                 \
        return add(call, is_c8s, result);                                                                             \
    }                                                                                                                 \
    static struct status *name##_del(const struct cni_call *call)                                                    \
    {                                                                                                                 \
        return del(call, is_c8s);                                                                                     \
    }                                                                                                                 \
    static struct status *name##_check(const struct cni_call *call)                                                  \
    {                                                                                                                 \
        return check(call, is_c8s);                                                                                   \
    }                                                                                                                 \
    static struct status *name##_status(const struct cni_call *call)                                                 \
    {                                                                                                                 \
        return bridge_status(call, is_c8s);                                                                           \
    }                                                                                                                 \
    static struct status *name##_collect(                                                                             \
        const struct cni_call *call, bool (*is_valid)(void *call, struct str container, struct str interface))       \
    {                                                                                                                 \
        return collect(call, is_c8s, is_valid);                                                                       \
    }                                                                                                                 \
    const struct cni_plugin name = {text, name##_add, name##_del, name##_check, name##_status, name##_collect, false}

PLUGIN(cni_bridge, "bridge", false);
PLUGIN(cni_c8s, "c8s-cni", true);
