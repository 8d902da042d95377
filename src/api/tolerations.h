/* Which taints a toleration lets a pod live with. Any thread. */
#ifndef API_TOLERATIONS_H
#define API_TOLERATIONS_H

#include "api/core_v1.h"

bool toleration_tolerates(const struct core_v1_toleration *toleration, const struct core_v1_taint *taint);
/* One of the pod's tolerations does. */
bool tolerations_of_pod_tolerate(const struct core_v1_pod *pod, const struct core_v1_taint *taint);

#endif
