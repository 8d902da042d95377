/* The Pod Security Standards: what a pod must not do at a level, in stock's words. Pure. */
#ifndef APISERVER_ADMISSION_POD_SECURITY_CHECKS_H
#define APISERVER_ADMISSION_POD_SECURITY_CHECKS_H

#include "api/core_v1.h"

enum pod_security_level { POD_SECURITY_PRIVILEGED, POD_SECURITY_BASELINE, POD_SECURITY_RESTRICTED };

struct pod_security_violation {
    struct str reason; /* privileged */
    struct str detail; /* container "c" must not set securityContext.privileged=true */
};

struct pod_security_violations {
    struct pod_security_violation *items;
    size_t len;
};

/* `minor` is the version of the standards (20 of v1.20); INT_MAX: the latest. */
void pod_security_check(struct arena *arena, enum pod_security_level level, int minor,
                        const struct meta_v1_object_meta *meta, const struct core_v1_pod_spec *spec,
                        struct pod_security_violations *ret);

#endif
