/* Service -> EndpointSlices: the addresses of its pods, a set of slices for each address family. */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "api/discovery_v1.h"
#include "controller/controller_ref.h"
#include "controller/endpointslice_layout.h"
#include "controller/pod_util.h"
#include "controller/service_pods.h"
#include "schema/copy.h"
#include "schema/map_of.h"

#include <string.h>

#define MANAGER "endpointslice-controller.k8s.io"
#define ZONE "topology.kubernetes.io/zone"

static bool is_six(struct str address)
{
    return str_index(address, ':') != SIZE_MAX;
}

static bool *flag(struct arena *arena, bool value)
{
    bool *place = ARENA_NEW(arena, bool);

    *place = value;
    return place;
}

static struct str *text(struct arena *arena, struct str value)
{
    struct str *place = ARENA_NEW(arena, struct str);

    *place = value;
    return place;
}

static struct discovery_v1_endpoint endpoint_of(const struct world *world, const struct core_v1_service *service,
                                                const struct core_v1_pod *pod)
{
    struct arena *arena = world->arena;
    bool serving = pod_is_ready(pod), terminating = pod->metadata.deletion_timestamp != NULL;
    struct discovery_v1_endpoint endpoint = {
        .conditions = {.ready = flag(arena, service->spec.publish_not_ready_addresses || (serving && !terminating)),
                       .serving = flag(arena, serving),
                       .terminating = flag(arena, terminating)},
        .target_ref = service_pod_reference(arena, pod),
    };
    struct str hostname = service_hostname_of(service, pod), zone;

    if (hostname.n > 0) {
        endpoint.hostname = text(arena, hostname);
    }
    if (pod->spec.node_name.n > 0) {
        const struct core_v1_node *node = world_find(world, &core_v1_node_kind, pod->spec.node_name);

        endpoint.node_name = text(arena, pod->spec.node_name);
        if (node != NULL && str_map_lookup(&node->metadata.labels, STR(ZONE), &zone)) {
            endpoint.zone = text(arena, zone);
        }
    }
    return endpoint;
}

static struct discovery_v1_endpoint_slice ports_of(struct arena *arena, const struct core_v1_service *service,
                                                   const struct core_v1_pod *pod)
{
    struct discovery_v1_endpoint_slice slice = {0};
    struct service_ports ports = service_ports_of(arena, service, pod);

    LIST_EACH(port, &ports)
    {
        int32_t *number = ARENA_NEW(arena, int32_t);

        *number = port->number;
        *LIST_ADD(arena, &slice.ports) = (struct discovery_v1_endpoint_port){
            .name = text(arena, port->of->name),
            .protocol = text(arena, port->of->protocol.n > 0 ? port->of->protocol : STR("TCP")),
            .port = number,
            .app_protocol = port->of->app_protocol,
        };
    }
    return slice;
}

static struct slice_groups groups_of(const struct world *world, const struct core_v1_service *service,
                                     const struct service_pods *pods, bool six)
{
    struct slice_groups groups = {0};

    LIST_EACH(pod, pods)
    {
        struct discovery_v1_endpoint endpoint = endpoint_of(world, service, *pod);

        LIST_EACH(ip, &(*pod)->status.pod_ips)
        {
            if (is_six(ip->ip) == six && endpoint.addresses.len == 0) {
                *LIST_ADD(world->arena, &endpoint.addresses) = ip->ip;
            }
        }
        struct discovery_v1_endpoint_slice ports = ports_of(world->arena, service, *pod);

        if (endpoint.addresses.len > 0 && (ports.ports.len > 0 || service->spec.ports.len == 0)) {
            *LIST_ADD(world->arena, &endpointslice_group(world->arena, &groups, &ports)->endpoints) = endpoint;
        }
    }
    if (groups.len == 0) { /* one empty slice says that there is nothing */
        endpointslice_group(world->arena, &groups, &(struct discovery_v1_endpoint_slice){0});
    }
    return groups;
}

static struct str_map labels_of(struct arena *arena, const struct core_v1_service *service)
{
    struct str_map labels = service_labels_of(arena, service);

    str_map_set(arena, &labels, STR(SERVICE_NAME_LABEL), service->metadata.name);
    str_map_set(arena, &labels, STR(SLICE_MANAGED_BY), STR(MANAGER));
    return labels;
}

static void plan_slice(struct plan *plan, const struct core_v1_service *service, const struct slice_placed *placed,
                       struct str address_type, struct str trigger)
{
    struct arena *arena = plan->arena;
    struct str_map labels = labels_of(arena, service);
    struct discovery_v1_endpoint_slice *slice;

    if (placed->change == SLICE_DELETED) {
        plan_delete(plan, &discovery_v1_endpoint_slice_kind, placed->before);
        return;
    }
    if (placed->change == SLICE_KEPT && str_map_equal(&labels, &placed->before->metadata.labels)) {
        return;
    }
    if (placed->before != NULL) {
        slice = schema_copy(arena, &discovery_v1_endpoint_slice_type, placed->before);
    } else {
        slice = ARENA_NEW(arena, struct discovery_v1_endpoint_slice);
        slice->metadata.namespace = service->metadata.namespace;
        slice->metadata.generate_name = arena_printf(arena, "%.*s-", STR_ARG(service->metadata.name));
        slice->address_type = address_type;
        *LIST_ADD(arena, &slice->metadata.owner_references) =
            controller_ref_to(arena, &core_v1_service_kind, (const struct object *)service);
    }
    slice->metadata.labels = labels;
    str_map_set(arena, &slice->metadata.annotations, STR(LAST_CHANGE_TRIGGER_TIME), trigger);
    memcpy(&slice->ports, &placed->group->ports.ports, sizeof(slice->ports));
    slice->endpoints.items = placed->endpoints.items;
    slice->endpoints.len = placed->endpoints.len;
    if (placed->before != NULL) {
        plan_update(plan, &discovery_v1_endpoint_slice_kind, slice);
    } else {
        plan_create(plan, &discovery_v1_endpoint_slice_kind, slice);
    }
}

static struct slice_pointers existing_of(const struct world *world, const struct core_v1_service *service,
                                         struct str address_type)
{
    struct object_pointers owned =
        world_owned(world, &discovery_v1_endpoint_slice_kind, service->metadata.uid);
    struct slice_pointers existing = {0};

    for (size_t i = 0; i < owned.len; i++) {
        const struct discovery_v1_endpoint_slice *slice = owned.items[i];

        if (str_eq(slice->address_type, address_type) && slice->metadata.deletion_timestamp == NULL &&
            str_is(str_map_get(&slice->metadata.labels, STR(SLICE_MANAGED_BY)), MANAGER)) {
            *LIST_ADD(world->arena, &existing) = slice;
        }
    }
    return existing;
}

static bool has_family(const struct core_v1_service *service, const char *family)
{
    LIST_EACH(have, &service->spec.ip_families)
    {
        if (str_is(*have, family)) {
            return true;
        }
    }
    /* A server that does not say is one of IPv4. */
    return service->spec.ip_families.len == 0 && str_is(STR("IPv4"), family);
}

static struct status *endpointslice_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_service *service = world_find(world, &core_v1_service_kind, key);
    static const char *const families[] = {"IPv4", "IPv6"};

    if (service == NULL || !service_pods_apply(service) || service->metadata.deletion_timestamp != NULL) {
        return NULL;
    }
    struct service_pods pods = service_pods_find(world, service);
    struct str trigger = service_trigger_time(plan->arena, service, &pods);

    for (size_t i = 0; i < COUNT_OF(families); i++) {
        struct slice_pointers existing = existing_of(world, service, str_of(families[i]));
        struct slice_groups groups = {0};

        if (has_family(service, families[i])) {
            groups = groups_of(world, service, &pods, i == 1);
        }
        struct slice_layout layout = endpointslice_layout(plan->arena, &existing, &groups,
                                                          (size_t)world->settings->endpoints_per_slice);

        LIST_EACH(placed, &layout)
        {
            plan_slice(plan, service, placed, str_of(families[i]), trigger);
        }
    }
    return NULL;
}

static void map_slice(const struct world *world, const void *object, struct str_list *ret)
{
    const struct discovery_v1_endpoint_slice *slice = object;
    struct str name = str_map_get(&slice->metadata.labels, STR(SERVICE_NAME_LABEL));

    if (name.n > 0 && str_is(str_map_get(&slice->metadata.labels, STR(SLICE_MANAGED_BY)), MANAGER)) {
        *LIST_ADD(world->arena, ret) = world_key(world->arena, slice->metadata.namespace, name);
    }
}

static void map_nothing(const struct world *world, const void *object, struct str_list *ret)
{
}

const struct controller endpointslice_controller = {
    .name = "endpoint-slice-controller",
    .account = "endpointslice-controller",
    .kind = &core_v1_service_kind,
    .watches = {{&core_v1_pod_kind, service_pods_map},
                {&discovery_v1_endpoint_slice_kind, map_slice},
                {&core_v1_node_kind, map_nothing}},
    .plan = endpointslice_plan,
};
