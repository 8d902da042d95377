/* Finding the pod, and the container in it, that logs and exec are about. */
#ifndef KUBECTL_PODS_H
#define KUBECTL_PODS_H

#include "kubectl/kubectl.h"

/* "nginx", "pod/nginx", or "deploy/web": a pod of that workload (the one most alive). */
MUST_USE struct status *pod_find(struct kubectl *k, struct str word, struct value **ret_pod);
/* The container that was asked for, the default one, or the first, which is told on stderr when there are more. */
MUST_USE struct status *pod_container(struct kubectl *k, const struct value *pod, struct str wanted, bool quiet,
                                      struct str *ret);
/* Names of all containers: the init ones, the usual, the ephemeral. */
struct str_list pod_containers(struct kubectl *k, const struct value *pod);
/* The text of a LabelSelector of a workload. */
MUST_USE struct status *selector_text(struct kubectl *k, const struct value *selector, struct str *ret);

#endif
