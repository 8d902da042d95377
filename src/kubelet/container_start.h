/* Starts one container of a pod: back-off, image, configuration, create, start, postStart hook, with the events of
 * each. */
#ifndef KUBELET_CONTAINER_START_H
#define KUBELET_CONTAINER_START_H

#include "kubelet/container_config.h"
#include "kubelet/image_manager.h"
#include "kubelet/runtime_pod.h"
#include "kubelet/volumes/volumes.h"

/* What all containers of one pass share. */
struct pod_starting {
    struct kubelet *kubelet;
    const struct core_v1_pod *pod;
    struct arena *arena;
    const struct runtime_pod *runtime;
    const struct cri_v1_pod_sandbox_config *sandbox;
    struct str sandbox_id;
    struct str_list pod_ips;
    struct str hostname, domain;
    struct volume_places volumes;
    struct docker_config credentials;
};

/* Parks. False with the problem, which is in the arena, when it does not run. */
bool container_start(struct pod_starting *starting, enum plan_kind kind, size_t index,
                     struct start_problem *ret_problem);
/* Whether the container must wait because it ended a short while ago; the problem tells how long. Takes the next step
 * of the back-off when it need not. */
bool container_is_backing_off(struct pod_starting *starting, enum plan_kind kind,
                              const struct core_v1_container *container, struct start_problem *ret_problem);

#endif
