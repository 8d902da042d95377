/* The file systems of a container, in the order they are mounted. Pure; for container_plan.c. */
#ifndef RUNTIME_CONTAINER_MOUNTS_H
#define RUNTIME_CONTAINER_MOUNTS_H

#include "runtime/container_plan.h"

MUST_USE struct status *container_mounts_plan(struct arena *arena, const struct cri_v1_container_config *config,
                                              const struct container_facts *facts, struct shim_container_plan *plan);

#endif
