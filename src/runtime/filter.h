/* Seccomp filters of containers, each made once: most containers of a machine have the same. */
#ifndef RUNTIME_FILTER_H
#define RUNTIME_FILTER_H

#include "runtime/state.h"

/* The filter for a container with these capabilities, in the runtime's memory; empty for one that is unconfined. Parks.
 * INVALID when its profile can't be read. */
MUST_USE struct status *filter_find(struct runtime *runtime, const struct cri_v1_container_config *config,
                                    uint64_t capabilities, struct str *ret_instructions, uint32_t *ret_flags);
/* What it is made of, in the OCI form; empty for one that is unconfined. Parks. */
MUST_USE struct status *filter_profile(struct arena *arena, const struct cri_v1_container_config *config,
                                       uint64_t capabilities, struct str *ret_json);

#endif
