#include "api/core_v1.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/network.h"
#include "api/validation/pod.h"
#include "schema/ip.h"

enum { AFFINITY_SECONDS_MAX = 86400, KUBELET_PORT = 10250 };

static bool is(const struct core_v1_service_spec *spec, const char *type)
{
    return str_is(spec->type, type);
}

static bool is_headless(const struct core_v1_service_spec *spec)
{
    return spec->cluster_ips.len == 1 && str_is(spec->cluster_ips.items[0], "None");
}

/* Clients outside the cluster may reach it. */
static bool is_external(const struct core_v1_service_spec *spec)
{
    return is(spec, "LoadBalancer") || is(spec, "NodePort") || (is(spec, "ClusterIP") && spec->external_ips.len > 0);
}

static void check_external_name(struct status *to, const struct path *at, const struct core_v1_service_spec *spec)
{
    static const char *const message = "may not be set for ExternalName services";
    struct str name = spec->external_name;

    if (spec->cluster_ips.len > 0) {
        check_forbidden(to, AT(at, "clusterIPs"), "%s", message);
    }
    if (spec->ip_families.len > 0) {
        check_forbidden(to, AT(at, "ipFamilies"), "%s", message);
    }
    if (spec->ip_family_policy != NULL) {
        check_forbidden(to, AT(at, "ipFamilyPolicy"), "%s", message);
    }
    name = str_has_suffix(name, STR(".")) ? str_sub(name, 0, name.n - 1) : name;
    if (check_present(to, AT(at, "externalName"), name)) {
        check_name(to, AT(at, "externalName"), name, name_is_dns1123_subdomain);
    }
}

static void check_by_type(struct status *to, const struct path *at, const struct core_v1_service_spec *spec)
{
    if (spec->ports.len == 0 && !is_headless(spec) && !is(spec, "ExternalName")) {
        check_required(to, AT(at, "ports"), "%s", "");
    }
    if (is(spec, "LoadBalancer")) {
        LIST_EACH(port, &spec->ports) {
            if (port->port == KUBELET_PORT) {
                check_invalid_int(to, ITEM(AT(at, "ports"), INDEX_OF(port, &spec->ports)), port->port,
                                  "may not expose port %d externally since it is used by kubelet", port->port);
            }
        }
    }
    if ((is(spec, "LoadBalancer") || is(spec, "NodePort")) && is_headless(spec)) {
        check_invalid_str(to, ITEM(AT(at, "clusterIPs"), 0), spec->cluster_ips.items[0],
                          "may not be set to 'None' for %.*s services", STR_ARG(spec->type));
    }
    if (is(spec, "ExternalName")) {
        check_external_name(to, at, spec);
    }
}

static void check_port(struct status *to, const struct path *at, const struct core_v1_service_port *port,
                       const struct core_v1_service_spec *spec, struct seen *names)
{
    if (spec->ports.len > 1 && port->name.n == 0) {
        check_required(to, AT(at, "name"), "%s", "");
    } else if (port->name.n != 0) {
        check_name(to, AT(at, "name"), port->name, name_is_dns1123_label);
        if (seen_before(names, port->name)) {
            check_duplicate(to, AT(at, "name"), port->name);
        }
    }
    check_port_number(to, AT(at, "port"), port->port);
    check_protocol(to, AT(at, "protocol"), port->protocol);
    check_port_number_or_name(to, AT(at, "targetPort"), &port->target_port);
    if (port->app_protocol != NULL) {
        check_name(to, AT(at, "appProtocol"), *port->app_protocol, name_is_qualified);
    }
}

static void check_affinity_config(struct status *to, const struct path *at, const struct core_v1_service_spec *spec)
{
    static const char *const affinities[] = {"ClientIP", "None", NULL};
    const struct core_v1_session_affinity_config *config = spec->session_affinity_config;

    if (check_present(to, AT(at, "sessionAffinity"), spec->session_affinity)) {
        check_one_of(to, AT(at, "sessionAffinity"), spec->session_affinity, affinities);
    }
    if (str_is(spec->session_affinity, "None") && config != NULL) {
        check_forbidden(to, AT(at, "sessionAffinityConfig"), "must not be set when session affinity is None");
    }
    if (str_is(spec->session_affinity, "ClientIP")) {
        const struct path *seconds = AT(AT(AT(at, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds");

        if (config == NULL || config->client_ip == NULL || config->client_ip->timeout_seconds == NULL) {
            check_required(to, seconds, "when session affinity type is ClientIP");
        } else if (*config->client_ip->timeout_seconds <= 0 ||
                   *config->client_ip->timeout_seconds > AFFINITY_SECONDS_MAX) {
            check_invalid_int(to, seconds, *config->client_ip->timeout_seconds,
                              "must be greater than 0 and less than %d", AFFINITY_SECONDS_MAX);
        }
    }
}

static void check_families(struct status *to, const struct path *at, const struct core_v1_service_spec *spec)
{
    static const char *const families[] = {"IPv4", "IPv6", NULL};
    static const char *const policies[] = {"PreferDualStack", "RequireDualStack", "SingleStack", NULL};

    OWNED(seen_done) struct seen seen = {0};

    LIST_EACH(family, &spec->ip_families) {
        const struct path *one = ITEM(AT(at, "ipFamilies"), INDEX_OF(family, &spec->ip_families));

        check_one_of(to, one, *family, families);
        if (seen_before(&seen, *family)) {
            check_duplicate(to, one, *family);
        }
    }
    if (spec->ip_family_policy != NULL) {
        check_one_of(to, AT(at, "ipFamilyPolicy"), *spec->ip_family_policy, policies);
    }
}

static void check_cluster_ips(struct status *to, const struct path *at, const struct core_v1_service_spec *spec)
{
    const struct path *all = AT(at, "clusterIPs");
    struct str text = dump_strings(to->arena, &spec->cluster_ips);
    struct ip first, second;

    check_families(to, at, spec);
    LIST_EACH(ip, &spec->cluster_ips) {
        if (!str_is(*ip, "None")) {
            check_ip(to, ITEM(all, INDEX_OF(ip, &spec->cluster_ips)), *ip);
        } else if (spec->cluster_ips.len > 1) {
            check_invalid_json(to, all, text, "'None' must be the first and only value");
        }
    }
    if (spec->cluster_ip.n == 0 && spec->cluster_ips.len > 0) {
        check_invalid_json(to, all, text, "must be empty when `clusterIP` is not specified");
    } else if (spec->cluster_ip.n > 0 && spec->cluster_ips.len > 0 &&
               !str_eq(spec->cluster_ip, spec->cluster_ips.items[0])) {
        check_invalid_json(to, all, text, "first value must match `clusterIP`");
    }
    if (spec->cluster_ips.len > 2) {
        check_invalid_json(to, all, text, "may only hold up to 2 values");
    } else if (spec->cluster_ips.len == 2 && ip_parse(spec->cluster_ips.items[0], &first) &&
               ip_parse(spec->cluster_ips.items[1], &second) && first.length == second.length) {
        check_invalid_json(to, all, text, "may specify no more than one IP for each IP family");
    }
    for (size_t i = 0; i < spec->cluster_ips.len && i < spec->ip_families.len && !is_headless(spec); i++) {
        struct ip ip;

        if (ip_parse(spec->cluster_ips.items[i], &ip) &&
            !str_is(spec->ip_families.items[i], ip.length == 4 ? "IPv4" : "IPv6")) {
            check_invalid_str(to, ITEM(all, i), spec->cluster_ips.items[i],
                              "expected an %s value as indicated by `ipFamilies[%zu]`",
                              ip.length == 4 ? "IPv6" : "IPv4", i);
        }
    }
}

/* Of a new service the allocation finds node ports that stand there twice. */
static void check_node_ports(struct status *to, const struct path *at, const struct core_v1_service_spec *spec,
                             bool is_new)
{
    OWNED(seen_done) struct seen node_ports = {0}, ports = {0};

    LIST_EACH(port, &spec->ports) {
        const struct path *one = ITEM(AT(at, "ports"), INDEX_OF(port, &spec->ports));

        if (port->node_port != 0 && is(spec, "ClusterIP")) {
            check_forbidden(to, AT(one, "nodePort"), "may not be used when `type` is 'ClusterIP'");
        }
    }
    LIST_EACH(port, &spec->ports) {
        struct str number = arena_printf(to->arena, "%d", port->node_port);

        if (!is_new && port->node_port != 0 && seen_pair_before(&node_ports, number, port->protocol)) {
            check_duplicate_json(to, AT(ITEM(AT(at, "ports"), INDEX_OF(port, &spec->ports)), "nodePort"), number);
        }
    }
    LIST_EACH(port, &spec->ports) {
        if (seen_pair_before(&ports, arena_printf(to->arena, "%d", port->port), port->protocol)) {
            const struct core_v1_service_port key = {.protocol = port->protocol, .port = port->port};

            check_duplicate_json(to, ITEM(AT(at, "ports"), INDEX_OF(port, &spec->ports)),
                                 dump_struct(to->arena, &core_v1_service_port_type, &key));
        }
    }
}

static void check_balancer(struct status *to, const struct path *at, const struct core_v1_service_spec *spec)
{
    static const char *const message = "may only be used when `type` is 'LoadBalancer'";
    const struct path *ranges = AT(at, "LoadBalancerSourceRanges");

    if (spec->load_balancer_source_ranges.len > 0 && !is(spec, "LoadBalancer")) {
        check_forbidden(to, ranges, "%s", message);
    }
    LIST_EACH(range, &spec->load_balancer_source_ranges) {
        check_cidr(to, ITEM(ranges, INDEX_OF(range, &spec->load_balancer_source_ranges)), str_trim(*range));
    }
    if (spec->allocate_load_balancer_node_ports != NULL && !is(spec, "LoadBalancer")) {
        check_forbidden(to, AT(at, "allocateLoadBalancerNodePorts"), "%s", message);
    }
    if (spec->load_balancer_class != NULL) {
        if (!is(spec, "LoadBalancer")) {
            check_forbidden(to, AT(at, "loadBalancerClass"), "%s", message);
        } else {
            check_name(to, AT(at, "loadBalancerClass"), *spec->load_balancer_class, name_is_qualified);
        }
    }
}

static void check_traffic(struct status *to, const struct path *at, const struct core_v1_service_spec *spec)
{
    static const char *const policies[] = {"Cluster", "Local", NULL};
    static const char *const distributions[] = {"PreferClose", "PreferSameZone", "PreferSameNode", NULL};
    bool is_local = is(spec, "LoadBalancer") && str_is(spec->external_traffic_policy, "Local");

    if (spec->external_traffic_policy.n != 0) {
        if (!is_external(spec)) {
            check_invalid_str(to, AT(at, "externalTrafficPolicy"), spec->external_traffic_policy,
                              "may only be set for externally-accessible services");
        } else {
            check_one_of(to, AT(at, "externalTrafficPolicy"), spec->external_traffic_policy, policies);
        }
    } else if (is_external(spec)) {
        check_required(to, AT(at, "externalTrafficPolicy"), "%s", "");
    }
    if (spec->health_check_node_port != 0 && !is_local) {
        check_invalid_int(to, AT(at, "healthCheckNodePort"), spec->health_check_node_port,
                          "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
    }
    if (spec->internal_traffic_policy != NULL) {
        check_one_of(to, AT(at, "internalTrafficPolicy"), *spec->internal_traffic_policy, policies);
    } else if (!is(spec, "ExternalName")) {
        check_required(to, AT(at, "internalTrafficPolicy"), "%s", "");
    }
    if (spec->traffic_distribution != NULL) {
        check_one_of(to, AT(at, "trafficDistribution"), *spec->traffic_distribution, distributions);
    }
}

static void check_service(struct status *to, const struct core_v1_service_spec *spec, bool is_new)
{
    static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort", NULL};
    const struct path *at = AT(NULL, "spec");

    OWNED(seen_done) struct seen names = {0};

    if (!is(spec, "ExternalName")) {
        /* stock looks at addresses before it allocates any, and at all else only when they are right */
        size_t before = to->cause_count;

        check_cluster_ips(to, at, spec);
        if (to->cause_count != before) {
            return;
        }
    }
    check_by_type(to, at, spec);
    LIST_EACH(port, &spec->ports) {
        check_port(to, ITEM(AT(at, "ports"), INDEX_OF(port, &spec->ports)), port, spec, &names);
    }
    check_labels(to, AT(at, "selector"), &spec->selector);
    check_affinity_config(to, at, spec);
    LIST_EACH(ip, &spec->external_ips) {
        const struct path *one = ITEM(AT(at, "externalIPs"), INDEX_OF(ip, &spec->external_ips));

        if (check_ip(to, one, *ip)) {
            check_endpoint_ip(to, one, *ip);
        }
    }
    if (check_present(to, AT(at, "type"), spec->type)) {
        check_one_of(to, AT(at, "type"), spec->type, types);
    }
    check_node_ports(to, at, spec, is_new);
    check_balancer(to, at, spec);
    if (is_one_of(spec->type, types)) {
        check_traffic(to, at, spec);
    }
}

void validate_service(struct status *to, const void *object)
{
    check_service(to, &((const struct core_v1_service *)object)->spec, true);
}

/* The address a service has stays its own as long as its type has one. */
static void check_kept_ips(struct status *to, const struct path *at, const struct core_v1_service_spec *spec,
                           const struct core_v1_service_spec *old)
{
    if (is(spec, "ExternalName") || is(old, "ExternalName")) {
        return;
    }
    for (size_t i = 0; i < old->cluster_ips.len; i++) {
        const struct path *one = ITEM(AT(at, "clusterIPs"), i);

        if (i >= spec->cluster_ips.len || spec->cluster_ips.items[i].n == 0) {
            if (i == 0) {
                check_invalid_json(to, one, dump_strings(to->arena, &spec->cluster_ips),
                                   "primary clusterIP can not be unset");
            }
        } else if (!str_eq(spec->cluster_ips.items[i], old->cluster_ips.items[i])) {
            check_invalid_json(to, one, dump_strings(to->arena, &spec->cluster_ips), "may not change once set");
        }
    }
}

void validate_service_update(struct status *to, const void *object, const void *old_object)
{
    const struct core_v1_service_spec *spec = &((const struct core_v1_service *)object)->spec;
    const struct core_v1_service_spec *old = &((const struct core_v1_service *)old_object)->spec;
    const struct path *at = AT(NULL, "spec");

    check_kept_ips(to, at, spec, old);
    if (is(spec, "LoadBalancer") && is(old, "LoadBalancer") && old->load_balancer_class != NULL &&
        (spec->load_balancer_class == NULL || !str_eq(*spec->load_balancer_class, *old->load_balancer_class))) {
        check_invalid_json(to, AT(at, "loadBalancerClass"),
                           spec->load_balancer_class == NULL ? STR("null")
                                                             : dump_string(to->arena, *spec->load_balancer_class),
                           "may not change once set");
    }
    check_service(to, spec, false);
}
