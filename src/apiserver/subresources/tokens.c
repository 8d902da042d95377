/* Tokens of service accounts: made for whoever may, and looked at for whoever was shown one. */
#include "apiserver/subresources/handlers.h"

#include "api/authentication_v1.h"
#include "api/core_v1.h"
#include "apiserver/authn/authenticate.h"
#include "apiserver/decode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/managed_fields.h"
#include "apiserver/registry/object_meta.h"
#include "apiserver/registry/storage.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "base/env.h"
#include "schema/timestamp.h"

#include <string.h>

enum { DEFAULT_SECONDS = 3600, LEAST_SECONDS = 600, WARN_SECONDS = 3607, EXTENDED_SECONDS = 365 * 24 * 3600 };

static struct status *finish(struct status *errors, struct str name)
{
    return error_invalid_finish(errors, STR("authentication.k8s.io"), STR("TokenRequest"), name);
}

static struct status *check_request(struct request *request, struct authentication_v1_token_request *wanted)
{
    struct status *errors = error_invalid_start();
    struct arena *arena = request->arena;
    struct str name = wanted->metadata.name;
    int64_t seconds = *wanted->spec.expiration_seconds;
    struct str value = arena_printf(arena, "%lld", (long long)seconds);

    if (name.n != 0 && !str_eq(name, request->info.name)) {
        error_invalid_value(errors, STR("metadata.name"), arena_printf(arena, "\"%.*s\"", STR_ARG(name)),
                            "must match the service account name if specified");
        return finish(errors, request->info.name);
    }
    if (seconds < LEAST_SECONDS) {
        error_invalid_value(errors, STR("spec.expirationSeconds"), value,
                            "may not specify a duration less than 10 minutes");
    }
    if (seconds > INT64_C(1) << 32) {
        error_invalid_value(errors, STR("spec.expirationSeconds"), value,
                            "may not specify a duration larger than 2^32 seconds");
    }
    return finish(errors, name);
}

/* What a token can be bound to. */
static const struct {
    const char *kind, *plural;
} bindable[] = {{"Pod", "pods"}, {"Secret", "secrets"}, {"Node", "nodes"}};

static struct status *find_bound(struct request *request, const struct authentication_v1_bound_object_reference *to,
                                 const struct object **ret)
{
    struct kept kept;

    for (size_t i = 0; i < COUNT_OF(bindable) && str_is(to->api_version, "v1"); i++) {
        if (!str_is(to->kind, bindable[i].kind)) {
            continue;
        }
        const struct resource *resource = apiserver_resource(request->server, "", "v1", bindable[i].plural);

        TRY(storage_get(request->server->store, resource, request->arena,
                        resource->kind->namespaced ? request->info.namespace : (struct str){0}, to->name, &kept));
        if (to->uid.n != 0 && !str_eq(to->uid, kept.object->metadata.uid)) {
            return error_conflict((struct str){0}, to->kind, to->name,
                                  "the UID in the bound object reference (%.*s) does not match the UID in record. The "
                                  "object might have been deleted and then recreated",
                                  STR_ARG(to->uid));
        }
        *ret = kept.object;
        return NULL;
    }
    struct str group, version;

    if (!str_cut(to->api_version, '/', &group, &version)) {
        version = group;
        group = (struct str){0};
    }
    return error_bad_request("cannot bind token to object of type %.*s/%.*s, Kind=%.*s", STR_ARG(group),
                             STR_ARG(version), STR_ARG(to->kind));
}

/* A pod's token tells its node too. */
static struct status *claim_pod(struct request *request, const struct core_v1_pod *pod,
                                struct service_account_claims *claims)
{
    struct kept kept;

    if (!str_eq(pod->spec.service_account_name, request->info.name)) {
        return error_bad_request("cannot bind token for serviceaccount \"%.*s\" to pod running with different "
                                 "serviceaccount name.",
                                 STR_ARG(request->info.name));
    }
    claims->pod_name = pod->metadata.name;
    claims->pod_uid = pod->metadata.uid;
    if (pod->spec.node_name.n == 0) {
        return NULL;
    }
    struct status *status = storage_get(request->server->store, apiserver_resource(request->server, "", "v1", "nodes"),
                                        request->arena, (struct str){0}, pod->spec.node_name, &kept);

    claims->node_name = pod->spec.node_name;
    if (status == NULL) {
        claims->node_uid = kept.object->metadata.uid;
    }
    return status_free_if(&status, STATUS_NOT_FOUND) ? NULL : status;
}

static struct status *claim_bound(struct request *request, struct authentication_v1_bound_object_reference *to,
                                  struct service_account_claims *claims)
{
    const struct object *object = NULL;

    if (to == NULL) {
        return NULL;
    }
    TRY(find_bound(request, to, &object));
    to->uid = object->metadata.uid;
    if (str_is(to->kind, "Pod")) {
        return claim_pod(request, (const struct core_v1_pod *)object, claims);
    }
    if (str_is(to->kind, "Secret")) {
        claims->secret_name = object->metadata.name;
        claims->secret_uid = object->metadata.uid;
    } else {
        claims->node_name = object->metadata.name;
        claims->node_uid = object->metadata.uid;
    }
    return NULL;
}

static struct status *sign(struct request *request, const struct object *account,
                           struct authentication_v1_token_request *wanted)
{
    struct apiserver *server = request->server;
    const struct apiserver_options *options = server->options;
    struct arena *arena = request->arena;
    int64_t now = env_wall() / ENV_SECOND, seconds = *wanted->spec.expiration_seconds;
    int64_t most = options->service_account_max_token_expiration / ENV_SECOND;
    struct service_account_claims claims = {.issuer = server->issuers.items[0],
                                            .namespace = account->metadata.namespace,
                                            .name = account->metadata.name,
                                            .uid = account->metadata.uid,
                                            .id = object_meta_new_uid(arena),
                                            .audiences = wanted->spec.audiences,
                                            .issued = now};

    TRY(claim_bound(request, wanted->spec.bound_object_ref, &claims));
    if (most > 0 && seconds > most) {
        request_warn(request,
                     "requested expiration of %lld seconds shortened to %lld seconds",
                     (long long)seconds, (long long)most);
        seconds = most;
        *wanted->spec.expiration_seconds = seconds;
    }
    /* programs that read a pod's token once go on working; that they do is logged by the time they should have read anew */
    if (options->service_account_extend_token_expiration && seconds == WARN_SECONDS && claims.pod_name.n != 0) {
        claims.warn_after = now + seconds;
        seconds = EXTENDED_SECONDS;
    }
    claims.expires = now + seconds;
    wanted->status.expiration_timestamp =
        (struct timestamp){.seconds = claims.warn_after != 0 ? claims.warn_after : claims.expires, .is_set = true};
    return jwt_sign(server->sign_key, service_account_claims_json(&claims, arena), arena, &wanted->status.token);
}

static struct status *read_request(struct request *request, struct authentication_v1_token_request **ret)
{
    struct write_options options;
    struct str body;
    void *decoded;

    TRY(query_write_options(request->arena, request->exchange->query, WRITE_CREATE, &options));
    TRY(decode_read_body(request, &body));
    TRY(decode_object(request, body, &authentication_v1_token_request_kind, options.field_validation, &decoded));
    struct authentication_v1_token_request *wanted = decoded;

    if (wanted->spec.expiration_seconds == NULL) {
        wanted->spec.expiration_seconds = ARENA_NEW(request->arena, int64_t);
        *wanted->spec.expiration_seconds = DEFAULT_SECONDS;
    }
    TRY(object_meta_set_namespace(request->resource->kind, decoded, request->info.namespace));
    managed_fields_update(&(struct managed_write){.arena = request->arena,
                                                  .kind = &authentication_v1_token_request_kind,
                                                  .subresource = STR("token"),
                                                  .manager = request_field_manager(request, options.field_manager)},
                          NULL, decoded);
    *ret = wanted;
    return check_request(request, wanted);
}

struct status *token_request_create(struct request *request)
{
    struct authentication_v1_token_request *wanted = NULL;
    struct apiserver *server = request->server;
    struct kept kept;

    if (!str_is(request->info.verb, "create")) {
        return error_method_not_allowed();
    }
    if (server->sign_key == NULL || server->issuers.len == 0) {
        return error_no_such_resource();
    }
    TRY(read_request(request, &wanted));
    TRY(storage_get(server->store, request->resource, request->arena, request->info.namespace, request->info.name,
                    &kept));
    if (wanted->spec.audiences.len == 0) {
        wanted->spec.audiences = server->audiences;
    }
    wanted->metadata.name = kept.object->metadata.name;
    wanted->metadata.uid = kept.object->metadata.uid;
    wanted->metadata.creation_timestamp = timestamp_now();
    TRY(sign(request, kept.object, wanted));
    return respond_object(request, 201, &authentication_v1_token_request_kind, wanted);
}

static void set_user_info(struct arena *arena, const struct user *user, struct authentication_v1_user_info *ret)
{
    ret->username = user->name;
    ret->uid = user->uid;
    ret->groups = user->groups;
    for (size_t i = 0; i < user->extra.len; i++) {
        struct str_list_entry *entry = LIST_ADD(arena, &ret->extra);

        entry->key = user->extra.items[i].key;
        entry->value = user->extra.items[i].values;
    }
}

struct status *token_review_create(struct request *request)
{
    struct write_options options;
    struct str body;
    void *decoded;

    TRY(query_write_options(request->arena, request->exchange->query, WRITE_CREATE, &options));
    TRY(decode_read_body(request, &body));
    TRY(decode_object(request, body, request->resource->kind, options.field_validation, &decoded));
    struct authentication_v1_token_review *review = decoded;

    managed_fields_update(&(struct managed_write){.arena = request->arena,
                                                  .kind = request->resource->kind,
                                                  .manager = request_field_manager(request, options.field_manager)},
                          NULL, decoded);
    if (review->spec.token.n == 0) {
        return error_bad_request("token is required for TokenReview in authentication");
    }
    struct authn_token_result result =
        authenticate_token(request->server, review->spec.token, &review->spec.audiences, request->arena);

    memset(&review->status, 0, sizeof review->status);
    if (result.verdict == AUTHN_OK) {
        review->status.authenticated = true;
        review->status.audiences = result.audiences;
        set_user_info(request->arena, result.user, &review->status.user);
    } else if (result.error.n != 0) {
        review->status.error =
            arena_printf(request->arena, "[invalid bearer token, %.*s]", STR_ARG(result.error));
    } else {
        review->status.error = STR("invalid bearer token");
    }
    return respond_object(request, 201, request->resource->kind, review);
}

struct status *self_subject_review_create(struct request *request)
{
    struct str body;
    void *decoded;

    TRY(decode_read_body(request, &body));
    TRY(decode_object(request, body, request->resource->kind, FIELD_VALIDATION_IGNORE, &decoded));
    struct authentication_v1_self_subject_review *review = decoded;

    review->metadata.creation_timestamp = timestamp_now();
    set_user_info(request->arena, request->user, &review->status.user_info);
    return respond_object(request, 201, request->resource->kind, review);
}
