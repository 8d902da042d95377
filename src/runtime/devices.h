/* Device nodes of the host that a container asks for, as plans have them. Looks at /dev: blocks for little. */
#ifndef RUNTIME_DEVICES_H
#define RUNTIME_DEVICES_H

#include "base/arena.h"
#include "base/status.h"
#include "schema/shim.h"

struct devices {
    struct shim_device *items;
    size_t len;
};

/* Those of the configuration; of a directory, all below. All of the host's for a privileged one. INVALID for what is no
 * device. */
MUST_USE struct status *devices_find(struct arena *arena, const struct cri_v1_container_config *config,
                                     bool is_privileged, struct devices *ret);

#endif
