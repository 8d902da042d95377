/* The Node authorizer: a kubelet may do what the pods on its node need, and no more. */
#ifndef APISERVER_AUTHZ_NODE_H
#define APISERVER_AUTHZ_NODE_H

#include "apiserver/authz/authz.h"

struct apiserver;
struct core_v1_pod;

/* What a pod can refer to. */
enum node_reference { NODE_SECRET, NODE_CONFIG_MAP, NODE_CLAIM, NODE_SERVICE_ACCOUNT, NODE_RESOURCE_CLAIM };

/* Whether the pod's spec names that object of its own namespace. Pure. */
bool node_pod_refers(const struct core_v1_pod *pod, enum node_reference what, struct str name);
/* AUTHZ_NO_OPINION about users that are no nodes. Parks. */
MUST_USE struct status *node_decide(struct apiserver *server, const struct authz_attributes *attributes,
                                    struct arena *arena, struct authz_decision *ret);

#endif
