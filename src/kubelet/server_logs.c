/* Containers' logs over HTTP (server.h). */
#include "base/env.h"
#include "kubelet/log_reader.h"
#include "kubelet/pod_status.h"
#include "kubelet/pod_workers.h"
#include "kubelet/server.h"
#include "kubelet/status_manager.h"
#include "schema/timestamp.h"

struct log_sending {
    struct kubelet *kubelet;
    struct http_exchange *exchange;
    struct str container_id;
};

static bool query_bool(struct http_exchange *exchange, struct str name)
{
    struct str value;

    return http_query_find(exchange->arena, exchange->query, name, &value) &&
           (value.n == 0 || str_is(value, "true") || str_is(value, "1"));
}

/* False when it is there but not a number, or below zero. */
static bool query_number(struct http_exchange *exchange, struct str name, int64_t *ret)
{
    struct str value;

    return !http_query_find(exchange->arena, exchange->query, name, &value) ||
           (str_to_i64(value, ret) && *ret >= 0);
}

static bool read_query(struct http_exchange *exchange, struct log_request *request)
{
    struct str value;
    int64_t seconds = -1;
    struct timestamp time;

    request->tail_lines = -1;
    request->follow = query_bool(exchange, STR("follow"));
    request->filter = (struct container_log_filter){
        .limit_bytes = -1,
        .timestamps = query_bool(exchange, STR("timestamps")),
        .want_stdout = true,
        .want_stderr = true,
    };
    if (!query_number(exchange, STR("tailLines"), &request->tail_lines) ||
        !query_number(exchange, STR("limitBytes"), &request->filter.limit_bytes) ||
        !query_number(exchange, STR("sinceSeconds"), &seconds)) {
        return false;
    }
    if (seconds >= 0) {
        request->filter.since = env_wall() - seconds * ENV_SECOND;
    }
    if (http_query_find(exchange->arena, exchange->query, STR("sinceTime"), &value) && value.n > 0) {
        if (!timestamp_parse(value, &time)) {
            return false;
        }
        request->filter.since = timestamp_nanos(time);
    }
    if (http_query_find(exchange->arena, exchange->query, STR("stream"), &value)) {
        request->filter.want_stdout = !str_is(value, "Stderr");
        request->filter.want_stderr = !str_is(value, "Stdout");
    }
    return true;
}

static const struct core_v1_container_status *find_status(const struct core_v1_pod_status *status, struct str name)
{
    const struct core_v1_container_status *found = NULL;

    if (status != NULL) {
        found = container_status_find(status->container_statuses.items, status->container_statuses.len, name);
        found = found != NULL ? found
                              : container_status_find(status->init_container_statuses.items,
                                                      status->init_container_statuses.len, name);
        found = found != NULL ? found
                              : container_status_find(status->ephemeral_container_statuses.items,
                                                      status->ephemeral_container_statuses.len, name);
    }
    return found;
}

static struct status *waiting_problem(struct str container, struct str pod, struct str reason)
{
    if (str_is(reason, "ErrImagePull")) {
        return status_new(STATUS_BAD_REQUEST,
                          "container \"%.*s\" in pod \"%.*s\" is waiting to start: image can't be pulled",
                          STR_ARG(container), STR_ARG(pod));
    }
    if (str_is(reason, "ImagePullBackOff")) {
        return status_new(STATUS_BAD_REQUEST,
                          "container \"%.*s\" in pod \"%.*s\" is waiting to start: trying and failing to pull image",
                          STR_ARG(container), STR_ARG(pod));
    }
    return status_new(STATUS_BAD_REQUEST, "container \"%.*s\" in pod \"%.*s\" is waiting to start: %.*s",
                      STR_ARG(container), STR_ARG(pod), STR_ARG(reason));
}

/* Which container of the runtime has the log that is wanted. */
static struct status *find_container(const struct core_v1_pod_status *pod_status, struct str pod, struct str container,
                                     bool previous, struct str *ret_id)
{
    const struct core_v1_container_status *status = find_status(pod_status, container);
    const struct core_v1_container_state_terminated *last = status == NULL ? NULL : status->last_state.terminated;
    struct str id = STR("");

    if (status == NULL) {
        return status_new(STATUS_BAD_REQUEST, "container \"%.*s\" in pod \"%.*s\" is not available", STR_ARG(container),
                          STR_ARG(pod));
    }
    if (previous) {
        if (last == NULL || last->container_id.n == 0) {
            return status_new(STATUS_BAD_REQUEST, "previous terminated container \"%.*s\" in pod \"%.*s\" not found",
                              STR_ARG(container), STR_ARG(pod));
        }
        id = last->container_id;
    } else if (status->state.running != NULL) {
        id = status->container_id;
    } else if (status->state.terminated != NULL) {
        id = status->state.terminated->container_id;
    } else if (last != NULL) {
        id = last->container_id;
    } else if (status->state.waiting != NULL) {
        return waiting_problem(container, pod, status->state.waiting->reason);
    } else {
        return status_new(STATUS_BAD_REQUEST, "container \"%.*s\" in pod \"%.*s\" is waiting to start - no logs yet",
                          STR_ARG(container), STR_ARG(pod));
    }
    if (id.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "container \"%.*s\" in pod \"%.*s\" is terminated", STR_ARG(container),
                          STR_ARG(pod));
    }
    size_t at = str_find(id, STR("://"));

    *ret_id = at == SIZE_MAX ? id : str_from(id, at + 3);
    return NULL;
}

static struct status *write_piece(void *arg, struct str text)
{
    struct log_sending *sending = arg;

    return http_write(sending->exchange, text);
}

static bool is_over(void *arg)
{
    struct log_sending *sending = arg;
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_container_status_request request = {.container_id = sending->container_id};
    struct cri_v1_container_status_response *response;
    struct status *error = cri_container_status(sending->kubelet->cri, &request, arena, &response);

    if (error != NULL) {
        bool is_gone = status_is(error, STATUS_NOT_FOUND) || status_is(error, STATUS_CANCELLED);

        status_free(error);
        return is_gone;
    }
    return response->status == NULL || response->status->state != CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING;
}

static void send_log(struct log_sending *sending, struct log_request *request)
{
    struct http_exchange *exchange = sending->exchange;
    struct cri_v1_container_status_request ask = {.container_id = sending->container_id};
    struct cri_v1_container_status_response *answer;
    struct http_headers headers = {0};
    struct status *error = cri_container_status(sending->kubelet->cri, &ask, exchange->arena, &answer);

    if (error != NULL || answer->status == NULL) {
        server_error(exchange, 500, "failed to get container status \"%.*s\": %.*s", STR_ARG(sending->container_id),
                     STR_ARG(error != NULL ? error->message : STR("no status")));
        status_free(error);
        return;
    }
    struct log_sink sink = {.write = write_piece, .is_over = is_over, .arg = sending};

    request->path = arena_cstr(exchange->arena, answer->status->log_path);
    http_header_add(exchange->arena, &headers, STR("content-type"), STR("text/plain"));
    error = http_start(exchange, 200, &headers);
    if (error == NULL) {
        error = log_read(request, &sink);
    }
    if (error != NULL && !http_is_gone(exchange) && !status_is(error, STATUS_CANCELLED)) {
        status_free(http_write(exchange, arena_printf(exchange->arena, "%.*s\n", STR_ARG(error->message))));
    }
    status_free(error);
    status_free(http_end(exchange, NULL));
}

void server_logs(struct kubelet *kubelet, struct http_exchange *exchange, const struct str *parts, size_t count)
{
    struct log_request request = {0};

    if (count != 3) {
        server_error(exchange, 404, "404 page not found");
        return;
    }
    if (!read_query(exchange, &request)) {
        server_error(exchange, 400, "{\"message\": \"Unable to decode query.\"}");
        return;
    }
    const struct pod_ref *pod = pod_workers_find(kubelet->workers, parts[0], parts[1]);

    if (pod == NULL) {
        server_error(exchange, 404, "pod \"%.*s\" does not exist", STR_ARG(parts[1]));
        return;
    }
    if (pod_find_container(exchange->arena, pod->pod, parts[2], NULL) == NULL) {
        server_error(exchange, 404, "container \"%.*s\" not found in pod \"%.*s\"", STR_ARG(parts[2]),
                     STR_ARG(parts[1]));
        return;
    }
    struct log_sending sending = {.kubelet = kubelet, .exchange = exchange};
    const struct core_v1_pod_status *status = status_manager_find(kubelet->statuses, pod->pod->metadata.uid);
    struct status *error = find_container(status != NULL ? status : &pod->pod->status, parts[1], parts[2],
                                          query_bool(exchange, STR("previous")), &sending.container_id);

    if (error != NULL) {
        server_error(exchange, 400, "%.*s", STR_ARG(error->message));
        status_free(error);
        return;
    }
    sending.container_id = arena_str(exchange->arena, sending.container_id);
    send_log(&sending, &request);
}
