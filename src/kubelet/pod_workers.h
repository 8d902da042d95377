/* One worker for each pod: a task that brings what runs to what the pod should be, pass after pass, and in the end
 * takes it all away again.
 *
 * A pod is synced until it is deleted, evicted, rejected, or over; then its containers are stopped; then its volumes,
 * cgroup and containers are removed, and its worker waits until the source drops the pod. A pod that the runtime has
 * but no source knows gets a worker that only stops and removes it. */
#ifndef KUBELET_POD_WORKERS_H
#define KUBELET_POD_WORKERS_H

#include "kubelet/context.h"
#include "kubelet/runtime_pod.h"

struct pod_workers *pod_workers_new(struct kubelet *kubelet);
/* Its tasks have ended (kubelet->tasks). NULL is fine. */
void pod_workers_free(struct pod_workers *workers);

/* The source has a pod that is new or has changed. */
void pod_workers_update(struct pod_workers *workers, struct pod_ref *pod);
/* The source does not have it any more. */
void pod_workers_remove(struct pod_workers *workers, struct str uid);
/* The runtime has a pod that no source knows. Does nothing when there is a worker for it. */
void pod_workers_orphan(struct pod_workers *workers, struct str uid, struct str name, struct str namespace);
/* Something happened that the pod's worker should look at. No such pod is fine. */
void pod_workers_wake(struct pod_workers *workers, struct str uid);

/* Ends a pod with phase Failed, reason and message; grace_seconds below 0: the pod's own. False when it is unknown or
 * ends already. */
bool pod_workers_evict(struct pod_workers *workers, struct str uid, struct str reason, struct str message,
                       int64_t grace_seconds);

/* The pods that have a worker and whose spec is known. */
struct pod_refs {
    struct pod_ref **items; /* borrowed until the next park */
    size_t len;
};
struct pod_refs pod_workers_pods(struct pod_workers *workers, struct arena *arena);
/* Those of them that have been let in and are not over: what they ask for is taken. */
struct pod_refs pod_workers_admitted(struct pod_workers *workers, struct arena *arena);
/* NULL when there is none; borrowed until the next park. */
struct pod_ref *pod_workers_find(struct pod_workers *workers, struct str namespace, struct str name);
/* Another pod of the same name is not over yet. */
bool pod_workers_is_name_taken(const struct pod_workers *workers, const struct core_v1_pod *pod);
bool pod_workers_has(const struct pod_workers *workers, struct str uid);
/* Its containers run or may run: it has not been stopped. */
bool pod_workers_is_active(const struct pod_workers *workers, struct str uid);

#endif
