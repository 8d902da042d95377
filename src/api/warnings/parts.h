/* For warnings.c and the files beside this one. */
#ifndef API_WARNINGS_PARTS_H
#define API_WARNINGS_PARTS_H

#include "api/core_v1.h"

struct warnings {
    struct arena *arena;
    struct str_list *texts;
};

void warn(const struct warnings *warnings, const char *format, ...) PRINTF_LIKE(2, 3);
/* Of a pod, or of the template at a path ("spec.template."). */
void warn_of_pod_template(const struct warnings *warnings, const char *path, const struct meta_v1_object_meta *meta,
                          const struct core_v1_pod_spec *spec);

#endif
