/* Service account tokens: JWTs this server signs, bound to an account and perhaps a pod, secret or node. */
#ifndef APISERVER_AUTHN_SERVICE_ACCOUNT_H
#define APISERVER_AUTHN_SERVICE_ACCOUNT_H

#include "apiserver/authn/authn.h"

#include "net/jwt.h"

struct meta_v1_object_meta;

enum bound_kind { BOUND_SERVICE_ACCOUNT, BOUND_POD, BOUND_SECRET, BOUND_NODE };

/* Where bound objects are looked up: their metadata, borrowed until the next park; NULL when there is none. */
struct service_account_lookup {
    const struct meta_v1_object_meta *(*find)(void *arg, enum bound_kind kind, struct str namespace, struct str name);
    void *arg;
};

/* What a token is to say. */
struct service_account_claims {
    struct str issuer, namespace, name, uid, id;
    struct str_list audiences;
    struct str pod_name, pod_uid, secret_name, secret_uid, node_name, node_uid;
    int64_t issued, expires; /* seconds since 1970 */
    int64_t warn_after;      /* 0: no such claim */
};

struct str service_account_claims_json(const struct service_account_claims *claims, struct arena *arena);

struct service_account_verifier {
    const struct str_list *issuers;
    struct crypto_key *const *keys;
    size_t key_count;
    const struct str_list *audiences; /* of this server */
    const struct service_account_lookup *lookup; /* NULL: what it is bound to is not looked at */
};

/* AUTHN_NONE when it is no token of these issuers. `wanted` audiences: empty means the server's own. `now` is in seconds
 * since 1970. */
struct authn_token_result service_account_verify(const struct service_account_verifier *verifier, struct str token,
                                                 const struct str_list *wanted, int64_t now, struct arena *arena);

#endif
