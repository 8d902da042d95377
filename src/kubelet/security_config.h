/* Security contexts of sandboxes and containers, as CRI has them. For container_config.c. Pure. */
#ifndef KUBELET_SECURITY_CONFIG_H
#define KUBELET_SECURITY_CONFIG_H

#include "kubelet/container_config.h"

/* Fills config->linux_. */
MUST_USE struct status *sandbox_security_make(struct arena *arena, const struct sandbox_facts *facts,
                                              struct cri_v1_pod_sandbox_config *config);
MUST_USE struct status *container_security_make(struct arena *arena, const struct container_facts *facts,
                                                struct cri_v1_linux_container_security_context **ret);

#endif
