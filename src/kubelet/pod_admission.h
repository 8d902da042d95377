/* Whether a pod may run on this node: the kubelet's own last look, by what it knows. */
#ifndef KUBELET_POD_ADMISSION_H
#define KUBELET_POD_ADMISSION_H

#include "kubelet/context.h"

/* Of the pod's status: reason ("OutOfcpu", "NodeAffinity") and message, in stock's words. */
struct pod_rejection {
    struct str reason, message;
};

struct pod_admission_facts {
    const struct core_v1_pod *pod;
    struct {
        const struct core_v1_pod **items;
        size_t len;
    } others; /* that run or have been let in */
    const struct quantity_map *allocatable;
    const struct core_v1_node *node; /* NULL: not known, so labels and taints are not looked at */
    bool pressure[3]; /* by enum eviction_pressure */
};

/* Pure. False with the rejection. */
bool pod_admission_decide(struct arena *arena, const struct pod_admission_facts *facts, struct pod_rejection *ret);
/* What the kubelet knows now. Does not park. */
void pod_admission_facts_of(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                            struct pod_admission_facts *ret);
/* Only whether it fits beside the others. Pure. */
bool pod_admission_fits(struct arena *arena, const struct pod_admission_facts *facts, struct pod_rejection *ret);
/* The same with what the kubelet knows now. Does not park. */
bool pod_admission_check(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                         struct pod_rejection *ret);
/* What the pod asks for of one resource: thousandths of CPU, else whole units. As the scheduler counts it. */
int64_t pod_request(const struct core_v1_pod *pod, struct str resource);

#endif
