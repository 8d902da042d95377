/* Who asks the kubelet's server, and whether they may: client certificates and bearer tokens, and the API server's
 * word by SubjectAccessReview on the node's subresources, remembered for a while. */
#ifndef KUBELET_SERVER_AUTH_H
#define KUBELET_SERVER_AUTH_H

#include "kubelet/server.h"

struct server_auth;

struct server_auth *server_auth_new(struct kubelet *kubelet, const struct kubelet_server_options *options);
void server_auth_free(struct server_auth *auth);
/* Answers 401 or 403 itself and returns false when the request may not be served. Parks. */
bool server_auth_check(struct server_auth *auth, struct http_exchange *exchange);

/* The subresource of nodes that a path stands for ("proxy", "log", "stats", "metrics", ...); *ret_second is asked
 * about when the first is not allowed, empty: none. Pure. */
struct str server_auth_subresource(struct str path, struct str *ret_second);
/* The API's verb for an HTTP method. */
struct str server_auth_verb(struct str method);

#endif
