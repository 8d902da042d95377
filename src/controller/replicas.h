/* As many pods as wanted, adopted, released, created in slow-start batches, deleted in stock's order: what ReplicaSets
 * and ReplicationControllers have in common. Pure. */
#ifndef CONTROLLER_REPLICAS_H
#define CONTROLLER_REPLICAS_H

#include "api/apps_v1.h"
#include "controller/world.h"
#include "schema/object.h"

struct replicas {
    const struct kind *kind; /* of the object */
    const struct object *object;
    const struct apps_v1_replica_set *set; /* the same, as a ReplicaSet */
};

/* Plans all but the status, which is given as it should be. */
MUST_USE struct status *replicas_plan(const struct world *world, struct plan *plan, const struct replicas *of,
                                      struct apps_v1_replica_set_status *ret_status);
/* A pod concerns the object of the kind that owns it; an orphan all of its namespace, which may adopt it. */
void replicas_map_pod(const struct world *world, const struct kind *kind, const struct core_v1_pod *pod,
                      struct str_list *ret);

#endif
