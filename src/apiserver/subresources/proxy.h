/* Requests passed on: to a kubelet, a pod, a service. */
#ifndef APISERVER_SUBRESOURCES_PROXY_H
#define APISERVER_SUBRESOURCES_PROXY_H

#include "apiserver/options.h"
#include "apiserver/request.h"
#include "net/tls.h"

struct core_v1_node;
struct core_v1_pod;

struct proxy_target {
    struct str address;     /* "10.0.0.1:10250" */
    struct str server_name; /* whom the certificate must be for */
    struct tls_context *tls; /* NULL: plain HTTP */
    struct str path;        /* with the query, encoded */
};

/* Sends the request on as it is, but for the path, and its answer back as it comes. A connection that is upgraded is
 * spliced until one end closes it. SERVICE_UNAVAILABLE in stock's words when the target can't be reached. */
MUST_USE struct status *proxy_relay(struct request *request, const struct proxy_target *target);
/* GET alone, without the client's headers; *ret is the answer, to be closed by the caller. */
MUST_USE struct status *proxy_get(struct request *request, const struct proxy_target *target, struct http_client **ret_client,
                                  struct http_response **ret);

/* Where a node's kubelet answers. NOT_FOUND about the node as stock says it for pods when `for_pods`. */
MUST_USE struct status *kubelet_locate(struct request *request, struct str node, bool for_pods,
                                       struct proxy_target *ret);
/* The address of a kind that the node has, best first. Pure; false when it has none. */
bool kubelet_address(const struct core_v1_node *node, const struct flag_strings *preferred, struct str *ret);
/* The container a request is about: the one named, or the pod's only one. BAD_REQUEST in stock's words. Pure. */
MUST_USE struct status *kubelet_container(struct arena *arena, const struct core_v1_pod *pod, struct str asked,
                                          struct str *ret);

#endif
