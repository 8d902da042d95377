/* Any HTTP to nodes, pods and services: .../NAME/proxy/PATH. */
#include "apiserver/subresources/handlers.h"

#include "api/core_v1.h"
#include "api/discovery_v1.h"
#include "apiserver/errors.h"
#include "apiserver/registry/storage.h"
#include "apiserver/server.h"
#include "apiserver/subresources/proxy.h"
#include "base/env.h"
#include "schema/ip.h"

/* "[SCHEME:]NAME[:PORT]" */
struct proxied_name {
    struct str scheme, name, port;
};

static bool split_name(struct str text, struct proxied_name *ret)
{
    struct str parts[3];
    size_t count = 0;

    for (struct str rest = text, item; str_next(&rest, ':', &item); count++) {
        if (count == COUNT_OF(parts)) {
            return false;
        }
        parts[count] = item;
    }
    if (count == 3 && (str_is(parts[0], "http") || str_is(parts[0], "https") || parts[0].n == 0)) {
        *ret = (struct proxied_name){parts[0], parts[1], parts[2]};
        return true;
    }
    *ret = (struct proxied_name){.name = parts[0], .port = count == 2 ? parts[1] : (struct str){0}};
    return count < 3 && count != 0;
}

/* The path behind .../proxy, as the client sent it. */
static struct str path_behind(struct request *request)
{
    struct str rest = request->info.rest.n != 0 ? request->info.rest : STR("/");
    struct str query = request->exchange->query;
    OWNED(buf_done) struct buf path = {0};

    for (struct str left = str_from(rest, 1), part; rest.n > 1 && str_next(&left, '/', &part);) {
        buf_add_char(&path, '/');
        buf_add_str(&path, http_escape(request->arena, part));
    }
    if (path.n == 0) {
        buf_add_char(&path, '/');
    }
    if (query.n != 0) {
        buf_add_char(&path, '?');
        buf_add_str(&path, query);
    }
    return arena_str(request->arena, buf_str(&path));
}

struct status *node_proxy_serve(struct request *request)
{
    struct proxied_name name;
    struct proxy_target target;

    if (!split_name(request->info.name, &name)) {
        return error_bad_request("invalid node request \"%.*s\"", STR_ARG(request->info.name));
    }
    TRY(kubelet_locate(request, name.name, false, &target));
    target.path = path_behind(request);
    return proxy_relay(request, &target);
}

/* This machine and the link are none of a cluster's business. */
static struct status *check_address(struct str text)
{
    struct ip ip;
    static const struct ip v6_loopback = {.bytes = {[15] = 1}, .length = 16};

    if (!ip_parse(text, &ip) || (ip.length == 4 && ip.bytes[0] == 127) || ip_equal(&ip, &v6_loopback) ||
        (ip.length == 4 && ip.bytes[0] == 169 && ip.bytes[1] == 254) || (ip.length == 4 && ip.bytes[0] == 0) ||
        (ip.length == 16 && ip.bytes[0] == 0xfe && (ip.bytes[1] & 0xc0) == 0x80)) {
        return error_bad_request("address not allowed");
    }
    return NULL;
}

static struct status *relay_to(struct request *request, struct str scheme, struct str ip, int port)
{
    bool is_v6 = str_index(ip, ':') != SIZE_MAX;
    struct proxy_target target = {.server_name = ip, .path = path_behind(request)};

    TRY(check_address(ip));
    target.address =
        arena_printf(request->arena, "%s%.*s%s:%d", is_v6 ? "[" : "", STR_ARG(ip), is_v6 ? "]" : "", port);
    if (!str_is(scheme, "https")) {
        return proxy_relay(request, &target);
    }
    TRY(tls_client_new(&(struct tls_client_options){.is_insecure = true}, &target.tls));
    struct status *status = proxy_relay(request, &target);

    tls_context_unref(target.tls);
    return status;
}

static int pod_port(const struct core_v1_pod *pod, struct str wanted)
{
    int64_t number;

    if (wanted.n != 0 && str_to_i64(wanted, &number)) {
        return number > 0 && number < 65536 ? (int)number : 0;
    }
    LIST_EACH(container, &pod->spec.containers) {
        LIST_EACH(port, &container->ports) {
            if (wanted.n == 0 || str_eq(port->name, wanted)) {
                return port->container_port;
            }
        }
    }
    return wanted.n == 0 ? 80 : 0;
}

struct status *pod_proxy_serve(struct request *request)
{
    struct proxied_name name;
    struct kept kept;

    if (!split_name(request->info.name, &name)) {
        return error_bad_request("invalid pod request \"%.*s\"", STR_ARG(request->info.name));
    }
    TRY(storage_get(request->server->store, request->resource, request->arena, request->info.namespace, name.name, &kept));
    const struct core_v1_pod *pod = (const struct core_v1_pod *)kept.object;
    int port = pod_port(pod, name.port);

    if (port == 0) {
        return error_bad_request("invalid pod request \"%.*s\"", STR_ARG(request->info.name));
    }
    return relay_to(request, name.scheme, pod->status.pod_ip, port);
}

struct endpoint {
    struct str ip;
    int port;
};

static struct status *no_endpoints(struct str service)
{
    return status_new(STATUS_SERVICE_UNAVAILABLE, "no endpoints available for service \"%.*s\"", STR_ARG(service));
}

/* A ready endpoint of the service, any of them. */
static struct status *pick_endpoint(struct request *request, const struct proxied_name *name, struct endpoint *ret)
{
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};
    const struct resource *resource = apiserver_resource(request->server, "discovery.k8s.io", "v1", "endpointslices");
    struct watch_snapshot_walk walk;
    uint64_t seen = 0;
    int64_t wanted = 0;
    bool is_number = name->port.n != 0 && str_to_i64(name->port, &wanted);

    TRY(watch_cache_snapshot(resource->cache, FRESH_ANY, 0, &snapshot));
    watch_snapshot_walk(&walk, &snapshot, arena_printf(request->arena, "%.*s/", STR_ARG(request->info.namespace)),
                        (struct str){0});
    for (struct stored *stored; (stored = watch_snapshot_next(&walk)) != NULL;) {
        const void *object;

        TRY(stored_object(stored, &object));
        const struct discovery_v1_endpoint_slice *slice = object;
        struct str service = {0};

        LIST_EACH(label, &slice->metadata.labels) {
            service = str_is(label->key, "kubernetes.io/service-name") ? label->value : service;
        }
        if (!str_eq(service, name->name)) {
            continue;
        }
        LIST_EACH(port, &slice->ports) {
            struct str port_name = port->name != NULL ? *port->name : (struct str){0};

            if (port->port == NULL || !(str_eq(port_name, name->port) || (is_number && *port->port == wanted) ||
                                        (name->port.n == 0 && slice->ports.len == 1))) {
                continue;
            }
            LIST_EACH(endpoint, &slice->endpoints) {
                bool ready = endpoint->conditions.ready == NULL || *endpoint->conditions.ready;

                /* each of those seen so far is as likely */
                if (ready && endpoint->addresses.len != 0 && env_random_below(++seen) == 0) {
                    *ret = (struct endpoint){arena_str(request->arena, endpoint->addresses.items[0]), *port->port};
                }
            }
        }
    }
    return seen != 0 ? NULL : no_endpoints(name->name);
}

/* A port given by the service's own number is looked up by its name in the slices. */
static struct status *service_port(struct request *request, struct proxied_name *name)
{
    struct kept kept;
    int64_t number;
    struct status *status = storage_get(request->server->store, request->resource, request->arena,
                                        request->info.namespace, name->name, &kept);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return no_endpoints(name->name);
    }
    TRY(status);
    const struct core_v1_service *service = (const struct core_v1_service *)kept.object;

    if (name->port.n != 0 && !str_to_i64(name->port, &number)) {
        return NULL;
    }
    LIST_EACH(port, &service->spec.ports) {
        if (name->port.n == 0 ? service->spec.ports.len == 1 : port->port == number) {
            name->port = port->name;
            return NULL;
        }
    }
    return no_endpoints(name->name);
}

struct status *service_proxy_serve(struct request *request)
{
    struct proxied_name name;
    struct endpoint endpoint = {0};

    if (!split_name(request->info.name, &name)) {
        return error_bad_request("invalid service request \"%.*s\"", STR_ARG(request->info.name));
    }
    TRY(service_port(request, &name));
    TRY(pick_endpoint(request, &name, &endpoint));
    return relay_to(request, name.scheme, endpoint.ip, endpoint.port);
}
