#include "apiserver/authz/webhook.h"

#include "base/env.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/kubeconfig.h"
#include "schema/value.h"

#include <stdlib.h>

/* An answer takes no longer than this. The memory holds so many decisions, and begins anew when it is full. */
static const int64_t timeout = 30 * ENV_SECOND;
enum { REMEMBERED_MAX = 8192, ANSWER_BYTES_MAX = 1 << 20 };

struct remembered {
    enum authz_verdict verdict;
    char *reason;
    int64_t until; /* env_mono() */
};

struct webhook {
    struct client *client;
    struct str version; /* of authorization.k8s.io */
    struct str target;
    int64_t authorized_ttl, unauthorized_ttl;
    struct map remembered; /* by question */
};

static void add_text(struct arena *arena, struct value *object, const char *key, struct str text)
{
    if (text.n != 0) {
        value_set(arena, object, str_of(key), value_string(arena, text));
    }
}

static struct value *texts(struct arena *arena, const struct str_list *list)
{
    struct value *array = value_array(arena);

    LIST_EACH(item, list) {
        value_add(arena, array, value_string(arena, *item));
    }
    return array;
}

static struct value *attributes_value(struct arena *arena, const struct authz_attributes *attributes)
{
    struct value *value = value_object(arena);

    if (!attributes->is_resource) {
        add_text(arena, value, "path", attributes->path);
        add_text(arena, value, "verb", attributes->verb);
        return value;
    }
    add_text(arena, value, "namespace", attributes->namespace);
    add_text(arena, value, "verb", attributes->verb);
    add_text(arena, value, "group", attributes->group);
    add_text(arena, value, "version", attributes->version);
    add_text(arena, value, "resource", attributes->resource);
    add_text(arena, value, "subresource", attributes->subresource);
    add_text(arena, value, "name", attributes->name);
    return value;
}

static void add_user(struct arena *arena, struct value *spec, const struct user *user, struct str version)
{
    add_text(arena, spec, "user", user->name);
    if (user->groups.len != 0) {
        /* the beta version had another name for it */
        value_set(arena, spec, str_is(version, "v1beta1") ? STR("group") : STR("groups"), texts(arena, &user->groups));
    }
    if (user->extra.len != 0) {
        struct value *extra = value_object(arena);

        LIST_EACH(item, &user->extra) {
            value_set(arena, extra, item->key, texts(arena, &item->values));
        }
        value_set(arena, spec, STR("extra"), extra);
    }
    add_text(arena, spec, "uid", user->uid);
}

struct str webhook_question(struct arena *arena, const struct authz_attributes *attributes, struct str version)
{
    struct value *review = value_object(arena), *spec = value_object(arena);

    value_set(arena, spec,
              attributes->is_resource ? STR("resourceAttributes") : STR("nonResourceAttributes"),
              attributes_value(arena, attributes));
    add_user(arena, spec, attributes->user, version);
    add_text(arena, review, "kind", STR("SubjectAccessReview"));
    add_text(arena, review, "apiVersion", arena_printf(arena, "authorization.k8s.io/%.*s", STR_ARG(version)));
    value_set(arena, review, STR("metadata"), value_object(arena));
    value_set(arena, review, STR("spec"), spec);
    return value_json(arena, review);
}

static bool is_true(const struct value *status, const char *name)
{
    const struct value *value = value_find(status, str_of(name));

    return value_is(value, VALUE_BOOL) && value->boolean;
}

struct authz_decision webhook_answer(struct arena *arena, struct str json)
{
    struct authz_decision decision = {.verdict = AUTHZ_NO_OPINION};
    struct value *review;
    struct status *status = value_read_json(arena, json, &review, NULL);

    if (status != NULL) {
        decision.error = arena_str(arena, status->message);
        status_free(status);
        return decision;
    }
    const struct value *verdict = value_find(review, STR("status"));
    bool allowed = is_true(verdict, "allowed"), denied = is_true(verdict, "denied");

    decision.reason = arena_str(arena, value_str_at(verdict, "reason"));
    if (allowed && denied) {
        decision.error = STR("webhook subject access review returned both allow and deny response");
        decision.reason = (struct str){0};
    } else if (denied) {
        decision.verdict = AUTHZ_DENY;
    } else if (allowed) {
        decision.verdict = AUTHZ_ALLOW;
    }
    return decision;
}

static void forget_all(struct webhook *webhook)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&webhook->remembered, &at)) != NULL;) {
        struct remembered *old = entry->value;

        free(old->reason);
        free(old);
    }
    map_done(&webhook->remembered);
    webhook->remembered = (struct map){0};
}

static void remember(struct webhook *webhook, struct str question, const struct authz_decision *decision)
{
    int64_t ttl = decision->verdict == AUTHZ_ALLOW ? webhook->authorized_ttl : webhook->unauthorized_ttl;
    struct remembered *new = MEM_NEW(struct remembered);
    OWNED(buf_done) struct buf reason = {0};

    if (webhook->remembered.count >= REMEMBERED_MAX) {
        forget_all(webhook);
    }
    buf_add_str(&reason, decision->reason);
    *new = (struct remembered){decision->verdict, mem_strdup(buf_cstr(&reason)), env_mono() + ttl};
    struct remembered *old = map_set(&webhook->remembered, question, new);

    if (old != NULL) {
        free(old->reason);
        free(old);
    }
}

static struct status *ask(struct webhook *webhook, struct str question, struct arena *arena, struct str *ret_answer)
{
    struct http_request request = {
        .method = STR("POST"), .target = webhook->target, .body = question, .deadline = env_mono() + timeout};
    struct http_response *response;

    http_header_add(arena, &request.headers, STR("content-type"), STR("application/json"));
    TRY(client_request(webhook->client, &request, &response));
    struct status *status = response->code / 100 == 2
                                ? http_response_read_all(response, arena, ANSWER_BYTES_MAX, ret_answer)
                                : client_error(response);

    http_response_close(response);
    return status;
}

struct authz_decision webhook_decide(struct webhook *webhook, const struct authz_attributes *attributes,
                                     struct arena *arena)
{
    struct str question = webhook_question(arena, attributes, webhook->version), answer;
    const struct remembered *known = map_find(&webhook->remembered, question);

    if (known != NULL && env_mono() < known->until) {
        return (struct authz_decision){.verdict = known->verdict, .reason = arena_str(arena, str_of(known->reason))};
    }
    struct status *status = ask(webhook, question, arena, &answer);

    if (status != NULL) {
        log_error("Failed to make webhook authorizer request: %.*s", STR_ARG(status->message));
        struct authz_decision none = {.verdict = AUTHZ_NO_OPINION, .error = arena_str(arena, status->message)};

        status_free(status);
        return none;
    }
    struct authz_decision decision = webhook_answer(arena, answer);

    if (decision.error.n == 0) {
        remember(webhook, question, &decision);
    }
    return decision;
}

/* The server's URL may have a path of its own; without one the request goes to its root. */
static struct str target_of(struct str server)
{
    size_t at = str_find(server, STR("://"));
    struct str rest = str_from(server, at == SIZE_MAX ? 0 : at + 3);
    size_t slash = str_index(rest, '/');

    return slash == SIZE_MAX || slash + 1 == rest.n ? STR("/") : STR("");
}

struct status *webhook_open(const struct apiserver_options *options, struct webhook **ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubeconfig_overrides overrides = {.path = options->authorization_webhook_config_file};
    struct kubeconfig config;
    struct client *client;

    TRY(kubeconfig_load(&overrides, arena, &config));
    TRY(kubeconfig_connect(&config, STR("kube-apiserver"), &client));
    struct webhook *webhook = MEM_NEW(struct webhook);

    *webhook = (struct webhook){.client = client,
                                .version = options->authorization_webhook_version,
                                .target = target_of(config.server),
                                .authorized_ttl = options->authorization_webhook_cache_authorized_ttl,
                                .unauthorized_ttl = options->authorization_webhook_cache_unauthorized_ttl};
    *ret = webhook;
    return NULL;
}

void webhook_free(struct webhook *webhook)
{
    if (webhook != NULL) {
        forget_all(webhook);
        client_free(webhook->client);
        free(webhook);
    }
}
