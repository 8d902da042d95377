/* The pods behind a service, and the ports it has on them. Pure. */
#ifndef CONTROLLER_SERVICE_PODS_H
#define CONTROLLER_SERVICE_PODS_H

#include "api/core_v1.h"
#include "controller/world.h"

#define SERVICE_HEADLESS_LABEL "service.kubernetes.io/headless"
#define LAST_CHANGE_TRIGGER_TIME "endpoints.kubernetes.io/last-change-trigger-time"
#define SERVICE_NAME_LABEL "kubernetes.io/service-name"
#define SLICE_MANAGED_BY "endpointslice.kubernetes.io/managed-by"

struct service_pods {
    const struct core_v1_pod **items;
    size_t len;
};

struct service_ports {
    struct service_port {
        const struct core_v1_service_port *of;
        int32_t number; /* on the pod */
    } *items;
    size_t len;
};

/* It has a selector and is no ExternalName: its endpoints are made from pods. */
bool service_pods_apply(const struct core_v1_service *service);
bool service_is_headless(const struct core_v1_service *service);
/* Those that its selector matches, that have an address and have not finished; by name. */
struct service_pods service_pods_find(const struct world *world, const struct core_v1_service *service);
/* The service's ports that can be found on the pod: by number, or by name among its containers' ports. */
struct service_ports service_ports_of(struct arena *arena, const struct core_v1_service *service,
                                      const struct core_v1_pod *pod);
/* The name the pod has in the service's domain; empty when none. */
struct str service_hostname_of(const struct core_v1_service *service, const struct core_v1_pod *pod);
/* The service's labels, and whether it is headless. */
struct str_map service_labels_of(struct arena *arena, const struct core_v1_service *service);
/* The last thing that happened to the service or its pods, as RFC 3339. */
struct str service_trigger_time(struct arena *arena, const struct core_v1_service *service,
                                const struct service_pods *pods);
struct core_v1_object_reference *service_pod_reference(struct arena *arena, const struct core_v1_pod *pod);

/* controller_map_fn: the services that a pod is, or would be, behind. */
void service_pods_map(const struct world *world, const void *object, struct str_list *ret);

#endif
