/* What a Deployment's ReplicaSets remember: template hash, revision, sizes, copied annotations. Pure. */
#ifndef CONTROLLER_DEPLOYMENT_HISTORY_H
#define CONTROLLER_DEPLOYMENT_HISTORY_H

#include "controller/deployment_rollout.h"

#define DEPLOYMENT_REVISION "deployment.kubernetes.io/revision"
#define DEPLOYMENT_REVISION_HISTORY "deployment.kubernetes.io/revision-history"
#define DEPLOYMENT_DESIRED_REPLICAS "deployment.kubernetes.io/desired-replicas"
#define DEPLOYMENT_MAX_REPLICAS "deployment.kubernetes.io/max-replicas"
#define POD_TEMPLATE_HASH "pod-template-hash"

/* A short name-safe hash of the template and the collision count. */
struct str deployment_history_hash(struct arena *arena, const struct core_v1_pod_template_spec *template,
                                   const int32_t *collision_count);
/* The set for the Deployment's current template: NAME-HASH, replicas 0, owner, labels, selector. */
struct apps_v1_replica_set *deployment_history_new_set(struct arena *arena,
                                                       const struct apps_v1_deployment *deployment);
/* The set's template is the Deployment's, the hash label aside. */
bool deployment_history_same_template(const struct apps_v1_replica_set *set,
                                      const struct apps_v1_deployment *deployment, struct arena *arena);

/* 0 and "" when there is none. */
int64_t deployment_history_max_revision(const struct replica_sets *sets);
struct str deployment_history_revision_of(const struct meta_v1_object_meta *metadata);
/* A copy of the list, lowest revision first. */
struct replica_sets deployment_history_by_revision(struct arena *arena, const struct replica_sets *sets);

/* Copies the Deployment's annotations (but those of kubectl apply and its own) and raises the revision; true when
 * anything changed. With `exists` the revision that was goes into the history annotation. */
bool deployment_history_annotate(struct arena *arena, struct meta_v1_object_meta *set,
                                 const struct meta_v1_object_meta *deployment, int64_t revision, bool exists);
bool deployment_history_annotate_size(struct arena *arena, struct meta_v1_object_meta *set, int32_t desired,
                                      int32_t max);
/* False when not annotated; pointers may be NULL. */
bool deployment_history_size(const struct meta_v1_object_meta *set, int32_t *ret_desired, int32_t *ret_max);

#endif
