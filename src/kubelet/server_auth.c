#include "kubelet/server_auth.h"

#include "api/authentication_v1.h"
#include "api/authorization_v1.h"
#include "base/env.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/certificate.h"

#include <stdlib.h>

enum { DECISIONS_MAX = 1024 };

struct decision {
    int64_t until; /* env_mono */
    bool is_allowed;
};

struct server_auth {
    struct kubelet *kubelet;
    bool anonymous, token_review, always_allow;
    int64_t authorized_ttl, unauthorized_ttl;
    struct map decisions; /* by "USER\nGROUPS\nVERB\nSUBRESOURCE" */
};

struct asker {
    struct str name, uid;
    struct str_list groups;
};

struct server_auth *server_auth_new(struct kubelet *kubelet, const struct kubelet_server_options *options)
{
    struct server_auth *auth = MEM_NEW(struct server_auth);

    *auth = (struct server_auth){
        .kubelet = kubelet,
        .anonymous = options->anonymous,
        .token_review = options->token_review,
        .always_allow = options->always_allow,
        .authorized_ttl = options->authorized_ttl,
        .unauthorized_ttl = options->unauthorized_ttl,
    };
    return auth;
}

static void forget_decisions(struct server_auth *auth)
{
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&auth->decisions, &at)) != NULL;) {
        free(e->value);
    }
    map_done(&auth->decisions);
    auth->decisions = (struct map){0};
}

void server_auth_free(struct server_auth *auth)
{
    if (auth != NULL) {
        forget_decisions(auth);
        free(auth);
    }
}

static bool review_token(struct server_auth *auth, struct http_exchange *exchange, struct str token, struct asker *ret)
{
    struct authentication_v1_token_review review = {.spec.token = token};
    void *answer;
    struct status *error = auth->kubelet->client == NULL
                               ? status_new(STATUS_UNAUTHORIZED, "no API server to ask")
                               : client_create(auth->kubelet->client, &authentication_v1_token_review_kind, &review,
                                               NULL, exchange->arena, &answer);

    if (error != NULL) {
        status_free(error);
        return false;
    }
    const struct authentication_v1_token_review *reviewed = answer;

    *ret = (struct asker){reviewed->status.user.username, reviewed->status.user.uid, reviewed->status.user.groups};
    return reviewed->status.authenticated;
}

static bool authenticate(struct server_auth *auth, struct http_exchange *exchange, struct asker *ret)
{
    struct str header = http_header_find(&exchange->headers, STR("authorization"));
    struct certificate certificate;

    if (exchange->peer.is_verified && exchange->peer.certificate.n > 0) {
        struct status *error = certificate_parse(exchange->peer.certificate, exchange->arena, &certificate);

        if (error == NULL) {
            *ret = (struct asker){.name = certificate.subject.common_name, .groups = certificate.subject.organizations};
            *LIST_ADD(exchange->arena, &ret->groups) = STR("system:authenticated");
            return true;
        }
        status_free(error);
    }
    if (auth->token_review && str_has_prefix(header, STR("Bearer "))) {
        return review_token(auth, exchange, str_from(header, 7), ret);
    }
    if (auth->anonymous && header.n == 0) {
        *ret = (struct asker){.name = STR("system:anonymous")};
        *LIST_ADD(exchange->arena, &ret->groups) = STR("system:unauthenticated");
        return true;
    }
    return false;
}

struct str server_auth_subresource(struct str path, struct str *ret_second)
{
    static const struct {
        const char *prefix, *subresource;
        bool is_fine; /* "proxy" was the right for it before there was a finer one */
    } rows[] = {
        {"/stats", "stats", false}, {"/metrics", "metrics", false}, {"/logs", "log", false},
        {"/checkpoint", "checkpoint", false}, {"/pods", "pods", true}, {"/runningpods", "pods", true},
        {"/healthz", "healthz", true}, {"/configz", "configz", true},
    };

    *ret_second = STR("");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct str prefix = str_of(rows[i].prefix), rest = str_from(path, prefix.n);

        if (str_has_prefix(path, prefix) && (rest.n == 0 || rest.p[0] == '/')) {
            *ret_second = rows[i].is_fine ? STR("proxy") : STR("");
            return str_of(rows[i].subresource);
        }
    }
    return STR("proxy");
}

struct str server_auth_verb(struct str method)
{
    return str_is(method, "POST")     ? STR("create")
           : str_is(method, "PUT")    ? STR("update")
           : str_is(method, "PATCH")  ? STR("patch")
           : str_is(method, "DELETE") ? STR("delete")
                                      : STR("get");
}

static struct str decision_key(struct arena *arena, const struct asker *asker, struct str verb, struct str subresource)
{
    struct str key = arena_printf(arena, "%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(asker->name), STR_ARG(asker->uid),
                                  STR_ARG(verb), STR_ARG(subresource));

    LIST_EACH (group, &asker->groups) {
        key = arena_printf(arena, "%.*s\n%.*s", STR_ARG(key), STR_ARG(*group));
    }
    return key;
}

static struct status *review_access(struct server_auth *auth, const struct asker *asker, struct str verb,
                                    struct str subresource, struct arena *arena, bool *ret_allowed)
{
    struct authorization_v1_resource_attributes attributes = {.verb = verb,
                                                              .resource = STR("nodes"),
                                                              .version = STR("v1"),
                                                              .name = auth->kubelet->node_name,
                                                              .subresource = subresource};
    struct authorization_v1_subject_access_review review = {
        .spec = {.resource_attributes = &attributes, .user = asker->name, .uid = asker->uid, .groups = asker->groups}};
    void *answer;

    if (auth->kubelet->client == NULL) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "no API server to ask");
    }
    TRY(client_create(auth->kubelet->client, &authorization_v1_subject_access_review_kind, &review, NULL, arena,
                      &answer));
    *ret_allowed = ((const struct authorization_v1_subject_access_review *)answer)->status.allowed;
    return NULL;
}

static struct status *is_allowed(struct server_auth *auth, const struct asker *asker, struct str verb,
                                 struct str subresource, struct arena *arena, bool *ret)
{
    struct str key = decision_key(arena, asker, verb, subresource);
    struct decision *known = map_find(&auth->decisions, key);

    if (known != NULL && env_mono() < known->until) {
        *ret = known->is_allowed;
        return NULL;
    }
    TRY(review_access(auth, asker, verb, subresource, arena, ret));
    if (auth->decisions.count >= DECISIONS_MAX) {
        forget_decisions(auth);
    }
    struct decision *decision = MEM_NEW(struct decision);

    *decision = (struct decision){env_mono() + (*ret ? auth->authorized_ttl : auth->unauthorized_ttl), *ret};
    free(map_set(&auth->decisions, key, decision));
    return NULL;
}

/* The group that every authorizer of Kubernetes lets do everything. */
static bool is_master(const struct asker *asker)
{
    LIST_EACH (group, &asker->groups) {
        if (str_is(*group, "system:masters")) {
            return true;
        }
    }
    return false;
}

static bool authorize(struct server_auth *auth, struct http_exchange *exchange, const struct asker *asker)
{
    struct str second, verb = server_auth_verb(exchange->method);
    struct str first = server_auth_subresource(exchange->path, &second);
    bool allowed = false;

    if (auth->always_allow || is_master(asker)) {
        return true;
    }
    struct status *error = is_allowed(auth, asker, verb, first, exchange->arena, &allowed);

    if (error == NULL && !allowed && second.n > 0) {
        error = is_allowed(auth, asker, verb, second, exchange->arena, &allowed);
    }
    if (error != NULL) {
        server_error(exchange, 500,
                     "Authorization error (user=%.*s, verb=%.*s, resource=nodes, subresource(s)=[%.*s%s%.*s])",
                     STR_ARG(asker->name), STR_ARG(verb), STR_ARG(first), second.n > 0 ? " " : "", STR_ARG(second));
        status_free(error);
        return false;
    }
    if (!allowed) {
        server_error(exchange, 403, "Forbidden (user=%.*s, verb=%.*s, resource=nodes, subresource(s)=[%.*s%s%.*s])",
                     STR_ARG(asker->name), STR_ARG(verb), STR_ARG(first), second.n > 0 ? " " : "", STR_ARG(second));
    }
    return allowed;
}

bool server_auth_check(struct server_auth *auth, struct http_exchange *exchange)
{
    struct asker asker = {0};

    if (!authenticate(auth, exchange, &asker)) {
        server_error(exchange, 401, "Unauthorized");
        return false;
    }
    return authorize(auth, exchange, &asker);
}
