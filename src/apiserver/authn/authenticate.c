#include "apiserver/authn/authenticate.h"

#include "api/core_v1.h"
#include "apiserver/registry/storage.h"
#include "apiserver/server.h"
#include "base/env.h"

struct lookup_arg {
    struct apiserver *server;
    struct arena *arena;
};

static const struct meta_v1_object_meta *find_bound(void *arg, enum bound_kind kind, struct str namespace,
                                                    struct str name)
{
    static const char *const plurals[] = {"serviceaccounts", "pods", "secrets", "nodes"};
    struct lookup_arg *lookup = arg;
    const struct resource *resource = apiserver_resource(lookup->server, "", "v1", plurals[kind]);
    struct kept kept;
    struct status *status =
        storage_get(lookup->server->store, resource, lookup->arena, namespace, name, &kept);

    if (status != NULL) {
        status_free(status);
        return NULL;
    }
    return &kept.object->metadata;
}

struct authn_token_result authenticate_token(struct apiserver *server, struct str token,
                                             const struct str_list *audiences, struct arena *arena)
{
    if (server->tokens != NULL) {
        struct user *user = authn_file_by_token(server->tokens, token, arena);

        if (user != NULL) {
            str_list_add(arena, &user->groups, STR(GROUP_AUTHENTICATED));
            return (struct authn_token_result){.verdict = AUTHN_OK, .user = user};
        }
    }
    struct lookup_arg arg = {server, arena};
    struct service_account_lookup lookup = {.find = find_bound, .arg = &arg};
    struct service_account_verifier verifier = {.issuers = &server->issuers,
                                                .keys = server->verify_keys,
                                                .key_count = server->verify_key_count,
                                                .audiences = &server->audiences,
                                                .lookup = server->options->service_account_lookup ? &lookup : NULL};
    struct authn_token_result result =
        service_account_verify(&verifier, token, audiences, env_wall() / ENV_SECOND, arena);

    if (result.verdict == AUTHN_OK) {
        str_list_add(arena, &result.user->groups, STR(GROUP_AUTHENTICATED));
    }
    return result;
}

/* The first credential that is accepted; *ret_tried says that there was one at all. */
static struct user *by_credentials(struct request *request, bool *ret_tried)
{
    struct apiserver *server = request->server;
    const struct http_peer *peer = &request->exchange->peer;
    struct str authorization = request_header(request, "authorization"), token, name, password;
    struct user *user = NULL;

    *ret_tried = false;
    if (peer->certificate.n != 0) {
        *ret_tried = true;
        if (peer->is_verified) {
            user = authn_by_certificate(server->certificates, peer->certificate, request->arena);
        }
    }
    if (user == NULL && authn_bearer(authorization, &token)) {
        *ret_tried = true;
        user = authenticate_token(server, token, NULL, request->arena).user;
    }
    if (user == NULL && server->passwords != NULL && authn_basic(authorization, request->arena, &name, &password)) {
        *ret_tried = true;
        user = authn_file_by_password(server->passwords, name, password, request->arena);
        if (user != NULL) {
            str_list_add(request->arena, &user->groups, STR(GROUP_AUTHENTICATED));
        }
    }
    return user;
}

struct status *authenticate(struct request *request)
{
    bool tried;
    struct user *user = by_credentials(request, &tried);

    if (user == NULL && (tried || !request->server->options->anonymous_auth)) {
        return status_new(STATUS_UNAUTHORIZED, "Unauthorized");
    }
    request->user = user != NULL ? user : authn_anonymous(request->arena);
    http_header_remove(&request->exchange->headers, STR("authorization"));
    return NULL;
}
