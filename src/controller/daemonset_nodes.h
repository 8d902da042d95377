/* Which nodes a DaemonSet's pods are to be on, and the pods for them. Pure. */
#ifndef CONTROLLER_DAEMONSET_NODES_H
#define CONTROLLER_DAEMONSET_NODES_H

#include "api/apps_v1.h"
#include "base/arena.h"

struct daemonset_verdict {
    bool should_run;      /* a pod is made when there is none */
    bool should_continue; /* one that is there stays */
};

struct daemonset_verdict daemonset_nodes_judge(struct arena *arena, const struct apps_v1_daemon_set *set,
                                               const struct core_v1_node *node);
/* A pod for that node alone, with the tolerations that daemons have. */
struct core_v1_pod *daemonset_nodes_pod(struct arena *arena, const struct apps_v1_daemon_set *set,
                                        struct str node_name);
/* The node a pod is on, or is made for; empty when it is for none. */
struct str daemonset_nodes_of_pod(const struct core_v1_pod *pod);

#endif
