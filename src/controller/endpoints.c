/* Service -> Endpoints: the older form of EndpointSlices, for those who still read it. */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "controller/pod_util.h"
#include "controller/service_pods.h"
#include "schema/copy.h"
#include "schema/map_of.h"

#define MANAGED_BY "endpoints.kubernetes.io/managed-by"
#define MANAGER "endpoint-controller"
#define OVER_CAPACITY "endpoints.kubernetes.io/over-capacity"

enum { ADDRESSES_MAX = 1000 };

static struct core_v1_endpoint_subset ports_of(struct arena *arena, const struct core_v1_service *service,
                                               const struct core_v1_pod *pod)
{
    struct core_v1_endpoint_subset subset = {0};
    struct service_ports ports = service_ports_of(arena, service, pod);

    LIST_EACH(port, &ports)
    {
        *LIST_ADD(arena, &subset.ports) = (struct core_v1_endpoint_port){
            .name = port->of->name,
            .port = port->number,
            .protocol = port->of->protocol.n > 0 ? port->of->protocol : STR("TCP"),
            .app_protocol = port->of->app_protocol,
        };
    }
    return subset;
}

static struct core_v1_endpoint_subset *subset_with(struct arena *arena, struct core_v1_endpoints *endpoints,
                                                   const struct core_v1_endpoint_subset *ports)
{
    const struct field *field = type_field(&core_v1_endpoint_subset_type, STR("ports"));

    LIST_EACH(subset, &endpoints->subsets)
    {
        if (schema_field_equal(field, &subset->ports, &ports->ports)) {
            return subset;
        }
    }
    struct core_v1_endpoint_subset *subset = LIST_ADD(arena, &endpoints->subsets);

    *subset = *ports;
    return subset;
}

static struct core_v1_endpoint_address address_of(struct arena *arena, const struct core_v1_service *service,
                                                  const struct core_v1_pod *pod)
{
    struct core_v1_endpoint_address address = {
        .ip = pod->status.pod_ip.n > 0 ? pod->status.pod_ip : pod->status.pod_ips.items[0].ip,
        .hostname = service_hostname_of(service, pod),
        .target_ref = service_pod_reference(arena, pod),
    };

    if (pod->spec.node_name.n > 0) {
        address.node_name = ARENA_NEW(arena, struct str);
        *address.node_name = pod->spec.node_name;
    }
    return address;
}

static void add_pods(struct arena *arena, struct core_v1_endpoints *endpoints, const struct core_v1_service *service,
                     const struct service_pods *pods)
{
    size_t count = 0;

    LIST_EACH(pod, pods)
    {
        bool all = service->spec.publish_not_ready_addresses;
        struct core_v1_endpoint_subset ports = ports_of(arena, service, *pod);

        if (((*pod)->metadata.deletion_timestamp != NULL && !all) ||
            (ports.ports.len == 0 && service->spec.ports.len > 0)) {
            continue;
        }
        if (++count > ADDRESSES_MAX) {
            str_map_set(arena, &endpoints->metadata.annotations, STR(OVER_CAPACITY), STR("truncated"));
            return;
        }
        struct core_v1_endpoint_subset *subset = subset_with(arena, endpoints, &ports);

        if (all || pod_is_ready(*pod)) {
            *LIST_ADD(arena, &subset->addresses) = address_of(arena, service, *pod);
        } else {
            *LIST_ADD(arena, &subset->not_ready_addresses) = address_of(arena, service, *pod);
        }
    }
}

static bool is_right(const struct core_v1_endpoints *have, const struct core_v1_endpoints *wanted)
{
    const struct field *subsets = type_field(&core_v1_endpoints_type, STR("subsets"));

    return schema_field_equal(subsets, &have->subsets, &wanted->subsets) &&
           str_map_equal(&have->metadata.labels, &wanted->metadata.labels) &&
           str_map_has(&have->metadata.annotations, STR(OVER_CAPACITY)) ==
               str_map_has(&wanted->metadata.annotations, STR(OVER_CAPACITY));
}

static struct status *endpoints_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_service *service = world_find(world, &core_v1_service_kind, key);
    const struct core_v1_endpoints *have = world_find(world, &core_v1_endpoints_kind, key);
    struct arena *arena = plan->arena;

    if (service == NULL) {
        /* Those that a person made, or that elect leaders, are not the service's. */
        if (have != NULL && str_is(str_map_get(&have->metadata.labels, STR(MANAGED_BY)), MANAGER)) {
            plan_delete(plan, &core_v1_endpoints_kind, have);
        }
        return NULL;
    }
    if (!service_pods_apply(service) || service->metadata.deletion_timestamp != NULL) {
        return NULL;
    }
    struct service_pods pods = service_pods_find(world, service);
    struct core_v1_endpoints *wanted = have != NULL ? schema_copy(arena, &core_v1_endpoints_type, have)
                                                    : ARENA_NEW(arena, struct core_v1_endpoints);

    wanted->metadata.namespace = service->metadata.namespace;
    wanted->metadata.name = service->metadata.name;
    wanted->metadata.labels = service_labels_of(arena, service);
    str_map_set(arena, &wanted->metadata.labels, STR(MANAGED_BY), STR(MANAGER));
    str_map_remove(&wanted->metadata.annotations, STR(OVER_CAPACITY));
    wanted->subsets = (__typeof__(wanted->subsets)){0};
    add_pods(arena, wanted, service, &pods);
    if (have != NULL && is_right(have, wanted)) {
        return NULL;
    }
    str_map_set(arena, &wanted->metadata.annotations, STR(LAST_CHANGE_TRIGGER_TIME),
                service_trigger_time(arena, service, &pods));
    if (have != NULL) {
        plan_update(plan, &core_v1_endpoints_kind, wanted);
    } else {
        plan_create(plan, &core_v1_endpoints_kind, wanted);
    }
    return NULL;
}

static void map_same_name(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_endpoints *endpoints = object;

    *LIST_ADD(world->arena, ret) =
        world_key(world->arena, endpoints->metadata.namespace, endpoints->metadata.name);
}

const struct controller endpoints_controller = {
    .name = "endpoints-controller",
    .account = "endpoint-controller",
    .kind = &core_v1_service_kind,
    .watches = {{&core_v1_pod_kind, service_pods_map}, {&core_v1_endpoints_kind, map_same_name}},
    .plan = endpoints_plan,
};
