/* What a container finds mounted: its volumes, /etc/hosts, and the file for its termination message. */
#ifndef KUBELET_CONTAINER_MOUNTS_H
#define KUBELET_CONTAINER_MOUNTS_H

#include "kubelet/container_start.h"

/* Makes the files and sub-paths that are needed. May park. */
MUST_USE struct status *container_mounts_make(struct pod_starting *starting, const struct core_v1_container *container,
                                              struct env_vars *env, struct container_mounts *ret);

#endif
