/* Which nodes a pod may be on by its node selector and required node affinity. Pure. */
#ifndef API_NODE_AFFINITY_H
#define API_NODE_AFFINITY_H

#include "api/core_v1.h"

/* A term without any requirement matches nothing. */
bool node_affinity_term_matches(const struct core_v1_node_selector_term *term, const struct core_v1_node *node);
/* The pod's nodeSelector and one of its required terms (if it has any) match the node. */
bool node_affinity_matches(const struct core_v1_pod *pod, const struct core_v1_node *node);

#endif
