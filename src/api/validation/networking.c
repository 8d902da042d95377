/* NetworkPolicies, Ingresses and their classes, IPAddresses, ServiceCIDRs. */
#include "api/networking_v1.h"

#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/network.h"
#include "base/arena.h"
#include "schema/ip.h"

static void check_policy_port(struct status *to, const struct path *at,
                              const struct networking_v1_network_policy_port *port)
{
    static const char *const protocols[] = {"TCP", "UDP", "SCTP", NULL};
    const struct path *end = AT(at, "endPort");

    if (port->protocol != NULL) {
        check_one_of(to, AT(at, "protocol"), *port->protocol, protocols);
    }
    if (port->port == NULL) {
        if (port->end_port != NULL) {
            check_invalid_int(to, end, *port->end_port, "may not be specified when `port` is not specified");
        }
    } else if (port->port->is_string) {
        if (port->end_port != NULL) {
            check_invalid_int(to, end, *port->end_port, "may not be specified when `port` is non-numeric");
        }
        check_name(to, AT(at, "port"), port->port->text, name_is_port_name);
    } else {
        if (port->end_port != NULL) {
            if (*port->end_port < port->port->number) {
                check_invalid_int(to, end, *port->end_port, "must be greater than or equal to `port`");
            }
            check_port_number(to, end, *port->end_port);
        }
        check_port_number(to, AT(at, "port"), port->port->number);
    }
}

static void check_ip_block(struct status *to, const struct path *at, const struct networking_v1_ip_block *block)
{
    struct cidr all, part;

    if (!check_present(to, AT(at, "cidr"), block->cidr) || !check_cidr(to, AT(at, "cidr"), block->cidr)) {
        return;
    }
    LIST_EACH(except, &block->except) {
        const struct path *one = ITEM(AT(at, "except"), INDEX_OF(except, &block->except));

        if (check_cidr(to, one, *except) && cidr_parse(block->cidr, &all) && cidr_parse(*except, &part) &&
            (!cidr_contains(&all, &part.ip) || all.prefix >= part.prefix)) {
            check_invalid_str(to, one, *except, "must be a strict subset of `cidr`");
        }
    }
}

static void check_peer(struct status *to, const struct path *at, const struct networking_v1_network_policy_peer *peer)
{
    int count = (peer->pod_selector != NULL) + (peer->namespace_selector != NULL) + (peer->ip_block != NULL);

    check_label_selector(to, AT(at, "podSelector"), peer->pod_selector);
    check_label_selector(to, AT(at, "namespaceSelector"), peer->namespace_selector);
    if (peer->ip_block != NULL) {
        check_ip_block(to, AT(at, "ipBlock"), peer->ip_block);
    }
    if (count == 0) {
        check_required(to, at, "must specify a peer");
    } else if (count > 1 && peer->ip_block != NULL) {
        check_forbidden(to, at, "may not specify both ipBlock and another peer");
    }
}

void validate_network_policy(struct status *to, const void *object)
{
    static const char *const types[] = {"Ingress", "Egress", NULL};
    const struct networking_v1_network_policy_spec *spec = &((const struct networking_v1_network_policy *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    check_label_selector(to, AT(at, "podSelector"), &spec->pod_selector);
    LIST_EACH(rule, &spec->ingress) {
        const struct path *one = ITEM(AT(at, "ingress"), INDEX_OF(rule, &spec->ingress));

        LIST_EACH(port, &rule->ports) {
            check_policy_port(to, ITEM(AT(one, "ports"), INDEX_OF(port, &rule->ports)), port);
        }
        LIST_EACH(peer, &rule->from) {
            check_peer(to, ITEM(AT(one, "from"), INDEX_OF(peer, &rule->from)), peer);
        }
    }
    LIST_EACH(rule, &spec->egress) {
        const struct path *one = ITEM(AT(at, "egress"), INDEX_OF(rule, &spec->egress));

        LIST_EACH(port, &rule->ports) {
            check_policy_port(to, ITEM(AT(one, "ports"), INDEX_OF(port, &rule->ports)), port);
        }
        LIST_EACH(peer, &rule->to) {
            check_peer(to, ITEM(AT(one, "to"), INDEX_OF(peer, &rule->to)), peer);
        }
    }
    if (spec->policy_types.len > 2) {
        check_invalid_json(to, AT(at, "policyTypes"),
                           dump_strings(to->arena, (const struct str_list *)&spec->policy_types),
                           "may not specify more than two policyTypes");
        return;
    }
    for (size_t i = 0; i < spec->policy_types.len; i++) {
        check_one_of(to, ITEM(AT(at, "policyTypes"), i), spec->policy_types.items[i], types);
    }
}

void validate_network_policy_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_network_policy(to, object);
}

static void check_backend(struct status *to, const struct path *at, const struct networking_v1_ingress_backend *backend)
{
    const struct networking_v1_ingress_service_backend *service = backend->service;
    const struct path *service_at = AT(at, "service");

    if (backend->resource != NULL && service != NULL) {
        check_invalid_str(to, at, STR(""), "cannot set both resource and service backends");
    } else if (backend->resource != NULL) {
        check_present(to, AT(AT(at, "resource"), "kind"), backend->resource->kind);
        check_present(to, AT(AT(at, "resource"), "name"), backend->resource->name);
    } else if (service == NULL) {
        check_invalid_str(to, at, STR(""), "resource or service backend is required");
    } else {
        if (check_present(to, AT(service_at, "name"), service->name)) {
            check_name(to, AT(service_at, "name"), service->name, name_is_dns1035_label);
        }
        if (service->port.name.n != 0 && service->port.number != 0) {
            check_invalid_str(to, at, STR(""), "cannot set both port name & port number");
        } else if (service->port.name.n != 0) {
            check_name(to, AT(AT(service_at, "port"), "name"), service->port.name, name_is_port_name);
        } else if (service->port.number != 0) {
            check_port_number(to, AT(AT(service_at, "port"), "number"), service->port.number);
        } else {
            check_required(to, at, "port name or number is required");
        }
    }
}

/* A DNS name, perhaps with "*" as its first part. */
static void check_host(struct status *to, const struct path *at, struct str host)
{
    bool is_wildcard = str_index(host, '*') != SIZE_MAX;

    check_name(to, at, host, is_wildcard ? name_is_wildcard_dns1123_subdomain : name_is_dns1123_subdomain);
}

static void check_absolute(struct status *to, const struct path *at, struct str path)
{
    static const char *const sequences[] = {"//", "/./", "/../", "%2f", "%2F"};
    static const char *const endings[] = {"/..", "/."};

    if (!str_has_prefix(path, STR("/"))) {
        check_invalid_str(to, at, path, "must be an absolute path");
    }
    for (size_t i = 0; path.n != 0 && i < COUNT_OF(sequences); i++) {
        if (str_contains(path, str_of(sequences[i]))) {
            check_invalid_str(to, at, path, "must not contain '%s'", sequences[i]);
        }
    }
    for (size_t i = 0; path.n != 0 && i < COUNT_OF(endings); i++) {
        if (str_has_suffix(path, str_of(endings[i]))) {
            check_invalid_str(to, at, path, "cannot end with '%s'", endings[i]);
        }
    }
}

static void check_http_path(struct status *to, const struct path *at,
                            const struct networking_v1_http_ingress_path *path)
{
    static const char *const types[] = {"Exact", "ImplementationSpecific", "Prefix", NULL};

    if (path->path_type == NULL) {
        check_required(to, AT(at, "pathType"), "pathType must be specified");
    } else if (str_is(*path->path_type, "ImplementationSpecific")) {
        if (path->path.n != 0 && !str_has_prefix(path->path, STR("/"))) {
            check_invalid_str(to, AT(at, "path"), path->path, "must be an absolute path");
        }
    } else if (check_one_of(to, AT(at, "pathType"), *path->path_type, types)) {
        check_absolute(to, AT(at, "path"), path->path);
    }
    check_backend(to, AT(at, "backend"), &path->backend);
}

static void check_ingress_rule(struct status *to, const struct path *at, const struct networking_v1_ingress_rule *rule)
{
    struct ip ip;

    if (rule->host.n > 0) {
        if (ip_parse(rule->host, &ip)) {
            check_invalid_str(to, AT(at, "host"), rule->host, "must be a DNS name, not an IP address");
        }
        check_host(to, AT(at, "host"), rule->host);
    }
    const struct networking_v1_http_ingress_rule_value *http = rule->ingress_rule_value.http;
    const struct path *paths = AT(AT(at, "http"), "paths");

    if (http == NULL) {
        return;
    }
    if (http->paths.len == 0) {
        check_required(to, paths, "%s", "");
    }
    LIST_EACH(path, &http->paths) {
        check_http_path(to, ITEM(paths, INDEX_OF(path, &http->paths)), path);
    }
}

void validate_ingress(struct status *to, const void *object)
{
    const struct networking_v1_ingress_spec *spec = &((const struct networking_v1_ingress *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    if (spec->rules.len == 0 && spec->default_backend == NULL) {
        check_invalid_json(to, at, spec->rules.items == NULL ? STR("null") : STR("[]"),
                           "either `defaultBackend` or `rules` must be specified");
    }
    if (spec->default_backend != NULL) {
        check_backend(to, AT(at, "defaultBackend"), spec->default_backend);
    }
    LIST_EACH(rule, &spec->rules) {
        check_ingress_rule(to, ITEM(AT(at, "rules"), INDEX_OF(rule, &spec->rules)), rule);
    }
    LIST_EACH(tls, &spec->tls) {
        const struct path *one = ITEM(AT(at, "tls"), INDEX_OF(tls, &spec->tls));

        LIST_EACH(host, &tls->hosts) {
            check_host(to, ITEM(AT(one, "hosts"), INDEX_OF(host, &tls->hosts)), *host);
        }
        if (tls->secret_name.n > 0) {
            check_name(to, AT(one, "secretName"), tls->secret_name, name_is_dns1123_subdomain);
        }
    }
    if (spec->ingress_class_name != NULL) {
        check_name(to, AT(at, "ingressClassName"), *spec->ingress_class_name, name_is_dns1123_subdomain);
    }
}

void validate_ingress_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_ingress(to, object);
}

void validate_ingress_class(struct status *to, const void *object)
{
    enum { CONTROLLER_MAX = 250 };
    static const char *const scopes[] = {"Cluster", "Namespace", NULL};
    const struct networking_v1_ingress_class_spec *spec = &((const struct networking_v1_ingress_class *)object)->spec;
    const struct path *at = AT(NULL, "spec"), *parameters = AT(at, "parameters");
    size_t slash = str_index(spec->controller, '/');

    if (spec->controller.n > CONTROLLER_MAX) {
        check_too_long(to, AT(at, "controller"), CONTROLLER_MAX);
    }
    if (slash == SIZE_MAX || !name_is_dns1123_subdomain(str_sub(spec->controller, 0, slash), NULL)) {
        check_invalid_str(to, AT(at, "controller"), spec->controller,
                          "must be a domain-prefixed path (such as \"acme.io/foo\")");
    }
    if (spec->parameters == NULL) {
        return;
    }
    check_present(to, AT(parameters, "kind"), spec->parameters->kind);
    check_present(to, AT(parameters, "name"), spec->parameters->name);
    if (spec->parameters->scope == NULL) {
        check_required(to, AT(parameters, "scope"), "%s", "");
    } else if (check_one_of(to, AT(parameters, "scope"), *spec->parameters->scope, scopes)) {
        bool has_namespace = spec->parameters->namespace != NULL && spec->parameters->namespace->n != 0;
        bool wants_namespace = str_is(*spec->parameters->scope, "Namespace");

        if (wants_namespace && !has_namespace) {
            check_required(to, AT(parameters, "namespace"), "`parameters.scope` is set to 'Namespace'");
        } else if (!wants_namespace && has_namespace) {
            check_forbidden(to, AT(parameters, "namespace"), "`parameters.scope` is set to 'Cluster'");
        }
    }
}

void validate_ingress_class_update(struct status *to, const void *object, const void *old)
{
    check_immutable_str(to, AT(AT(NULL, "spec"), "controller"),
                        ((const struct networking_v1_ingress_class *)object)->spec.controller,
                        ((const struct networking_v1_ingress_class *)old)->spec.controller);
    validate_ingress_class(to, object);
}

void validate_ip_address(struct status *to, const void *object)
{
    const struct networking_v1_ip_address *address = object;
    const struct networking_v1_parent_reference *parent = address->spec.parent_ref;
    const struct path *at = AT(AT(NULL, "spec"), "parentRef");
    struct str problem = ip_check(to->arena, address->metadata.name, true);

    if (problem.n != 0) {
        check_invalid_str(to, AT(AT(NULL, "metadata"), "name"), address->metadata.name, "%.*s", STR_ARG(problem));
    }
    if (parent == NULL) {
        check_required(to, at, "%s", "");
        return;
    }
    if (parent->group.n > 0) {
        check_name(to, AT(at, "group"), parent->group, name_is_dns1123_subdomain);
    }
    if (check_present(to, AT(at, "resource"), parent->resource)) {
        check_name(to, AT(at, "resource"), parent->resource, name_is_path_segment);
    }
    if (check_present(to, AT(at, "name"), parent->name)) {
        check_name(to, AT(at, "name"), parent->name, name_is_path_segment);
    }
    if (parent->namespace.n > 0) {
        check_name(to, AT(at, "namespace"), parent->namespace, name_is_path_segment);
    }
}

void validate_ip_address_update(struct status *to, const void *object, const void *old)
{
    check_immutable_struct(to, AT(AT(NULL, "spec"), "parentRef"), &networking_v1_parent_reference_type,
                           ((const struct networking_v1_ip_address *)object)->spec.parent_ref,
                           ((const struct networking_v1_ip_address *)old)->spec.parent_ref);
}

void validate_service_cidr(struct status *to, const void *object)
{
    const struct networking_v1_service_cidr_spec *spec = &((const struct networking_v1_service_cidr *)object)->spec;
    const struct path *at = AT(AT(NULL, "spec"), "cidrs");
    struct cidr first, second;

    if (spec->cidrs.len == 0) {
        check_required(to, at, "at least one CIDR required");
        return;
    }
    if (spec->cidrs.len > 2) {
        check_invalid_struct(to, at, &networking_v1_service_cidr_spec_type, spec, "may only hold up to 2 values");
        return;
    }
    if (spec->cidrs.len == 2 && cidr_parse(spec->cidrs.items[0], &first) && cidr_parse(spec->cidrs.items[1], &second) &&
        first.ip.length == second.ip.length) {
        check_invalid_json(to, at, dump_strings(to->arena, &spec->cidrs),
                           "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
    }
    LIST_EACH(cidr, &spec->cidrs) {
        struct str problem = cidr_check(to->arena, *cidr, true);

        if (problem.n != 0) {
            check_invalid_str(to, ITEM(at, INDEX_OF(cidr, &spec->cidrs)), *cidr, "%.*s", STR_ARG(problem));
        }
    }
}
