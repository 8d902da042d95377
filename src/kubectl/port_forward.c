/* kubectl port-forward: ports of this machine that lead into a pod. Each connection that comes gets a SPDY connection of its
 * own to the server, so that none waits for another's reader and none is refused for their number. */
#include "base/env.h"
#include "base/mem.h"
#include "base/task.h"
#include "kubectl/pods.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "net/socket.h"
#include "net/spdy.h"

#include <stdlib.h>

#define PROTOCOL STR("portforward.k8s.io")
enum { COPY_BYTES = 16 << 10, ERROR_BYTES = 4096 };

struct forward_options {
    struct flag_strings addresses;
};

struct forwarding {
    struct kubectl *k;
    struct str path;
    struct task_group tasks;
};

/* A port that is listened on. */
struct entrance {
    struct forwarding *forwarding;
    struct listener *listener;
    int local, remote;
};

/* A connection that came. */
struct visit {
    struct entrance *entrance;
    struct arena *arena;
    struct stream *local;
    struct http_response *response;
    struct spdy *spdy;
    struct spdy_stream *data, *error;
};

static struct status *connect_to_pod(struct visit *visit)
{
    struct kubectl *k = visit->entrance->forwarding->k;
    struct http_request request = {
        .method = STR("POST"), .target = visit->entrance->forwarding->path, .wants_upgrade = true};

    http_header_add(visit->arena, &request.headers, STR("upgrade"), STR("SPDY/3.1"));
    http_header_add(visit->arena, &request.headers, STR("x-stream-protocol-version"), PROTOCOL);
    struct http_client *http = client_dress(k->client, visit->arena, &request);

    TRY(http_do(http, &request, &visit->response));
    if (visit->response->code != 101 || visit->response->upgraded == NULL) {
        return client_error(visit->response);
    }
    visit->spdy = spdy_new(TAKE(visit->response->upgraded));
    return NULL;
}

static struct status *open_stream(struct visit *visit, const char *type, struct spdy_stream **ret)
{
    struct http_headers headers = {0};

    http_header_add(visit->arena, &headers, STR("streamtype"), str_of(type));
    http_header_add(visit->arena, &headers, STR("port"), arena_printf(visit->arena, "%d", visit->entrance->remote));
    http_header_add(visit->arena, &headers, STR("requestid"), STR("0"));
    return spdy_open(visit->spdy, &headers, ret);
}

static void copy_in(void *arg)
{
    struct visit *visit = arg;
    char bytes[COPY_BYTES];
    struct status *status = NULL;
    size_t size = 1;

    while (status == NULL && size > 0) {
        status = stream_read(visit->local, bytes, sizeof(bytes), TASK_FOREVER, &size);
        if (status == NULL && size > 0) {
            status = spdy_stream_write(visit->data, (struct str){bytes, size});
        }
    }
    status_free(status);
    status_free(spdy_stream_end(visit->data));
}

static struct status *copy_out(struct visit *visit)
{
    char bytes[COPY_BYTES];
    size_t size;

    for (;;) {
        TRY(stream_read(spdy_stream_input(visit->data), bytes, sizeof(bytes), TASK_FOREVER, &size));
        if (size == 0) {
            stream_shut(visit->local);
            return NULL;
        }
        TRY(stream_write(visit->local, bytes, size, TASK_FOREVER));
    }
}

/* What the server says went wrong, if it does. */
static struct status *read_error(struct visit *visit)
{
    char bytes[ERROR_BYTES];
    size_t size, have = 0;

    while (have < sizeof(bytes)) {
        TRY(stream_read(spdy_stream_input(visit->error), bytes + have, sizeof(bytes) - have, env_mono() + ENV_SECOND, &size));
        if (size == 0) {
            break;
        }
        have += size;
    }
    return have > 0 ? error_local("%.*s", (int)have, bytes) : NULL;
}

static struct status *talk(struct visit *visit)
{
    struct task_group group;

    TRY(connect_to_pod(visit));
    TRY(open_stream(visit, "error", &visit->error));
    TRY(spdy_stream_end(visit->error));
    TRY(open_stream(visit, "data", &visit->data));
    task_group_init(&group);
    task_group_spawn(&group, "port forward input", copy_in, visit);
    struct status *status = copy_out(visit);

    task_group_cancel(&group);
    if (status == NULL) {
        status = read_error(visit);
        status_free_if(&status, STATUS_TIMEOUT);
    }
    return status;
}

static void visit_run(void *arg)
{
    struct visit *visit = arg;
    struct kubectl *k = visit->entrance->forwarding->k;

    fprintf(k->out, "Handling connection for %d\n", visit->entrance->local);
    fflush(k->out);
    struct status *status = talk(visit);

    if (status != NULL && !status_is(status, STATUS_CANCELLED)) {
        fprintf(k->err, "error: an error occurred forwarding %d -> %d: %.*s\n", visit->entrance->local,
                visit->entrance->remote, STR_ARG(status->message));
    }
    status_free(status);
    spdy_free(visit->spdy);
    http_response_close(visit->response);
    stream_close(visit->local);
    arena_free(visit->arena);
}

static void entrance_run(void *arg)
{
    struct entrance *entrance = arg;
    struct stream *stream;
    struct status *status = NULL;

    while (status == NULL) {
        status = listener_accept(entrance->listener, TASK_FOREVER, &stream, NULL);
        if (status == NULL) {
            struct arena *arena = arena_new();
            struct visit *visit = ARENA_NEW(arena, struct visit);

            *visit = (struct visit){.entrance = entrance, .arena = arena, .local = stream};
            task_group_spawn(&entrance->forwarding->tasks, "port forward", visit_run, visit);
        }
    }
    status_free(status);
}

/* Listens on one address; port 0 becomes the one that was picked. */
static struct status *enter(struct forwarding *forwarding, struct str host, int *local, int remote)
{
    struct kubectl *k = forwarding->k;
    struct entrance *entrance = ARENA_NEW(k->arena, struct entrance);
    bool is_ip6 = str_index(host, ':') != SIZE_MAX;
    struct str address = arena_printf(k->arena, "%s%.*s%s:%d", is_ip6 ? "[" : "", STR_ARG(host), is_ip6 ? "]" : "", *local);

    TRY(listener_open(address, 0, &entrance->listener));
    *local = listener_port(entrance->listener);
    entrance->forwarding = forwarding;
    entrance->local = *local;
    entrance->remote = remote;
    task_group_spawn(&forwarding->tasks, "port forward entrance", entrance_run, entrance);
    fprintf(k->out, "Forwarding from %s%.*s%s:%d -> %d\n", is_ip6 ? "[" : "", STR_ARG(host), is_ip6 ? "]" : "", *local,
            remote);
    fflush(k->out);
    return NULL;
}

static struct status *enter_all(struct forwarding *forwarding, const struct forward_options *options, int local, int remote)
{
    static struct str localhost[] = {STR_INIT("127.0.0.1"), STR_INIT("::1")};
    struct status *last = NULL;
    size_t opened = 0;

    for (size_t i = 0; i < options->addresses.len; i++) {
        struct str address = options->addresses.items[i];
        bool is_localhost = str_is(address, "localhost");

        for (size_t j = 0; j < (is_localhost ? COUNT_OF(localhost) : 1); j++) {
            status_free(last);
            last = enter(forwarding, is_localhost ? localhost[j] : address, &local, remote);
            opened += last == NULL;
        }
    }
    if (opened == 0 && last != NULL) {
        struct status *failed = error_local("unable to listen on port %d: %.*s", local, STR_ARG(last->message));

        status_free(last);
        return failed;
    }
    status_free(last); /* a machine without IPv6 still has the other */
    return NULL;
}

static struct status *port_of(struct str text, int *ret)
{
    int64_t number;

    if (!str_to_i64(text, &number) || number < 0 || number > 65535) {
        return error_local("error parsing port \"%.*s\": invalid port", STR_ARG(text));
    }
    *ret = (int)number;
    return NULL;
}

/* A port of the pod by number or name. */
static struct status *pod_port(const struct value *pod, struct str text, int *ret)
{
    int64_t number;

    if (str_to_i64(text, &number)) {
        return port_of(text, ret);
    }
    VALUE_EACH_ITEM(container, value_find_path(pod, "spec.containers"))
    {
        VALUE_EACH_ITEM(port, value_find(*container, STR("ports")))
        {
            const struct value *found = value_find(*port, STR("containerPort"));

            if (str_eq(value_str_at(*port, "name"), text) && value_is(found, VALUE_INT)) {
                *ret = (int)found->integer;
                return NULL;
            }
        }
    }
    return error_local("Pod '%.*s' does not have a named port '%.*s'", STR_ARG(value_str_at(pod, "metadata.name")),
                       STR_ARG(text));
}

/* A Service's port as the pod's behind it. */
static struct status *service_port(struct kubectl *k, const struct value *service, const struct value *pod, struct str text,
                                   int *ret)
{
    VALUE_EACH_ITEM(port, value_find_path(service, "spec.ports"))
    {
        const struct value *number = value_find(*port, STR("port")), *target = value_find(*port, STR("targetPort"));
        struct str own = value_json(k->arena, number);

        if (!str_eq(own, text) && !str_eq(value_str_at(*port, "name"), text)) {
            continue;
        }
        if (str_is(value_str_at(service, "spec.clusterIP"), "None") || target == NULL) {
            return pod_port(pod, own, ret);
        }
        return pod_port(pod, value_is(target, VALUE_STRING) ? value_str(target) : value_json(k->arena, target), ret);
    }
    return error_local("Service %.*s does not have a service port %.*s", STR_ARG(value_str_at(service, "metadata.name")),
                       STR_ARG(text));
}

/* The Service that was named; NULL when it was something else. */
static struct status *service_of(struct kubectl *k, struct str word, struct value **ret)
{
    struct str type, name;
    const struct kind *kind;

    *ret = NULL;
    TRY(kubectl_configure(k));
    if (!str_cut(word, '/', &type, &name)) {
        return NULL;
    }
    TRY(discovery_find(k, type, &kind));
    if (!str_is(kind->kind, "Service") || kind->group.n > 0) {
        return NULL;
    }
    return api_get(k, client_path(k->arena, kind, kubectl_namespace(k), name, STR("")), ret);
}

/* "8080", "8080:80", ":80" */
static struct status *add_port(struct forwarding *forwarding, const struct forward_options *options,
                               const struct value *service, const struct value *pod, struct str text)
{
    struct str local_text, remote_text;
    int local = 0, remote = 0;
    bool has_two = str_cut(text, ':', &local_text, &remote_text);

    remote_text = has_two ? remote_text : local_text;
    if (service != NULL) {
        TRY(service_port(forwarding->k, service, pod, remote_text, &remote));
    } else {
        TRY(pod_port(pod, remote_text, &remote));
    }
    if (has_two && local_text.n == 0) {
        local = 0;
    } else if (has_two || service != NULL) {
        TRY(port_of(local_text, &local));
    } else {
        local = remote;
    }
    if (remote == 0) {
        return error_local("remote port must be > 0");
    }
    return enter_all(forwarding, options, local, remote);
}

static struct status *forward_run(struct kubectl *k, void *arg)
{
    struct forward_options *options = arg;
    struct forwarding forwarding = {.k = k};
    struct value *service, *pod;

    if (k->args.positional.len < 2) {
        return error_usage(k, "TYPE/NAME and list of ports are required for port-forward");
    }
    TRY(kubectl_connect(k));
    TRY(service_of(k, k->args.positional.items[0], &service));
    TRY(pod_find(k, k->args.positional.items[0], &pod));
    if (!str_is(value_str_at(pod, "status.phase"), "Running")) {
        return error_local("unable to forward port because pod is not running. Current status=%.*s",
                           STR_ARG(value_str_at(pod, "status.phase")));
    }
    if (options->addresses.len == 0) {
        *LIST_ADD(k->arena, &options->addresses) = STR("localhost");
    }
    forwarding.path = arena_printf(k->arena, "/api/v1/namespaces/%.*s/pods/%.*s/portforward",
                                   STR_ARG(value_str_at(pod, "metadata.namespace")),
                                   STR_ARG(value_str_at(pod, "metadata.name")));
    task_group_init(&forwarding.tasks);
    struct status *status = NULL;

    for (size_t i = 1; i < k->args.positional.len && status == NULL; i++) {
        status = add_port(&forwarding, options, service, pod, k->args.positional.items[i]);
    }
    if (status == NULL) {
        task_group_wait(&forwarding.tasks); /* until someone ends the program */
    }
    task_group_cancel(&forwarding.tasks);
    return status;
}

static const struct flag forward_flags[] = {
    FLAG(STRINGS, struct forward_options, addresses, "address", 0, "addresses to listen on, or localhost"),
    FLAG_IGNORE("pod-running-timeout"),
};

const struct command command_port_forward = {
    .name = "port-forward",
    .help = "Forward one or more local ports to a pod",
    .usage = "TYPE/NAME [LOCAL_PORT:]REMOTE_PORT [...[LOCAL_PORT_N:]REMOTE_PORT_N]",
    .flags = forward_flags,
    .flag_count = COUNT_OF(forward_flags),
    .options_size = sizeof(struct forward_options),
    .run = forward_run,
};
