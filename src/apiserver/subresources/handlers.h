/* The handlers there are, one file for each kind of thing. For subresources.c only. */
#ifndef APISERVER_SUBRESOURCES_HANDLERS_H
#define APISERVER_SUBRESOURCES_HANDLERS_H

#include "apiserver/request.h"

/* POST pods/NAME/binding, and POST bindings. */
struct status *binding_create(struct request *request);
/* GET, PUT, PATCH of .../scale. */
struct status *scale_serve(struct request *request);
/* POST serviceaccounts/NAME/token. */
struct status *token_request_create(struct request *request);
/* POST of the computed kinds of authentication.k8s.io and authorization.k8s.io. */
struct status *token_review_create(struct request *request);
struct status *self_subject_review_create(struct request *request);
struct status *subject_access_review_create(struct request *request);
struct status *local_subject_access_review_create(struct request *request);
struct status *self_subject_access_review_create(struct request *request);
struct status *self_subject_rules_review_create(struct request *request);
/* POST pods/NAME/eviction. */
struct status *eviction_create(struct request *request);
/* pods/NAME/log, exec, attach, portforward: answered by the kubelet. */
struct status *pod_log_get(struct request *request);
struct status *pod_exec_serve(struct request *request);
struct status *pod_attach_serve(struct request *request);
struct status *pod_port_forward_serve(struct request *request);
/* .../NAME/proxy/PATH of nodes, pods and services. */
struct status *node_proxy_serve(struct request *request);
struct status *pod_proxy_serve(struct request *request);
struct status *service_proxy_serve(struct request *request);

#endif
