/* The cgroups of pods: ROOT/kubepods[/burstable|/besteffort]/podUID with the limits that requests and limits amount
 * to. */
#ifndef KUBELET_POD_CGROUPS_H
#define KUBELET_POD_CGROUPS_H

#include "kubelet/context.h"

/* The cgroup of the pod, for its sandbox; empty when --cgroups-per-qos is off. */
struct str pod_cgroup_parent(struct kubelet *kubelet, struct arena *arena, const struct core_v1_pod *pod);
/* The same by UID and class. */
struct str pod_cgroup_name(struct kubelet *kubelet, struct arena *arena, struct str uid, enum qos_class qos);
/* What it is limited to. Pure. */
void pod_cgroup_limits(const struct core_v1_pod *pod, const struct kubelet_options *options,
                       struct host_cgroup_limits *ret);
/* Those of the whole node and of the classes. */
MUST_USE struct status *node_cgroups_make(struct kubelet *kubelet);
MUST_USE struct status *pod_cgroup_make(struct kubelet *kubelet, const struct core_v1_pod *pod);
/* Only the limits, of a pod that has its cgroup already. */
MUST_USE struct status *pod_cgroup_update(struct kubelet *kubelet, const struct core_v1_pod *pod);
/* In whichever class it is. */
MUST_USE struct status *pod_cgroup_remove(struct kubelet *kubelet, struct str uid);

#endif
