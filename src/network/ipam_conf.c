#include "network/ipam.h"

#include "network/cni_result.h"

#include <string.h>

static const struct str default_data_dir = STR_INIT("/var/lib/cni/networks");

/* ip + step, over the whole address. */
static struct ip moved(struct ip ip, int step)
{
    int carry = step;

    for (size_t i = ip.length; i > 0 && carry != 0; i--) {
        int sum = ip.bytes[i - 1] + carry;

        ip.bytes[i - 1] = (uint8_t)sum;
        carry = sum >> 8; /* arithmetic: borrows as well */
    }
    return ip;
}

static struct ip last_of(const struct cidr *subnet)
{
    struct ip last = cidr_masked(subnet).ip;

    for (unsigned bit = subnet->prefix; bit < last.length * 8u; bit++) {
        last.bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    }
    return last;
}

static struct status *read_in(struct arena *arena, const struct value *range, struct str key,
                              const struct cidr *subnet, struct ip *ret)
{
    struct str text = value_str(value_find(range, key));

    if (text.n == 0) {
        return NULL;
    }
    if (!ip_parse(text, ret)) {
        return status_new(STATUS_BAD_REQUEST, "invalid IP address: %.*s", STR_ARG(text));
    }
    if (!cidr_contains(subnet, ret)) {
        struct str in = cidr_format(arena, subnet);

        return status_new(STATUS_BAD_REQUEST, "%.*s not in network %.*s", STR_ARG(text), STR_ARG(in));
    }
    return NULL;
}

static struct status *read_range(struct arena *arena, const struct value *value, struct ipam_range *ret)
{
    struct str text = value_str_at(value, "subnet");
    struct ipam_range range;

    if (!cidr_parse(text, &range.subnet)) {
        return status_new(STATUS_BAD_REQUEST, "invalid CIDR address: %.*s", STR_ARG(text));
    }
    if (range.subnet.prefix + 2u > range.subnet.ip.length * 8u) {
        return status_new(STATUS_BAD_REQUEST, "Network %.*s too small to allocate from", STR_ARG(text));
    }
    struct cidr masked = cidr_masked(&range.subnet);

    if (!ip_equal(&masked.ip, &range.subnet.ip)) {
        return status_new(STATUS_BAD_REQUEST, "Network has host bits set. For a subnet mask of length %d the network "
                          "address is %.*s", range.subnet.prefix, STR_ARG(ip_format(arena, &masked.ip)));
    }
    range.start = range.gateway = moved(masked.ip, 1);
    range.end = range.subnet.ip.length == 4 ? moved(last_of(&range.subnet), -1) : last_of(&range.subnet);
    TRY(read_in(arena, value, STR("gateway"), &range.subnet, &range.gateway));
    TRY(read_in(arena, value, STR("rangeStart"), &range.subnet, &range.start));
    TRY(read_in(arena, value, STR("rangeEnd"), &range.subnet, &range.end));
    if (memcmp(range.start.bytes, range.end.bytes, range.start.length) > 0) {
        return status_new(STATUS_BAD_REQUEST, "rangeStart %.*s is after rangeEnd %.*s",
                          STR_ARG(ip_format(arena, &range.start)), STR_ARG(ip_format(arena, &range.end)));
    }
    *ret = range;
    return NULL;
}

static struct status *read_sets(struct arena *arena, const struct value *ipam, struct ipam_conf *conf)
{
    if (value_str_at(ipam, "subnet").n > 0) { /* the short form: one range, one set */
        struct ipam_range_set *set = LIST_ADD(arena, &conf->sets);

        TRY(read_range(arena, ipam, LIST_ADD(arena, set)));
    }
    VALUE_EACH_ITEM(ranges, value_find(ipam, STR("ranges"))) {
        struct ipam_range_set *set = LIST_ADD(arena, &conf->sets);

        VALUE_EACH_ITEM(range, *ranges) {
            TRY(read_range(arena, *range, LIST_ADD(arena, set)));
            if (set->items[set->len - 1].subnet.ip.length != set->items[0].subnet.ip.length) {
                return status_new(STATUS_BAD_REQUEST, "mixed address families");
            }
        }
        if (set->len == 0) {
            return status_new(STATUS_BAD_REQUEST, "empty range set");
        }
    }
    return conf->sets.len > 0 ? NULL : status_new(STATUS_BAD_REQUEST, "no IP ranges specified");
}

static struct status *read_routes(struct arena *arena, const struct value *ipam, struct ipam_conf *conf)
{
    VALUE_EACH_ITEM(item, value_find(ipam, STR("routes"))) {
        struct cni_route route = {0};
        struct str destination = value_str_at(*item, "dst"), gateway = value_str_at(*item, "gw");

        if (!cidr_parse(destination, &route.destination)) {
            return status_new(STATUS_BAD_REQUEST, "invalid CIDR address: %.*s", STR_ARG(destination));
        }
        if (gateway.n > 0 && !ip_parse(gateway, &route.gateway)) {
            return status_new(STATUS_BAD_REQUEST, "invalid IP address: %.*s", STR_ARG(gateway));
        }
        *LIST_ADD(arena, &conf->routes) = route;
    }
    return NULL;
}

static bool sets_have(const struct ipam_conf *conf, const struct ip *ip)
{
    LIST_EACH(set, &conf->sets) {
        LIST_EACH(range, set) {
            if (cidr_contains(&range->subnet, ip)) {
                return true;
            }
        }
    }
    return false;
}

static struct status *read_wanted(struct arena *arena, const struct value *input, struct ipam_conf *conf)
{
    VALUE_EACH_ITEM(item, value_find_path(input, "runtimeConfig.ips")) {
        struct str text = value_str(*item), address, prefix;
        struct ip ip;

        str_cut(text, '/', &address, &prefix);
        if (!ip_parse(address, &ip)) {
            return status_new(STATUS_BAD_REQUEST, "invalid IP address: %.*s", STR_ARG(text));
        }
        if (!sets_have(conf, &ip)) {
            return status_new(STATUS_BAD_REQUEST, "requested IP address %.*s is not in any range", STR_ARG(address));
        }
        *LIST_ADD(arena, &conf->wanted) = ip;
    }
    return NULL;
}

struct status *ipam_conf_read(struct arena *arena, const struct value *input, struct ipam_conf *ret)
{
    const struct value *ipam = value_find(input, STR("ipam"));
    struct str data_dir = value_str_at(ipam, "dataDir"), type = value_str_at(ipam, "type");
    struct str name = value_str_at(input, "name");
    struct ipam_conf conf = {.resolv_conf = value_str_at(ipam, "resolvConf")};

    if (ipam == NULL) {
        return status_new(STATUS_BAD_REQUEST, "IPAM config missing 'ipam' key");
    }
    if (!str_is(type, "host-local")) {
        return status_new(STATUS_BAD_REQUEST, "IPAM type \"%.*s\" is not supported, want \"host-local\"", STR_ARG(type));
    }
    if (name.n == 0 || name.p[0] == '.' || str_index(name, '/') != SIZE_MAX) {
        return status_new(STATUS_BAD_REQUEST, "invalid network name \"%.*s\"", STR_ARG(name));
    }
    TRY(read_sets(arena, ipam, &conf));
    TRY(read_routes(arena, ipam, &conf));
    TRY(read_wanted(arena, input, &conf));
    conf.directory = arena_printf(arena, "%.*s/%.*s", STR_ARG(data_dir.n > 0 ? data_dir : default_data_dir),
                                  STR_ARG(name));
    *ret = conf;
    return NULL;
}
