/* A pod's conditions. Pure. */
#ifndef API_POD_CONDITION_H
#define API_POD_CONDITION_H

#include "api/core_v1.h"

/* NULL when the status has none of that type. */
const struct core_v1_pod_condition *pod_condition_find(const struct core_v1_pod_status *status, struct str type);

#endif
