#include "client/client.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/task.h"
#include "client/client_internal.h"
#include "client/codec.h"
#include "schema/object.h"
#include "schema/type.h"

#include <stdlib.h>

/* An answer that is held in memory whole. */
#define RESPONSE_BYTES_MAX ((size_t)64 << 20)
/* Servers answer within a minute or not at all; stock's request timeout. */
#define CALL_WITHIN (60 * ENV_SECOND)
/* client-go's: how often a token file is read, and how often a server may ask to be asked again later. */
#define TOKEN_PERIOD (60 * ENV_SECOND)
#define TOKEN_BYTES_MAX ((size_t)1 << 20)
enum { RETRIES_MAX = 10 };

struct client *client_new(struct http_client *http, const struct client_options *options)
{
    struct arena *arena = arena_new();
    struct client *client = ARENA_NEW(arena, struct client);

    client->arena = arena;
    client->http = http;
    client->token_read = env_mono();
    client->options = (struct client_options){
        .user_agent = arena_str(arena, options->user_agent),
        .authorization = arena_str(arena, options->authorization),
        .token_path = arena_str(arena, options->token_path),
        .traceparent = arena_str(arena, options->traceparent),
        .impersonate = arena_str(arena, options->impersonate),
        .field_manager = arena_str(arena, options->field_manager),
        .path_prefix = arena_str(arena, options->path_prefix),
        .json_only = options->json_only,
    };
    return client;
}

struct client *client_new_sharing(struct client *with, const struct client_options *options)
{
    struct client_options own = *options;

    own.path_prefix = with->options.path_prefix;
    own.json_only = with->options.json_only;
    struct client *client = client_new(with->http, &own);

    client->borrows_http = true;
    return client;
}

void client_set_authorization(struct client *client, struct str authorization)
{
    arena_free(client->old_token);
    client->old_token = client->token_arena;
    client->token_arena = arena_new();
    client->options.authorization = arena_str(client->token_arena, authorization);
}

void client_free(struct client *client)
{
    if (client != NULL) {
        if (!client->borrows_http) {
            http_client_free(client->http);
        }
        arena_free(client->token_arena);
        arena_free(client->old_token);
        arena_free(client->arena);
    }
}

struct str client_path(struct arena *arena, const struct kind *kind, struct str namespace, struct str name,
                       struct str subresource)
{
    OWNED(buf_done) struct buf path = {0};

    if (kind->group.n == 0) {
        buf_printf(&path, "/api/%.*s", STR_ARG(kind->version));
    } else {
        buf_printf(&path, "/apis/%.*s/%.*s", STR_ARG(kind->group), STR_ARG(kind->version));
    }
    if (kind->namespaced && namespace.n > 0) {
        buf_printf(&path, "/namespaces/%.*s", STR_ARG(http_escape(arena, namespace)));
    }
    buf_printf(&path, "/%.*s", STR_ARG(kind->plural));
    if (name.n > 0) {
        buf_printf(&path, "/%.*s", STR_ARG(http_escape(arena, name)));
    }
    if (subresource.n > 0) {
        buf_printf(&path, "/%.*s", STR_ARG(subresource));
    }
    return arena_str(arena, buf_str(&path));
}

/* Adds "?name=value" or "&name=value" when there is a value. */
static void add_parameter(struct arena *arena, struct buf *target, const char *name, struct str value)
{
    if (value.n == 0) {
        return;
    }
    bool first = str_index(buf_str(target), '?') == SIZE_MAX;

    buf_printf(target, "%c%s=%.*s", first ? '?' : '&', name, STR_ARG(http_escape(arena, value)));
}

void client_add_list_parameters(struct arena *arena, struct buf *target, const struct client_list_options *options)
{
    if (options == NULL) {
        return;
    }
    add_parameter(arena, target, "labelSelector", options->label_selector);
    add_parameter(arena, target, "fieldSelector", options->field_selector);
    add_parameter(arena, target, "resourceVersion", options->resource_version);
    add_parameter(arena, target, "resourceVersionMatch", options->resource_version_match);
    add_parameter(arena, target, "continue", options->continue_token);
    if (options->limit > 0) {
        add_parameter(arena, target, "limit", arena_printf(arena, "%lld", (long long)options->limit));
    }
    if (options->timeout_seconds > 0) {
        add_parameter(arena, target, "timeoutSeconds",
                      arena_printf(arena, "%lld", (long long)options->timeout_seconds));
    }
}

static void add_write_parameters(const struct client *client, struct arena *arena, struct buf *target,
                                 const struct client_write_options *options)
{
    static const struct client_write_options usual;
    const struct client_write_options *write = options != NULL ? options : &usual;
    struct str manager = write->field_manager.n > 0 ? write->field_manager : client->options.field_manager;

    add_parameter(arena, target, "dryRun", write->dry_run ? STR("All") : STR(""));
    add_parameter(arena, target, "fieldManager", manager);
    add_parameter(arena, target, "fieldValidation", write->field_validation);
    add_parameter(arena, target, "force", write->force ? STR("true") : STR(""));
}

static void default_header(struct arena *arena, struct http_headers *headers, struct str name, struct str value)
{
    if (value.n > 0 && http_header_find(headers, name).p == NULL) {
        http_header_add(arena, headers, name, value);
    }
}

struct token_read {
    const char *path;
    struct arena *arena;
    struct str text;
    struct status *status;
};

static void token_read(void *arg)
{
    struct token_read *read = arg;

    read->status = file_read(read->arena, read->path, TOKEN_BYTES_MAX, &read->text);
}

/* A service account's token is renewed in its file long before the old one ends. When reading fails the old one serves
 * on, and the server says if it is good no more. */
static void renew_token(struct client *client)
{
    if (client->options.token_path.n == 0 || env_mono() - client->token_read < TOKEN_PERIOD) {
        return;
    }
    struct arena *arena = arena_new();
    struct token_read read = {.path = arena_cstr(arena, client->options.token_path), .arena = arena};

    client->token_read = env_mono();
    task_offload(token_read, &read);
    if (read.status != NULL) {
        status_free(read.status);
        arena_free(arena);
        return;
    }
    client_set_authorization(client, arena_printf(arena, "Bearer %.*s", STR_ARG(str_trim(read.text))));
    arena_free(arena);
}

struct http_client *client_dress(struct client *client, struct arena *arena, struct http_request *request)
{
    const struct client_options *options = &client->options;
    struct http_headers headers = {0};

    renew_token(client);
    /* The caller's list may not grow in our arena. */
    LIST_EACH(header, &request->headers)
    {
        http_header_add(arena, &headers, header->name, header->value);
    }
    if (options->path_prefix.n > 0) {
        request->target = arena_printf(arena, "%.*s%.*s", STR_ARG(options->path_prefix), STR_ARG(request->target));
    }
    default_header(arena, &headers, STR("user-agent"), options->user_agent);
    default_header(arena, &headers, STR("authorization"), options->authorization);
    default_header(arena, &headers, STR("impersonate-user"), options->impersonate);
    default_header(arena, &headers, STR("traceparent"), options->traceparent);
    request->headers = headers;
    return client->http;
}

struct status *client_request(struct client *client, struct http_request *request, struct http_response **ret_response)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct http_request sent = *request;
    struct http_client *http = client_dress(client, arena, &sent);

    default_header(arena, &sent.headers, STR("accept"), STR("application/json"));
    return http_do(http, &sent, ret_response);
}

struct status *client_error(struct http_response *response)
{
    struct str body = {0};
    struct status *status = http_response_read_all(response, response->arena, RESPONSE_BYTES_MAX, &body);

    status_free(status); /* the code alone tells enough */
    return codec_decode_status(http_header_find(&response->headers, STR("content-type")), response->code, body);
}

static void closep(struct http_response **response)
{
    http_response_close(*response);
}

/* The seconds a busy server asks us to wait; 0 when it does not. */
static int64_t retry_after(const struct http_response *response)
{
    int64_t seconds;

    if ((response->code != 429 && response->code < 500) ||
        !str_to_i64(http_header_find(&response->headers, STR("retry-after")), &seconds) || seconds < 0) {
        return 0;
    }
    return MAX(seconds, 1);
}

/* Asks again when the server is too busy and says when to come back. */
static struct status *request_patiently(struct client *client, struct http_request *request,
                                        struct http_response **ret_response)
{
    for (int tries = 0;; tries++) {
        request->deadline = env_mono() + CALL_WITHIN;
        TRY(client_request(client, request, ret_response));
        int64_t seconds = retry_after(*ret_response);

        if (seconds == 0 || tries == RETRIES_MAX) {
            return NULL;
        }
        http_response_close(TAKE(*ret_response));
        if (!task_sleep(seconds * ENV_SECOND)) {
            return status_new(STATUS_CANCELLED, "cancelled while waiting for a busy server");
        }
    }
}

/* Sends and reads the whole answer into `arena`. */
static struct status *call(struct client *client, struct http_request *request, struct arena *arena,
                           struct str *ret_content_type, struct str *ret_body)
{
    OWNED(closep) struct http_response *response = NULL;

    TRY(request_patiently(client, request, &response));
    if (response->code < 200 || response->code > 299) {
        return client_error(response);
    }
    TRY(http_response_read_all(response, arena, RESPONSE_BYTES_MAX, ret_body));
    *ret_content_type = arena_str(arena, http_header_find(&response->headers, STR("content-type")));
    return NULL;
}

/* One call whose answer is an object of `answer` (NULL: of no interest). */
static struct status *exchange(struct client *client, const char *method, struct buf *target,
                               const struct kind *answer, struct str content_type, struct str body,
                               struct arena *arena, void **ret_object)
{
    OWNED(arena_freep) struct arena *scratch = arena_new();
    struct arena *into = ret_object != NULL ? arena : scratch;
    struct http_request request = {.method = str_of(method), .target = buf_str(target), .body = body};
    struct str answer_type, answer_body;

    http_header_add(scratch, &request.headers, STR("accept"), codec_accept(answer, client->options.json_only));
    if (content_type.n > 0) {
        http_header_add(scratch, &request.headers, STR("content-type"), content_type);
    }
    TRY(call(client, &request, into, &answer_type, &answer_body));
    if (ret_object == NULL) {
        return NULL;
    }
    return codec_decode(answer, answer_type, answer_body, arena, ret_object);
}

struct status *client_get(struct client *client, const struct kind *kind, struct str namespace, struct str name,
                          struct arena *arena, void **ret_object)
{
    OWNED(buf_done) struct buf target = {0};

    buf_add_str(&target, client_path(arena, kind, namespace, name, STR("")));
    return exchange(client, "GET", &target, kind, STR(""), STR(""), arena, ret_object);
}

static struct status *list_page(struct client *client, const struct kind *kind, struct str namespace,
                                const struct client_list_options *options, struct arena *arena,
                                struct object_list **ret_list)
{
    OWNED(buf_done) struct buf target = {0};

    buf_add_str(&target, client_path(arena, kind, namespace, STR(""), STR("")));
    client_add_list_parameters(arena, &target, options);
    return exchange(client, "GET", &target, kind->list, STR(""), STR(""), arena, (void **)ret_list);
}

/* Appends the items of `more` to `list`. */
static void list_join(const struct kind *kind, struct arena *arena, struct object_list *list,
                      const struct object_list *more)
{
    size_t size = kind->type->size, count = list->items.len + more->items.len;
    char *items = arena_array(arena, count, size);

    if (list->items.len > 0) {
        __builtin_memcpy(items, list->items.items, list->items.len * size);
    }
    if (more->items.len > 0) {
        __builtin_memcpy(items + list->items.len * size, more->items.items, more->items.len * size);
    }
    list->items.items = items;
    list->items.len = count;
    list->metadata = more->metadata;
}

struct status *client_list(struct client *client, const struct kind *kind, struct str namespace,
                           const struct client_list_options *options, struct arena *arena, void **ret_list)
{
    struct client_list_options page = options != NULL ? *options : (struct client_list_options){0};
    struct object_list *list, *more;

    TRY(list_page(client, kind, namespace, &page, arena, &list));
    while (page.limit == 0 && list->metadata.continue_.n > 0) {
        page.continue_token = list->metadata.continue_;
        page.resource_version = STR("");
        TRY(list_page(client, kind, namespace, &page, arena, &more));
        list_join(kind, arena, list, more);
    }
    *ret_list = list;
    return NULL;
}

/* Creates and updates: the object as body. */
static struct status *write_object(struct client *client, const char *method, struct buf *target,
                                   const struct kind *kind, const void *object,
                                   const struct client_write_options *options, struct arena *arena, void **ret_object)
{
    OWNED(arena_freep) struct arena *scratch = arena_new();
    OWNED(buf_done) struct buf body = {0};

    add_write_parameters(client, scratch, target, options);
    codec_encode(kind, object, client->options.json_only, &body);
    return exchange(client, method, target, kind, codec_media_type(kind, client->options.json_only), buf_str(&body),
                    arena, ret_object);
}

struct status *client_create(struct client *client, const struct kind *kind, const void *object,
                             const struct client_write_options *options, struct arena *arena, void **ret_object)
{
    OWNED(arena_freep) struct arena *scratch = arena_new();
    OWNED(buf_done) struct buf target = {0};
    const struct object *meta = object;

    buf_add_str(&target, client_path(scratch, kind, meta->metadata.namespace, STR(""), STR("")));
    return write_object(client, "POST", &target, kind, object, options, arena, ret_object);
}

struct status *client_update(struct client *client, const struct kind *kind, struct str subresource,
                             const void *object, const struct client_write_options *options, struct arena *arena,
                             void **ret_object)
{
    OWNED(arena_freep) struct arena *scratch = arena_new();
    OWNED(buf_done) struct buf target = {0};
    const struct object *meta = object;

    buf_add_str(&target,
                client_path(scratch, kind, meta->metadata.namespace, meta->metadata.name, subresource));
    return write_object(client, "PUT", &target, kind, object, options, arena, ret_object);
}

struct status *client_create_sub(struct client *client, const struct kind *kind, struct str namespace,
                                 struct str name, struct str subresource, const struct kind *sub_kind,
                                 const void *object, struct arena *arena, void **ret_object)
{
    OWNED(arena_freep) struct arena *scratch = arena_new();
    OWNED(buf_done) struct buf target = {0};

    buf_add_str(&target, client_path(scratch, kind, namespace, name, subresource));
    return write_object(client, "POST", &target, sub_kind, object, NULL, arena, ret_object);
}

struct status *client_patch(struct client *client, const struct kind *kind, struct str namespace, struct str name,
                            struct str subresource, enum client_patch_type type, struct str patch,
                            const struct client_write_options *options, struct arena *arena, void **ret_object)
{
    static const struct str content_types[] = {
        [CLIENT_PATCH_JSON] = STR_INIT("application/json-patch+json"),
        [CLIENT_PATCH_MERGE] = STR_INIT("application/merge-patch+json"),
        [CLIENT_PATCH_STRATEGIC] = STR_INIT("application/strategic-merge-patch+json"),
        [CLIENT_PATCH_APPLY] = STR_INIT("application/apply-patch+yaml"),
    };
    OWNED(arena_freep) struct arena *scratch = arena_new();
    OWNED(buf_done) struct buf target = {0};

    buf_add_str(&target, client_path(scratch, kind, namespace, name, subresource));
    add_write_parameters(client, scratch, &target, options);
    return exchange(client, "PATCH", &target, kind, content_types[type], patch, arena, ret_object);
}

/* DeleteOptions as JSON; empty when nothing is asked for. */
static void delete_body(struct buf *body, const struct client_delete_options *options)
{
    if (options == NULL) {
        return;
    }
    buf_printf(body, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"");
    if (options->grace_period_seconds != NULL) {
        buf_printf(body, ",\"gracePeriodSeconds\":%lld", (long long)*options->grace_period_seconds);
    }
    if (options->propagation.n > 0) {
        buf_printf(body, ",\"propagationPolicy\":\"%.*s\"", STR_ARG(options->propagation));
    }
    if (options->dry_run) {
        buf_printf(body, ",\"dryRun\":[\"All\"]");
    }
    if (options->uid.n > 0 || options->resource_version.n > 0) {
        buf_printf(body, ",\"preconditions\":{");
        if (options->uid.n > 0) {
            buf_printf(body, "\"uid\":\"%.*s\"%s", STR_ARG(options->uid), options->resource_version.n > 0 ? "," : "");
        }
        if (options->resource_version.n > 0) {
            buf_printf(body, "\"resourceVersion\":\"%.*s\"", STR_ARG(options->resource_version));
        }
        buf_printf(body, "}");
    }
    buf_printf(body, "}");
}

struct status *client_delete(struct client *client, const struct kind *kind, struct str namespace, struct str name,
                             const struct client_delete_options *options)
{
    OWNED(arena_freep) struct arena *scratch = arena_new();
    OWNED(buf_done) struct buf target = {0};
    OWNED(buf_done) struct buf body = {0};

    buf_add_str(&target, client_path(scratch, kind, namespace, name, STR("")));
    delete_body(&body, options);
    return exchange(client, "DELETE", &target, kind, body.n > 0 ? STR("application/json") : STR(""), buf_str(&body),
                    NULL, NULL);
}

struct status *client_get_raw(struct client *client, struct str path, struct str accept, struct arena *arena,
                              struct str *ret_body)
{
    OWNED(arena_freep) struct arena *scratch = arena_new();
    struct http_request request = {.method = STR("GET"), .target = path};
    struct str content_type;

    if (accept.n > 0) {
        http_header_add(scratch, &request.headers, STR("accept"), accept);
    }
    return call(client, &request, arena, &content_type, ret_body);
}
