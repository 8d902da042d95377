/* Answers to /api, /apis and what is right below them. */
#include "apiserver/discovery/discovery.h"

#include "apiserver/discovery/documents.h"
#include "apiserver/encode.h"
#include "apiserver/errors.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "net/crypto.h"

static struct status *check_method(const struct request *request)
{
    return str_is(request->exchange->method, "GET") ? NULL : error_method_not_allowed();
}

static struct status *negotiate(struct request *request, enum negotiate_scope scope)
{
    return negotiate_accept(request_header(request, "accept"), scope, &request->accepted);
}

/* The oldest documents say no apiVersion in JSON. */
static struct status *respond_document(struct request *request, const struct kind *kind, const void *object,
                                       bool has_version)
{
    enum media media = respond_item_media(request);
    OWNED(buf_done) struct buf item = {0};
    OWNED(buf_done) struct buf body = {0};

    encode_item(media, kind->type, object, &item);
    if (has_version || media == MEDIA_PROTOBUF) {
        encode_typed(media, STR("v1"), kind->kind, buf_str(&item), &body);
    } else {
        buf_printf(&body, "{\"kind\":\"%.*s\",%.*s", STR_ARG(kind->kind), STR_ARG(str_from(buf_str(&item), 1)));
    }
    return respond_encoded(request, 200, &body);
}

/* Clients that know this very document are spared it. */
static struct status *respond_tagged(struct request *request, struct str content_type, struct str bytes)
{
    struct str tag = arena_printf(request->arena, "\"%.*s\"", STR_ARG(crypto_sha256_hex(request->arena, bytes)));
    bool is_known = str_eq(request_header(request, "if-none-match"), tag);
    struct http_headers headers = respond_headers(request, is_known ? (struct str){0} : content_type);

    http_header_add(request->arena, &headers, STR("etag"), tag);
    http_header_add(request->arena, &headers, STR("vary"), STR("Accept"));
    return http_respond(request->exchange, is_known ? 304 : 200, &headers, is_known ? STR("") : bytes);
}

static struct status *serve_aggregated(struct request *request, bool of_core)
{
    struct str version = request->accepted.discovery_version;
    struct str api_version = arena_printf(request->arena, "apidiscovery.k8s.io/%.*s", STR_ARG(version));
    enum media media = respond_item_media(request);
    OWNED(buf_done) struct buf item = {0};
    OWNED(buf_done) struct buf body = {0};

    /* both versions have the same fields */
    encode_item(media, &apidiscovery_v2_api_group_discovery_list_type,
                discovery_aggregated(request->arena, &request->server->resources, of_core), &item);
    encode_typed(media, api_version, STR("APIGroupDiscoveryList"), buf_str(&item), &body);
    TRY(encode_finish(request->arena, request->accepted.media, respond_is_pretty(request), &body));
    struct str type = media_type(request->accepted.media);

    return respond_tagged(request,
                          arena_printf(request->arena, "%.*s;g=apidiscovery.k8s.io;v=%.*s;as=APIGroupDiscoveryList",
                                       STR_ARG(type), STR_ARG(version)),
                          buf_str(&body));
}

static struct status *serve_api(struct request *request)
{
    struct apiserver *server = request->server;

    TRY(check_method(request));
    TRY(negotiate(request, NEGOTIATE_DISCOVERY));
    if (request->accepted.discovery_version.n != 0) {
        return serve_aggregated(request, true);
    }
    struct str address = arena_printf(request->arena, "%.*s:%d", STR_ARG(server->advertised), server->port);

    return respond_document(request, &meta_v1_api_versions_kind, discovery_versions(request->arena, address), false);
}

static struct status *serve_apis(struct request *request)
{
    TRY(check_method(request));
    TRY(negotiate(request, NEGOTIATE_DISCOVERY));
    if (request->accepted.discovery_version.n != 0) {
        return serve_aggregated(request, false);
    }
    return respond_document(request, &meta_v1_api_group_list_kind,
                            discovery_groups(request->arena, &request->server->resources), true);
}

static struct status *serve_core_version(struct request *request)
{
    struct meta_v1_api_resource_list *list;
    struct str version = str_from(request->info.path, sizeof "/api/" - 1);

    if (version.n == 0) {
        return serve_api(request);
    }
    if (str_has_suffix(version, STR("/"))) {
        version.n--;
    }
    list = discovery_resources(request->arena, &request->server->resources, STR(""), version);
    if (list == NULL) {
        return error_no_such_resource();
    }
    TRY(check_method(request));
    TRY(negotiate(request, NEGOTIATE_PLAIN));
    return respond_document(request, &meta_v1_api_resource_list_kind, list, false);
}

/* GROUP, or GROUP/VERSION. */
static struct status *serve_group(struct request *request)
{
    const struct resources *resources = &request->server->resources;
    struct str group, version, rest;

    str_cut(str_from(request->info.path, sizeof "/apis/" - 1), '/', &group, &version);
    if (group.n == 0) {
        return serve_apis(request);
    }
    str_cut(version, '/', &version, &rest);
    struct meta_v1_api_group *found = discovery_group(request->arena, resources, group);

    if (found == NULL) {
        return respond_text(request, 404, STR("404 page not found\n"));
    }
    struct meta_v1_api_resource_list *list = discovery_resources(request->arena, resources, group, version);

    if (rest.n != 0 || (version.n != 0 && list == NULL)) {
        return resources_group_is_custom(resources, group) ? respond_text(request, 404, STR("404 page not found\n"))
                                                           : error_no_such_resource();
    }
    TRY(check_method(request));
    TRY(negotiate(request, NEGOTIATE_PLAIN));
    return version.n == 0 ? respond_document(request, &meta_v1_api_group_kind, found, true)
                          : respond_document(request, &meta_v1_api_resource_list_kind, list, true);
}

static struct status *discovery_open(struct apiserver *server)
{
    apiserver_handle(server, "/api", serve_api);
    apiserver_handle(server, "/api/", serve_core_version);
    apiserver_handle(server, "/apis", serve_apis);
    apiserver_handle(server, "/apis/", serve_group);
    return NULL;
}

const struct apiserver_extension discovery_extension = {.name = "discovery", .open = discovery_open};
