/* Values of a pod's own fields and resources, as the downward API gives them to containers. Pure. */
#ifndef KUBELET_DOWNWARD_H
#define KUBELET_DOWNWARD_H

#include "api/core_v1.h"
#include "base/status.h"

struct downward_facts {
    const struct core_v1_pod *pod;
    struct str pod_ip, host_ip;
    struct str pod_ips; /* comma-separated */
    const struct quantity_map *allocatable; /* of the node: limits that are not set; may be NULL */
};

/* "metadata.labels['app']", "spec.nodeName", "status.podIP", ... */
MUST_USE struct status *downward_field(struct arena *arena, const struct downward_facts *facts, struct str path,
                                       struct str *ret);
/* "limits.cpu" of a container, in units of the divisor. */
MUST_USE struct status *downward_resource(struct arena *arena, const struct downward_facts *facts,
                                          const struct core_v1_resource_field_selector *selector,
                                          const struct core_v1_container *container, struct str *ret);

#endif
