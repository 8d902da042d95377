/* kubectl drain: a node without pods, for its maintenance. */
#include "base/env.h"
#include "base/task.h"
#include "kubectl/discovery.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"

struct drain_options {
    bool force, ignore_daemonsets, delete_data, disable_eviction;
    int64_t grace_period, timeout;
    struct str pod_selector;
};

struct pods {
    struct value **items;
    size_t len;
};

static struct str owner_kind(const struct value *pod)
{
    VALUE_EACH_ITEM(owner, value_find_path(pod, "metadata.ownerReferences"))
    {
        const struct value *controller = value_find(*owner, STR("controller"));

        if (value_is(controller, VALUE_BOOL) && controller->boolean) {
            return value_str_at(*owner, "kind");
        }
    }
    return STR("");
}

static bool has_local_data(const struct value *pod)
{
    VALUE_EACH_ITEM(volume, value_find_path(pod, "spec.volumes"))
    {
        if (value_find(*volume, STR("emptyDir")) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_over(const struct value *pod)
{
    struct str phase = value_str_at(pod, "status.phase");

    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

static void add_name(struct kubectl *k, struct str *list, const struct value *pod)
{
    *list = arena_printf(k->arena, "%.*s%s%.*s/%.*s", STR_ARG(*list), list->n > 0 ? ", " : "",
                         STR_ARG(value_str_at(pod, "metadata.namespace")), STR_ARG(value_str_at(pod, "metadata.name")));
}

/* Which pods of the node go, and what forbids it. */
static struct status *choose(struct kubectl *k, const struct drain_options *options, struct value *list,
                             struct pods *ret)
{
    struct str daemons = STR(""), orphans = STR(""), local = STR(""), problems = STR("");

    VALUE_EACH_ITEM(pod, list)
    {
        bool is_mirror = value_find(value_find_path(*pod, "metadata.annotations"), STR("kubernetes.io/config.mirror")) != NULL;

        if (is_mirror) {
            continue;
        }
        if (str_is(owner_kind(*pod), "DaemonSet") && !is_over(*pod)) {
            add_name(k, &daemons, *pod);
            continue;
        }
        if (owner_kind(*pod).n == 0 && !is_over(*pod)) {
            add_name(k, &orphans, *pod);
        }
        if (has_local_data(*pod) && !is_over(*pod)) {
            add_name(k, &local, *pod);
        }
        *LIST_ADD(k->arena, ret) = *pod;
    }
    if (daemons.n > 0 && !options->ignore_daemonsets) {
        problems = arena_printf(k->arena, "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): %.*s",
                                STR_ARG(daemons));
    }
    if (local.n > 0 && !options->delete_data) {
        problems = arena_printf(k->arena,
                                "%.*s%scannot delete Pods with local storage (use --delete-emptydir-data to override): %.*s",
                                STR_ARG(problems), problems.n > 0 ? ", " : "", STR_ARG(local));
    }
    if (orphans.n > 0 && !options->force) {
        problems = arena_printf(k->arena,
                                "%.*s%scannot delete Pods that declare no controller (use --force to override): %.*s",
                                STR_ARG(problems), problems.n > 0 ? ", " : "", STR_ARG(orphans));
    }
    if (problems.n > 0) {
        return error_local("%.*s", STR_ARG(problems));
    }
    if (daemons.n > 0) {
        report_warning(k, arena_printf(k->arena, "ignoring DaemonSet-managed Pods: %.*s", STR_ARG(daemons)));
    }
    if (orphans.n > 0) {
        report_warning(k, arena_printf(k->arena, "deleting Pods that declare no controller: %.*s", STR_ARG(orphans)));
    }
    return NULL;
}

static struct str pod_path(struct kubectl *k, const struct value *pod, const char *subresource)
{
    return arena_printf(k->arena, "/api/v1/namespaces/%.*s/pods/%.*s%s",
                        STR_ARG(value_str_at(pod, "metadata.namespace")), STR_ARG(value_str_at(pod, "metadata.name")),
                        subresource);
}

static struct value *eviction_of(struct kubectl *k, const struct drain_options *options, const struct value *pod)
{
    struct value *eviction = value_object(k->arena), *metadata = value_object(k->arena), *delete = value_object(k->arena);

    value_set(k->arena, metadata, STR("name"), value_string(k->arena, value_str_at(pod, "metadata.name")));
    value_set(k->arena, metadata, STR("namespace"), value_string(k->arena, value_str_at(pod, "metadata.namespace")));
    value_set(k->arena, eviction, STR("apiVersion"), value_string(k->arena, STR("policy/v1")));
    value_set(k->arena, eviction, STR("kind"), value_string(k->arena, STR("Eviction")));
    value_set(k->arena, eviction, STR("metadata"), metadata);
    if (options->grace_period >= 0) {
        value_set(k->arena, delete, STR("gracePeriodSeconds"), value_int(k->arena, options->grace_period));
        value_set(k->arena, eviction, STR("deleteOptions"), delete);
    }
    return eviction;
}

/* Asks until no budget forbids it any more. */
static struct status *evict(struct kubectl *k, const struct drain_options *options, const struct value *pod,
                            int64_t deadline)
{
    struct str name = value_str_at(pod, "metadata.name"), namespace = value_str_at(pod, "metadata.namespace");

    for (;;) {
        fprintf(k->err, "evicting pod %.*s/%.*s\n", STR_ARG(namespace), STR_ARG(name));
        struct status *status =
            options->disable_eviction
                ? api_call(k, &(struct api_request){.method = "DELETE", .path = pod_path(k, pod, "")}, NULL)
                : api_call(k,
                           &(struct api_request){.method = "POST",
                                                 .path = pod_path(k, pod, "/eviction"),
                                                 .body = eviction_of(k, options, pod)},
                           NULL);

        if (status == NULL || error_is_not_found(status)) {
            status_free(status);
            return NULL;
        }
        if (!status_is(status, STATUS_TOO_MANY_REQUESTS)) {
            return status_while(status, "error when evicting pods/\"%.*s\" -n \"%.*s\"", STR_ARG(name), STR_ARG(namespace));
        }
        fprintf(k->err, "error when evicting pods/\"%.*s\" -n \"%.*s\" (will retry after 5s): %.*s\n", STR_ARG(name),
                STR_ARG(namespace), STR_ARG(status->message));
        status_free(status);
        if (env_mono() >= deadline || !task_sleep(5 * ENV_SECOND)) {
            return error_local("error when evicting pods/\"%.*s\" -n \"%.*s\": global timeout reached", STR_ARG(name),
                               STR_ARG(namespace));
        }
    }
}

static struct status *wait_gone(struct kubectl *k, const struct value *pod, int64_t deadline)
{
    for (;;) {
        struct value *now;
        struct status *status = api_get(k, pod_path(k, pod, ""), &now);

        if (error_is_not_found(status) ||
            (status == NULL && !str_eq(value_str_at(now, "metadata.uid"), value_str_at(pod, "metadata.uid")))) {
            status_free(status);
            fprintf(k->out, "pod/%.*s evicted\n", STR_ARG(value_str_at(pod, "metadata.name")));
            fflush(k->out);
            return NULL;
        }
        TRY(status);
        if (env_mono() >= deadline || !task_sleep(ENV_SECOND / 2)) {
            return error_local("error when waiting for pod \"%.*s\" in namespace \"%.*s\" to terminate: global timeout "
                               "reached",
                               STR_ARG(value_str_at(pod, "metadata.name")),
                               STR_ARG(value_str_at(pod, "metadata.namespace")));
        }
    }
}

static struct status *cordon(struct kubectl *k, const struct kind *kind, struct str name)
{
    struct value *spec = value_object(k->arena), *patch = value_object(k->arena), *node;
    const struct value *now;

    TRY(api_get(k, client_path(k->arena, kind, STR(""), name, STR("")), &node));
    now = value_find_path(node, "spec.unschedulable");
    if (value_is(now, VALUE_BOOL) && now->boolean) {
        fprintf(k->out, "node/%.*s already cordoned\n", STR_ARG(name));
        return NULL;
    }
    value_set(k->arena, spec, STR("unschedulable"), value_bool(k->arena, true));
    value_set(k->arena, patch, STR("spec"), spec);
    if (k->write.dry_run != DRY_RUN_CLIENT) {
        TRY(api_patch(k, kind, STR(""), name, STR(""), CLIENT_PATCH_STRATEGIC, patch, "kubectl", &node));
    }
    fprintf(k->out, "node/%.*s cordoned%s\n", STR_ARG(name), output_dry_run(k));
    fflush(k->out);
    return NULL;
}

static struct status *drain_node(struct kubectl *k, const struct drain_options *options, const struct kind *kind,
                                 struct str name)
{
    int64_t deadline = options->timeout > 0 ? env_mono() + options->timeout : TASK_FOREVER;
    struct pods pods = {0};
    struct value *list;

    TRY(cordon(k, kind, name));
    struct str path = path_with(k, STR("/api/v1/pods"), "fieldSelector",
                                arena_printf(k->arena, "spec.nodeName=%.*s", STR_ARG(name)));

    TRY(api_get(k, path_with(k, path, "labelSelector", options->pod_selector), &list));
    TRY(choose(k, options, value_find(list, STR("items")), &pods));
    LIST_EACH(pod, &pods)
    {
        if (k->write.dry_run == DRY_RUN_NONE) {
            TRY(evict(k, options, *pod, deadline));
        }
    }
    LIST_EACH(pod, &pods)
    {
        if (k->write.dry_run == DRY_RUN_NONE) {
            TRY(wait_gone(k, *pod, deadline));
        }
    }
    fprintf(k->out, "node/%.*s drained%s\n", STR_ARG(name), output_dry_run(k));
    return NULL;
}

static struct status *drain_run(struct kubectl *k, void *arg)
{
    const struct kind *kind;

    if (k->args.positional.len == 0) {
        return error_usage(k, "USAGE: drain NODE [flags]");
    }
    TRY(discovery_find(k, STR("nodes"), &kind));
    LIST_EACH(name, &k->args.positional)
    {
        struct status *status = drain_node(k, arg, kind, *name);

        report_error(k, status != NULL && status->code == 0
                            ? status_while(status, "unable to drain node \"%.*s\" due to error", STR_ARG(*name))
                            : status);
    }
    return NULL;
}

static void drain_defaults(struct kubectl *k, void *arg)
{
    (void)k;
    ((struct drain_options *)arg)->grace_period = -1;
}

static const struct flag drain_flags[] = {
    FLAG(BOOL, struct drain_options, force, "force", 0, "also pods that nothing would make again"),
    FLAG(BOOL, struct drain_options, ignore_daemonsets, "ignore-daemonsets", 0, "leave the pods of DaemonSets"),
    FLAG(BOOL, struct drain_options, delete_data, "delete-emptydir-data", 0, "also pods whose data will be lost"),
    FLAG(BOOL, struct drain_options, disable_eviction, "disable-eviction", 0, "delete, whatever budgets say"),
    FLAG(INT, struct drain_options, grace_period, "grace-period", 0, "seconds to end in; -1: the pod's own"),
    FLAG(DURATION, struct drain_options, timeout, "timeout", 0, "how long to try; 0: as long as it takes"),
    FLAG(STRING, struct drain_options, pod_selector, "pod-selector", 0, "only pods with these labels"),
    FLAG_IGNORE("skip-wait-for-delete-timeout"),
    FLAG_IGNORE("chunk-size"),
};

const struct command command_drain = {
    .name = "drain",
    .help = "Drain node in preparation for maintenance",
    .usage = "NODE",
    .uses = USES_WRITE,
    .flags = drain_flags,
    .flag_count = COUNT_OF(drain_flags),
    .options_size = sizeof(struct drain_options),
    .defaults = drain_defaults,
    .run = drain_run,
};
