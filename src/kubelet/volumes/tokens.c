#include "kubelet/volumes/tokens.h"

#include "api/authentication_v1.h"
#include "base/env.h"
#include "base/mem.h"
#include "schema/timestamp.h"

#include <stdlib.h>

struct token {
    struct arena *arena;
    struct str text;
    int64_t asked, expires; /* env_wall */
};

struct token_manager {
    struct kubelet *kubelet;
    struct map tokens; /* by "UID/AUDIENCE/SECONDS" */
};

struct token_manager *token_manager_new(struct kubelet *kubelet)
{
    struct token_manager *manager = MEM_NEW(struct token_manager);

    manager->kubelet = kubelet;
    return manager;
}

static void token_free(struct token *token)
{
    if (token != NULL) {
        arena_free(token->arena);
        free(token);
    }
}

void token_manager_free(struct token_manager *manager)
{
    size_t at = 0;

    if (manager == NULL) {
        return;
    }
    for (struct map_entry *e; (e = map_next(&manager->tokens, &at)) != NULL;) {
        token_free(e->value);
    }
    map_done(&manager->tokens);
    free(manager);
}

static bool must_renew(const struct token *token, int64_t now)
{
    int64_t life = token->expires - token->asked;

    return now >= token->asked + life / 5 * 4 || now >= token->asked + 24 * 3600 * ENV_SECOND;
}

static struct status *ask(struct token_manager *manager, const struct core_v1_pod *pod, struct str audience,
                          int64_t seconds, struct token **ret)
{
    struct arena *arena = arena_new();
    struct authentication_v1_bound_object_reference bound = {
        .kind = STR("Pod"), .api_version = STR("v1"), .name = pod->metadata.name, .uid = pod->metadata.uid};
    struct authentication_v1_token_request request = {
        .spec = {.expiration_seconds = &seconds, .bound_object_ref = &bound}};
    void *made;

    if (audience.n > 0) {
        *LIST_ADD(arena, &request.spec.audiences) = audience;
    }
    struct status *error =
        client_create_sub(manager->kubelet->client, &core_v1_service_account_kind, pod->metadata.namespace,
                          pod->spec.service_account_name, STR("token"), &authentication_v1_token_request_kind, &request,
                          arena, &made);

    if (error != NULL) {
        arena_free(arena);
        return status_while(error, "failed to fetch token");
    }
    const struct authentication_v1_token_request *answer = made;
    struct token *token = MEM_NEW(struct token);

    *token = (struct token){.arena = arena,
                            .text = answer->status.token,
                            .asked = env_wall(),
                            .expires = answer->status.expiration_timestamp.is_set
                                           ? timestamp_nanos(answer->status.expiration_timestamp)
                                           : env_wall() + seconds * ENV_SECOND};
    *ret = token;
    return NULL;
}

struct status *token_manager_get(struct token_manager *manager, const struct core_v1_pod *pod,
                                 const struct core_v1_service_account_token_projection *projection,
                                 struct arena *arena, struct str *ret)
{
    int64_t seconds = projection->expiration_seconds != NULL ? *projection->expiration_seconds : 3600;
    struct str key = arena_printf(arena, "%.*s/%.*s/%lld", STR_ARG(pod->metadata.uid), STR_ARG(projection->audience),
                                  (long long)seconds);
    struct token *token = map_find(&manager->tokens, key);

    if (manager->kubelet->client == NULL) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "cannot use TokenManager when kubelet is in standalone mode");
    }
    if (token == NULL || must_renew(token, env_wall())) {
        struct token *fresh;
        struct status *error = ask(manager, pod, projection->audience, seconds, &fresh);

        token = map_find(&manager->tokens, key); /* may have gone or come while the call parked */
        if (error == NULL) {
            token_free(map_set(&manager->tokens, key, fresh));
            token = fresh;
        } else if (token == NULL || token->expires <= env_wall()) {
            return error;
        } else {
            status_free(error);
        }
    }
    *ret = arena_str(arena, token->text);
    return NULL;
}

void token_manager_forget(struct token_manager *manager, struct str uid)
{
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&manager->tokens, &at)) != NULL;) {
        if (str_has_prefix(e->key, uid)) {
            token_free(map_remove(&manager->tokens, e->key));
        }
    }
}
