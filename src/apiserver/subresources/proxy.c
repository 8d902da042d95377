#include "apiserver/subresources/proxy.h"

#include "apiserver/errors.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_client.h"

#include <stdlib.h>

enum { PIECE_BYTES = 32 << 10 };

/* Headers that are about one connection. */
static bool is_hop(struct str name)
{
    static const char *const names[] = {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te",
                                        "trailer",    "transfer-encoding", "upgrade", "content-length", "host",
                                        "proxy-connection"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static bool wants_upgrade(const struct request *request)
{
    const struct http_headers *headers = &request->exchange->headers;

    return http_header_has_token(headers, STR("connection"), STR("upgrade")) &&
           http_header_find(headers, STR("upgrade")).n != 0;
}

static struct http_headers passed_on(struct request *request, const struct http_headers *from, bool upgrades)
{
    struct http_headers headers = {0};

    for (size_t i = 0; i < from->len; i++) {
        const struct http_header *header = &from->items[i];

        if (!is_hop(header->name) || (upgrades && str_is(header->name, "upgrade"))) {
            http_header_add(request->arena, &headers, header->name, header->value);
        }
    }
    return headers;
}

static struct http_client *open_client(struct request *request, const struct proxy_target *target)
{
    return http_client_new(&(struct http_client_options){.address = target->address,
                                                         .tls = target->tls,
                                                         .server_name = target->server_name,
                                                         .protocol = HTTP_CLIENT_1,
                                                         .dial_timeout = request->server->options->kubelet_timeout});
}

static struct status *unreachable(const struct proxy_target *target, struct status *cause)
{
    if (cause == NULL || status_is(cause, STATUS_CANCELLED)) {
        return cause;
    }
    struct status *status = status_new(STATUS_SERVICE_UNAVAILABLE, "error trying to reach service: %.*s",
                                       STR_ARG(cause->message));

    status_free(cause);
    return status;
}

/* The body as it comes, each piece flushed. */
static struct status *relay_body(struct request *request, struct http_response *response)
{
    char *piece = mem_zalloc(PIECE_BYTES);
    struct status *status = NULL;
    size_t got = 1;

    while (status == NULL && got > 0) {
        status = http_response_read(response, piece, PIECE_BYTES, TASK_FOREVER, &got);
        if (status == NULL && got > 0) {
            status = http_write(request->exchange, (struct str){piece, got});
        }
    }
    free(piece);
    return status;
}

static struct status *relay_answer(struct request *request, struct http_response *response)
{
    struct http_exchange *exchange = request->exchange;
    struct http_headers headers = passed_on(request, &response->headers, response->code == 101);

    if (response->code == 101 && response->upgraded != NULL) {
        struct stream *client;

        TRY(http_upgrade(exchange, &headers, &client));
        stream_splice(client, TAKE(response->upgraded));
        return NULL;
    }
    http_header_add(request->arena, &headers, STR("audit-id"), request->audit_id);
    TRY(http_start(exchange, response->code, &headers));
    return relay_body(request, response);
}

struct status *proxy_relay(struct request *request, const struct proxy_target *target)
{
    struct http_exchange *exchange = request->exchange;
    bool upgrades = wants_upgrade(request);
    struct http_request sent = {.method = exchange->method,
                                .target = target->path,
                                .headers = passed_on(request, &exchange->headers, upgrades),
                                .wants_upgrade = upgrades};
    struct http_response *response = NULL;

    request->is_long_running = true;
    if (!upgrades) {
        TRY(http_read_all(exchange, LIMIT_REQUEST_BODY_BYTES, &sent.body));
    }
    struct http_client *client = open_client(request, target);
    struct status *status = unreachable(target, http_do(client, &sent, &response));

    if (status == NULL) {
        status = relay_answer(request, response);
    }
    http_response_close(response);
    http_client_free(client);
    return status;
}

struct status *proxy_get(struct request *request, const struct proxy_target *target, struct http_client **ret_client,
                         struct http_response **ret)
{
    struct http_request sent = {.method = STR("GET"), .target = target->path};
    struct http_client *client = open_client(request, target);
    struct status *status = http_do(client, &sent, ret);

    if (status != NULL) {
        http_client_free(client);
        return status;
    }
    *ret_client = client;
    return NULL;
}
