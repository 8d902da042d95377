#include "runtime/images/registry.h"

#include "base/base64.h"
#include "base/limits.h"
#include "net/http.h"
#include "runtime/images/challenge.h"

#include <string.h>

static const char accept_manifests[] = "Accept: " MEDIA_DOCKER_MANIFEST ", " MEDIA_DOCKER_INDEX ", " MEDIA_OCI_MANIFEST
                                       ", " MEDIA_OCI_INDEX ", */*";

/* One question, asked of one endpoint after another. */
struct question {
    const char *method;
    const char *part; /* "manifests" or "blobs" */
    struct str name;  /* tag or digest */
    const char *accept;
    int fd;
    int64_t offset, bytes_max;
    atomic_llong *received;
};

void registry_init(struct registry *registry, struct transfers *transfers, struct arena *arena,
                   const struct registries *registries, const struct image_reference *reference,
                   const struct registry_auth *auth)
{
    *registry = (struct registry){.transfers = transfers, .arena = arena, .repository = reference->path};
    registries_endpoints(registries, arena, reference->domain, &registry->endpoints);
    registry->authorizations = ARENA_ARRAY(arena, struct str, registry->endpoints.len);
    LIST_EACH(endpoint, &registry->endpoints)
    {
        if (auth != NULL && (auth->username.n > 0 || auth->identity_token.n > 0 || auth->registry_token.n > 0)) {
            endpoint->auth = *auth;
        }
    }
}

static struct str question_url(struct registry *registry, const struct registry_endpoint *endpoint,
                               const struct question *question)
{
    bool is_mirror = endpoint->namespace.n > 0;

    return arena_printf(registry->arena, "%.*s/%.*s/%s/%.*s%s%.*s", STR_ARG(endpoint->url),
                        STR_ARG(registry->repository), question->part, STR_ARG(question->name), is_mirror ? "?ns=" : "",
                        STR_ARG(is_mirror ? http_escape(registry->arena, endpoint->namespace) : STR("")));
}

static struct status *unexpected(const char *method, struct str url, const struct transfer_response *response)
{
    enum status_reason reason = response->code == 429   ? STATUS_TOO_MANY_REQUESTS
                                : response->code >= 500 ? STATUS_SERVICE_UNAVAILABLE
                                                        : STATUS_UNKNOWN;

    return status_new(reason, "unexpected status from %s request to %.*s: %.*s", method, STR_ARG(url),
                      STR_ARG(response->status_text));
}

/* `Get "https://...": dial tcp ...`, as Go's client says it. */
static struct status *do_failed(struct status *failure, const char *method, struct str url)
{
    if (failure == NULL || failure->reason == STATUS_CANCELLED) {
        return failure;
    }
    return status_while(failure, "failed to do request: %c%.3s \"%.*s\"", method[0],
                        strcmp(method, "GET") == 0    ? "et"
                        : strcmp(method, "HEAD") == 0 ? "ead"
                                                      : "ost",
                        STR_ARG(url));
}

static struct str basic_header(struct arena *arena, const struct registry_auth *auth)
{
    struct str pair = arena_printf(arena, "%.*s:%.*s", STR_ARG(auth->username), STR_ARG(auth->password));

    return arena_printf(arena, "Authorization: Basic %s", base64_encode(arena, pair).p);
}

static struct str token_query(struct registry *registry, const struct challenge *challenge)
{
    struct arena *arena = registry->arena;
    struct str scope = challenge->scope.n > 0
                           ? challenge->scope
                           : arena_printf(arena, "repository:%.*s:pull", STR_ARG(registry->repository));

    return arena_printf(arena, "service=%s&scope=%s", http_escape(arena, challenge->service).p,
                        http_escape(arena, scope).p);
}

/* A GET with name and password (or neither), which all token servers know; an identity token must be exchanged by the
 * POST of OAuth 2. */
static struct transfer_request token_request(struct registry *registry, const struct registry_endpoint *endpoint,
                                             const struct challenge *challenge)
{
    struct arena *arena = registry->arena;
    struct str query = token_query(registry, challenge);
    struct transfer_request request = {
        .method = "GET", .url = challenge->realm, .tls = &endpoint->tls, .fd = -1, .bytes_max = LIMIT_IMAGE_TOKEN_BYTES};

    if (endpoint->auth.identity_token.n > 0) {
        request.method = "POST";
        request.body = arena_printf(arena, "grant_type=refresh_token&client_id=c8s&%s&refresh_token=%s", query.p,
                                    http_escape(arena, endpoint->auth.identity_token).p);
        return request;
    }
    request.url = arena_printf(arena, "%.*s%s%s", STR_ARG(challenge->realm),
                               str_index(challenge->realm, '?') == SIZE_MAX ? "?" : "&", query.p);
    if (endpoint->auth.username.n > 0) {
        *LIST_ADD(arena, &request.headers) = basic_header(arena, &endpoint->auth);
    }
    return request;
}

static struct status *fetch_token(struct registry *registry, const struct registry_endpoint *endpoint,
                                  const struct challenge *challenge, struct str *ret_header)
{
    struct transfer_request request = token_request(registry, endpoint, challenge);
    struct transfer_response response;
    struct str token;
    const char *what = endpoint->auth.username.n > 0 || endpoint->auth.identity_token.n > 0
                           ? "failed to authorize: failed to fetch oauth token"
                           : "failed to authorize: failed to fetch anonymous token";

    if (!str_has_prefix(challenge->realm, STR("https://")) && !str_has_prefix(challenge->realm, STR("http://"))) {
        return status_new(STATUS_UNKNOWN, "failed to authorize: no token server in the challenge: \"%.*s\"",
                          STR_ARG(challenge->realm));
    }
    TRY(status_while(do_failed(transfers_run(registry->transfers, registry->arena, &request, &response), request.method,
                               request.url),
                     "%s", what));
    if (response.code != 200) {
        return status_while(unexpected(request.method, request.url, &response), "%s", what);
    }
    TRY(status_while(challenge_token(registry->arena, response.body, &token), "%s", what));
    *ret_header = arena_printf(registry->arena, "Authorization: Bearer %.*s", STR_ARG(token));
    return NULL;
}

static struct status *denied(const char *why, struct str server_message)
{
    return status_new(STATUS_UNAUTHORIZED, "pull access denied, repository does not exist or may require "
                                           "authorization: %s%.*s%s",
                      server_message.n > 0 ? "server message: " : "authorization failed", STR_ARG(server_message),
                      why);
}

/* Finds what the endpoint wants to see after a 401. */
static struct status *authorize(struct registry *registry, size_t at, const struct transfer_response *response)
{
    const struct registry_endpoint *endpoint = &registry->endpoints.items[at];
    struct challenge challenge = {0};
    struct str header = {0};

    LIST_EACH(item, &response->challenges)
    {
        challenge_read(registry->arena, *item, &challenge);
    }
    if (endpoint->auth.registry_token.n > 0) {
        header = arena_printf(registry->arena, "Authorization: Bearer %.*s", STR_ARG(endpoint->auth.registry_token));
    } else if (challenge.wants_bearer) {
        TRY(fetch_token(registry, endpoint, &challenge, &header));
    } else if (challenge.wants_basic && endpoint->auth.username.n > 0) {
        header = basic_header(registry->arena, &endpoint->auth);
    } else {
        return denied(challenge.wants_basic ? ": no basic auth credentials" : "", STR(""));
    }
    /* The same basic credentials again would be refused again; a new token may be good. */
    if (str_eq(header, registry->authorizations[at])) {
        return denied(challenge.error.n > 0 ? ": authorization failed" : "", challenge.error);
    }
    registry->authorizations[at] = header;
    return NULL;
}

static struct status *ask_once(struct registry *registry, size_t at, const struct question *question, struct str url,
                               struct transfer_response *ret)
{
    struct transfer_request request = {
        .method = question->method,
        .url = url,
        .tls = &registry->endpoints.items[at].tls,
        .fd = question->fd,
        .offset = question->offset,
        .bytes_max = question->bytes_max,
        .received = question->received,
    };

    if (question->accept != NULL) {
        *LIST_ADD(registry->arena, &request.headers) = str_of(question->accept);
    }
    if (registry->authorizations[at].n > 0) {
        *LIST_ADD(registry->arena, &request.headers) = registry->authorizations[at];
    }
    return do_failed(transfers_run(registry->transfers, registry->arena, &request, ret), question->method, url);
}

static struct status *ask_endpoint(struct registry *registry, size_t at, const struct question *question,
                                   struct transfer_response *ret)
{
    struct str url = question_url(registry, &registry->endpoints.items[at], question);

    TRY(ask_once(registry, at, question, url, ret));
    if (ret->code == 401) {
        TRY(authorize(registry, at, ret));
        TRY(ask_once(registry, at, question, url, ret));
    }
    if (ret->code == 200 || ret->code == 206) {
        return NULL;
    }
    if (ret->code == 404) {
        return status_new(STATUS_NOT_FOUND, "not found");
    }
    if (ret->code == 401) {
        struct challenge challenge = {0};

        LIST_EACH(item, &ret->challenges)
        {
            challenge_read(registry->arena, *item, &challenge);
        }
        return denied(challenge.error.n > 0 ? ": authorization failed" : "", challenge.error);
    }
    return unexpected(question->method, url, ret);
}

static bool ends_question(const struct status *failure)
{
    return failure == NULL || failure->reason == STATUS_CANCELLED || failure->reason == STATUS_INTERNAL_ERROR;
}

/* The first answer counts; of failures, the first that is not just "not found". */
static struct status *ask(struct registry *registry, const struct question *question, struct transfer_response *ret)
{
    struct status *first = NULL;
    size_t start = registry->current;

    for (size_t i = 0; i < registry->endpoints.len; i++) {
        size_t at = (start + i) % registry->endpoints.len;
        struct status *failure = ask_endpoint(registry, at, question, ret);

        if (ends_question(failure)) {
            status_free(first);
            registry->current = failure == NULL ? at : registry->current;
            return failure;
        }
        if (first == NULL || (first->reason == STATUS_NOT_FOUND && failure->reason != STATUS_NOT_FOUND)) {
            status_free(first);
            first = failure;
        } else {
            status_free(failure);
        }
    }
    return first;
}

struct status *registry_resolve(struct registry *registry, struct str reference, struct str *ret_digest)
{
    struct question question = {
        .method = "HEAD", .part = "manifests", .name = reference, .accept = accept_manifests, .fd = -1};
    struct transfer_response response;

    TRY(ask(registry, &question, &response));
    *ret_digest = response.content_digest;
    return NULL;
}

struct status *registry_manifest(struct registry *registry, struct str reference, struct str *ret_json,
                                 struct str *ret_media_type)
{
    struct question question = {
        .method = "GET",
        .part = "manifests",
        .name = reference,
        .accept = accept_manifests,
        .fd = -1,
        .bytes_max = LIMIT_IMAGE_METADATA_BYTES,
    };
    struct transfer_response response;

    TRY(ask(registry, &question, &response));
    *ret_json = response.body;
    *ret_media_type = response.content_type;
    return NULL;
}

struct status *registry_blob(struct registry *registry, const struct descriptor *blob, struct str *ret)
{
    struct question question = {
        .method = "GET", .part = "blobs", .name = blob->digest, .fd = -1, .bytes_max = LIMIT_IMAGE_METADATA_BYTES};
    struct transfer_response response;

    TRY(ask(registry, &question, &response));
    *ret = response.body;
    return NULL;
}

struct status *registry_download(struct registry *registry, const struct descriptor *blob, int fd, int64_t offset,
                                 atomic_llong *received)
{
    struct question question = {
        .method = "GET",
        .part = "blobs",
        .name = blob->digest,
        .fd = fd,
        .offset = offset,
        .bytes_max = blob->size,
        .received = received,
    };
    struct transfer_response response;

    return ask(registry, &question, &response);
}
