/* Authorization: may this user do that? Modes are asked in the order of --authorization-mode; the first that has an
 * opinion decides, and when none has, the answer is no. */
#ifndef APISERVER_AUTHZ_AUTHZ_H
#define APISERVER_AUTHZ_AUTHZ_H

#include "apiserver/user.h"

#include "base/status.h"

/* What is asked; for resources the route's parts, else `path`. */
struct authz_attributes {
    const struct user *user;
    struct str verb;
    bool is_resource;
    struct str path;
    struct str group, version, namespace, resource, subresource, name;
    struct str field_selector, label_selector; /* as sent */
};

enum authz_verdict { AUTHZ_NO_OPINION, AUTHZ_ALLOW, AUTHZ_DENY };

struct authz_decision {
    enum authz_verdict verdict;
    struct str reason; /* may be empty */
    struct str error;  /* evaluation failed in part; empty: no */
};

/* "get", "list" or "watch". */
bool authz_is_read_only(const struct authz_attributes *attributes);
/* Stock's 403 for these attributes. */
MUST_USE struct status *authz_forbidden(const struct authz_attributes *attributes, struct str reason,
                                        struct arena *arena);

/* The policy file of ABAC: one JSON object a line. */
struct abac;
MUST_USE struct status *abac_parse(struct str text, struct str path, struct abac **ret);
void abac_free(struct abac *abac);
struct authz_decision abac_decide(const struct abac *abac, const struct authz_attributes *attributes);

#endif
