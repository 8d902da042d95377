/* A pod's volumes on this node: made before its containers start, brought up to date while it runs, removed after it.
 * They lie in ROOT/pods/UID/volumes/PLUGIN/NAME, as in stock. */
#ifndef KUBELET_VOLUMES_VOLUMES_H
#define KUBELET_VOLUMES_VOLUMES_H

#include "kubelet/context.h"

struct volume_place {
    struct str name;
    struct str path; /* on the node, NUL-terminated */
    bool read_only;  /* of the whole volume */
};

struct volume_places {
    struct volume_place *items;
    size_t len;
};

/* Parks. On the first volume that cannot be had, an event FailedMount is recorded and the error returned. */
MUST_USE struct status *volumes_set_up(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                                       struct volume_places *ret);
/* Unmounts what is mounted below the pod's directory. */
MUST_USE struct status *volumes_unmount(struct kubelet *kubelet, struct str uid);
/* Unmounts and removes all that the pod has, the pod's directory too. Parks. */
MUST_USE struct status *volumes_tear_down(struct kubelet *kubelet, struct str uid);
/* Where a container's mount of a volume's subPath lies: the path below the volume, made when it is missing, and never
 * outside the volume, whatever symbolic links the pod has put there. */
MUST_USE struct status *volume_sub_path(struct host *host, struct arena *arena, struct str volume, struct str sub_path,
                                        struct str *ret);

#endif
