#include "kubelet/server.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "kubelet/pod_workers.h"
#include "kubelet/server_auth.h"
#include "kubelet/status_manager.h"
#include "schema/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARTS_MAX = 6, ADDRESS_BYTES = 128 };

struct kubelet_server {
    struct kubelet *kubelet;
    struct server_auth *auth;
    struct tls_context *tls;
    struct http_server *http, *healthz;
    int port;
};

void server_error(struct http_exchange *exchange, int code, const char *format, ...)
{
    struct http_headers headers = {0};
    va_list args;

    va_start(args, format);
    struct str text = arena_vprintf(exchange->arena, format, args);

    va_end(args);
    http_header_add(exchange->arena, &headers, STR("content-type"), STR("text/plain; charset=utf-8"));
    http_header_add(exchange->arena, &headers, STR("x-content-type-options"), STR("nosniff"));
    status_free(http_respond(exchange, code, &headers, text));
}

void server_json(struct http_exchange *exchange, const struct type *type, const void *object)
{
    OWNED(buf_done) struct buf out = {0};
    struct http_headers headers = {0};

    json_encode(type, object, &out);
    http_header_add(exchange->arena, &headers, STR("content-type"), STR("application/json"));
    status_free(http_respond(exchange, 200, &headers, buf_str(&out)));
}

static void serve_pods(struct kubelet *kubelet, struct http_exchange *exchange)
{
    struct pod_refs pods = pod_workers_pods(kubelet->workers, exchange->arena);
    struct core_v1_pod_list list = {.type_meta = {.kind = STR("PodList"), .api_version = STR("v1")}};

    LIST_EACH (pod, &pods) {
        const struct core_v1_pod_status *status = status_manager_find(kubelet->statuses, (*pod)->pod->metadata.uid);
        struct core_v1_pod *item = LIST_ADD(exchange->arena, &list.items);

        *item = *(*pod)->pod;
        item->type_meta = (struct meta_v1_type_meta){0};
        if (status != NULL) {
            item->status = *status;
        }
    }
    server_json(exchange, &core_v1_pod_list_type, &list);
}

static void serve_healthz(struct http_exchange *exchange)
{
    struct http_headers headers = {0};

    http_header_add(exchange->arena, &headers, STR("content-type"), STR("text/plain; charset=utf-8"));
    status_free(http_respond(exchange, 200, &headers, STR("ok")));
}

/* "/containerLogs/ns/pod/c" is {"containerLogs", "ns", "pod", "c"}, decoded. False when it has too many. */
static bool split(struct http_exchange *exchange, struct str parts[PARTS_MAX], size_t *ret_count)
{
    struct str rest = str_from(exchange->path, 1), part;

    *ret_count = 0;
    while (str_next(&rest, '/', &part)) {
        struct str text;
        struct status *error = http_unescape(exchange->arena, part, false, &text);

        if (error != NULL || *ret_count == PARTS_MAX) {
            status_free(error);
            return false;
        }
        parts[(*ret_count)++] = text;
    }
    return true;
}

void server_handle(struct http_exchange *exchange, void *arg)
{
    struct kubelet *kubelet = arg;
    struct str parts[PARTS_MAX];
    size_t count;
    bool is_split = split(exchange, parts, &count);
    struct str first = is_split && count > 0 ? parts[0] : STR("");

    if (str_is(exchange->path, "/healthz") || str_has_prefix(exchange->path, STR("/healthz/"))) {
        serve_healthz(exchange);
    } else if (str_is(exchange->path, "/pods") || str_is(exchange->path, "/pods/")) {
        serve_pods(kubelet, exchange);
    } else if (str_is(first, "containerLogs")) {
        server_logs(kubelet, exchange, parts + 1, count - 1);
    } else if (str_is(first, "exec") || str_is(first, "attach") || str_is(first, "portForward")) {
        server_stream(kubelet, exchange, first, parts + 1, count - 1);
    } else if (str_is(exchange->path, "/stats/summary")) {
        server_stats_summary(kubelet, exchange);
    } else if (str_is(exchange->path, "/metrics/resource")) {
        server_metrics_resource(kubelet, exchange);
    } else {
        server_error(exchange, 404, "404 page not found");
    }
}

static void handle_checked(struct http_exchange *exchange, void *arg)
{
    struct kubelet_server *server = arg;

    if (server_auth_check(server->auth, exchange)) {
        server_handle(exchange, server->kubelet);
    }
}

static void handle_healthz(struct http_exchange *exchange, void *arg)
{
    (void)arg;
    if (str_has_prefix(exchange->path, STR("/healthz"))) {
        serve_healthz(exchange);
    } else {
        server_error(exchange, 404, "404 page not found");
    }
}

static struct status *listen_on(struct str host, int port, struct listener **ret)
{
    char address[ADDRESS_BYTES];
    bool is_v6 = str_index(host, ':') != SIZE_MAX;

    snprintf(address, sizeof(address), is_v6 ? "[%.*s]:%d" : "%.*s:%d", STR_ARG(host), port);
    return listener_open(str_of(address), 0, ret);
}

static struct status *open_all(struct kubelet_server *server, const struct kubelet_server_options *options)
{
    struct tls_server_options tls = {.certificate = options->certificate_pem,
                                     .key = options->key_pem,
                                     .client_ca = options->client_ca_pem,
                                     .offers_http2 = true};
    struct listener *listener;

    TRY(tls_server_new(&tls, &server->tls));
    TRY(listen_on(options->address, options->port, &listener));
    server->port = listener_port(listener);
    server->http = http_server_new(handle_checked, server);
    http_server_listen(server->http, listener, server->tls);
    if (options->healthz_port > 0) {
        struct status *error = listen_on(options->healthz_address, options->healthz_port, &listener);

        if (error != NULL) {
            /* Stock goes on without it, too: several kubelets may share a machine. */
            log_warn("no healthz server: %.*s", STR_ARG(error->message));
            status_free(error);
            return NULL;
        }
        server->healthz = http_server_new(handle_healthz, server);
        http_server_listen(server->healthz, listener, NULL);
    }
    return NULL;
}

struct status *kubelet_server_start(struct kubelet *kubelet, const struct kubelet_server_options *options,
                                    struct kubelet_server **ret)
{
    struct kubelet_server *server = MEM_NEW(struct kubelet_server);

    server->kubelet = kubelet;
    server->auth = server_auth_new(kubelet, options);
    struct status *error = open_all(server, options);

    if (error != NULL) {
        kubelet_server_free(server);
        return error;
    }
    *ret = server;
    return NULL;
}

void kubelet_server_free(struct kubelet_server *server)
{
    if (server != NULL) {
        http_server_free(server->http);
        http_server_free(server->healthz);
        tls_context_unref(server->tls);
        server_auth_free(server->auth);
        free(server);
    }
}

int kubelet_server_port(const struct kubelet_server *server)
{
    return server->port;
}
