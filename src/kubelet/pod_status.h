/* The PodStatus that a pod's spec, runtime state and probes amount to, as stock generates it. Pure.
 *
 * The result borrows from everything in the input; copy it to keep it. */
#ifndef KUBELET_POD_STATUS_H
#define KUBELET_POD_STATUS_H

#include "api/pod_condition.h"
#include "kubelet/pod_view.h"

/* Why a container could not be started last time: reason and message of its waiting state. */
typedef bool status_reason(void *arg, struct str container, struct str *ret_reason, struct str *ret_message);

struct pod_status_input {
    const struct core_v1_pod *pod;
    const struct runtime_pod *runtime;
    const struct core_v1_pod_status *old; /* what was reported before */
    bool is_terminal;      /* no container runs or will run any more */
    struct str runtime_name; /* "containerd" of containerd://ID */
    struct str host_ip;
    int64_t now;           /* ns since 1970 */
    plan_probe *probe;
    status_reason *reason;
    void *arg;             /* of both */
    /* Set when the pod was evicted, rejected or ran past its deadline: phase Failed with these. */
    struct str failed_reason, failed_message;
    /* Whether a container has the resources of its spec now; NULL or false: those it had. For a change in place. */
    bool (*is_resized)(void *arg, struct str container_id);
    struct str resize_reason, resize_message; /* of the condition PodResizePending; empty: none */
    struct str resize_error;                  /* why a change is under way still; empty: it is not */
    struct str disruption_reason, disruption_message; /* of the condition DisruptionTarget; empty: none */
};

void pod_status_generate(struct arena *arena, const struct pod_status_input *input, struct core_v1_pod_status *ret);

/* The phase alone, from container statuses. */
struct str pod_status_phase(const struct plan_pod *plan, const struct core_v1_pod_status *status, bool is_terminal,
                            bool has_initialized, bool is_static);
/* Fills started and ready of all containers. */
void pod_status_probe(struct arena *arena, const struct pod_status_input *input, struct core_v1_pod_status *status);
/* The container statuses of one kind; for pod_status.c. */
struct container_status_list {
    struct core_v1_container_status *items;
    size_t len;
};
struct container_status_list container_statuses(struct arena *arena, const struct pod_status_input *input,
                                                enum plan_kind kind, const struct core_v1_container_status *old,
                                                size_t old_count);
/* All conditions the kubelet owns, after those of others that the pod has. */
void pod_status_conditions(struct arena *arena, const struct pod_status_input *input,
                           struct core_v1_pod_status *status);
/* For a pod that is over: what is not known to have ended is marked so, and the phase made final. */
void pod_status_terminate(struct arena *arena, const struct core_v1_pod *pod, struct core_v1_pod_status *status,
                          int64_t now);

const struct core_v1_container_status *container_status_find(const struct core_v1_container_status *items, size_t len,
                                                             struct str name);
/* One of those the kubelet writes. */
bool pod_condition_is_kubelets(struct str type);

#endif
