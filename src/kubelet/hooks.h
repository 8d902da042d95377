/* Lifecycle hooks of containers, and the parts they share with probes. */
#ifndef KUBELET_HOOKS_H
#define KUBELET_HOOKS_H

#include "kubelet/context.h"
#include "kubelet/prober.h"

/* Runs a postStart or preStop handler in, or against, a running container; `pod_ip` is where an httpGet without a host
 * goes. Parks until it is over; TIMEOUT after `timeout` ns (0: none). */
MUST_USE struct status *hook_run(struct kubelet *kubelet, const struct core_v1_container *container,
                                 const struct core_v1_lifecycle_handler *handler, struct str container_id,
                                 struct str pod_ip, int64_t timeout);

/* A port by number or by the name it has in the container; -1 when there is none. */
int container_port_find(const struct core_v1_container *container, const struct int_or_string *port);
/* The request an httpGet describes. False when its port is not known. */
bool http_get_make(struct arena *arena, const struct core_v1_http_get_action *action,
                   const struct core_v1_container *container, struct str pod_ip, const char *user_agent,
                   struct prober_http *ret);

#endif
