/* Makes the node known to the API: registers it, reports its status when that has changed or five minutes have
 * passed, and renews its Lease. */
#ifndef KUBELET_NODE_AGENT_H
#define KUBELET_NODE_AGENT_H

#include "kubelet/context.h"

struct node_agent *node_agent_new(struct kubelet *kubelet);
/* Parks; its tasks have ended (kubelet->tasks). NULL is fine. */
void node_agent_free(struct node_agent *agent);
/* Does nothing without a client. */
void node_agent_start(struct node_agent *agent);
/* Something that the status shows has changed: report soon. */
void node_agent_wake(struct node_agent *agent);
/* The Node as the API has it; NULL while unknown. Borrowed until the next park. */
const struct core_v1_node *node_agent_node(const struct node_agent *agent);
/* The pressures the node is under, for its conditions. */
void node_agent_set_pressure(struct node_agent *agent, const bool pressure[3]);

#endif
