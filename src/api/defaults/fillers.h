/* The defaults that depend on more than one field: a function of each type that has `defaults` in its description. They
 * run after the type's own constants and before what is below. For src/api/defaults* only. */
#ifndef API_DEFAULTS_FILLERS_H
#define API_DEFAULTS_FILLERS_H

#include "base/arena.h"
#include "schema/scalars.h"

typedef void filler(struct arena *arena, void *object);

filler fill_pod, fill_container, fill_ephemeral_container, fill_volume;
filler fill_deployment_strategy, fill_daemon_set_update_strategy, fill_stateful_set_update_strategy,
    fill_stateful_set_spec, fill_replication_controller, fill_job, fill_autoscaler_spec, fill_autoscaler_v1,
    fill_exact_device_request, fill_device_sub_request;
filler fill_persistent_volume, fill_namespace, fill_node_status, fill_limit_range_item, fill_service, fill_service_spec,
    fill_subject, fill_network_policy_spec, fill_csi_driver_spec, fill_custom_resource_definition_spec;

/* What `from` has and `into` lacks is added. */
void fill_amounts(struct arena *arena, struct quantity_map *into, const struct quantity_map *from);

/* A pointer field that is NULL gets the value. */
#define FILL_POINTER(arena, place, value_)                                                                             \
    do {                                                                                                               \
        if ((place) == NULL) {                                                                                         \
            (place) = arena_alloc((arena), sizeof(*(place)));                                                          \
            *(place) = (value_);                                                                                       \
        }                                                                                                              \
    } while (0)

#endif
