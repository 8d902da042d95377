#include "kubectl/request.h"

#include "base/env.h"
#include "base/task.h"
#include "client/watch_frame.h"
#include "kubectl/report.h"
#include "kubectl/trace.h"

#include <stdlib.h>

#define ANSWER_BYTES_MAX ((size_t)256 << 20)
#define EVENT_BYTES_MAX ((size_t)64 << 20)
enum { READ_BYTES = 65536 };

struct str path_with(struct kubectl *k, struct str path, const char *name, struct str value)
{
    if (value.n == 0) {
        return path;
    }
    return arena_printf(k->arena, "%.*s%c%s=%.*s", STR_ARG(path), str_index(path, '?') == SIZE_MAX ? '?' : '&', name,
                        STR_ARG(http_escape(k->arena, value)));
}

struct str path_of_write(struct kubectl *k, const struct kind *kind, struct str namespace, struct str name,
                         struct str subresource, const char *manager)
{
    struct str path = client_path(k->arena, kind, namespace, name, subresource);

    path = path_with(k, path, "dryRun", k->write.dry_run == DRY_RUN_SERVER ? STR("All") : STR(""));
    path = path_with(k, path, "fieldManager",
                     k->write.field_manager.n > 0 ? k->write.field_manager : str_of(manager));
    return path_with(k, path, "fieldValidation", k->write.field_validation);
}

/* 299 - "text" with \" and \\ in it. */
static void show_warning(struct kubectl *k, struct str header)
{
    size_t quote = str_index(header, '"');
    OWNED(buf_done) struct buf text = {0};

    for (size_t i = quote == SIZE_MAX ? header.n : quote + 1; i < header.n && header.p[i] != '"'; i++) {
        i += header.p[i] == '\\' && i + 1 < header.n;
        buf_add_char(&text, header.p[i]);
    }
    report_warning(k, buf_str(&text));
}

static void add_impersonation(struct kubectl *k, struct http_headers *headers)
{
    LIST_EACH(group, &k->flags.as_groups)
    {
        http_header_add(k->arena, headers, STR("impersonate-group"), *group);
    }
    if (k->flags.as_uid.n > 0) {
        http_header_add(k->arena, headers, STR("impersonate-uid"), k->flags.as_uid);
    }
}

static int64_t deadline_of(const struct kubectl *k)
{
    return k->timeout > 0 ? env_mono() + k->timeout : TASK_FOREVER;
}

/* What Go says of a request that took longer than --request-timeout. */
static struct status *out_of_time(const struct kubectl *k, struct status *status)
{
    if (k->timeout > 0 && status_is(status, STATUS_TIMEOUT)) {
        status_free(status);
        status = status_new(STATUS_TIMEOUT,
                            "net/http: request canceled (Client.Timeout exceeded while awaiting headers)");
    }
    status->code |= REPORT_UNREACHABLE;
    return status;
}

static struct status *send(struct kubectl *k, const struct api_request *request, struct http_response **ret)
{
    OWNED(buf_done) struct buf body = {0};
    struct http_request http = {.method = str_of(request->method), .target = request->path, .deadline = deadline_of(k)};
    struct http_response *response;

    TRY(kubectl_connect(k));
    http_header_add(k->arena, &http.headers, STR("accept"), request->accept.n > 0 ? request->accept : ACCEPT_JSON);
    add_impersonation(k, &http.headers);
    if (request->body != NULL || request->raw_body.n > 0) {
        if (request->body != NULL) {
            value_write_json(&body, request->body, 0);
        } else {
            buf_add_str(&body, request->raw_body);
        }
        http.body = buf_str(&body);
        http_header_add(k->arena, &http.headers, STR("content-type"),
                        request->content_type.n > 0 ? request->content_type : ACCEPT_JSON);
    }
    trace_request(k, request->method, request->path, http.body.n);
    struct status *status = client_request(k->client, &http, &response);

    trace_answer(k, request->method, status, status == NULL ? response->code : 0);
    if (status != NULL) {
        return out_of_time(k, status);
    }
    LIST_EACH(header, &response->headers)
    {
        if (str_is(header->name, "warning")) {
            show_warning(k, header->value);
        }
    }
    if (response->code < 200 || response->code > 299) {
        status = client_error(response);
        http_response_close(response);
        status->code |= REPORT_FROM_SERVER;
        return status;
    }
    *ret = response;
    return NULL;
}

static struct status *read_all(struct kubectl *k, struct http_response *response, struct str *ret)
{
    struct status *status = http_response_read_all(response, k->arena, ANSWER_BYTES_MAX, ret);

    http_response_close(response);
    if (status != NULL) {
        status->code |= REPORT_UNREACHABLE;
    }
    return status;
}

struct status *api_call(struct kubectl *k, const struct api_request *request, struct value **ret)
{
    struct http_response *response;
    struct str body;

    TRY(send(k, request, &response));
    TRY(read_all(k, response, &body));
    return ret != NULL ? value_read_json(k->arena, body, ret, NULL) : NULL;
}

struct status *api_get(struct kubectl *k, struct str path, struct value **ret)
{
    return api_call(k, &(struct api_request){.method = "GET", .path = path}, ret);
}

struct status *api_get_text(struct kubectl *k, struct str path, struct str accept, struct str *ret)
{
    struct http_response *response;

    TRY(send(k, &(struct api_request){.method = "GET", .path = path, .accept = accept}, &response));
    return read_all(k, response, ret);
}

struct status *api_open(struct kubectl *k, struct str path, struct str accept, struct http_response **ret)
{
    return send(k, &(struct api_request){.method = "GET", .path = path, .accept = accept}, ret);
}

struct status *api_create(struct kubectl *k, const struct kind *kind, struct str namespace,
                          const struct value *object, const char *manager, struct value **ret)
{
    return api_call(k,
                    &(struct api_request){.method = "POST",
                                          .path = path_of_write(k, kind, namespace, STR(""), STR(""), manager),
                                          .body = object},
                    ret);
}

struct status *api_patch(struct kubectl *k, const struct kind *kind, struct str namespace, struct str name,
                         struct str subresource, enum client_patch_type type, const struct value *patch,
                         const char *manager, struct value **ret)
{
    static const struct str types[] = {
        [CLIENT_PATCH_JSON] = STR_INIT("application/json-patch+json"),
        [CLIENT_PATCH_MERGE] = STR_INIT("application/merge-patch+json"),
        [CLIENT_PATCH_STRATEGIC] = STR_INIT("application/strategic-merge-patch+json"),
        [CLIENT_PATCH_APPLY] = STR_INIT("application/apply-patch+yaml"),
    };

    return api_call(k,
                    &(struct api_request){.method = "PATCH",
                                          .path = path_of_write(k, kind, namespace, name, subresource, manager),
                                          .content_type = types[type],
                                          .body = value_is(patch, VALUE_STRING) ? NULL : patch,
                                          .raw_body = value_str(patch)},
                    ret);
}

struct api_watch {
    struct http_response *response;
    int64_t deadline; /* of --request-timeout */
    struct buf pending;
    size_t scanned;
};

struct status *api_watch_open(struct kubectl *k, struct str path, struct str accept, struct api_watch **ret)
{
    struct http_response *response;

    TRY(api_open(k, path_with(k, path, "watch", STR("true")), accept, &response));
    struct api_watch *watch = MEM_NEW(struct api_watch);

    watch->response = response;
    watch->deadline = deadline_of(k);
    *ret = watch;
    return NULL;
}

static struct status *watch_line(struct api_watch *watch, struct arena *arena, int64_t deadline, struct str *ret)
{
    struct str frame;
    size_t used, size;

    while (!watch_frame_json(buf_str(&watch->pending), watch->scanned, &frame, &used)) {
        watch->scanned = watch->pending.n;
        if (watch->pending.n > EVENT_BYTES_MAX) {
            return error_local("an event of the watch is larger than %zu bytes", EVENT_BYTES_MAX);
        }
        TRY(http_response_read(watch->response, buf_reserve(&watch->pending, READ_BYTES), READ_BYTES,
                               MIN(deadline, watch->deadline), &size));
        if (size == 0) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "the watch has ended");
        }
        watch->pending.n += size;
    }
    *ret = arena_str(arena, frame);
    buf_consume(&watch->pending, used);
    watch->scanned = 0;
    return NULL;
}

struct status *api_watch_next(struct api_watch *watch, struct arena *arena, int64_t deadline, struct str *ret_type,
                              struct value **ret_object)
{
    struct str line;
    struct value *event;

    TRY(watch_line(watch, arena, deadline, &line));
    TRY(value_read_json(arena, line, &event, NULL));
    *ret_type = value_str(value_find(event, STR("type")));
    *ret_object = value_find(event, STR("object"));
    if (str_is(*ret_type, "ERROR")) {
        struct status *status = status_new(status_reason_of(value_str_at(*ret_object, "reason")), "%.*s",
                                           STR_ARG(value_str_at(*ret_object, "message")));

        status->code |= REPORT_FROM_SERVER;
        return status;
    }
    return NULL;
}

void api_watch_close(struct api_watch *watch)
{
    if (watch != NULL) {
        http_response_close(watch->response);
        buf_done(&watch->pending);
        free(watch);
    }
}
