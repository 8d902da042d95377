/* Pods made from a controller's template. Pure. */
#ifndef CONTROLLER_POD_TEMPLATE_H
#define CONTROLLER_POD_TEMPLATE_H

#include "api/core_v1.h"
#include "controller/plan.h"
#include "schema/object.h"

/* A pod of the template, owned by `owner`, with generateName OWNER-. Maps may be added to; all else is borrowed. */
struct core_v1_pod *pod_template_pod(struct arena *arena, const struct core_v1_pod_template_spec *template,
                                     const struct kind *owner_kind, const void *owner);
/* Plans it, in the batch, with the events that tell the owner's. */
void pod_template_create(struct plan *plan, const struct core_v1_pod *pod, int batch, const struct kind *owner_kind,
                         const void *owner);
void pod_template_delete(struct plan *plan, const struct core_v1_pod *pod, int batch, const struct kind *owner_kind,
                         const void *owner);

#endif
