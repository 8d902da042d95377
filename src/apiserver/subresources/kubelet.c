/* What only the kubelet of a pod's node can answer: logs, commands, streams, forwarded ports. */
#include "apiserver/subresources/handlers.h"

#include "api/core_v1.h"
#include "apiserver/errors.h"
#include "apiserver/registry/storage.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "apiserver/subresources/proxy.h"
#include "schema/timestamp.h"

enum { ERROR_BYTES_MAX = 50 << 10 };

static struct status *find_pod(struct request *request, const struct core_v1_pod **ret)
{
    struct kept kept;

    TRY(storage_get(request->server->store, apiserver_resource(request->server, "", "v1", "pods"), request->arena,
                    request->info.namespace, request->info.name, &kept));
    *ret = (const struct core_v1_pod *)kept.object;
    return NULL;
}

/* A query in the making. */
static void add_parameter(struct request *request, struct buf *query, const char *name, struct str value)
{
    buf_printf(query, "%s%s=%.*s", query->n == 0 ? "?" : "&", name, STR_ARG(http_escape(request->arena, value)));
}

static struct str parameter(struct request *request, const char *name)
{
    struct str value = {0};

    http_query_find(request->arena, request->exchange->query, str_of(name), &value);
    return value;
}

static bool flag(struct request *request, const char *name)
{
    struct str value = {0};

    return http_query_find(request->arena, request->exchange->query, str_of(name), &value) && !str_is(value, "false") &&
           !str_is(value, "0");
}

struct log_options {
    struct str tail_lines, since_seconds, since_time, limit_bytes, stream;
    int64_t tail, since, limit;
};

static struct status *number(struct str text, int64_t *ret)
{
    *ret = 0;
    return text.n == 0 || str_to_i64(text, ret)
               ? NULL
               : error_bad_request("strconv.ParseInt: parsing \"%.*s\": invalid syntax", STR_ARG(text));
}

static void check_at_least(struct status *errors, const char *field, struct str text, int64_t value, int64_t least)
{
    if (text.n != 0 && value < least) {
        error_invalid_value(errors, str_of(field), text, "%s",
                            least == 0 ? "must be greater than or equal to 0" : "must be greater than 0");
    }
}

static struct status *read_log_options(struct request *request, struct log_options *o)
{
    struct status *errors;
    struct timestamp since;

    o->tail_lines = parameter(request, "tailLines");
    o->since_seconds = parameter(request, "sinceSeconds");
    o->since_time = parameter(request, "sinceTime");
    o->limit_bytes = parameter(request, "limitBytes");
    o->stream = parameter(request, "stream");
    TRY(number(o->tail_lines, &o->tail));
    TRY(number(o->since_seconds, &o->since));
    TRY(number(o->limit_bytes, &o->limit));
    if (o->since_time.n != 0 && !timestamp_parse(o->since_time, &since)) {
        return error_bad_request("%.*s", STR_ARG(timestamp_problem(request->arena, o->since_time, false)));
    }
    errors = error_invalid_start();
    check_at_least(errors, "tailLines", o->tail_lines, o->tail, 0);
    check_at_least(errors, "limitBytes", o->limit_bytes, o->limit, 1);
    if (o->since_time.n != 0 && o->since_seconds.n != 0) {
        error_field_forbidden(errors, STR("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified");
    } else {
        check_at_least(errors, "sinceSeconds", o->since_seconds, o->since, 1);
    }
    if (o->stream.n != 0 && !str_is(o->stream, "All")) {
        error_field_forbidden(errors, STR("stream"), "may not be specified");
    }
    return error_invalid_finish(errors, (struct str){0}, STR("PodLogOptions"), request->info.name);
}

static void log_path(struct request *request, const struct core_v1_pod *pod, struct str container,
                     const struct log_options *o, struct buf *path)
{
    OWNED(buf_done) struct buf query = {0};

    if (flag(request, "follow")) {
        add_parameter(request, &query, "follow", STR("true"));
    }
    if (flag(request, "previous")) {
        add_parameter(request, &query, "previous", STR("true"));
    }
    if (flag(request, "timestamps")) {
        add_parameter(request, &query, "timestamps", STR("true"));
    }
    if (o->since_seconds.n != 0) {
        add_parameter(request, &query, "sinceSeconds", o->since_seconds);
    }
    if (o->since_time.n != 0) {
        add_parameter(request, &query, "sinceTime", o->since_time);
    }
    if (o->tail_lines.n != 0) {
        add_parameter(request, &query, "tailLines", o->tail_lines);
    }
    if (o->limit_bytes.n != 0) {
        add_parameter(request, &query, "limitBytes", o->limit_bytes);
    }
    buf_printf(path, "/containerLogs/%.*s/%.*s/%.*s", STR_ARG(pod->metadata.namespace), STR_ARG(pod->metadata.name),
               STR_ARG(container));
    buf_add_str(path, buf_str(&query));
}

/* An error of the kubelet's, in stock's words for errors of servers behind it. */
static struct status *kubelet_error(struct request *request, struct http_response *response)
{
    struct str text;

    TRY(http_response_read_all(response, request->arena, ERROR_BYTES_MAX, &text));
    switch (response->code) {
    case 400:
        return error_bad_request("%.*s", STR_ARG(text));
    case 404: {
        struct status *status = status_new(STATUS_NOT_FOUND, "the server could not find the requested resource ( %s %.*s)",
                                           "pods/log", STR_ARG(request->info.name));

        return status_about(status, (struct str){0}, STR("pods/log"), request->info.name);
    }
    case 500:
        return error_internal("%.*s", STR_ARG(text));
    default: {
        struct status *status = status_new(STATUS_UNKNOWN, "%.*s", STR_ARG(text));

        status->code = response->code;
        return status;
    }
    }
}

static struct status *stream_log(struct request *request, struct http_response *response)
{
    struct http_headers headers = respond_headers(request, STR("text/plain"));
    char piece[8 << 10];

    if (response->code / 100 != 2) {
        return kubelet_error(request, response);
    }
    TRY(http_start(request->exchange, 200, &headers));
    for (size_t got = 1; got > 0;) {
        TRY(http_response_read(response, piece, sizeof piece, TASK_FOREVER, &got));
        if (got > 0) {
            TRY(http_write(request->exchange, (struct str){piece, got}));
        }
    }
    return NULL;
}

struct status *pod_log_get(struct request *request)
{
    const struct core_v1_pod *pod = NULL;
    struct log_options options;
    struct str container;
    struct proxy_target target;
    struct http_client *client = NULL;
    struct http_response *response = NULL;
    OWNED(buf_done) struct buf path = {0};

    if (!str_is(request->info.verb, "get")) {
        return error_method_not_allowed();
    }
    TRY(read_log_options(request, &options));
    TRY(find_pod(request, &pod));
    TRY(kubelet_container(request->arena, pod, parameter(request, "container"), &container));
    if (pod->spec.node_name.n == 0) {
        return respond_bytes(request, 200, STR("text/plain"), (struct str){0}); /* nothing has been said yet */
    }
    request->is_long_running = true;
    TRY(kubelet_locate(request, pod->spec.node_name, true, &target));
    log_path(request, pod, container, &options, &path);
    target.path = buf_str(&path);
    struct status *status = proxy_get(request, &target, &client, &response);

    if (status != NULL) {
        return status_is(status, STATUS_CANCELLED)
                   ? status
                   : status_while(status, "Get \"https://%.*s%.*s\"", STR_ARG(target.address), STR_ARG(target.path));
    }
    status = stream_log(request, response);
    http_response_close(response);
    http_client_free(client);
    return status;
}

static struct status *no_host(const struct core_v1_pod *pod)
{
    return error_bad_request("pod %.*s does not have a host assigned", STR_ARG(pod->metadata.name));
}

/* exec and attach: the kubelet has other names for the streams. */
static struct status *stream_to(struct request *request, const char *what)
{
    static const struct {
        const char *ours, *kubelets;
    } streams[] = {{"stdin", "input"}, {"stdout", "output"}, {"stderr", "error"}, {"tty", "tty"}};
    const struct core_v1_pod *pod = NULL;
    struct str container, name, value;
    struct proxy_target target;
    OWNED(buf_done) struct buf query = {0};

    TRY(find_pod(request, &pod));
    TRY(kubelet_container(request->arena, pod, parameter(request, "container"), &container));
    if (pod->spec.node_name.n == 0) {
        return no_host(pod);
    }
    TRY(kubelet_locate(request, pod->spec.node_name, true, &target));
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        if (flag(request, streams[i].ours)) {
            add_parameter(request, &query, streams[i].kubelets, STR("1"));
        }
    }
    for (struct str rest = request->exchange->query; http_query_next(request->arena, &rest, &name, &value);) {
        if (str_is(name, "command")) {
            add_parameter(request, &query, "command", value);
        }
    }
    target.path = arena_printf(request->arena, "/%s/%.*s/%.*s/%.*s%.*s", what, STR_ARG(pod->metadata.namespace),
                               STR_ARG(pod->metadata.name), STR_ARG(container), STR_ARG(buf_str(&query)));
    return proxy_relay(request, &target);
}

struct status *pod_exec_serve(struct request *request)
{
    return stream_to(request, "exec");
}

struct status *pod_attach_serve(struct request *request)
{
    return stream_to(request, "attach");
}

struct status *pod_port_forward_serve(struct request *request)
{
    const struct core_v1_pod *pod = NULL;
    struct proxy_target target;
    OWNED(buf_done) struct buf query = {0};
    struct str name, value;

    TRY(find_pod(request, &pod));
    if (pod->spec.node_name.n == 0) {
        return no_host(pod);
    }
    TRY(kubelet_locate(request, pod->spec.node_name, true, &target));
    for (struct str rest = request->exchange->query; http_query_next(request->arena, &rest, &name, &value);) {
        if (str_is(name, "ports")) {
            add_parameter(request, &query, "port", value);
        }
    }
    target.path = arena_printf(request->arena, "/portForward/%.*s/%.*s%.*s", STR_ARG(pod->metadata.namespace),
                               STR_ARG(pod->metadata.name), STR_ARG(buf_str(&query)));
    return proxy_relay(request, &target);
}
