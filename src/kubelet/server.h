/* The kubelet's HTTP API: logs, exec and its like, pods, statistics, health. What the API server, metrics collectors
 * and people with curl ask.
 *
 * server_handle() answers any request whose right to ask is checked by server_auth.h. kubelet_server_start()
 * listens. */
#ifndef KUBELET_SERVER_H
#define KUBELET_SERVER_H

#include "kubelet/context.h"
#include "net/http_server.h"

struct kubelet_server;

struct kubelet_server_options {
    struct str address; /* host to listen on */
    int port;           /* 0 picks one */
    struct str certificate_pem, key_pem, client_ca_pem;
    struct str healthz_address; /* of the plain server with /healthz only */
    int healthz_port;           /* 0: none */
    bool anonymous, token_review, always_allow;
    int64_t authorized_ttl, unauthorized_ttl; /* ns: how long answers are remembered */
};

/* The kubelet is lent and must have been started. */
MUST_USE struct status *kubelet_server_start(struct kubelet *kubelet, const struct kubelet_server_options *options,
                                             struct kubelet_server **ret);
/* Parks. NULL is fine. */
void kubelet_server_free(struct kubelet_server *server);
int kubelet_server_port(const struct kubelet_server *server);

/* An http_handler without any check of who asks; arg is the kubelet. For tests and simulation. */
void server_handle(struct http_exchange *exchange, void *kubelet);

/* The message as plain text. */
void server_error(struct http_exchange *exchange, int code, const char *format, ...) PRINTF_LIKE(3, 4);
void server_json(struct http_exchange *exchange, const struct type *type, const void *object);

/* /containerLogs/NAMESPACE/POD/CONTAINER */
void server_logs(struct kubelet *kubelet, struct http_exchange *exchange, const struct str *parts, size_t count);
/* /exec, /attach, /portForward: the runtime's own streaming server answers, and the connection is passed through. */
void server_stream(struct kubelet *kubelet, struct http_exchange *exchange, struct str what, const struct str *parts,
                   size_t count);
/* /stats/summary and /metrics/resource */
void server_stats_summary(struct kubelet *kubelet, struct http_exchange *exchange);
void server_metrics_resource(struct kubelet *kubelet, struct http_exchange *exchange);

#endif
