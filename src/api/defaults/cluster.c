/* Defaults of namespaces, nodes, services and other kinds that aren't about running pods. */
#include "api/apiextensions_v1.h"
#include "api/core_v1.h"
#include "api/defaults/fillers.h"
#include "api/networking_v1.h"
#include "api/rbac_v1.h"
#include "api/storage_v1.h"
#include "schema/map_of.h"

enum { AFFINITY_SECONDS = 3 * 60 * 60 };

void fill_namespace(struct arena *arena, void *object)
{
    struct core_v1_namespace *namespace = object;

    if (namespace->metadata.name.n != 0) {
        str_map_set(arena, &namespace->metadata.labels, STR("kubernetes.io/metadata.name"), namespace->metadata.name);
    }
}

void fill_persistent_volume(struct arena *arena, void *object)
{
    struct core_v1_persistent_volume_spec *spec = &((struct core_v1_persistent_volume *)object)->spec;

    if (spec->persistent_volume_reclaim_policy.n == 0) {
        spec->persistent_volume_reclaim_policy = CORE_V1_PERSISTENT_VOLUME_RECLAIM_RETAIN;
    }
    FILL_POINTER(arena, spec->volume_mode, CORE_V1_PERSISTENT_VOLUME_FILESYSTEM);
}

void fill_node_status(struct arena *arena, void *object)
{
    struct core_v1_node_status *status = object;

    if (status->allocatable.items == NULL && status->capacity.items != NULL) {
        fill_amounts(arena, &status->allocatable, &status->capacity);
    }
}

void fill_amounts(struct arena *arena, struct quantity_map *into, const struct quantity_map *from)
{
    struct quantity_map all = {0};
    size_t i = 0, k = 0;

    if (from->len == 0) {
        return;
    }
    all.items = ARENA_ARRAY(arena, struct quantity_entry, into->len + from->len);
    while (i < into->len || k < from->len) { /* both are sorted */
        int order = i == into->len   ? 1
                    : k == from->len ? -1
                                     : str_cmp(into->items[i].key, from->items[k].key);

        all.items[all.len++] = order <= 0 ? into->items[i] : from->items[k];
        i += order <= 0;
        k += order >= 0;
    }
    *into = all;
}

void fill_limit_range_item(struct arena *arena, void *object)
{
    struct core_v1_limit_range_item *item = object;

    if (str_is(item->type, "Container")) {
        fill_amounts(arena, &item->default_, &item->max);
        fill_amounts(arena, &item->default_request, &item->default_);
        fill_amounts(arena, &item->default_request, &item->min);
    }
}

void fill_service(struct arena *arena, void *object)
{
    struct core_v1_service *service = object;

    if (str_is(service->spec.type, "LoadBalancer")) {
        LIST_EACH(ingress, &service->status.load_balancer.ingress) {
            if (ingress->ip.n != 0) {
                FILL_POINTER(arena, ingress->ip_mode, CORE_V1_LOAD_BALANCER_IP_MODE_VIP);
            }
        }
    }
}

static void fill_session_affinity(struct arena *arena, struct core_v1_service_spec *spec)
{
    if (str_is(spec->session_affinity, "None")) {
        spec->session_affinity_config = NULL;
    }
    if (str_is(spec->session_affinity, "ClientIP")) {
        struct core_v1_session_affinity_config **config = &spec->session_affinity_config;

        if (*config == NULL) {
            *config = ARENA_NEW(arena, struct core_v1_session_affinity_config);
        }
        if ((*config)->client_ip == NULL) {
            (*config)->client_ip = ARENA_NEW(arena, struct core_v1_client_ip_config);
        }
        FILL_POINTER(arena, (*config)->client_ip->timeout_seconds, AFFINITY_SECONDS);
    }
}

void fill_service_spec(struct arena *arena, void *object)
{
    struct core_v1_service_spec *spec = object;
    bool is_balanced = str_is(spec->type, "LoadBalancer"),
         has_node_ports = is_balanced || str_is(spec->type, "NodePort");

    fill_session_affinity(arena, spec);
    LIST_EACH(port, &spec->ports) {
        if (port->target_port.is_string ? port->target_port.text.n == 0 : port->target_port.number == 0) {
            port->target_port = (struct int_or_string){.number = port->port};
        }
    }
    if ((has_node_ports || (str_is(spec->type, "ClusterIP") && spec->external_ips.len > 0)) &&
        spec->external_traffic_policy.n == 0) {
        spec->external_traffic_policy = STR("Cluster");
    }
    if (has_node_ports || str_is(spec->type, "ClusterIP")) {
        FILL_POINTER(arena, spec->internal_traffic_policy, STR("Cluster"));
    }
    if (is_balanced) {
        FILL_POINTER(arena, spec->allocate_load_balancer_node_ports, true);
    }
}

void fill_subject(struct arena *arena, void *object)
{
    struct rbac_v1_subject *subject = object;

    (void)arena;
    if (subject->api_group.n == 0 && (str_is(subject->kind, "User") || str_is(subject->kind, "Group"))) {
        subject->api_group = RBAC_V1_GROUP_NAME;
    }
}

void fill_network_policy_spec(struct arena *arena, void *object)
{
    struct networking_v1_network_policy_spec *spec = object;

    if (spec->policy_types.len == 0) {
        *LIST_ADD(arena, &spec->policy_types) = STR("Ingress");
        if (spec->egress.len != 0) {
            *LIST_ADD(arena, &spec->policy_types) = STR("Egress");
        }
    }
}

void fill_csi_driver_spec(struct arena *arena, void *object)
{
    struct storage_v1_csi_driver_spec *spec = object;

    if (spec->volume_lifecycle_modes.len == 0) {
        *LIST_ADD(arena, &spec->volume_lifecycle_modes) = STR("Persistent");
    }
}

void fill_custom_resource_definition_spec(struct arena *arena, void *object)
{
    struct apiextensions_v1_custom_resource_definition_spec *spec = object;
    struct apiextensions_v1_custom_resource_definition_names *names = &spec->names;

    if (names->singular.n == 0) {
        char *lower = arena_cstr(arena, names->kind);

        for (size_t i = 0; i < names->kind.n; i++) {
            lower[i] = lower[i] >= 'A' && lower[i] <= 'Z' ? (char)(lower[i] - 'A' + 'a') : lower[i];
        }
        names->singular = (struct str){lower, names->kind.n};
    }
    if (names->list_kind.n == 0 && names->kind.n != 0) {
        names->list_kind = arena_printf(arena, "%.*sList", STR_ARG(names->kind));
    }
    if (spec->conversion == NULL) {
        spec->conversion = ARENA_NEW(arena, struct apiextensions_v1_custom_resource_conversion);
        spec->conversion->strategy = STR("None");
    }
}
