/* Exec, attach and port forwarding (server.h): CRI says where the runtime serves the streams, and the client's upgraded
 * connection is joined to one there. SPDY and WebSocket pass through as they are. */
#include "base/env.h"
#include "kubelet/pod_workers.h"
#include "kubelet/runtime_fetch.h"
#include "kubelet/server.h"
#include "net/http_client.h"

enum { BODY_BYTES_MAX = 64 << 10 };

struct streaming {
    struct kubelet *kubelet;
    struct http_exchange *exchange;
    struct str url;
};

static bool flag(struct http_exchange *exchange, struct str name, struct str other_name)
{
    struct str value;

    return (http_query_find(exchange->arena, exchange->query, name, &value) ||
            http_query_find(exchange->arena, exchange->query, other_name, &value)) &&
           (str_is(value, "1") || str_is(value, "true"));
}

static struct status *find_running(struct streaming *streaming, struct pod_ref *pod, struct str container,
                                   struct str *ret_id)
{
    struct runtime_pod runtime;

    TRY(runtime_pod_fetch(streaming->kubelet, pod->pod->metadata.uid, streaming->exchange->arena, &runtime));
    const struct runtime_container *found = runtime_pod_find(&runtime, container);

    if (found == NULL || found->state != RUNTIME_RUNNING) {
        return status_new(STATUS_NOT_FOUND, "container not found (\"%.*s\")", STR_ARG(container));
    }
    *ret_id = found->id;
    return NULL;
}

static struct status *open_exec(struct streaming *streaming, struct str container_id)
{
    struct http_exchange *exchange = streaming->exchange;
    struct cri_v1_exec_request request = {
        .container_id = container_id,
        .tty = flag(exchange, STR("tty"), STR("tty")),
        .stdin = flag(exchange, STR("input"), STR("stdin")),
        .stdout = flag(exchange, STR("output"), STR("stdout")),
        .stderr = flag(exchange, STR("error"), STR("stderr")),
    };
    struct cri_v1_exec_response *response;

    for (struct str rest = exchange->query, name, value; http_query_next(exchange->arena, &rest, &name, &value);) {
        if (str_is(name, "command")) {
            *LIST_ADD(exchange->arena, &request.cmd) = value;
        }
    }
    if (!request.stdin && !request.stdout && !request.stderr) {
        return status_new(STATUS_BAD_REQUEST, "you must specify at least 1 of stdin, stdout, stderr");
    }
    request.stderr = request.stderr && !request.tty; /* a terminal has one output */
    TRY(cri_exec(streaming->kubelet->cri, &request, exchange->arena, &response));
    streaming->url = response->url;
    return NULL;
}

static struct status *open_attach(struct streaming *streaming, struct str container_id, bool has_tty)
{
    struct http_exchange *exchange = streaming->exchange;
    struct cri_v1_attach_request request = {
        .container_id = container_id,
        .tty = has_tty,
        .stdin = flag(exchange, STR("input"), STR("stdin")),
        .stdout = flag(exchange, STR("output"), STR("stdout")),
        .stderr = flag(exchange, STR("error"), STR("stderr")) && !has_tty,
    };
    struct cri_v1_attach_response *response;

    if (!request.stdin && !request.stdout && !request.stderr) {
        return status_new(STATUS_BAD_REQUEST, "you must specify at least 1 of stdin, stdout, stderr");
    }
    TRY(cri_attach(streaming->kubelet->cri, &request, exchange->arena, &response));
    streaming->url = response->url;
    return NULL;
}

static struct status *open_port_forward(struct streaming *streaming, struct pod_ref *pod)
{
    struct http_exchange *exchange = streaming->exchange;
    struct cri_v1_port_forward_request request = {0};
    struct cri_v1_port_forward_response *response;
    struct runtime_pod runtime;

    TRY(runtime_pod_fetch(streaming->kubelet, pod->pod->metadata.uid, exchange->arena, &runtime));
    if (runtime.sandboxes.len == 0 || !runtime.sandboxes.items[0].is_ready) {
        return status_new(STATUS_NOT_FOUND, "pod not found (\"%.*s\")",
                          STR_ARG(pod_format(exchange->arena, pod->pod)));
    }
    request.pod_sandbox_id = runtime.sandboxes.items[0].id;
    for (struct str rest = exchange->query, name, value; http_query_next(exchange->arena, &rest, &name, &value);) {
        int64_t port;

        if ((str_is(name, "port") || str_is(name, "ports")) && str_to_i64(value, &port) && port > 0 && port < 65536) {
            *LIST_ADD(exchange->arena, &request.port) = (int32_t)port;
        }
    }
    TRY(cri_port_forward(streaming->kubelet->cri, &request, exchange->arena, &response));
    streaming->url = response->url;
    return NULL;
}

/* Of one hop only, or made anew by the client. */
static bool is_hop_header(struct str name)
{
    static const char *const names[] = {"connection", "host", "content-length", "transfer-encoding", "keep-alive",
                                        "te", "trailer", "proxy-connection", "authorization"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static void copy_headers(struct arena *arena, const struct http_headers *from, struct http_headers *to)
{
    LIST_EACH (header, from) {
        if (!is_hop_header(header->name)) {
            http_header_add(arena, to, header->name, header->value);
        }
    }
}

/* "http://HOST:PORT/path?query" */
static struct status *split_url(struct str url, struct str *ret_address, struct str *ret_target)
{
    struct str rest = str_from(url, 7);
    size_t slash = str_index(rest, '/');

    if (!str_has_prefix(url, STR("http://")) || slash == SIZE_MAX) {
        return status_new(STATUS_INTERNAL_ERROR, "the runtime's streaming URL is not one: \"%.*s\"", STR_ARG(url));
    }
    *ret_address = str_sub(rest, 0, slash);
    *ret_target = str_from(rest, slash);
    return NULL;
}

static struct status *pass_on(struct streaming *streaming, struct http_response *response)
{
    struct http_exchange *exchange = streaming->exchange;
    struct http_headers headers = {0};
    struct stream *client;
    struct str body;

    copy_headers(exchange->arena, &response->headers, &headers);
    if (response->code == 101 && response->upgraded != NULL) {
        TRY(http_upgrade(exchange, &headers, &client));
        stream_splice(client, TAKE(response->upgraded));
        return NULL;
    }
    TRY(http_response_read_all(response, exchange->arena, BODY_BYTES_MAX, &body));
    return http_respond(exchange, response->code, &headers, body);
}

static struct status *join(struct streaming *streaming)
{
    struct http_exchange *exchange = streaming->exchange;
    struct http_client_options options = {.protocol = HTTP_CLIENT_1};
    struct http_request request = {.method = exchange->method, .wants_upgrade = true};
    struct http_response *response;

    TRY(split_url(streaming->url, &options.address, &request.target));
    copy_headers(exchange->arena, &exchange->headers, &request.headers);
    struct http_client *runtime = http_client_new(&options);
    struct status *error = http_do(runtime, &request, &response);

    if (error == NULL) {
        error = pass_on(streaming, response);
        http_response_close(response);
    }
    http_client_free(runtime);
    return error;
}

void server_stream(struct kubelet *kubelet, struct http_exchange *exchange, struct str what, const struct str *parts,
                   size_t count)
{
    struct streaming streaming = {.kubelet = kubelet, .exchange = exchange};
    bool is_forward = str_is(what, "portForward");
    size_t wanted = is_forward ? 2 : 3;
    struct str container_id = STR("");

    /* Between pod and container there may be the pod's UID. */
    if (count != wanted && count != wanted + 1) {
        server_error(exchange, 404, "404 page not found");
        return;
    }
    OWNED(pod_unrefp) struct pod_ref *pod = pod_workers_find(kubelet->workers, parts[0], parts[1]);

    if (pod == NULL) {
        server_error(exchange, 404, "pod does not exist");
        return;
    }
    pod_ref(pod);
    struct status *error = NULL;

    if (is_forward) {
        error = open_port_forward(&streaming, pod);
    } else {
        const struct core_v1_container *spec = pod_find_container(exchange->arena, pod->pod, parts[count - 1], NULL);

        error = find_running(&streaming, pod, parts[count - 1], &container_id);
        if (error == NULL) {
            error = str_is(what, "exec") ? open_exec(&streaming, container_id)
                                         : open_attach(&streaming, container_id, spec != NULL && spec->tty);
        }
    }
    if (error == NULL) {
        error = join(&streaming);
    }
    if (error != NULL && !exchange->is_started) {
        server_error(exchange, error->code, "%.*s", STR_ARG(error->message));
    }
    status_free(error);
}
