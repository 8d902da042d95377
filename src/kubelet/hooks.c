#include "kubelet/hooks.h"

#include "base/env.h"
#include "kubelet/cri.h"

int container_port_find(const struct core_v1_container *container, const struct int_or_string *port)
{
    int64_t number;

    if (!port->is_string) {
        return port->number > 0 && port->number < 65536 ? port->number : -1;
    }
    LIST_EACH (named, &container->ports) {
        if (str_eq(named->name, port->text)) {
            return named->container_port;
        }
    }
    return str_to_i64(port->text, &number) && number > 0 && number < 65536 ? (int)number : -1;
}

static struct str lower(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    for (char *c = copy; *c != '\0'; c++) {
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    }
    return str_of(copy);
}

static struct str bracketed(struct arena *arena, struct str host)
{
    return str_index(host, ':') != SIZE_MAX ? arena_printf(arena, "[%.*s]", STR_ARG(host)) : host;
}

bool http_get_make(struct arena *arena, const struct core_v1_http_get_action *action,
                   const struct core_v1_container *container, struct str pod_ip, const char *user_agent,
                   struct prober_http *ret)
{
    int port = container_port_find(container, &action->port);
    struct str host = action->host.n > 0 ? action->host : pod_ip;
    struct str scheme = action->scheme.n > 0 ? lower(arena, action->scheme) : STR("http");
    struct str path = action->path.n > 0 && action->path.p[0] == '/'
                          ? action->path
                          : arena_printf(arena, "/%.*s", STR_ARG(action->path));
    struct str authority = arena_printf(arena, "%.*s:%d", STR_ARG(bracketed(arena, host)), port);
    struct http_headers headers = {0};

    if (port < 0) {
        return false;
    }
    LIST_EACH (header, &action->http_headers) {
        struct str name = lower(arena, header->name);

        if (str_is(name, "host")) {
            authority = header->value;
        } else if (header->value.n > 0 || !str_is(name, "accept")) {
            http_header_add(arena, &headers, name, header->value);
        }
    }
    if (http_header_find(&headers, STR("user-agent")).p == NULL) {
        http_header_add(arena, &headers, STR("user-agent"), str_of(user_agent));
    }
    if (http_header_find(&headers, STR("accept")).p == NULL) {
        http_header_add(arena, &headers, STR("accept"), STR("*/*"));
    }
    *ret = (struct prober_http){
        .is_https = str_is(scheme, "https"),
        .host = host,
        .port = port,
        .path = path,
        .url = arena_printf(arena, "%.*s://%.*s:%d%.*s", STR_ARG(scheme), STR_ARG(bracketed(arena, host)), port,
                            STR_ARG(path)),
        .headers = headers,
        .authority = authority,
    };
    return true;
}

static struct status *run_exec(struct kubelet *kubelet, const struct core_v1_exec_action *action, struct str id,
                               int64_t timeout, struct arena *arena)
{
    struct cri_v1_exec_sync_request request = {
        .container_id = id, .cmd = action->command, .timeout = timeout > 0 ? MAX(timeout / ENV_SECOND, 1) : 0};
    struct cri_v1_exec_sync_response *response;

    TRY(cri_exec_sync(kubelet->cri, &request, arena, &response));
    return response->exit_code == 0
               ? NULL
               : status_new(STATUS_UNKNOWN, "command exited with %d: %.*s%.*s", response->exit_code,
                            STR_ARG(response->stdout), STR_ARG(response->stderr));
}

static struct status *run_http(struct kubelet *kubelet, const struct core_v1_container *container,
                               const struct core_v1_http_get_action *action, struct str pod_ip, int64_t timeout,
                               struct arena *arena)
{
    struct prober_http request;
    struct str output = STR("");

    if (!http_get_make(arena, action, container, pod_ip, "kube-lifecycle/1.37", &request)) {
        return status_new(STATUS_INVALID, "couldn't find port of the hook in container %.*s",
                          STR_ARG(container->name));
    }
    int64_t deadline = timeout > 0 ? env_mono() + timeout : TASK_FOREVER;

    return kubelet->prober->ops->http(kubelet->prober, &request, deadline, arena, &output) == PROBE_SUCCESS
               ? NULL
               : status_new(STATUS_UNKNOWN, "%.*s", STR_ARG(output));
}

struct status *hook_run(struct kubelet *kubelet, const struct core_v1_container *container,
                        const struct core_v1_lifecycle_handler *handler, struct str container_id, struct str pod_ip,
                        int64_t timeout)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    if (handler->exec != NULL) {
        return run_exec(kubelet, handler->exec, container_id, timeout, arena);
    }
    if (handler->http_get != NULL) {
        return run_http(kubelet, container, handler->http_get, pod_ip, timeout, arena);
    }
    if (handler->sleep != NULL) {
        int64_t wanted = handler->sleep->seconds * ENV_SECOND;

        if (!task_sleep(timeout > 0 ? MIN(wanted, timeout) : wanted)) {
            return status_new(STATUS_CANCELLED, "context canceled");
        }
        return timeout > 0 && wanted > timeout ? status_new(STATUS_TIMEOUT, "container terminated before sleep hook "
                                                                            "finished")
                                               : NULL;
    }
    return status_new(STATUS_INVALID, "invalid handler: no action");
}
