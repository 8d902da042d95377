#include "apiserver/registry/kinds.h"

#include "apiserver/errors.h"
#include "apiserver/registry/service_pool.h"

static bool has_type(const struct core_v1_service *service, const char *type)
{
    return str_is(service->spec.type, type);
}

static bool needs_address(const struct core_v1_service *service)
{
    return !has_type(service, "ExternalName");
}

static bool needs_ports(const struct core_v1_service *service)
{
    return has_type(service, "NodePort") ||
           (has_type(service, "LoadBalancer") && (service->spec.allocate_load_balancer_node_ports == NULL ||
                                                  *service->spec.allocate_load_balancer_node_ports));
}

static bool needs_health_port(const struct core_v1_service *service)
{
    return has_type(service, "LoadBalancer") && str_is(service->spec.external_traffic_policy, "Local");
}

/* clusterIP is the first of clusterIPs, whichever of them the client knows. */
static void normalize(struct arena *arena, struct core_v1_service *service, const struct core_v1_service *old)
{
    struct core_v1_service_spec *spec = &service->spec;

    if (spec->cluster_ips.len == 0 && spec->cluster_ip.n != 0) {
        str_list_add(arena, &spec->cluster_ips, spec->cluster_ip);
    } else if (old != NULL && spec->cluster_ip.n == 0 && old->spec.cluster_ip.n != 0 && spec->cluster_ips.len != 0 &&
               str_eq(spec->cluster_ips.items[0], old->spec.cluster_ip)) {
        spec->cluster_ips = (struct str_list){0};
    } else if (old != NULL && spec->cluster_ips.len != 0 && !str_eq(spec->cluster_ip, old->spec.cluster_ip) &&
               old->spec.cluster_ips.len == spec->cluster_ips.len &&
               str_eq(old->spec.cluster_ips.items[0], spec->cluster_ips.items[0])) {
        spec->cluster_ips = (struct str_list){0};
        str_list_add(arena, &spec->cluster_ips, spec->cluster_ip);
    }
}

/* Clients that don't send what was allocated don't mean to give it back. */
static void keep_allocated(struct core_v1_service *service, const struct core_v1_service *old)
{
    if (needs_address(old) && needs_address(service)) {
        if (service->spec.cluster_ip.n == 0) {
            service->spec.cluster_ip = old->spec.cluster_ip;
        }
        if (service->spec.cluster_ips.len == 0 && str_eq(service->spec.cluster_ip, old->spec.cluster_ip)) {
            service->spec.cluster_ips = old->spec.cluster_ips;
        }
        if (service->spec.ip_families.len == 0) {
            service->spec.ip_families = old->spec.ip_families;
        }
        if (service->spec.ip_family_policy == NULL) {
            service->spec.ip_family_policy = old->spec.ip_family_policy;
        }
    }
    if (needs_ports(old) && needs_ports(service)) {
        LIST_EACH(port, &service->spec.ports) {
            LIST_EACH(before, &old->spec.ports) {
                if (port->node_port == 0 && port->port == before->port && str_eq(port->protocol, before->protocol)) {
                    port->node_port = before->node_port;
                }
            }
        }
    }
    if (needs_health_port(old) && needs_health_port(service) && service->spec.health_check_node_port == 0) {
        service->spec.health_check_node_port = old->spec.health_check_node_port;
    }
}

static void drop_balancer(struct core_v1_service *service, const struct core_v1_service *old)
{
    const bool *allocates = service->spec.allocate_load_balancer_node_ports;
    const bool *allocated = old->spec.allocate_load_balancer_node_ports;
    const struct str *class = service->spec.load_balancer_class, *before = old->spec.load_balancer_class;

    if (allocates != NULL && allocated != NULL && *allocates == *allocated) {
        service->spec.allocate_load_balancer_node_ports = NULL;
    }
    if (class != NULL && before != NULL && str_eq(*class, *before)) {
        service->spec.load_balancer_class = NULL;
    }
}

/* What the new type has no use for goes, unless the client has just asked for it. */
static void drop_useless(struct core_v1_service *service, const struct core_v1_service *old)
{
    if (needs_address(old) && !needs_address(service)) {
        service->spec.cluster_ip = (struct str){0};
        service->spec.cluster_ips = (struct str_list){0};
        service->spec.ip_families = (struct str_list){0};
        service->spec.ip_family_policy = NULL;
        service->spec.internal_traffic_policy = NULL;
    }
    if (needs_ports(old) && !needs_ports(service)) {
        LIST_EACH(port, &service->spec.ports) {
            LIST_EACH(before, &old->spec.ports) {
                if (port->node_port == before->node_port && port->port == before->port) {
                    port->node_port = 0;
                }
            }
        }
    }
    bool was_external = needs_ports(old) || has_type(old, "LoadBalancer");
    bool is_external = needs_ports(service) || has_type(service, "LoadBalancer");

    if (was_external && !is_external &&
        str_eq(service->spec.external_traffic_policy, old->spec.external_traffic_policy)) {
        service->spec.external_traffic_policy = (struct str){0};
    }
    if (has_type(old, "LoadBalancer") && !has_type(service, "LoadBalancer")) {
        drop_balancer(service, old);
    }
    if (needs_health_port(old) && !needs_health_port(service) &&
        service->spec.health_check_node_port == old->spec.health_check_node_port) {
        service->spec.health_check_node_port = 0;
    }
}

void service_create(struct request *request, void *object)
{
    normalize(request->arena, object, NULL);
}

void service_update(struct request *request, void *object, const void *old)
{
    normalize(request->arena, object, old);
    keep_allocated(object, old);
    drop_useless(object, old);
}

static struct status *invalid(const struct core_v1_service *service, struct status *errors)
{
    return error_invalid_finish(errors, (struct str){0}, STR("Service"), service->metadata.name);
}

static struct str family_of(const struct cidr *range)
{
    return range->ip.length == 4 ? STR("IPv4") : STR("IPv6");
}

static void set_policy(struct arena *arena, struct core_v1_service *service, struct str policy)
{
    service->spec.ip_family_policy = ARENA_NEW(arena, struct str);
    *service->spec.ip_family_policy = policy;
}

static bool has_family(const struct service_pool *pool, struct str family)
{
    for (size_t i = 0; i < pool->range_count; i++) {
        if (str_eq(family_of(&pool->ranges[i]), family)) {
            return true;
        }
    }
    return false;
}

/* The policy agrees with what else is asked for. */
static struct status *check_policy(const struct core_v1_service *service)
{
    const struct core_v1_service_spec *spec = &service->spec;
    struct status *errors = error_invalid_start();
    const char *what = spec->cluster_ips.len > 1 ? "cluster IPs" : spec->ip_families.len > 1 ? "IP families" : NULL;

    if (what != NULL && str_is(*spec->ip_family_policy, "SingleStack")) {
        error_invalid_value(errors, STR("spec.ipFamilyPolicy"), STR("\"SingleStack\""),
                            "must be 'RequireDualStack' or 'PreferDualStack' when multiple %s are specified", what);
    }
    return invalid(service, errors);
}

/* The server has ranges of the families asked for. */
static struct status *check_families(struct service_pool *pool, const struct core_v1_service *service)
{
    const struct core_v1_service_spec *spec = &service->spec;
    struct status *errors = error_invalid_start();

    if (str_is(*spec->ip_family_policy, "RequireDualStack") && pool->range_count < 2) {
        error_invalid_value(errors, STR("spec.ipFamilyPolicy"), STR("\"RequireDualStack\""),
                            "this cluster is not configured for dual-stack services");
    }
    for (size_t i = 0; i < spec->ip_families.len; i++) {
        if (!has_family(pool, spec->ip_families.items[i])) {
            error_invalid_value(errors, arena_printf(pool->arena, "spec.ipFamilies[%zu]", i),
                                arena_printf(pool->arena, "\"%.*s\"", STR_ARG(spec->ip_families.items[i])),
                                "not configured on this cluster");
        }
    }
    return invalid(service, errors);
}

/* Families the client left open are those of the server's ranges. */
static struct status *choose_families(struct service_pool *pool, struct core_v1_service *service)
{
    struct core_v1_service_spec *spec = &service->spec;
    bool is_headless = spec->cluster_ips.len != 0 && str_is(spec->cluster_ips.items[0], "None");
    bool is_bare = is_headless && spec->selector.len == 0;

    if (spec->ip_family_policy == NULL) {
        /* endpoints someone else writes may be of either family */
        set_policy(pool->arena, service, is_bare ? STR("RequireDualStack") : STR("SingleStack"));
    }
    bool wants_two = !str_is(*spec->ip_family_policy, "SingleStack");

    TRY(check_policy(service));
    LIST_EACH(text, &spec->cluster_ips) {
        struct ip ip;

        if (spec->ip_families.len < spec->cluster_ips.len && ip_parse(*text, &ip)) {
            str_list_add(pool->arena, &spec->ip_families, ip.length == 4 ? STR("IPv4") : STR("IPv6"));
        }
    }
    if (!is_bare) {
        TRY(check_families(pool, service));
    }
    if (spec->ip_families.len == 0) {
        str_list_add(pool->arena, &spec->ip_families, family_of(&pool->ranges[0]));
    }
    if (wants_two && spec->ip_families.len == 1 && (pool->range_count == 2 || is_bare)) {
        str_list_add(pool->arena, &spec->ip_families,
                     str_is(spec->ip_families.items[0], "IPv4") ? STR("IPv6") : STR("IPv4"));
    }
    return NULL;
}

static struct status *check_address(struct service_pool *pool, const struct core_v1_service *service, struct str text)
{
    struct ip ip;
    struct status *errors = error_invalid_start();
    struct str value = arena_printf(pool->arena, "[\"%.*s\"]", STR_ARG(text));

    if (!ip_parse(text, &ip)) {
        status_free(errors);
        return NULL; /* validation has words for that */
    }
    for (size_t i = 0; i < pool->range_count; i++) {
        if (pool->ranges[i].ip.length == ip.length && !cidr_contains(&pool->ranges[i], &ip)) {
            error_invalid_value(errors, STR("spec.clusterIPs"), value,
                                "failed to allocate IP %.*s: the provided network does not match the current range",
                                STR_ARG(text));
        }
    }
    struct str canonical = ip_format(pool->arena, &ip);

    if (errors->cause_count == 0 && map_find(&pool->addresses, canonical) != NULL) {
        error_invalid_value(errors, STR("spec.clusterIPs"), value,
                            "failed to allocate IP %.*s: provided IP is already allocated", STR_ARG(text));
    }
    map_set(&pool->addresses, canonical, pool);
    return invalid(service, errors);
}

static struct status *allocate_addresses(struct service_pool *pool, struct core_v1_service *service)
{
    struct core_v1_service_spec *spec = &service->spec;

    if (!needs_address(service)) {
        return NULL;
    }
    TRY(choose_families(pool, service));
    if (spec->cluster_ips.len != 0 && str_is(spec->cluster_ips.items[0], "None")) {
        return NULL;
    }
    LIST_EACH(text, &spec->cluster_ips) {
        TRY(check_address(pool, service, *text));
    }
    for (size_t i = spec->cluster_ips.len; i < spec->ip_families.len; i++) {
        for (size_t k = 0; k < pool->range_count; k++) {
            if (!str_eq(family_of(&pool->ranges[k]), spec->ip_families.items[i])) {
                continue;
            }
            struct str text = service_pool_take_address(pool, k);

            if (text.n == 0) {
                return error_internal("failed to allocate a serviceIP: range is full");
            }
            str_list_add(pool->arena, &spec->cluster_ips, text);
        }
    }
    spec->cluster_ip = spec->cluster_ips.len != 0 ? spec->cluster_ips.items[0] : (struct str){0};
    return NULL;
}

static struct status *allocate_port(struct service_pool *pool, const struct core_v1_service *service, struct str field,
                                    int32_t *port)
{
    struct status *errors;
    struct str value = arena_printf(pool->arena, "%d", *port);

    if (*port == 0) {
        *port = service_pool_take_port(pool);
        return *port != 0 ? NULL : error_internal("failed to allocate a nodePort: range is full");
    }
    errors = error_invalid_start();
    if (*port < pool->port_first || *port > pool->port_last) {
        error_invalid_value(errors, field, value,
                            "provided port is not in the valid range. The range of valid ports is %d-%d",
                            pool->port_first, pool->port_last);
    } else if (service_pool_has_port(pool, *port)) {
        error_invalid_value(errors, field, value, "provided port is already allocated");
    }
    service_pool_use_port(pool, *port);
    return invalid(service, errors);
}

/* One port of a node may serve two protocols of the same service port. */
static bool shares_port(const struct core_v1_service *service, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        const struct core_v1_service_port *a = &service->spec.ports.items[k], *b = &service->spec.ports.items[i];

        if (a->node_port == b->node_port && b->node_port != 0 && !str_eq(a->protocol, b->protocol)) {
            return true;
        }
    }
    return false;
}

static struct status *allocate_ports(struct service_pool *pool, struct core_v1_service *service)
{
    for (size_t i = 0; i < service->spec.ports.len && needs_ports(service); i++) {
        struct core_v1_service_port *port = &service->spec.ports.items[i];

        for (size_t k = 0; k < i && port->node_port == 0; k++) {
            const struct core_v1_service_port *other = &service->spec.ports.items[k];

            if (other->port == port->port && !str_eq(other->protocol, port->protocol)) {
                port->node_port = other->node_port;
            }
        }
        if (!shares_port(service, i)) {
            TRY(allocate_port(pool, service, arena_printf(pool->arena, "spec.ports[%zu].nodePort", i),
                              &port->node_port));
        }
    }
    if (needs_health_port(service)) {
        return allocate_port(pool, service, STR("spec.healthCheckNodePort"), &service->spec.health_check_node_port);
    }
    return NULL;
}

struct status *service_allocate(struct request *request, const struct write_options *options, void *object,
                                const void *old)
{
    struct core_v1_service *service = object;
    OWNED(service_pool_done) struct service_pool pool;

    if (!task_lock_acquire(&request->server->service_lock)) {
        pool.addresses = (struct map){0};
        return status_new(STATUS_CANCELLED, "the client has gone");
    }
    request->holds_service_lock = true;
    TRY(service_pool_open(&pool, request->server, request->arena, service->metadata.uid));
    pool.is_dry_run = options->dry_run;
    /* lists that others may share are changed below */
    service->spec.ip_families = str_list_copy(request->arena, &service->spec.ip_families);
    service->spec.cluster_ips = str_list_copy(request->arena, &service->spec.cluster_ips);
    TRY(allocate_addresses(&pool, service));
    return allocate_ports(&pool, service);
}

void service_finish(struct request *request, const void *object, const void *old, bool is_written)
{
    if (request->holds_service_lock) {
        request->holds_service_lock = false;
        task_lock_release(&request->server->service_lock);
    }
}
