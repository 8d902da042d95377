#include "api/validation/pod.h"

void check_port_number_or_name(struct status *to, const struct path *at, const struct int_or_string *port)
{
    if (port->is_string) {
        check_name(to, at, port->text, name_is_port_name);
    } else if (!name_is_port_number(port->number, NULL)) {
        check_invalid_int(to, at, port->number, "must be between 1 and 65535, inclusive");
    }
}

static void check_http(struct status *to, const struct path *at, const struct core_v1_http_get_action *http)
{
    static const char *const schemes[] = {"HTTP", "HTTPS", NULL};

    check_present(to, AT(at, "path"), http->path);
    check_port_number_or_name(to, AT(at, "port"), &http->port);
    check_one_of(to, AT(at, "scheme"), http->scheme, schemes);
    LIST_EACH(header, &http->http_headers) {
        check_name(to, AT(at, "httpHeaders"), header->name, name_is_http_header);
    }
}

/* What to do, of a probe or of a lifecycle's hook; exactly one is set. */
struct handler {
    const struct core_v1_exec_action *exec;
    const struct core_v1_http_get_action *http_get;
    const struct core_v1_tcp_socket_action *tcp_socket;
    const struct core_v1_grpc_action *grpc;
    const struct core_v1_sleep_action *sleep;
};

static bool is_first(struct status *to, const struct path *at, int *count)
{
    if ((*count)++ > 0) {
        check_forbidden(to, at, "may not specify more than 1 handler type");
        return false;
    }
    return true;
}

static void check_handler(struct status *to, const struct path *at, struct handler handler, int64_t grace)
{
    int count = 0;

    if (handler.exec != NULL && is_first(to, AT(at, "exec"), &count) && handler.exec->command.len == 0) {
        check_required(to, AT(AT(at, "exec"), "command"), "%s", "");
    }
    if (handler.http_get != NULL && is_first(to, AT(at, "httpGet"), &count)) {
        check_http(to, AT(at, "httpGet"), handler.http_get);
    }
    if (handler.tcp_socket != NULL && is_first(to, AT(at, "tcpSocket"), &count)) {
        check_port_number_or_name(to, AT(AT(at, "tcpSocket"), "port"), &handler.tcp_socket->port);
    }
    if (handler.grpc != NULL && is_first(to, AT(at, "grpc"), &count)) {
        check_port_number_or_name(to, AT(AT(at, "grpc"), "port"),
                                  &(const struct int_or_string){.number = handler.grpc->port});
    }
    if (handler.sleep != NULL && is_first(to, AT(at, "sleep"), &count) &&
        (handler.sleep->seconds < 0 || handler.sleep->seconds > grace)) {
        check_invalid_int(to, AT(at, "sleep"), handler.sleep->seconds,
                          "must be non-negative and less than terminationGracePeriodSeconds (%lld)", (long long)grace);
    }
    if (count == 0) {
        check_required(to, at, "must specify a handler type");
    }
}

static void check_hook(struct status *to, const struct path *at, const struct core_v1_lifecycle_handler *hook,
                       int64_t grace)
{
    if (hook != NULL) {
        check_handler(to, at,
                      (struct handler){.exec = hook->exec, .http_get = hook->http_get, .tcp_socket = hook->tcp_socket,
                                       .sleep = hook->sleep},
                      grace);
    }
}

void check_lifecycle(struct status *to, const struct path *at, const struct core_v1_lifecycle *lifecycle,
                     int64_t grace_seconds)
{
    if (lifecycle != NULL) {
        check_hook(to, AT(at, "postStart"), lifecycle->post_start, grace_seconds);
        check_hook(to, AT(at, "preStop"), lifecycle->pre_stop, grace_seconds);
    }
}

static bool check_probe(struct status *to, const struct path *at, const struct core_v1_probe *probe)
{
    if (probe == NULL) {
        return false;
    }
    const struct core_v1_probe_handler *does = &probe->probe_handler;

    check_handler(to, at,
                  (struct handler){.exec = does->exec, .http_get = does->http_get, .tcp_socket = does->tcp_socket,
                                   .grpc = does->grpc},
                  0);
    check_non_negative(to, AT(at, "initialDelaySeconds"), probe->initial_delay_seconds);
    check_non_negative(to, AT(at, "timeoutSeconds"), probe->timeout_seconds);
    check_non_negative(to, AT(at, "periodSeconds"), probe->period_seconds);
    check_non_negative(to, AT(at, "successThreshold"), probe->success_threshold);
    check_non_negative(to, AT(at, "failureThreshold"), probe->failure_threshold);
    if (probe->termination_grace_period_seconds != NULL && *probe->termination_grace_period_seconds < 1) {
        check_invalid_int(to, AT(at, "terminationGracePeriodSeconds"), *probe->termination_grace_period_seconds,
                          "must be greater than 0");
    }
    return true;
}

static void check_succeeds_once(struct status *to, const struct path *at, const struct core_v1_probe *probe)
{
    if (check_probe(to, at, probe) && probe->success_threshold != 1) {
        check_invalid_int(to, AT(at, "successThreshold"), probe->success_threshold, "must be 1");
    }
}

void check_probes(struct status *to, const struct path *at, const struct core_v1_container *container)
{
    const struct path *ready = AT(at, "readinessProbe");

    check_succeeds_once(to, AT(at, "livenessProbe"), container->liveness_probe);
    if (check_probe(to, ready, container->readiness_probe) &&
        container->readiness_probe->termination_grace_period_seconds != NULL) {
        check_invalid_int(to, AT(ready, "terminationGracePeriodSeconds"),
                          *container->readiness_probe->termination_grace_period_seconds,
                          "must not be set for readinessProbes");
    }
    check_succeeds_once(to, AT(at, "startupProbe"), container->startup_probe);
}
