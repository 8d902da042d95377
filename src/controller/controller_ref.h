/* Who controls an object: adoption of orphans that a selector matches, release of those it no longer does, as stock's
 * controller reference manager. Pure. */
#ifndef CONTROLLER_CONTROLLER_REF_H
#define CONTROLLER_CONTROLLER_REF_H

#include "schema/object.h"
#include "controller/plan.h"
#include "client/informer.h"

struct label_selector; /* schema/selector.h */

/* The owner reference with controller=true; NULL when there is none. */
const struct meta_v1_owner_reference *controller_ref_find(const struct meta_v1_object_meta *metadata);
/* A controlling reference to `owner`, blocking its deletion. */
struct meta_v1_owner_reference controller_ref_to(struct arena *arena, const struct kind *kind,
                                                 const struct object *owner);

/* Sorts candidates (all objects of `kind` in the owner's namespace) into those that are the owner's; plans the patches
 * that adopt and release. An owner that is being deleted adopts nothing. Objects being adopted count as owned. */
struct object_pointers controller_ref_claim(struct plan *plan, const struct kind *owner_kind,
                                            const struct object *owner, const struct label_selector *selector,
                                            const struct kind *kind, struct object_pointers candidates);

#endif
