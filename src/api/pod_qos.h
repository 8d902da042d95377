/* A pod's quality of service: what its requests and limits promise. Pure. */
#ifndef API_POD_QOS_H
#define API_POD_QOS_H

#include "api/core_v1.h"

/* "Guaranteed", "Burstable" or "BestEffort". */
struct str pod_qos_class(const struct core_v1_pod_spec *spec);

#endif
