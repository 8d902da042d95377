/* Which endpoints are in which EndpointSlice: as few writes as can be, at most so many endpoints in a slice. Pure. */
#ifndef CONTROLLER_ENDPOINTSLICE_LAYOUT_H
#define CONTROLLER_ENDPOINTSLICE_LAYOUT_H

#include "api/discovery_v1.h"

#include "base/arena.h"

struct slice_endpoints {
    struct discovery_v1_endpoint *items;
    size_t len;
};

/* Endpoints that have the same ports. */
struct slice_group {
    struct discovery_v1_endpoint_slice ports; /* only its ports count */
    struct slice_endpoints endpoints;
};

struct slice_groups {
    struct slice_group *items;
    size_t len;
};

enum slice_change { SLICE_KEPT, SLICE_UPDATED, SLICE_CREATED, SLICE_DELETED };

struct slice_placed {
    enum slice_change change;
    const struct discovery_v1_endpoint_slice *before; /* NULL: created */
    const struct slice_group *group;                  /* whose ports it has; NULL: deleted */
    struct slice_endpoints endpoints;
};

struct slice_layout {
    struct slice_placed *items;
    size_t len;
};

struct slice_pointers {
    const struct discovery_v1_endpoint_slice **items;
    size_t len;
};

/* `existing` are the slices of one service and address type. */
struct slice_layout endpointslice_layout(struct arena *arena, const struct slice_pointers *existing,
                                         const struct slice_groups *groups, size_t endpoints_max);

/* The group with those ports, made when there is none. */
struct slice_group *endpointslice_group(struct arena *arena, struct slice_groups *groups,
                                        const struct discovery_v1_endpoint_slice *ports);

#endif
