#include "network/bridge.h"

#include <string.h>

/* Of the standard bridge plugin; each would change what packets a pod may send or get, so none is passed over. */
static const char *const unsupported[] = {"vlan", "vlanTrunk", "macspoofchk", "portIsolation",
                                          "disableContainerInterface"};

static bool is_set(const struct value *value)
{
    return value != NULL && !value_is(value, VALUE_NULL) && !(value_is(value, VALUE_BOOL) && !value->boolean) &&
           !(value_is(value, VALUE_INT) && value->integer == 0) && !(value_is(value, VALUE_ARRAY) && !value_count(value));
}

static struct status *refuse_unsupported(const struct cni_call *call)
{
    for (size_t i = 0; i < COUNT_OF(unsupported); i++) {
        const struct value *value = value_find(call->input, str_of(unsupported[i]));

        if (is_set(value)) {
            struct str text = value_json(call->arena, value);

            return status_new(STATUS_METHOD_NOT_ALLOWED, "field \"%s\" is not supported, got %.*s", unsupported[i],
                              STR_ARG(text));
        }
    }
    return NULL;
}

static struct status *read_cidrs(const struct cni_call *call, struct str key, struct host_nat_cidrs *cidrs)
{
    VALUE_EACH_ITEM(item, value_find(call->input, key)) {
        struct cidr cidr;

        if (!cidr_parse(value_str(*item), &cidr)) {
            return status_new(STATUS_BAD_REQUEST, "%.*s: invalid CIDR address: %.*s", STR_ARG(key),
                              STR_ARG(value_str(*item)));
        }
        *LIST_ADD(call->arena, cidrs) = cidr;
    }
    return NULL;
}

static struct status *read_names(const struct cni_call *call, bool is_c8s, struct bridge_conf *conf)
{
    const struct value *mtu = value_find(call->input, STR("mtu"));
    struct str mac = value_str_at(call->input, "runtimeConfig.mac");

    conf->bridge = value_str_at(call->input, "bridge");
    if (conf->bridge.n == 0) {
        conf->bridge = is_c8s ? STR("c8s0") : STR("cni0");
    }
    if (conf->bridge.n > 15 || str_index(conf->bridge, '/') != SIZE_MAX || conf->bridge.p[0] == '.') {
        return status_new(STATUS_BAD_REQUEST, "bridge: invalid interface name \"%.*s\"", STR_ARG(conf->bridge));
    }
    conf->bridge = arena_str(call->arena, conf->bridge);
    if (mtu != NULL && (!value_is(mtu, VALUE_INT) || mtu->integer < 0 || mtu->integer > 65535)) {
        return status_new(STATUS_BAD_REQUEST, "mtu: want a number from 0 to 65535");
    }
    conf->mtu = mtu != NULL ? (unsigned)mtu->integer : 0;
    if (mac.n > 0 && !netlink_mac_parse(mac, conf->mac)) {
        return status_new(STATUS_BAD_REQUEST, "mac: invalid MAC address \"%.*s\"", STR_ARG(mac));
    }
    conf->has_mac = mac.n > 0;
    return NULL;
}

struct status *bridge_conf_read(const struct cni_call *call, bool is_c8s, struct bridge_conf *ret)
{
    struct bridge_conf conf = {.maps_ports = is_c8s};
    const struct value *input = call->input;

    TRY(refuse_unsupported(call));
    TRY(read_names(call, is_c8s, &conf));
    TRY(cni_read_bool(input, STR("isGateway"), is_c8s, &conf.is_gateway));
    TRY(cni_read_bool(input, STR("isDefaultGateway"), is_c8s, &conf.is_default_gateway));
    TRY(cni_read_bool(input, STR("forceAddress"), false, &conf.force_address));
    TRY(cni_read_bool(input, STR("ipMasq"), is_c8s, &conf.masquerades));
    TRY(cni_read_bool(input, STR("hairpinMode"), is_c8s, &conf.hairpin));
    TRY(cni_read_bool(input, STR("promiscMode"), false, &conf.promiscuous));
    TRY(cni_read_bool(input, STR("routed"), is_c8s, &conf.is_routed));
    TRY(read_cidrs(call, STR("nonMasqueradeCIDRs"), &conf.near));
    conf.is_gateway = conf.is_gateway || conf.is_default_gateway || conf.is_routed;
    if (conf.hairpin && conf.promiscuous) {
        return status_new(STATUS_BAD_REQUEST, "cannot set hairpin mode and promiscuous mode at the same time");
    }
    conf.has_ipam = value_str_at(input, "ipam.type").n > 0 || is_c8s;
    if (conf.has_ipam) {
        TRY(ipam_conf_read(call->arena, input, &conf.ipam));
    }
    *ret = conf;
    return NULL;
}
