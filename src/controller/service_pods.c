#include "controller/service_pods.h"

#include "api/pod_condition.h"
#include "controller/pod_util.h"
#include "schema/map_of.h"
#include "schema/selectors.h"
#include "schema/timestamp.h"

#include <stdlib.h>

bool service_pods_apply(const struct core_v1_service *service)
{
    return service->spec.selector.len > 0 && !str_is(service->spec.type, "ExternalName");
}

bool service_is_headless(const struct core_v1_service *service)
{
    return str_is(service->spec.cluster_ip, "None");
}

static int by_name(const void *a, const void *b)
{
    const struct core_v1_pod *x = *(const struct core_v1_pod *const *)a, *y = *(const struct core_v1_pod *const *)b;

    return str_cmp(x->metadata.name, y->metadata.name);
}

struct service_pods service_pods_find(const struct world *world, const struct core_v1_service *service)
{
    struct object_pointers all = world_in_namespace(world, &core_v1_pod_kind, service->metadata.namespace);
    struct label_selector selector = label_selector_of_map(world->arena, &service->spec.selector);
    struct service_pods pods = {ARENA_ARRAY(world->arena, const struct core_v1_pod *, all.len), 0};

    for (size_t i = 0; i < all.len; i++) {
        const struct core_v1_pod *pod = all.items[i];

        if (pod->status.pod_ips.len > 0 && !pod_is_finished(pod) &&
            label_selector_matches_map(&selector, &pod->metadata.labels)) {
            pods.items[pods.len++] = pod;
        }
    }
    if (pods.len > 1) {
        qsort(pods.items, pods.len, sizeof(*pods.items), by_name);
    }
    return pods;
}

static bool port_is(const struct core_v1_container_port *port, struct str name, struct str protocol)
{
    return str_eq(port->name, name) && str_eq(port->protocol.n > 0 ? port->protocol : STR("TCP"), protocol);
}

/* 0 when the pod has none of that name. */
static int32_t named_port(const struct core_v1_pod *pod, struct str name, struct str protocol)
{
    LIST_EACH(container, &pod->spec.containers)
    {
        LIST_EACH(port, &container->ports)
        {
            if (port_is(port, name, protocol)) {
                return port->container_port;
            }
        }
    }
    LIST_EACH(container, &pod->spec.init_containers)
    {
        bool is_sidecar = container->restart_policy != NULL && str_is(*container->restart_policy, "Always");

        LIST_EACH(port, &container->ports)
        {
            if (is_sidecar && port_is(port, name, protocol)) {
                return port->container_port;
            }
        }
    }
    return 0;
}

struct service_ports service_ports_of(struct arena *arena, const struct core_v1_service *service,
                                      const struct core_v1_pod *pod)
{
    struct service_ports ports = {0};

    LIST_EACH(port, &service->spec.ports)
    {
        const struct int_or_string *target = &port->target_port;
        struct str protocol = port->protocol.n > 0 ? port->protocol : STR("TCP");
        int32_t number = target->is_string   ? named_port(pod, target->text, protocol)
                         : target->number > 0 ? target->number
                                              : port->port;

        if (number > 0) {
            *LIST_ADD(arena, &ports) = (struct service_port){port, number};
        }
    }
    return ports;
}

struct str service_hostname_of(const struct core_v1_service *service, const struct core_v1_pod *pod)
{
    return str_eq(pod->spec.subdomain, service->metadata.name) ? pod->spec.hostname : (struct str){0};
}

struct str_map service_labels_of(struct arena *arena, const struct core_v1_service *service)
{
    struct str_map labels = str_map_copy(arena, &service->metadata.labels);

    str_map_remove(&labels, STR(SERVICE_HEADLESS_LABEL));
    if (service_is_headless(service)) {
        str_map_set(arena, &labels, STR(SERVICE_HEADLESS_LABEL), STR(""));
    }
    return labels;
}

struct str service_trigger_time(struct arena *arena, const struct core_v1_service *service,
                                const struct service_pods *pods)
{
    struct timestamp last = service->metadata.creation_timestamp;

    LIST_EACH(pod, pods)
    {
        const struct core_v1_pod_condition *ready = pod_condition_find(&(*pod)->status, STR("Ready"));

        if (ready != NULL && timestamp_cmp(ready->last_transition_time, last) > 0) {
            last = ready->last_transition_time;
        }
    }
    return timestamp_format(arena, last);
}

struct core_v1_object_reference *service_pod_reference(struct arena *arena, const struct core_v1_pod *pod)
{
    struct core_v1_object_reference *reference = ARENA_NEW(arena, struct core_v1_object_reference);

    *reference = (struct core_v1_object_reference){.kind = STR("Pod"),
                                                   .namespace = pod->metadata.namespace,
                                                   .name = pod->metadata.name,
                                                   .uid = pod->metadata.uid};
    return reference;
}

void service_pods_map(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;
    struct object_pointers services = world_in_namespace(world, &core_v1_service_kind, pod->metadata.namespace);

    for (size_t i = 0; i < services.len; i++) {
        const struct core_v1_service *service = services.items[i];
        struct label_selector selector = label_selector_of_map(world->arena, &service->spec.selector);

        if (service_pods_apply(service) && label_selector_matches_map(&selector, &pod->metadata.labels)) {
            *LIST_ADD(world->arena, ret) =
                world_key(world->arena, service->metadata.namespace, service->metadata.name);
        }
    }
}
