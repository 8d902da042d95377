/* Probes over the real network (prober.h). One connection a probe, as stock makes them. */
#include "base/buf.h"
#include "base/env.h"
#include "base/task.h"
#include "cri/grpc_client.h"
#include "kubelet/prober.h"
#include "net/http_client.h"
#include "net/socket.h"
#include "schema/grpc_health_v1.h"
#include "schema/timestamp.h"

enum { BODY_BYTES_MAX = 10 * 1024, REDIRECTS_MAX = 10 };

static struct str address_of(struct arena *arena, struct str host, int port)
{
    return str_index(host, ':') != SIZE_MAX ? arena_printf(arena, "[%.*s]:%d", STR_ARG(host), port)
                                            : arena_printf(arena, "%.*s:%d", STR_ARG(host), port);
}

static struct str text_of(struct arena *arena, struct status *error)
{
    /* Go's http client says so of a deadline. */
    struct str text = status_is(error, STATUS_TIMEOUT)
                          ? STR("context deadline exceeded (Client.Timeout exceeded while awaiting headers)")
                          : arena_str(arena, error->message);

    status_free(error);
    return text;
}

struct answer {
    int code;
    struct str location, body;
};

static struct status *read_answer(struct http_response *response, int64_t deadline, struct arena *arena,
                                  struct answer *ret)
{
    OWNED(buf_done) struct buf body = {0};
    size_t size;

    do {
        TRY(http_response_read(response, buf_reserve(&body, 4096), 4096, deadline, &size));
        body.n += size;
    } while (size > 0 && body.n < BODY_BYTES_MAX);
    *ret = (struct answer){
        .code = response->code,
        .location = arena_str(arena, http_header_find(&response->headers, STR("location"))),
        .body = arena_str(arena, str_sub(buf_str(&body), 0, BODY_BYTES_MAX)),
    };
    return NULL;
}

static struct status *get(const struct prober_http *request, int64_t deadline, struct arena *arena,
                          struct answer *ret)
{
    struct http_client_options options = {.address = address_of(arena, request->host, request->port),
                                          .server_name = request->host,
                                          .authority = request->authority};
    struct http_request http = {.method = STR("GET"),
                                .target = request->path,
                                .headers = request->headers,
                                .deadline = deadline};
    struct http_response *response;

    if (request->is_https) {
        struct tls_client_options tls = {.is_insecure = true, .offers_http2 = true};

        TRY(tls_client_new(&tls, &options.tls));
    }
    struct http_client *client = http_client_new(&options);
    struct status *error = http_do(client, &http, &response);

    if (error == NULL) {
        error = read_answer(response, deadline, arena, ret);
        http_response_close(response);
    }
    http_client_free(client);
    tls_context_unref(options.tls);
    return error;
}

/* A redirect to the same host is followed; one elsewhere counts as a success, as in stock. */
static bool redirect(struct arena *arena, const struct answer *answer, struct prober_http *request)
{
    struct str place = answer->location;
    struct str own = str_sub(request->url, 0, request->url.n - request->path.n);

    if (place.n > 0 && place.p[0] == '/') {
        request->path = arena_str(arena, place);
    } else if (str_has_prefix(place, own)) {
        request->path = arena_str(arena, str_from(place, own.n));
    } else {
        return false;
    }
    request->url = arena_printf(arena, "%.*s%.*s", STR_ARG(own), STR_ARG(request->path));
    return true;
}

static enum probe_result probe_http(struct prober *prober, const struct prober_http *wanted, int64_t deadline,
                                    struct arena *arena, struct str *ret_output)
{
    struct prober_http request = *wanted;

    for (int redirects = 0;; redirects++) {
        struct answer answer = {0};
        struct status *error = get(&request, deadline, arena, &answer);

        if (error != NULL) {
            struct str text = text_of(arena, error); /* which the macro below would free more than once */

            *ret_output = arena_printf(arena, "Get \"%.*s\": %.*s", STR_ARG(request.url), STR_ARG(text));
            return PROBE_FAILURE;
        }
        if (answer.code >= 200 && answer.code < 300) {
            *ret_output = answer.body;
            return PROBE_SUCCESS;
        }
        if (answer.code >= 300 && answer.code < 400) {
            if (redirects >= REDIRECTS_MAX) {
                *ret_output = arena_printf(arena, "Get \"%.*s\": stopped after 10 redirects", STR_ARG(request.url));
                return PROBE_FAILURE;
            }
            if (redirect(arena, &answer, &request)) {
                continue;
            }
            *ret_output = answer.body;
            return PROBE_SUCCESS;
        }
        *ret_output = arena_printf(arena, "HTTP probe failed with statuscode: %d", answer.code);
        return PROBE_FAILURE;
    }
}

static enum probe_result probe_tcp(struct prober *prober, struct str host, int port, int64_t deadline,
                                   struct arena *arena, struct str *ret_output)
{
    struct stream *stream;
    struct str address = address_of(arena, host, port);
    struct status *error = socket_dial(address, deadline, &stream);

    *ret_output = STR("");
    if (error != NULL) {
        *ret_output = status_is(error, STATUS_TIMEOUT)
                          ? arena_printf(arena, "dial tcp %.*s: i/o timeout", STR_ARG(address))
                          : arena_str(arena, error->message);
        status_free(error);
        return PROBE_FAILURE;
    }
    stream_close(stream);
    return PROBE_SUCCESS;
}

enum { HEALTH_SERVING = 1 };
static const char *const health_names[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};

static struct status *health_check(struct str address, struct str service, int64_t deadline, struct arena *arena,
                                   int32_t *ret_status)
{
    struct http_client_options options = {.address = address, .protocol = HTTP_CLIENT_2};
    struct grpc_client *client = grpc_client_over(http_client_new(&options));
    struct grpc_health_v1_health_check_request request = {.service = service};
    struct grpc_health_v1_health_check_response response = {0};
    struct status *error =
        grpc_call(client, arena, &grpc_health_v1_health_check_rpc, &request, &response, deadline);

    grpc_client_free(client);
    *ret_status = response.status;
    return error;
}

static struct str grpc_failure(struct arena *arena, const struct status *error, int64_t timeout)
{
    if (status_is(error, STATUS_TIMEOUT)) {
        int64_t rounded = (timeout + ENV_MS - 1) / ENV_MS * ENV_MS; /* what is left by now of what the probe has */

        return arena_printf(arena, "timeout: health rpc did not complete within %.*s",
                            STR_ARG(duration_format(arena, rounded)));
    }
    if (status_is(error, STATUS_METHOD_NOT_ALLOWED)) {
        return arena_printf(arena,
                            "error: this server does not implement the grpc health protocol "
                            "(grpc.health.v1.Health): %.*s",
                            STR_ARG(error->message));
    }
    return arena_printf(arena, "error: health rpc probe failed: %.*s", STR_ARG(grpc_error_text(arena, error)));
}

static enum probe_result probe_grpc(struct prober *prober, struct str host, int port, struct str service,
                                    int64_t deadline, struct arena *arena, struct str *ret_output)
{
    struct str address = address_of(arena, host, port);
    int64_t from = env_mono();
    int32_t status;
    struct status *error = health_check(address, service, deadline, arena, &status);

    if (error != NULL) {
        *ret_output = grpc_failure(arena, error, deadline - from);
        status_free(error);
        return PROBE_FAILURE;
    }
    if (status != HEALTH_SERVING) {
        const char *name = status >= 0 && status < (int32_t)COUNT_OF(health_names) ? health_names[status] : "UNKNOWN";

        *ret_output = arena_printf(arena, "service unhealthy (responded with \"%s\")", name);
        return PROBE_FAILURE;
    }
    *ret_output = STR("service healthy");
    return PROBE_SUCCESS;
}

static const struct prober_ops ops = {.http = probe_http, .tcp = probe_tcp, .grpc = probe_grpc};

struct prober *net_prober(void)
{
    static struct prober prober = {.ops = &ops};

    return &prober;
}
