#include "apiserver/subresources/proxy.h"

#include "api/core_v1.h"
#include "apiserver/errors.h"
#include "apiserver/registry/storage.h"
#include "apiserver/server.h"

enum { KUBELET_PORT = 10250 };

bool kubelet_address(const struct core_v1_node *node, const struct flag_strings *preferred, struct str *ret)
{
    for (size_t i = 0; i < preferred->len; i++) {
        LIST_EACH(address, &node->status.addresses) {
            if (str_eq(address->type, preferred->items[i])) {
                *ret = address->address;
                return true;
            }
        }
    }
    return false;
}

struct status *kubelet_locate(struct request *request, struct str node, bool for_pods, struct proxy_target *ret)
{
    struct apiserver *server = request->server;
    const struct resource *resource = apiserver_resource(server, "", "v1", "nodes");
    struct kept kept;
    struct str host;
    struct status *status = storage_get(server->store, resource, request->arena, (struct str){0}, node, &kept);

    if (for_pods && status_free_if(&status, STATUS_NOT_FOUND)) {
        return error_not_found((struct str){0}, STR("pods"), node); /* as stock has it */
    }
    TRY(status);
    const struct core_v1_node *found = (const struct core_v1_node *)kept.object;
    int port = found->status.daemon_endpoints.kubelet_endpoint.port;

    if (!kubelet_address(found, &server->options->kubelet_preferred_address_types, &host)) {
        return error_internal("no preferred addresses found; known addresses: []");
    }
    bool is_v6 = str_index(host, ':') != SIZE_MAX;

    *ret = (struct proxy_target){.tls = server->kubelet_tls, .server_name = host};
    ret->address = arena_printf(request->arena, "%s%.*s%s:%d", is_v6 ? "[" : "", STR_ARG(host), is_v6 ? "]" : "",
                                port != 0 ? port : KUBELET_PORT);
    return NULL;
}

static void add_name(struct buf *out, struct str name)
{
    buf_printf(out, "%s%.*s", out->n == 0 ? "" : " ", STR_ARG(name));
}

static struct str names_of(struct arena *arena, const struct core_v1_pod *pod, bool of_init)
{
    OWNED(buf_done) struct buf names = {0};

    if (of_init) {
        LIST_EACH(container, &pod->spec.init_containers) {
            add_name(&names, container->name);
        }
    } else {
        LIST_EACH(container, &pod->spec.containers) {
            add_name(&names, container->name);
        }
    }
    return arena_str(arena, buf_str(&names));
}

static bool has_container(const struct core_v1_pod *pod, struct str name)
{
    LIST_EACH(container, &pod->spec.containers) {
        if (str_eq(container->name, name)) {
            return true;
        }
    }
    LIST_EACH(container, &pod->spec.init_containers) {
        if (str_eq(container->name, name)) {
            return true;
        }
    }
    LIST_EACH(container, &pod->spec.ephemeral_containers) {
        if (str_eq(container->ephemeral_container_common.name, name)) {
            return true;
        }
    }
    return false;
}

struct status *kubelet_container(struct arena *arena, const struct core_v1_pod *pod, struct str asked, struct str *ret)
{
    struct str name = pod->metadata.name;

    if (asked.n != 0) {
        if (!has_container(pod, asked)) {
            return error_bad_request("container %.*s is not valid for pod %.*s", STR_ARG(asked), STR_ARG(name));
        }
        *ret = asked;
        return NULL;
    }
    if (pod->spec.containers.len == 0) {
        return error_bad_request("a container name must be specified for pod %.*s", STR_ARG(name));
    }
    if (pod->spec.containers.len == 1) {
        *ret = pod->spec.containers.items[0].name;
        return NULL;
    }
    if (pod->spec.init_containers.len != 0) {
        return error_bad_request("a container name must be specified for pod %.*s, choose one of: [%.*s] or one of the "
                                 "init containers: [%.*s]",
                                 STR_ARG(name), STR_ARG(names_of(arena, pod, false)), STR_ARG(names_of(arena, pod, true)));
    }
    return error_bad_request("a container name must be specified for pod %.*s, choose one of: [%.*s]", STR_ARG(name),
                             STR_ARG(names_of(arena, pod, false)));
}
