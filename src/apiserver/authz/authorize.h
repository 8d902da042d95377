/* The chain of authorizers that a server has. */
#ifndef APISERVER_AUTHZ_AUTHORIZE_H
#define APISERVER_AUTHZ_AUTHORIZE_H

#include "apiserver/authz/rbac.h"
#include "apiserver/request.h"
#include "apiserver/watch_cache.h"

/* Asks the modes of --authorization-mode in their order. May park. */
MUST_USE struct status *authorize(struct apiserver *server, const struct authz_attributes *attributes,
                                  struct arena *arena, struct authz_decision *ret);
/* What a request is about, for its user. */
struct authz_attributes authorize_attributes(const struct request *request);

/* Roles and bindings as of one moment: everything that the source lends lives until rbac_view_done(). */
struct rbac_view {
    struct watch_snapshot roles, role_bindings, cluster_roles, cluster_role_bindings;
    struct rbac_source source;
};

MUST_USE struct status *rbac_view_open(struct apiserver *server, struct rbac_view *ret);
/* For OWNED too; the zero value is fine. */
void rbac_view_done(struct rbac_view *view);

#endif
