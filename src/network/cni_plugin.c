#include "network/cni_plugin.h"

#include "base/file.h"
#include "network/cni_result.h"
#include "network/loopback.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { RESOLV_CONF_BYTES = 65536 };

void cni_pod_addresses(struct arena *arena, const struct cni_result *result, struct host_nat_pod *pod)
{
    LIST_EACH(address, &result->addresses) {
        if (cni_address_is_pod(result, address)) {
            *LIST_ADD(arena, &pod->addresses) = address->address.ip;
        }
    }
}

static struct status *read_port(const struct value *item, struct str key, int32_t *ret)
{
    const struct value *number = value_find(item, key);

    if (!value_is(number, VALUE_INT) || number->integer < 1 || number->integer > 65535) {
        return status_new(STATUS_BAD_REQUEST, "Invalid %.*s in portMappings: want a number from 1 to 65535",
                          STR_ARG(key));
    }
    *ret = (int32_t)number->integer;
    return NULL;
}

struct status *cni_port_mappings(struct arena *arena, const struct value *input, struct host_nat_pod *pod)
{
    VALUE_EACH_ITEM(item, value_find_path(input, "runtimeConfig.portMappings")) {
        struct cni_port_mapping port = {.protocol = value_str_at(*item, "protocol"),
                                        .host_ip = value_str_at(*item, "hostIP")};
        const struct value *host_port = value_find(*item, STR("hostPort"));
        struct ip ip;

        if (host_port == NULL || (value_is(host_port, VALUE_INT) && host_port->integer == 0)) {
            continue; /* not for the host */
        }
        TRY(read_port(*item, STR("hostPort"), &port.host_port));
        TRY(read_port(*item, STR("containerPort"), &port.container_port));
        if (port.protocol.n > 0 && !str_eq_nocase(port.protocol, STR("tcp")) &&
            !str_eq_nocase(port.protocol, STR("udp")) && !str_eq_nocase(port.protocol, STR("sctp"))) {
            return status_new(STATUS_BAD_REQUEST, "Invalid protocol in portMappings: \"%.*s\", want tcp, udp or sctp",
                              STR_ARG(port.protocol));
        }
        if (port.host_ip.n > 0 && !ip_parse(port.host_ip, &ip)) {
            return status_new(STATUS_BAD_REQUEST, "Invalid hostIP in portMappings: \"%.*s\"", STR_ARG(port.host_ip));
        }
        *LIST_ADD(arena, &pod->ports) = port;
    }
    return NULL;
}

struct status *cni_read_bool(const struct value *input, struct str key, bool otherwise, bool *ret)
{
    const struct value *value = value_find(input, key);

    if (value != NULL && !value_is(value, VALUE_BOOL)) {
        return status_new(STATUS_BAD_REQUEST, "failed to load netconf: %.*s: want a bool, got %s", STR_ARG(key),
                          value_type_name(value));
    }
    *ret = value != NULL ? value->boolean : otherwise;
    return NULL;
}

struct status *cni_sysctl(const char *path, const char *text)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str now;
    struct status *bad = file_read(arena, path, 256, &now);

    if (bad != NULL) {
        return bad;
    }
    if (str_is(str_trim(now), text)) {
        return NULL; /* it may be read-only here, and right */
    }
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t size = (ssize_t)str_of(text).n;

    bad = fd < 0 || write(fd, text, (size_t)size) != size ? status_errno(errno, "writing %s to %s", text, path) : NULL;
    if (fd >= 0) {
        close(fd);
    }
    return bad;
}

static void add_words(struct arena *arena, struct str text, struct str_list *list)
{
    while (text.n > 0) {
        size_t n = 0;

        while (n < text.n && text.p[n] != ' ' && text.p[n] != '\t') {
            n++;
        }
        if (n > 0) {
            *LIST_ADD(arena, list) = str_sub(text, 0, n);
        }
        text = str_from(text, n + 1);
    }
}

static struct status *read_resolv_conf(struct arena *arena, struct str path, struct cni_dns *dns)
{
    struct str text, line;

    TRY(file_read(arena, arena_cstr(arena, path), RESOLV_CONF_BYTES, &text));
    while (str_next(&text, '\n', &line)) {
        struct str word, rest;

        str_cut(str_trim(line), ' ', &word, &rest);
        rest = str_trim(rest);
        if (str_is(word, "nameserver")) {
            add_words(arena, rest, &dns->nameservers);
        } else if (str_is(word, "domain")) {
            dns->domain = rest;
        } else if (str_is(word, "search")) {
            add_words(arena, rest, &dns->search);
        } else if (str_is(word, "options")) {
            add_words(arena, rest, &dns->options);
        }
    }
    return NULL;
}

static void add_strings(struct arena *arena, const struct value *array, struct str_list *list)
{
    VALUE_EACH_ITEM(item, array) {
        *LIST_ADD(arena, list) = value_str(*item);
    }
}

struct status *cni_read_dns(struct arena *arena, const struct value *input, struct str resolv_conf, struct cni_dns *ret)
{
    const struct value *given = value_find_path(input, "runtimeConfig.dns"), *own = value_find(input, STR("dns"));
    struct cni_dns dns = {0};

    if (given != NULL) {
        add_strings(arena, value_find(given, STR("servers")), &dns.nameservers);
        add_strings(arena, value_find(given, STR("searches")), &dns.search);
        add_strings(arena, value_find(given, STR("options")), &dns.options);
    } else if (value_count(own) > 0) {
        add_strings(arena, value_find(own, STR("nameservers")), &dns.nameservers);
        add_strings(arena, value_find(own, STR("search")), &dns.search);
        add_strings(arena, value_find(own, STR("options")), &dns.options);
        dns.domain = value_str_at(own, "domain");
    } else if (resolv_conf.n > 0) {
        TRY(read_resolv_conf(arena, resolv_conf, &dns));
    }
    *ret = dns;
    return NULL;
}

/* loopback */

static struct status *loopback_add(const struct cni_call *call, struct cni_result *result)
{
    struct cidr v4, v6;

    TRY(loopback_set(arena_cstr(call->arena, call->netns), true));
    if (call->has_previous || !cidr_parse(STR("127.0.0.1/8"), &v4) || !cidr_parse(STR("::1/128"), &v6)) {
        return NULL;
    }
    *LIST_ADD(call->arena, &result->interfaces) =
        (struct cni_interface){.name = STR("lo"), .mac = STR("00:00:00:00:00:00"), .sandbox = call->netns};
    *LIST_ADD(call->arena, &result->addresses) = (struct cni_address){.address = v4};
    *LIST_ADD(call->arena, &result->addresses) = (struct cni_address){.address = v6};
    return NULL;
}

static struct status *loopback_del(const struct cni_call *call)
{
    struct status *bad = call->netns.n > 0 ? loopback_set(arena_cstr(call->arena, call->netns), false) : NULL;

    return status_free_if(&bad, STATUS_NOT_FOUND) ? NULL : bad;
}

static struct status *loopback_check(const struct cni_call *call)
{
    bool up;

    TRY(loopback_is_up(arena_cstr(call->arena, call->netns), &up));
    return up ? NULL : status_new(STATUS_INTERNAL_ERROR, "loopback interface is down");
}

const struct cni_plugin cni_loopback = {
    .type = "loopback", .add = loopback_add, .del = loopback_del, .check = loopback_check};

/* host-local */

static struct status *host_local_add(const struct cni_call *call, struct cni_result *result)
{
    struct ipam_conf conf;

    TRY(ipam_conf_read(call->arena, call->input, &conf));
    *result = (struct cni_result){0};
    TRY(cni_read_dns(call->arena, NULL, conf.resolv_conf, &result->dns));
    return ipam_take(call->arena, &conf, call->container, call->interface, result);
}

static struct status *host_local_del(const struct cni_call *call)
{
    struct ipam_conf conf;

    TRY(ipam_conf_read(call->arena, call->input, &conf));
    return ipam_give(&conf, call->container, call->interface);
}

static struct status *host_local_check(const struct cni_call *call)
{
    struct ipam_conf conf;

    TRY(ipam_conf_read(call->arena, call->input, &conf));
    return ipam_check(&conf, call->container, call->interface);
}

static struct status *host_local_status(const struct cni_call *call)
{
    struct ipam_conf conf;

    return ipam_conf_read(call->arena, call->input, &conf);
}

static struct status *host_local_collect(const struct cni_call *call,
                                         bool (*is_valid)(void *call, struct str container, struct str interface))
{
    struct ipam_conf conf;

    TRY(ipam_conf_read(call->arena, call->input, &conf));
    return ipam_collect(&conf, is_valid, (void *)call);
}

const struct cni_plugin cni_host_local = {
    .type = "host-local",
    .add = host_local_add,
    .del = host_local_del,
    .check = host_local_check,
    .status = host_local_status,
    .collect = host_local_collect,
    .only_ipam = true,
};

/* portmap */

static struct status *read_portmap(const struct cni_call *call, struct host_nat *nat, struct host_nat_pod *pod)
{
    *pod = (struct host_nat_pod){.container = call->container, .interface = call->interface};
    *nat = (struct host_nat){
        .table = arena_printf(call->arena, "c8s-portmap-%.*s", STR_ARG(call->name)), .is_bridged = true};
    LIST_EACH(address, &call->previous.addresses) {
        if (cni_address_is_pod(&call->previous, address)) {
            *LIST_ADD(call->arena, &nat->subnets) = cidr_masked(&address->address);
        }
    }
    cni_pod_addresses(call->arena, &call->previous, pod);
    return cni_port_mappings(call->arena, call->input, pod);
}

static struct status *portmap_add(const struct cni_call *call, struct cni_result *result)
{
    struct host_nat nat;
    struct host_nat_pod pod;

    if (!call->has_previous) {
        return status_new(STATUS_BAD_REQUEST, "must be called as chained plugin");
    }
    TRY(read_portmap(call, &nat, &pod));
    if (pod.ports.len == 0) {
        return NULL;
    }
    LIST_EACH(interface, &call->previous.interfaces) { /* what comes from 127.0.0.1 may go on to the pod */
        struct str path = arena_printf(call->arena, "/proc/sys/net/ipv4/conf/%.*s/route_localnet",
                                       STR_ARG(interface->name));
        struct status *bad = interface->sandbox.n == 0 ? cni_sysctl(path.p, "1") : NULL;

        TRY(status_free_if(&bad, STATUS_NOT_FOUND) ? NULL : bad);
    }
    return host_nat_add(&nat, &pod);
}

static struct status *portmap_del(const struct cni_call *call)
{
    return host_nat_remove(arena_printf(call->arena, "c8s-portmap-%.*s", STR_ARG(call->name)), call->container,
                           call->interface);
}

static struct status *portmap_check(const struct cni_call *call)
{
    struct host_nat nat;
    struct host_nat_pod pod;

    TRY(read_portmap(call, &nat, &pod));
    return pod.ports.len > 0 ? host_nat_check(&nat, &pod) : NULL;
}

static struct status *portmap_collect(const struct cni_call *call,
                                      bool (*is_valid)(void *call, struct str container, struct str interface))
{
    return host_nat_collect(arena_printf(call->arena, "c8s-portmap-%.*s", STR_ARG(call->name)), is_valid,
                            (void *)call);
}

const struct cni_plugin cni_portmap = {.type = "portmap",
                                       .add = portmap_add,
                                       .del = portmap_del,
                                       .check = portmap_check,
                                       .collect = portmap_collect};
