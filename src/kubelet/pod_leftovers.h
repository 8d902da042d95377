/* What pods hold of the machine when their containers have ended and no kubelet runs any more: for `c8s stop`. */
#ifndef KUBELET_POD_LEFTOVERS_H
#define KUBELET_POD_LEFTOVERS_H

#include "kubelet/host.h"

/* Unmounts the volumes and removes the cgroups of all pods that have a directory below `root_dir`. The directories
 * stay: what is in them is the pods', which a kubelet that is started again goes on with. On an error the others are
 * still seen to, and the first is returned. Parks. */
MUST_USE struct status *pod_leftovers_release(struct host *host, struct str root_dir, struct str cgroup_root);

#endif
