/* The Node object that the machine and the runtime amount to, as stock's kubelet reports it. Pure. */
#ifndef KUBELET_NODE_STATUS_H
#define KUBELET_NODE_STATUS_H

#include "kubelet/context.h"

struct node_status_input {
    const struct kubelet *kubelet; /* options, facts, amounts, runtime */
    const struct core_v1_node_status *old; /* whose conditions keep their transition times; NULL: none */
    bool pressure[3];                      /* by enum eviction_pressure */
    struct {
        struct core_v1_container_image *items;
        size_t len;
    } images;
    int64_t now; /* ns since 1970 */
};

/* Borrows from the input. */
void node_status_make(struct arena *arena, const struct node_status_input *input, struct core_v1_node_status *ret);
/* A new Node with labels, annotations and taints, but no status. */
void node_object_make(struct arena *arena, const struct kubelet *kubelet, struct core_v1_node *ret);
/* Adds to a Node that is there already what must be there. False when it is as it should be. */
bool node_object_reconcile(struct arena *arena, const struct core_v1_node *wanted, struct core_v1_node *node);
/* capacity and allocatable by the machine's figures and the reservations. */
void node_amounts_make(struct arena *arena, const struct host_facts *facts, const struct host_fs_usage *fs,
                       const struct kubelet_options *options, struct quantity_map *ret_capacity,
                       struct quantity_map *ret_allocatable);
/* Whether two statuses differ in more than the times of heartbeats. */
bool node_status_differs(struct arena *arena, const struct core_v1_node_status *a,
                         const struct core_v1_node_status *b);
const struct core_v1_node_condition *node_condition_find(const struct core_v1_node_status *status, struct str type);

#endif
