/* Questions that several controllers ask of namespaces. Pure. */
#ifndef CONTROLLER_NAMESPACE_UTIL_H
#define CONTROLLER_NAMESPACE_UTIL_H

#include "api/core_v1.h"

/* It is there and not ending: things may be made in it. */
bool namespace_is_active(const struct core_v1_namespace *namespace);

#endif
