/* kubectl rollout: status, restart, pause, resume, history, undo. */
#include "base/env.h"
#include "base/task.h"
#include "kubectl/output.h"
#include "kubectl/pods.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "schema/timestamp.h"

#include <stdlib.h>

#define REVISION STR("deployment.kubernetes.io/revision")

struct rollout_options {
    bool watch;
    int64_t timeout, revision, to_revision;
};

static long long count_at(const struct value *object, const char *path)
{
    const struct value *value = value_find_path(object, path);

    return value_is(value, VALUE_INT) ? value->integer : 0;
}

static const struct value *condition_of(const struct value *object, const char *type)
{
    VALUE_EACH_ITEM(condition, value_find_path(object, "status.conditions"))
    {
        if (str_is(value_str_at(*condition, "type"), type)) {
            return *condition;
        }
    }
    return NULL;
}

/* What is to be told of the rollout; *ret_done when nothing more is awaited. */
static struct status *deployment_status(struct arena *arena, const struct value *object, bool *ret_done, struct str *ret)
{
    struct str name = value_str_at(object, "metadata.name");
    long long wanted = count_at(object, "spec.replicas"), updated = count_at(object, "status.updatedReplicas");
    long long total = count_at(object, "status.replicas"), available = count_at(object, "status.availableReplicas");

    if (count_at(object, "metadata.generation") > count_at(object, "status.observedGeneration")) {
        *ret = STR("Waiting for deployment spec update to be observed...");
    } else if (str_is(value_str_at(condition_of(object, "Progressing"), "reason"), "ProgressDeadlineExceeded")) {
        return error_local("deployment \"%.*s\" exceeded its progress deadline", STR_ARG(name));
    } else if (updated < wanted) {
        *ret = arena_printf(arena,
                            "Waiting for deployment \"%.*s\" rollout to finish: %lld out of %lld new replicas have been "
                            "updated...",
                            STR_ARG(name), updated, wanted);
    } else if (total > updated) {
        *ret = arena_printf(
            arena, "Waiting for deployment \"%.*s\" rollout to finish: %lld old replicas are pending termination...",
            STR_ARG(name), total - updated);
    } else if (available < updated) {
        *ret = arena_printf(arena,
                            "Waiting for deployment \"%.*s\" rollout to finish: %lld of %lld updated replicas are "
                            "available...",
                            STR_ARG(name), available, updated);
    } else {
        *ret = arena_printf(arena, "deployment \"%.*s\" successfully rolled out", STR_ARG(name));
        *ret_done = true;
    }
    return NULL;
}

static struct status *daemonset_status(struct arena *arena, const struct value *object, bool *ret_done, struct str *ret)
{
    struct str name = value_str_at(object, "metadata.name");
    long long wanted = count_at(object, "status.desiredNumberScheduled");
    long long updated = count_at(object, "status.updatedNumberScheduled");
    long long available = count_at(object, "status.numberAvailable");

    if (str_is(value_str_at(object, "spec.updateStrategy.type"), "OnDelete")) {
        return error_local("rollout status is only available for RollingUpdate strategy type");
    }
    if (count_at(object, "metadata.generation") > count_at(object, "status.observedGeneration")) {
        *ret = STR("Waiting for daemon set spec update to be observed...");
    } else if (updated < wanted) {
        *ret = arena_printf(arena,
                            "Waiting for daemon set \"%.*s\" rollout to finish: %lld out of %lld new pods have been "
                            "updated...",
                            STR_ARG(name), updated, wanted);
    } else if (available < wanted) {
        *ret = arena_printf(arena,
                            "Waiting for daemon set \"%.*s\" rollout to finish: %lld of %lld updated pods are "
                            "available...",
                            STR_ARG(name), available, wanted);
    } else {
        *ret = arena_printf(arena, "daemon set \"%.*s\" successfully rolled out", STR_ARG(name));
        *ret_done = true;
    }
    return NULL;
}

static struct status *statefulset_status(struct arena *arena, const struct value *object, bool *ret_done,
                                         struct str *ret)
{
    long long wanted = count_at(object, "spec.replicas"), ready = count_at(object, "status.readyReplicas");
    long long updated = count_at(object, "status.updatedReplicas");
    const struct value *partition = value_find_path(object, "spec.updateStrategy.rollingUpdate.partition");
    struct str revision = value_str_at(object, "status.updateRevision");

    if (str_is(value_str_at(object, "spec.updateStrategy.type"), "OnDelete")) {
        return error_local("rollout status is only available for RollingUpdate strategy type");
    }
    if (count_at(object, "metadata.generation") > count_at(object, "status.observedGeneration")) {
        *ret = STR("Waiting for statefulset spec update to be observed...");
    } else if (ready < wanted) {
        *ret = arena_printf(arena, "Waiting for %lld pods to be ready...", wanted - ready);
    } else if (partition != NULL) {
        long long new_pods = wanted - (value_is(partition, VALUE_INT) ? partition->integer : 0);

        if (updated < new_pods) {
            *ret = arena_printf(
                arena, "Waiting for partitioned roll out to finish: %lld out of %lld new pods have been updated...",
                updated, new_pods);
        } else {
            *ret = arena_printf(arena, "partitioned roll out complete: %lld new pods have been updated...", updated);
            *ret_done = true;
        }
    } else if (!str_eq(revision, value_str_at(object, "status.currentRevision"))) {
        *ret = arena_printf(arena, "waiting for statefulset rolling update to complete %lld pods at revision %.*s...",
                            updated, STR_ARG(revision));
    } else {
        *ret = arena_printf(arena, "statefulset rolling update complete %lld pods at revision %.*s...",
                            count_at(object, "status.currentReplicas"),
                            STR_ARG(value_str_at(object, "status.currentRevision")));
        *ret_done = true;
    }
    return NULL;
}

static struct status *progress(struct kubectl *k, const struct kind *kind, const struct value *object, bool *ret_done,
                               struct str *ret)
{
    *ret_done = false;
    return str_is(kind->kind, "Deployment")    ? deployment_status(k->arena, object, ret_done, ret)
           : str_is(kind->kind, "DaemonSet")   ? daemonset_status(k->arena, object, ret_done, ret)
           : str_is(kind->kind, "StatefulSet") ? statefulset_status(k->arena, object, ret_done, ret)
                                               : error_local("no status viewer has been implemented for %.*s.%.*s",
                                                             STR_ARG(kind->group), STR_ARG(kind->kind));
}

static struct status *tell_progress(struct kubectl *k, const struct kind *kind, const struct value *object,
                                    struct str *last, bool *ret_done)
{
    struct str text = STR("");

    TRY(progress(k, kind, object, ret_done, &text));
    if (!str_eq(text, *last)) {
        fprintf(k->out, "%.*s\n", STR_ARG(text));
        fflush(k->out);
    }
    *last = text;
    return NULL;
}

static struct status *follow(struct kubectl *k, const struct selected *selected, struct str revision, int64_t deadline,
                             struct str *last, bool *ret_done)
{
    struct str path = client_path(k->arena, selected->kind, selected->namespace, STR(""), STR(""));
    struct api_watch *watch;
    struct status *status = NULL;

    path = path_with(k, path, "fieldSelector",
                     arena_printf(k->arena, "metadata.name=%.*s", STR_ARG(selected->name)));
    TRY(api_watch_open(k, path_with(k, path, "resourceVersion", revision), ACCEPT_JSON, &watch));
    while (status == NULL && !*ret_done) {
        struct str type;
        struct value *object;

        status = api_watch_next(watch, k->arena, deadline, &type, &object);
        if (status == NULL && str_is(type, "DELETED")) {
            status = error_local("object has been deleted");
        } else if (status == NULL && !str_is(type, "BOOKMARK")) {
            status = tell_progress(k, selected->kind, object, last, ret_done);
        }
    }
    api_watch_close(watch);
    if (status_free_if(&status, STATUS_TIMEOUT)) {
        return error_local("timed out waiting for the condition");
    }
    return status_free_if(&status, STATUS_SERVICE_UNAVAILABLE) ? NULL : status;
}

static struct status *status_of(struct kubectl *k, const struct rollout_options *options,
                                const struct selected *selected, int64_t deadline)
{
    struct str last = STR("");

    for (bool done = false; !done;) {
        struct value *object;

        TRY(api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")), &object));
        TRY(tell_progress(k, selected->kind, object, &last, &done));
        if (!options->watch) {
            break;
        }
        if (!done) {
            TRY(follow(k, selected, value_str_at(object, "metadata.resourceVersion"), deadline, &last, &done));
        }
    }
    return NULL;
}

static struct status *select_workloads(struct kubectl *k, struct selection *ret)
{
    if (k->args.positional.len == 0 && k->files.names.len == 0) {
        return error_local("required resource not specified");
    }
    TRY(selection_of(k, k->args.positional.items, k->args.positional.len,
                     &(struct selection_rules){.command = "rollout"}, ret));
    return selection_list(k, ret);
}

static struct status *status_run(struct kubectl *k, void *arg)
{
    const struct rollout_options *options = arg;
    struct selection selection;
    int64_t timeout = options->timeout > 0 ? options->timeout : INT64_C(168) * 3600 * ENV_SECOND;
    int64_t deadline = env_mono() + timeout;

    TRY(select_workloads(k, &selection));
    LIST_EACH(selected, &selection)
    {
        report_error(k, status_of(k, options, selected, deadline));
    }
    return NULL;
}

/* {"a":{"b":value}} of a path "a.b". Keys with dots go in `last`. */
static struct value *nested(struct arena *arena, const char *path, struct str last, struct value *value)
{
    struct value *root = value_object(arena), *at = root;
    struct str rest = str_of(path), key;

    while (str_next(&rest, '.', &key)) {
        struct value *inner = value_object(arena);

        value_set(arena, at, key, inner);
        at = inner;
    }
    value_set(arena, at, last, value);
    return root;
}

static struct status *patch_all(struct kubectl *k, const struct value *patch, const char *done)
{
    struct selection selection;
    struct output output;

    TRY(output_parse(k, false, &output));
    TRY(select_workloads(k, &selection));
    for (size_t i = 0; i < selection.len; i++) {
        const struct selected *selected = &selection.items[i];
        struct value *answer;
        struct status *status = api_patch(k, selected->kind, selected->namespace, selected->name, STR(""),
                                          CLIENT_PATCH_STRATEGIC, patch, "kubectl-rollout", &answer);

        report_error(k, status != NULL ? status
                                       : output_done(k, &output, selected->kind, answer, selected->name, done, i == 0));
    }
    return NULL;
}

static struct status *restart_run(struct kubectl *k, void *arg)
{
    struct value *now = value_string(k->arena, timestamp_format(k->arena, timestamp_now()));

    (void)arg;
    return patch_all(k,
                     nested(k->arena, "spec.template.metadata.annotations", STR("kubectl.kubernetes.io/restartedAt"), now),
                     "restarted");
}

static struct status *pause_run(struct kubectl *k, void *arg)
{
    (void)arg;
    return patch_all(k, nested(k->arena, "spec", STR("paused"), value_bool(k->arena, true)), "paused");
}

static struct status *resume_run(struct kubectl *k, void *arg)
{
    (void)arg;
    return patch_all(k, nested(k->arena, "spec", STR("paused"), value_null(k->arena)), "resumed");
}

/* A revision of a Deployment: a ReplicaSet of its. */
struct revision {
    int64_t number;
    struct value *set;
};

static int by_number(const void *left, const void *right)
{
    const struct revision *a = left, *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

static struct status *revisions_of(struct kubectl *k, const struct selected *selected, const struct value *deployment,
                                   struct revision **ret, size_t *ret_count)
{
    struct str selector, path;
    struct value *list;
    size_t count = 0;

    TRY(selector_text(k, value_find_path(deployment, "spec.selector"), &selector));
    path = arena_printf(k->arena, "/apis/apps/v1/namespaces/%.*s/replicasets", STR_ARG(selected->namespace));
    TRY(api_get(k, path_with(k, path, "labelSelector", selector), &list));
    struct value *items = value_find(list, STR("items"));
    struct revision *revisions = ARENA_ARRAY(k->arena, struct revision, value_count(items));

    VALUE_EACH_ITEM(set, items)
    {
        int64_t number;

        if (str_to_i64(value_str(value_find(value_find_path(*set, "metadata.annotations"), REVISION)), &number) &&
            str_eq(value_str_at(value_item(value_find_path(*set, "metadata.ownerReferences"), 0), "uid"),
                   value_str_at(deployment, "metadata.uid"))) {
            revisions[count++] = (struct revision){number, *set};
        }
    }
    if (count > 0) {
        qsort(revisions, count, sizeof(*revisions), by_number);
    }
    *ret = revisions;
    *ret_count = count;
    return NULL;
}

static struct status *deployment_only(struct kubectl *k, const struct selected *selected, struct value **ret)
{
    if (!str_is(selected->kind->kind, "Deployment")) {
        return error_local("no history viewer has been implemented for \"%.*s\"", STR_ARG(selected->kind->kind));
    }
    return api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")), ret);
}

static struct status *history_run(struct kubectl *k, void *arg)
{
    struct selection selection;

    (void)arg;
    TRY(select_workloads(k, &selection));
    LIST_EACH(selected, &selection)
    {
        struct value *deployment;
        struct revision *revisions;
        size_t count;

        TRY(deployment_only(k, selected, &deployment));
        TRY(revisions_of(k, selected, deployment, &revisions, &count));
        fprintf(k->out, "deployment.apps/%.*s \nREVISION  CHANGE-CAUSE\n", STR_ARG(selected->name));
        for (size_t i = 0; i < count; i++) {
            struct str cause = value_str(value_find(value_find_path(revisions[i].set, "metadata.annotations"),
                                                    STR("kubernetes.io/change-cause")));

            fprintf(k->out, "%-8lld  %.*s\n", (long long)revisions[i].number,
                    STR_ARG(cause.n > 0 ? cause : STR("<none>")));
        }
        fprintf(k->out, "\n");
    }
    return NULL;
}

static struct status *undo_one(struct kubectl *k, const struct rollout_options *options, const struct output *output,
                               const struct selected *selected)
{
    struct value *deployment, *template, *answer;
    struct revision *revisions, *to = NULL;
    size_t count;

    TRY(deployment_only(k, selected, &deployment));
    TRY(revisions_of(k, selected, deployment, &revisions, &count));
    for (size_t i = 0; i < count; i++) {
        to = options->to_revision == revisions[i].number || (options->to_revision == 0 && i + 2 == count) ? &revisions[i]
                                                                                                          : to;
    }
    if (to == NULL) {
        return options->to_revision > 0
                   ? error_local("unable to find specified revision %lld in history", (long long)options->to_revision)
                   : error_local("no rollout history found for deployment \"%.*s\"", STR_ARG(selected->name));
    }
    template = value_copy(k->arena, value_find_path(to->set, "spec.template"));
    struct value *labels = value_find_path(template, "metadata.labels");

    if (value_is(labels, VALUE_OBJECT)) {
        value_delete(labels, STR("pod-template-hash"));
    }
    struct value *operation = value_object(k->arena), *patch = value_array(k->arena);

    value_set(k->arena, operation, STR("op"), value_string(k->arena, STR("replace")));
    value_set(k->arena, operation, STR("path"), value_string(k->arena, STR("/spec/template")));
    value_set(k->arena, operation, STR("value"), template);
    value_add(k->arena, patch, operation);
    TRY(api_patch(k, selected->kind, selected->namespace, selected->name, STR(""), CLIENT_PATCH_JSON, patch,
                  "kubectl-rollout", &answer));
    return output_done(k, output, selected->kind, answer, selected->name, "rolled back", true);
}

static struct status *undo_run(struct kubectl *k, void *arg)
{
    struct selection selection;
    struct output output;

    TRY(output_parse(k, false, &output));
    TRY(select_workloads(k, &selection));
    LIST_EACH(selected, &selection)
    {
        report_error(k, undo_one(k, arg, &output, selected));
    }
    return NULL;
}

static void rollout_defaults(struct kubectl *k, void *arg)
{
    (void)k;
    ((struct rollout_options *)arg)->watch = true;
}

static const struct flag status_flags[] = {
    FLAG(BOOL, struct rollout_options, watch, "watch", 'w', "follow the rollout until it is done"),
    FLAG(DURATION, struct rollout_options, timeout, "timeout", 0, "how long to wait; 0: until it is done"),
    FLAG(INT, struct rollout_options, revision, "revision", 0, "of this revision"),
};

static const struct flag undo_flags[] = {
    FLAG(INT, struct rollout_options, to_revision, "to-revision", 0, "the revision to go back to; 0: the one before"),
};

#define ROLLOUT(variable, word, text, function)                                                                     \
    static const struct command variable = {.name = word,                                                           \
                                            .help = text,                                                           \
                                            .usage = "(TYPE NAME | TYPE/NAME) [flags]",                             \
                                            .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,          \
                                            .options_size = sizeof(struct rollout_options),                         \
                                            .run = function}

ROLLOUT(rollout_restart, "restart", "Restart a resource", restart_run);
ROLLOUT(rollout_pause, "pause", "Mark the provided resource as paused", pause_run);
ROLLOUT(rollout_resume, "resume", "Resume a paused resource", resume_run);
ROLLOUT(rollout_history, "history", "View rollout history", history_run);

static const struct command rollout_status = {
    .name = "status",
    .help = "Show the status of the rollout",
    .usage = "(TYPE NAME | TYPE/NAME) [flags]",
    .uses = USES_FILES | USES_SELECTOR,
    .flags = status_flags,
    .flag_count = COUNT_OF(status_flags),
    .options_size = sizeof(struct rollout_options),
    .defaults = rollout_defaults,
    .run = status_run,
};

static const struct command rollout_undo = {
    .name = "undo",
    .help = "Undo a previous rollout",
    .usage = "(TYPE NAME | TYPE/NAME) [flags]",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = undo_flags,
    .flag_count = COUNT_OF(undo_flags),
    .options_size = sizeof(struct rollout_options),
    .run = undo_run,
};

static const struct command *const subcommands[] = {
    &rollout_history, &rollout_pause, &rollout_restart, &rollout_resume, &rollout_status, &rollout_undo, NULL,
};

const struct command command_rollout = {
    .name = "rollout",
    .help = "Manage the rollout of a resource",
    .usage = "SUBCOMMAND",
    .subcommands = subcommands,
};
