#include "apiserver/server.h"

#include "api/core_v1.h"
#include "api/custom_kind.h"
#include "apiserver/authn/authenticate.h"
#include "apiserver/authz/authorize.h"
#include "apiserver/errors.h"
#include "apiserver/registry/object_meta.h"
#include "apiserver/registry/registry.h"
#include "apiserver/respond.h"
#include "apiserver/subresources/subresources.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/trace.h"

#include <stdlib.h>

struct path {
    path_handler *handler;
};

void apiserver_handle(struct apiserver *server, const char *path, path_handler *handler)
{
    struct path *place = MEM_NEW(struct path);

    place->handler = handler;
    free(map_set(&server->paths, str_of(path), place));
}

/* The handler of the path itself, or of the longest path above it that takes everything below. */
static path_handler *find_path(const struct apiserver *server, struct arena *arena, struct str path)
{
    const struct path *found = map_find(&server->paths, path);

    if (found != NULL) {
        return found->handler;
    }
    struct str below = arena_printf(arena, "%.*s/", STR_ARG(path));

    for (;;) {
        found = map_find(&server->paths, below);
        if (found != NULL || below.n <= 1) {
            return found != NULL ? found->handler : NULL;
        }
        below = str_sub(below, 0, str_last_index(str_sub(below, 0, below.n - 1), '/') + 1);
    }
}

static struct status *not_found_text(struct request *request)
{
    return respond_text(request, 404, STR("404 page not found\n"));
}

static struct status *serve_path(struct request *request)
{
    struct str path = request->info.path;
    path_handler *handler = find_path(request->server, request->arena, path);
    struct str rest, prefix, group;

    if (str_has_prefix(path, STR("//"))) {
        return not_found_text(request);
    }
    if (handler != NULL) {
        return handler(request);
    }
    rest = str_from(path, 1);
    str_cut(rest, '/', &prefix, &rest);
    str_cut(rest, '/', &group, &rest);
    if (str_is(prefix, "api") ||
        (str_is(prefix, "apis") && group.n != 0 && !resources_group_is_custom(&request->server->resources, group))) {
        return error_no_such_resource();
    }
    return not_found_text(request);
}

static struct status *serve_verb(struct request *request)
{
    static const struct {
        enum verb verb;
        struct status *(*serve)(struct request *request);
    } verbs[] = {{VERB_GET, registry_get},       {VERB_LIST, registry_list},     {VERB_WATCH, registry_watch},
                 {VERB_CREATE, registry_create}, {VERB_UPDATE, registry_update}, {VERB_PATCH, registry_patch},
                 {VERB_DELETE, registry_delete}, {VERB_DELETECOLLECTION, registry_delete_collection}};
    const struct kind *kind = request->resource->kind;
    unsigned verb = verb_of(request->info.verb);
    unsigned allowed = request->subresource != NULL ? request->subresource->verbs : kind->verbs;

    if (verb == 0 || (allowed & verb) == 0 || str_is(request->exchange->method, "HEAD")) {
        return error_method_not_allowed();
    }
    /* a collection has no name, an object has one */
    bool names = request->info.name.n != 0;

    bool everywhere = kind->namespaced && request->info.namespace.n == 0; /* all namespaces: for reading only */

    if (verb == VERB_CREATE && ((names && request->subresource == NULL) || everywhere)) {
        return error_method_not_allowed();
    }
    if ((verb == VERB_UPDATE || verb == VERB_PATCH) && !names) {
        return error_method_not_allowed();
    }
    if (verb == VERB_DELETECOLLECTION && everywhere) {
        return error_method_not_allowed();
    }
    for (size_t i = 0; i < COUNT_OF(verbs); i++) {
        if (verbs[i].verb == verb) {
            return verbs[i].serve(request);
        }
    }
    return error_method_not_allowed();
}

/* A deprecated version says so, and names a better one. */
static void warn_of_version(struct request *request, const struct custom_kind *custom)
{
    const struct kind *kind = &custom->kind;
    struct str better = {0};

    if (!custom->version->deprecated) {
        return;
    }
    if (custom->version->deprecation_warning != NULL) {
        request_warn(request, "%.*s", STR_ARG(*custom->version->deprecation_warning));
        return;
    }
    LIST_EACH(version, &custom->definition->spec.versions) {
        bool is_newer = version->served && !version->deprecated && custom_version_cmp(version->name, kind->version) < 0;

        if (is_newer && (better.n == 0 || custom_version_cmp(version->name, better) < 0)) {
            better = version->name;
        }
    }
    if (better.n == 0) {
        request_warn(request, "%.*s %.*s is deprecated", STR_ARG(kind->api_version), STR_ARG(kind->kind));
    } else {
        request_warn(request, "%.*s %.*s is deprecated; use %.*s/%.*s %.*s", STR_ARG(kind->api_version),
                     STR_ARG(kind->kind), STR_ARG(kind->group), STR_ARG(better), STR_ARG(kind->kind));
    }
}

/* Custom resources have no protobuf form; who would take JSON too gets it. */
static struct status *check_media(struct request *request)
{
    struct accepted *accepted = &request->accepted;

    if (request->resource->kind->custom == NULL || accepted->media != MEDIA_PROTOBUF ||
        accepted->transform != TRANSFORM_NONE || str_is(request->info.subresource, "scale")) {
        return NULL;
    }
    struct str accept = request_header(request, "accept");

    accepted->media = MEDIA_JSON;
    return str_contains(accept, STR("json")) || str_contains(accept, STR("*/*"))
               ? NULL
               : status_new(STATUS_NOT_ACCEPTABLE, "only the following media types are accepted: application/json, "
                                                   "application/yaml");
}

/* What is no resource in a group without built-in ones. */
static struct status *missing_custom(struct request *request)
{
    const struct resources *resources = &request->server->resources;
    const struct request_info *info = &request->info;

    return resources_have_version(resources, info->group, info->version) ? not_found_text(request) : serve_path(request);
}

static struct status *serve_resource(struct request *request)
{
    const struct request_info *info = &request->info;
    const struct resources *resources = &request->server->resources;

    request->resource = resources_find(resources, info->group, info->version, info->resource);
    if (request->resource == NULL) {
        return resources_group_is_custom(resources, info->group) ? missing_custom(request) : error_no_such_resource();
    }
    const struct kind *kind = request->resource->kind;

    if (str_is(info->name, "..") || str_is(info->name, ".")) {
        return error_bad_request("Name parameter invalid: \"%.*s\": may not be '%.*s'", STR_ARG(info->name),
                                 STR_ARG(info->name));
    }
    if (info->rest.n != 0 && info->subresource.n == 0) {
        return error_no_such_resource();
    }
    if (!kind->namespaced && info->namespace.n != 0 && !str_is(kind->plural, "namespaces")) {
        return kind->custom != NULL ? not_found_text(request) : error_no_such_resource();
    }
    if (info->subresource.n != 0) {
        request->subresource = kind_subresource(kind, info->subresource);
        if (request->subresource == NULL) {
            return error_no_such_resource();
        }
    }
    if (kind->custom != NULL) {
        warn_of_version(request, kind->custom);
    }
    if (kind == &core_v1_endpoints_kind) {
        request_warn(request, "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice");
    } else if (kind == &core_v1_component_status_kind) {
        request_warn(request, "v1 ComponentStatus is deprecated in v1.19+");
    }
    request_handler *handler =
        request->subresource != NULL ? subresource_handler(request) : computed_handler(request);

    TRY(negotiate_accept(request_header(request, "accept"), NEGOTIATE_RESOURCE, &request->accepted));
    TRY(check_media(request));
    if (handler != NULL) {
        return handler(request);
    }
    return resource_is_stored(request->resource) ? serve_verb(request) : error_method_not_allowed();
}

static void trace_refusal(struct request *request, enum trace_step step, int64_t start, const struct status *status)
{
    request_trace(request, &(struct trace_span){
                               .step = step, .start = start, .outcome = TRACE_FAILED, .detail = status->message});
}

static struct status *check_user(struct request *request)
{
    int64_t start = env_wall();
    struct status *status = authenticate(request);

    if (status != NULL) {
        trace_refusal(request, TRACE_AUTHENTICATION_RESULT, start, status);
        return status;
    }
    request_trace(request, &(struct trace_span){.step = TRACE_AUTHENTICATION, .start = start,
                                                .detail = request->user->name});
    request_trace(request, &(struct trace_span){.step = TRACE_AUTHENTICATION_RESULT, .start = start,
                                                .detail = STR("accepted")});
    request_trace(request, &(struct trace_span){.step = TRACE_IDENTITY_IN_CONTEXT, .start = env_wall(),
                                                .detail = request->user->name});
    return authenticate_impersonation(request);
}

static struct status *check_permission(struct request *request)
{
    struct authz_attributes attributes = authorize_attributes(request);
    struct authz_decision decision = {0};
    int64_t start = env_wall();
    struct status *status = authorize(request->server, &attributes, request->arena, &decision);

    if (status == NULL && decision.verdict != AUTHZ_ALLOW) {
        status = authz_forbidden(&attributes, decision.reason, request->arena);
    }
    if (status != NULL) {
        trace_refusal(request, TRACE_AUTHORIZATION, start, status);
        return status;
    }
    request_trace(request, &(struct trace_span){.step = TRACE_AUTHORIZATION, .start = start,
                                                .detail = decision.reason});
    return NULL;
}

static bool is_writing(struct str verb)
{
    return str_is(verb, "create") || str_is(verb, "update") || str_is(verb, "patch") || str_is(verb, "delete") ||
           str_is(verb, "deletecollection") || str_is(verb, "post") || str_is(verb, "put");
}

/* Requests that last, which stock doesn't count: watches, logs, upgrades, proxies. */
static bool is_lasting(const struct request_info *info)
{
    static const char *const subresources[] = {"attach", "exec", "log", "portforward", "proxy"};

    for (size_t i = 0; i < COUNT_OF(subresources); i++) {
        if (str_is(info->subresource, subresources[i])) {
            return true;
        }
    }
    return str_is(info->verb, "watch") || str_is(info->verb, "proxy");
}

/* A place among the requests served at once; *ret_place is to be given back. NULL: this one is not counted. */
static struct status *take_place(struct request *request, size_t **ret_place)
{
    struct apiserver *server = request->server;
    bool writes = is_writing(request->info.verb);
    int64_t most = writes ? server->options->max_mutating_requests_inflight : server->options->max_requests_inflight;
    size_t *place = writes ? &server->writing : &server->reading;

    *ret_place = NULL;
    if (most == 0 || is_lasting(&request->info) || user_has_group(request->user, GROUP_MASTERS)) {
        return NULL;
    }
    if (*place >= (size_t)most) {
        struct status *status = status_new(STATUS_TOO_MANY_REQUESTS, "Too many requests, please try again later.");

        status->retry_after_seconds = 1;
        return status;
    }
    ++*place;
    *ret_place = place;
    return NULL;
}

static struct status *serve(struct request *request)
{
    const struct http_exchange *exchange = request->exchange;

    TRY(route_parse(request->arena, exchange->method, exchange->path, exchange->query, &request->info));
    TRY(check_user(request));
    size_t *place;

    TRY(take_place(request, &place));
    struct status *status = check_permission(request);

    if (status == NULL) {
        bool is_resource = request->info.is_resource && !str_has_prefix(request->info.path, STR("//"));

        status = is_resource ? serve_resource(request) : serve_path(request);
    }
    if (place != NULL) {
        --*place;
    }
    return status;
}

/* The trace id of a W3C traceparent header: "00-TRACEID-SPANID-FLAGS". */
static struct str trace_id_of(struct str header)
{
    bool is_sound = header.n >= 36 && header.p[2] == '-' && header.p[35] == '-';

    return is_sound ? str_sub(header, 3, 35) : (struct str){0};
}

void apiserver_serve(struct http_exchange *exchange, void *arg)
{
    struct request request = {.server = arg, .exchange = exchange, .arena = exchange->arena, .start = env_wall()};

    request.audit_id = request_header(&request, "audit-id");
    if (request.audit_id.n == 0) {
        request.audit_id = object_meta_new_uid(request.arena);
    }
    request.trace_id = trace_id_of(request_header(&request, "traceparent"));
    struct status *status = serve(&request);

    if (status != NULL) {
        respond_error(&request, status);
    }
    if (!request.is_long_running && request.info.is_resource) {
        request_trace(&request, &(struct trace_span){.step = TRACE_RESPOND, .start = request.start,
                                                     .outcome = exchange->code < 400 ? TRACE_OK : TRACE_FAILED,
                                                     .detail = http_code_text(exchange->code)});
    }
    request_trace_emit(&request);
}
