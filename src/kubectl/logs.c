/* kubectl logs: what containers print. */
#include "base/env.h"
#include "base/task.h"
#include "kubectl/output.h"
#include "kubectl/pods.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "schema/timestamp.h"

struct logs_options {
    bool follow, previous, timestamps, prefix, all_containers, ignore_errors;
    struct str container, since_time, selector;
    int64_t since, tail, limit_bytes;
};

struct logs {
    struct kubectl *k;
    const struct logs_options *options;
};

enum { READ_BYTES = 16384 };

static struct str path_of(const struct logs *logs, const struct value *pod, struct str container)
{
    struct kubectl *k = logs->k;
    const struct logs_options *options = logs->options;
    struct str path = arena_printf(k->arena, "/api/v1/namespaces/%.*s/pods/%.*s/log",
                                   STR_ARG(value_str_at(pod, "metadata.namespace")),
                                   STR_ARG(value_str_at(pod, "metadata.name")));

    path = path_with(k, path, "container", container);
    path = path_with(k, path, "follow", options->follow ? STR("true") : STR(""));
    path = path_with(k, path, "previous", options->previous ? STR("true") : STR(""));
    path = path_with(k, path, "timestamps", options->timestamps ? STR("true") : STR(""));
    path = path_with(k, path, "sinceTime", options->since_time);
    if (options->since > 0) {
        path = path_with(k, path, "sinceSeconds",
                         arena_printf(k->arena, "%lld", (long long)((options->since + ENV_SECOND - 1) / ENV_SECOND)));
    }
    if (options->limit_bytes > 0) {
        path = path_with(k, path, "limitBytes", arena_printf(k->arena, "%lld", (long long)options->limit_bytes));
    }
    if (options->tail >= 0) {
        path = path_with(k, path, "tailLines", arena_printf(k->arena, "%lld", (long long)options->tail));
    }
    return path;
}

/* Copies, with `prefix` (if any) before each line. */
static struct status *copy(struct kubectl *k, struct http_response *response, struct str prefix)
{
    char bytes[READ_BYTES];
    bool at_start = true;
    size_t size;

    for (;;) {
        TRY(http_response_read(response, bytes, sizeof(bytes), TASK_FOREVER, &size));
        if (size == 0) {
            return NULL;
        }
        for (size_t from = 0; from < size;) {
            const char *newline = prefix.n > 0 ? __builtin_memchr(bytes + from, '\n', size - from) : NULL;
            size_t to = newline != NULL ? (size_t)(newline - bytes) + 1 : size;

            output_text(k, at_start ? prefix : STR(""));
            output_text(k, (struct str){bytes + from, to - from});
            at_start = newline != NULL;
            from = to;
        }
        fflush(k->out);
    }
}

static struct status *print_container(const struct logs *logs, const struct value *pod, struct str container)
{
    struct kubectl *k = logs->k;
    struct http_response *response;
    struct str prefix = logs->options->prefix
                            ? arena_printf(k->arena, "[pod/%.*s/%.*s] ", STR_ARG(value_str_at(pod, "metadata.name")),
                                           STR_ARG(container))
                            : STR("");

    TRY(api_open(k, path_of(logs, pod, container), STR("*/*"), &response));
    struct status *status = copy(k, response, prefix);

    http_response_close(response);
    return status;
}

static struct status *print_pod(const struct logs *logs, const struct value *pod)
{
    struct kubectl *k = logs->k;
    struct str_list names = {0};
    struct str name;

    if (logs->options->all_containers) {
        names = pod_containers(k, pod);
    } else {
        TRY(pod_container(k, pod, logs->options->container, false, &name));
        *LIST_ADD(k->arena, &names) = name;
    }
    LIST_EACH(container, &names)
    {
        struct status *status = print_container(logs, pod, *container);

        if (status != NULL && logs->options->ignore_errors) {
            fprintf(k->err, "error: %.*s\n", STR_ARG(status->message));
            status_free(status);
            continue;
        }
        TRY(status);
    }
    return NULL;
}

struct follower {
    const struct logs *logs;
    const struct value *pod;
    struct status *status;
};

static void follow_pod(void *arg)
{
    struct follower *follower = arg;

    follower->status = print_pod(follower->logs, follower->pod);
}

/* All pods that a selector picks: at once when they are followed, else one after another. */
static struct status *print_selected(const struct logs *logs)
{
    struct kubectl *k = logs->k;
    struct value *list;
    struct task_group group;

    TRY(kubectl_configure(k));
    struct str path = arena_printf(k->arena, "/api/v1/namespaces/%.*s/pods",
                                   STR_ARG(http_escape(k->arena, kubectl_namespace(k))));

    TRY(api_get(k, path_with(k, path, "labelSelector", logs->options->selector), &list));
    struct value *pods = value_find(list, STR("items"));
    struct follower *followers = ARENA_ARRAY(k->arena, struct follower, value_count(pods));

    if (value_count(pods) == 0) {
        fprintf(k->err, "No resources found in %.*s namespace.\n", STR_ARG(kubectl_namespace(k)));
    }
    task_group_init(&group);
    for (size_t i = 0; i < value_count(pods); i++) {
        followers[i] = (struct follower){.logs = logs, .pod = value_item(pods, i)};
        if (logs->options->follow) {
            task_group_spawn(&group, "logs", follow_pod, &followers[i]);
        } else {
            follow_pod(&followers[i]);
        }
    }
    task_group_wait(&group);
    for (size_t i = 0; i < value_count(pods); i++) {
        report_error(k, followers[i].status);
    }
    return NULL;
}

static struct status *logs_run(struct kubectl *k, void *arg)
{
    struct logs_options *options = arg;
    const struct logs logs = {k, options};
    struct timestamp since;
    struct value *pod;

    if (k->args.positional.len == 0 && options->selector.n == 0) {
        return error_usage(k, "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required "
                              "argument for the logs command");
    }
    if (k->args.positional.len > 0 && options->selector.n > 0) {
        return error_usage(k, "only a selector (-l) or a POD name is allowed");
    }
    if (k->args.positional.len > 2) {
        return error_usage(k, "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required "
                              "argument for the logs command");
    }
    if (options->since > 0 && options->since_time.n > 0) {
        return error_local("at most one of `sinceTime` or `since` may be specified");
    }
    if (options->since_time.n > 0 && !timestamp_parse(options->since_time, &since)) {
        return error_local("parsing time \"%.*s\": it is not an RFC 3339 time", STR_ARG(options->since_time));
    }
    if (options->tail < -1) {
        return error_local("--tail must be greater than or equal to -1");
    }
    if (options->selector.n > 0) {
        options->tail = flags_seen(&k->args, "tail") ? options->tail : 10;
        return print_selected(&logs);
    }
    if (k->args.positional.len == 2) {
        options->container = k->args.positional.items[1];
    }
    TRY(pod_find(k, k->args.positional.items[0], &pod));
    return print_pod(&logs, pod);
}

static void logs_defaults(struct kubectl *k, void *arg)
{
    (void)k;
    ((struct logs_options *)arg)->tail = -1;
}

static const struct flag logs_flags[] = {
    FLAG(BOOL, struct logs_options, follow, "follow", 'f', "go on as more is printed"),
    FLAG(BOOL, struct logs_options, previous, "previous", 'p', "of the container's run before this one"),
    FLAG(BOOL, struct logs_options, timestamps, "timestamps", 0, "a time before each line"),
    FLAG(BOOL, struct logs_options, prefix, "prefix", 0, "pod and container before each line"),
    FLAG(BOOL, struct logs_options, all_containers, "all-containers", 0, "of all containers of the pod"),
    FLAG(BOOL, struct logs_options, ignore_errors, "ignore-errors", 0, "go on with other containers after an error"),
    FLAG(STRING, struct logs_options, container, "container", 'c', "of this container"),
    FLAG(STRING, struct logs_options, selector, "selector", 'l', "of the pods with these labels"),
    FLAG(STRING, struct logs_options, since_time, "since-time", 0, "only what is newer than this time (RFC 3339)"),
    FLAG(DURATION, struct logs_options, since, "since", 0, "only what is newer than 5s, 2m, 3h"),
    FLAG(INT, struct logs_options, tail, "tail", 0, "only the last lines"),
    FLAG(INT, struct logs_options, limit_bytes, "limit-bytes", 0, "at most so many bytes"),
    FLAG_IGNORE("max-log-requests"),
    FLAG_IGNORE("pod-running-timeout"),
    FLAG_IGNORE_BOOL("insecure-skip-tls-verify-backend"),
};

const struct command command_logs = {
    .name = "logs",
    .aliases = "log",
    .help = "Print the logs for a container in a pod",
    .usage = "[-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]",
    .flags = logs_flags,
    .flag_count = COUNT_OF(logs_flags),
    .options_size = sizeof(struct logs_options),
    .defaults = logs_defaults,
    .run = logs_run,
};
