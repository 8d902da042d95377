/* The taints that a node gets from its conditions. Pure. */
#ifndef CONTROLLER_NODE_TAINTS_H
#define CONTROLLER_NODE_TAINTS_H

#include "api/core_v1.h"

#define TAINT_NOT_READY "node.kubernetes.io/not-ready"
#define TAINT_UNREACHABLE "node.kubernetes.io/unreachable"
#define TAINT_UNSCHEDULABLE "node.kubernetes.io/unschedulable"

struct taints {
    struct core_v1_taint *items;
    size_t len;
};

const struct core_v1_node_condition *node_taints_condition(const struct core_v1_node *node, const char *type);
/* The node's taints as they should be: those of its conditions and of being unschedulable (NoSchedule), not-ready and
 * unreachable as NoExecute too; all others as they are. `now` is ns since 1970, for new ones. */
struct taints node_taints_wanted(struct arena *arena, const struct core_v1_node *node, int64_t now);
bool node_taints_equal(const struct core_v1_node *node, const struct taints *taints);

#endif
