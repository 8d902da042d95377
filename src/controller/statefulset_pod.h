/* The pods of a StatefulSet: each with a name, a host name and volumes of its own that outlive it. Pure. */
#ifndef CONTROLLER_STATEFULSET_POD_H
#define CONTROLLER_STATEFULSET_POD_H

#include "api/apps_v1.h"
#include "controller/world.h"

/* The number at the end of its name; -1 when the name is not one of the set's. */
int32_t statefulset_ordinal_of(const struct apps_v1_stateful_set *set, const struct core_v1_pod *pod);
struct str statefulset_pod_name(struct arena *arena, const struct apps_v1_stateful_set *set, int32_t ordinal);
/* The pod of that number, of the template at that revision (the name of a ControllerRevision). */
struct core_v1_pod *statefulset_pod(struct arena *arena, const struct apps_v1_stateful_set *set,
                                    const struct core_v1_pod_template_spec *template, int32_t ordinal,
                                    struct str revision);
/* Plans the claims of the pod of that number that are not there yet. */
void statefulset_plan_claims(const struct world *world, struct plan *plan, const struct apps_v1_stateful_set *set,
                             int32_t ordinal);
/* The template that a revision holds; NULL when it can't be read. */
const struct core_v1_pod_template_spec *statefulset_template_of(struct arena *arena,
                                                                const struct apps_v1_controller_revision *revision);

#endif
