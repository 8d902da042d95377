/* The DNS settings of a pod's sandbox, by its dnsPolicy. */
#ifndef KUBELET_POD_DNS_H
#define KUBELET_POD_DNS_H

#include "kubelet/container_config.h"
#include "kubelet/context.h"

/* Fills facts->dns_*; warnings are recorded as events. */
MUST_USE struct status *pod_dns_make(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                                     struct sandbox_facts *facts);
/* The runtime handler of the pod's RuntimeClass: its name, where no handler of another name is known; empty for the
 * default. */
struct str pod_runtime_handler(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena);

#endif
