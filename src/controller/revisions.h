/* ControllerRevisions: the templates that a DaemonSet or StatefulSet has had, for `kubectl rollout`. Pure. */
#ifndef CONTROLLER_REVISIONS_H
#define CONTROLLER_REVISIONS_H

#include "api/apps_v1.h"
#include "controller/world.h"

#define REVISION_HASH_LABEL "controller-revision-hash"

struct revisions {
    const struct apps_v1_controller_revision **items; /* lowest revision first */
    size_t len;
    const struct apps_v1_controller_revision *current; /* that of the template; new when it is not among the items */
    struct str hash;                                   /* the value of its label */
};

struct revisions_owner {
    const struct kind *kind;
    const struct object *object;
    const struct core_v1_pod_template_spec *template;
    const int32_t *collision_count;
    const int32_t *history_limit;
};

/* Finds the owner's revisions; the template's own is planned to be made when there is none, and to be the latest when
 * it has been one before. */
struct revisions revisions_ensure(const struct world *world, struct plan *plan, const struct revisions_owner *owner);
/* Plans to delete those beyond the history limit, the oldest first, that no pod is of (`live` are labels in use). */
void revisions_truncate(struct plan *plan, const struct revisions *revisions, const struct revisions_owner *owner,
                        const struct str_list *live);

#endif
