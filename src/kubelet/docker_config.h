/* Credentials for registries, as Secrets of type kubernetes.io/dockerconfigjson and kubernetes.io/dockercfg hold them,
 * and which of them are for an image. Pure. */
#ifndef KUBELET_DOCKER_CONFIG_H
#define KUBELET_DOCKER_CONFIG_H

#include "base/arena.h"
#include "base/status.h"

struct docker_credential {
    struct str registry; /* as written: "https://index.docker.io/v1/", "*.example.com:5000/team" */
    struct str username, password;
    struct str identity_token;
};

struct docker_config {
    struct docker_credential *items;
    size_t len;
};

/* Adds the credentials of one Secret: `json` is its .dockerconfigjson, or its .dockercfg when `is_old`. BAD_REQUEST for
 * what is not such a file. */
MUST_USE struct status *docker_config_add(struct docker_config *config, struct arena *arena, struct str json,
                                          bool is_old);
/* Those that are good for the image, the most specific registry first. `image` is as in the pod's spec. */
void docker_config_find(const struct docker_config *config, struct arena *arena, struct str image,
                        struct docker_config *ret);

#endif
