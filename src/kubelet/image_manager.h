/* Sees to it that a container's image is there: pull policies, back-off, credentials, events in stock's words. */
#ifndef KUBELET_IMAGE_MANAGER_H
#define KUBELET_IMAGE_MANAGER_H

#include "kubelet/context.h"
#include "kubelet/docker_config.h"

struct image_manager *image_manager_new(struct kubelet *kubelet);
void image_manager_free(struct image_manager *manager);

/* Why a container cannot be started: the reason of its waiting state ("ErrImagePull") and the message. */
struct start_problem {
    struct str reason, message; /* reason empty: none */
};

/* Parks, as long as a pull takes. *ret_image is the reference to create containers from. On a problem, which is in the
 * arena, events have been recorded. `sandbox` is the pod's sandbox configuration. */
bool image_manager_ensure(struct image_manager *manager, const struct core_v1_pod *pod, enum plan_kind kind,
                          const struct core_v1_container *container, const struct docker_config *credentials,
                          const struct cri_v1_pod_sandbox_config *sandbox, struct arena *arena, struct str *ret_image,
                          struct start_problem *ret_problem);
/* The credentials of the pod's imagePullSecrets. Secrets that are missing or broken are skipped, with an event. */
void image_pull_secrets(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                        struct docker_config *ret);

#endif
