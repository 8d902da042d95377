/* Who belongs to whom in the history, and how many pods a Deployment has. Pure reading; results are borrowed until the
 * next change. */
#ifndef SIM_OWNERSHIP_H
#define SIM_OWNERSHIP_H

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "sim/history.h"

/* Of a kind and UID; NULL when there is none. */
const struct object *object_by_uid(const struct history *history, const struct kind *kind, struct str uid);
/* The controlling owner; NULL: none. */
const struct meta_v1_owner_reference *controller_of(const struct object *object);
/* The Deployment a pod comes from, by way of its ReplicaSet; NULL when either is gone. */
const struct apps_v1_deployment *deployment_of_pod(const struct history *history, const struct core_v1_pod *pod);

/* Neither finished nor being deleted. */
bool pod_counts(const struct core_v1_pod *pod);
bool pod_counts_ready(const struct core_v1_pod *pod);

/* CPU that pods on the node ask for, in thousandths; pods that have finished need none. */
int64_t cpu_on_node(const struct history *history, struct str node_name);

struct tally {
    int32_t active, ready;
    int32_t wanted; /* by its ReplicaSets together */
};

struct tally tally_of(const struct history *history, const struct apps_v1_deployment *deployment);
/* Pods that count, of one ReplicaSet. */
int32_t pods_of_set(const struct history *history, struct str set_uid);
/* Pods that have not finished, of the Deployment's other ReplicaSets. */
int32_t pods_of_other_sets(const struct history *history, const struct apps_v1_deployment *deployment, struct str set_uid);
/* maxSurge or maxUnavailable, of that many replicas. */
int32_t tally_bound(const struct apps_v1_deployment *deployment, bool surge, int32_t replicas);
/* The controller has seen the latest wish and reports it as fulfilled. */
bool tally_is_as_asked(const struct apps_v1_deployment *deployment);

#endif
