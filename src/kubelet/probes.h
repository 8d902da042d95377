/* Runs the probes of the containers of all pods, each in a task of its own, and keeps what they say. */
#ifndef KUBELET_PROBES_H
#define KUBELET_PROBES_H

#include "kubelet/context.h"

struct probe_manager *probe_manager_new(struct kubelet *kubelet);
/* Its tasks have ended (kubelet->tasks). */
void probe_manager_free(struct probe_manager *manager);
/* Starts the probes of a pod that has not been added before. */
void probe_manager_add(struct probe_manager *manager, struct pod_ref *pod);
/* The pod's status was set: a container that started may be probed at once. */
void probe_manager_wake(struct probe_manager *manager, struct str uid);
/* From now on only readiness is probed: a container that is being stopped must not be restarted. */
void probe_manager_stop_liveness(struct probe_manager *manager, struct str uid);
void probe_manager_remove(struct probe_manager *manager, struct str uid);
/* What a probe says about a container, by its ID; PROBE_UNKNOWN when there is no such probe or nothing yet. For the
 * planner: `arg` is the manager. */
enum probe_result probe_manager_result(void *arg, struct str container_id, enum probe_kind kind);

#endif
