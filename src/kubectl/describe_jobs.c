/* kubectl describe daemonset, statefulset, job and cronjob. */
#include "api/age.h"
#include "kubectl/describe.h"
#include "kubectl/pods.h"
#include "kubectl/request.h"
#include "schema/timestamp.h"

#define ADD(d, ...) buf_printf(&(d)->text, __VA_ARGS__)
#define SECOND INT64_C(1000000000)

static long long count_at(const struct value *object, const char *path)
{
    const struct value *value = value_find_path(object, path);

    return value_is(value, VALUE_INT) ? value->integer : 0;
}

static struct str text_at(struct description *d, const struct value *object, const char *path, const char *otherwise)
{
    const struct value *value = value_find_path(object, path);

    return value == NULL ? str_of(otherwise) : describe_value(d->k->arena, value);
}

static void labels_and_annotations(struct description *d, const struct value *object)
{
    describe_map(d, "", "Labels", value_find_path(object, "metadata.labels"));
    describe_annotations(d, "", "Annotations", value_find_path(object, "metadata.annotations"));
}

/* The phases of the pods that a set controls. */
static struct status *pods_status(struct description *d, const struct value *set, struct str selector, const char *title)
{
    static const char *const phases[] = {"Running", "Pending", "Succeeded", "Failed"};
    struct kubectl *k = d->k;
    long long counts[COUNT_OF(phases)] = {0};
    struct value *list;
    struct str path = arena_printf(k->arena, "/api/v1/namespaces/%.*s/pods",
                                   STR_ARG(value_str_at(set, "metadata.namespace")));

    TRY(api_get(k, path_with(k, path, "labelSelector", selector), &list));
    VALUE_EACH_ITEM(pod, value_find(list, STR("items")))
    {
        bool is_own = false;

        VALUE_EACH_ITEM(owner, value_find_path(*pod, "metadata.ownerReferences"))
        {
            is_own = is_own || str_eq(value_str_at(*owner, "uid"), value_str_at(set, "metadata.uid"));
        }
        for (size_t i = 0; i < COUNT_OF(phases) && is_own; i++) {
            counts[i] += str_is(value_str_at(*pod, "status.phase"), phases[i]);
        }
    }
    ADD(d, "%s:\t%lld Running / %lld Waiting / %lld Succeeded / %lld Failed\n", title, counts[0], counts[1], counts[2],
        counts[3]);
    return NULL;
}

struct status *describe_daemonset(struct description *d, const struct value *set)
{
    static const char *const lines[][2] = {
        {"Desired Number of Nodes Scheduled", "status.desiredNumberScheduled"},
        {"Current Number of Nodes Scheduled", "status.currentNumberScheduled"},
        {"Number of Nodes Scheduled with Up-to-date Pods", "status.updatedNumberScheduled"},
        {"Number of Nodes Scheduled with Available Pods", "status.numberAvailable"},
        {"Number of Nodes Misscheduled", "status.numberMisscheduled"},
    };
    struct str selector;

    TRY(selector_text(d->k, value_find_path(set, "spec.selector"), &selector));
    ADD(d, "Name:\t%.*s\nNamespace:\t%.*s\nSelector:\t%.*s\n", STR_ARG(value_str_at(set, "metadata.name")),
        STR_ARG(value_str_at(set, "metadata.namespace")), STR_ARG(selector));
    ADD(d, "Node-Selector:\t%.*s\n",
        STR_ARG(describe_pairs(d->k->arena, value_find_path(set, "spec.template.spec.nodeSelector"))));
    labels_and_annotations(d, set);
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        ADD(d, "%s: %lld\n", lines[i][0], count_at(set, lines[i][1]));
    }
    TRY(pods_status(d, set, selector, "Pods Status"));
    describe_template(d, value_find_path(set, "spec.template"));
    return NULL;
}

static void claims(struct description *d, const struct value *list)
{
    ADD(d, "Volume Claims:%s\n", value_count(list) == 0 ? "\t<none>" : "");
    VALUE_EACH_ITEM(claim, list)
    {
        struct str modes = STR("");

        VALUE_EACH_ITEM(mode, value_find_path(*claim, "spec.accessModes"))
        {
            modes = arena_printf(d->k->arena, "%.*s%s%.*s", STR_ARG(modes), modes.n > 0 ? " " : "",
                                 STR_ARG(value_str(*mode)));
        }
        ADD(d, "  Name:\t%.*s\n  StorageClass:\t%.*s\n", STR_ARG(value_str_at(*claim, "metadata.name")),
            STR_ARG(value_str_at(*claim, "spec.storageClassName")));
        describe_map(d, "  ", "Labels", value_find_path(*claim, "metadata.labels"));
        describe_map(d, "  ", "Annotations", value_find_path(*claim, "metadata.annotations"));
        ADD(d, "  Capacity:\t%.*s\n  Access Modes:\t[%.*s]\n",
            STR_ARG(text_at(d, *claim, "spec.resources.requests.storage", "<default>")), STR_ARG(modes));
    }
}

struct status *describe_statefulset(struct description *d, const struct value *set)
{
    struct str selector;

    TRY(selector_text(d->k, value_find_path(set, "spec.selector"), &selector));
    ADD(d, "Name:\t%.*s\nNamespace:\t%.*s\n", STR_ARG(value_str_at(set, "metadata.name")),
        STR_ARG(value_str_at(set, "metadata.namespace")));
    ADD(d, "CreationTimestamp:\t%.*s\nSelector:\t%.*s\n",
        STR_ARG(describe_time(d->k->arena, value_find_path(set, "metadata.creationTimestamp"))), STR_ARG(selector));
    labels_and_annotations(d, set);
    ADD(d, "Replicas:\t%lld desired | %lld total\nUpdate Strategy:\t%.*s\n", count_at(set, "spec.replicas"),
        count_at(set, "status.replicas"), STR_ARG(value_str_at(set, "spec.updateStrategy.type")));
    if (value_find_path(set, "spec.updateStrategy.rollingUpdate.partition") != NULL) {
        ADD(d, "  Partition:\t%lld\n", count_at(set, "spec.updateStrategy.rollingUpdate.partition"));
    }
    TRY(pods_status(d, set, selector, "Pods Status"));
    describe_template(d, value_find_path(set, "spec.template"));
    claims(d, value_find_path(set, "spec.volumeClaimTemplates"));
    return NULL;
}

static void job_times(struct description *d, const struct value *job)
{
    const struct value *started = value_find_path(job, "status.startTime");
    const struct value *completed = value_find_path(job, "status.completionTime");
    struct timestamp from, to;

    if (started != NULL) {
        ADD(d, "Start Time:\t%.*s\n", STR_ARG(describe_time(d->k->arena, started)));
    }
    if (completed != NULL) {
        ADD(d, "Completed At:\t%.*s\n", STR_ARG(describe_time(d->k->arena, completed)));
    }
    if (timestamp_parse(value_str(started), &from) && timestamp_parse(value_str(completed), &to)) {
        ADD(d, "Duration:\t%.*s\n", STR_ARG(human_duration(d->k->arena, (to.seconds - from.seconds) * SECOND)));
    }
}

struct status *describe_job(struct description *d, const struct value *job)
{
    const struct value *deadline = value_find_path(job, "spec.activeDeadlineSeconds");
    struct str selector;

    TRY(selector_text(d->k, value_find_path(job, "spec.selector"), &selector));
    ADD(d, "Name:\t%.*s\nNamespace:\t%.*s\n", STR_ARG(value_str_at(job, "metadata.name")),
        STR_ARG(value_str_at(job, "metadata.namespace")));
    ADD(d, "Selector:\t%.*s\n", STR_ARG(selector));
    labels_and_annotations(d, job);
    describe_controller(d, job);
    ADD(d, "Parallelism:\t%.*s\nCompletions:\t%.*s\n", STR_ARG(text_at(d, job, "spec.parallelism", "<unset>")),
        STR_ARG(text_at(d, job, "spec.completions", "<unset>")));
    ADD(d, "Completion Mode:\t%.*s\n", STR_ARG(text_at(d, job, "spec.completionMode", "NonIndexed")));
    ADD(d, "Suspend:\t%.*s\n", STR_ARG(text_at(d, job, "spec.suspend", "false")));
    ADD(d, "Backoff Limit:\t%.*s\n", STR_ARG(text_at(d, job, "spec.backoffLimit", "<unset>")));
    job_times(d, job);
    if (deadline != NULL) {
        ADD(d, "Active Deadline Seconds:\t%llds\n", count_at(job, "spec.activeDeadlineSeconds"));
    }
    ADD(d, "Pods Statuses:\t%lld Active (%lld Ready) / %lld Succeeded / %lld Failed\n", count_at(job, "status.active"),
        count_at(job, "status.ready"), count_at(job, "status.succeeded"), count_at(job, "status.failed"));
    if (value_str_at(job, "status.completedIndexes").n > 0) {
        ADD(d, "Completed Indexes:\t%.*s\n", STR_ARG(value_str_at(job, "status.completedIndexes")));
    }
    describe_template(d, value_find_path(job, "spec.template"));
    return NULL;
}

static void active_jobs(struct description *d, const struct value *list)
{
    struct str names = STR("");

    VALUE_EACH_ITEM(job, list)
    {
        names = arena_printf(d->k->arena, "%.*s%s%.*s", STR_ARG(names), names.n > 0 ? ", " : "",
                             STR_ARG(value_str_at(*job, "name")));
    }
    ADD(d, "Active Jobs:\t%.*s\n", STR_ARG(describe_or_none(names)));
}

struct status *describe_cronjob(struct description *d, const struct value *cronjob)
{
    const struct value *spec = value_find_path(cronjob, "spec.jobTemplate.spec");
    const struct value *deadline = value_find_path(cronjob, "spec.startingDeadlineSeconds");
    const struct value *suspend = value_find_path(cronjob, "spec.suspend");
    struct str selector, last = describe_time(d->k->arena, value_find_path(cronjob, "status.lastScheduleTime"));

    TRY(selector_text(d->k, value_find(spec, STR("selector")), &selector));
    ADD(d, "Name:\t%.*s\nNamespace:\t%.*s\n", STR_ARG(value_str_at(cronjob, "metadata.name")),
        STR_ARG(value_str_at(cronjob, "metadata.namespace")));
    labels_and_annotations(d, cronjob);
    ADD(d, "Schedule:\t%.*s\nConcurrency Policy:\t%.*s\nSuspend:\t%s\n", STR_ARG(value_str_at(cronjob, "spec.schedule")),
        STR_ARG(value_str_at(cronjob, "spec.concurrencyPolicy")),
        !value_is(suspend, VALUE_BOOL) ? "<unset>" : suspend->boolean ? "True" : "False");
    if (value_str_at(cronjob, "spec.timeZone").n > 0) {
        ADD(d, "Time Zone:\t%.*s\n", STR_ARG(value_str_at(cronjob, "spec.timeZone")));
    }
    ADD(d, "Successful Job History Limit:\t%.*s\nFailed Job History Limit:\t%.*s\n",
        STR_ARG(text_at(d, cronjob, "spec.successfulJobsHistoryLimit", "<unset>")),
        STR_ARG(text_at(d, cronjob, "spec.failedJobsHistoryLimit", "<unset>")));
    ADD(d, "Starting Deadline Seconds:\t%.*s%s\n", STR_ARG(text_at(d, cronjob, "spec.startingDeadlineSeconds", "<unset>")),
        deadline != NULL ? "s" : "");
    ADD(d, "Selector:\t%.*s\nParallelism:\t%.*s\nCompletions:\t%.*s\n", STR_ARG(selector.n > 0 ? selector : STR("<unset>")),
        STR_ARG(text_at(d, spec, "parallelism", "<unset>")), STR_ARG(text_at(d, spec, "completions", "<unset>")));
    describe_template(d, value_find(spec, STR("template")));
    ADD(d, "Last Schedule Time:\t%.*s\n", STR_ARG(last));
    active_jobs(d, value_find_path(cronjob, "status.active"));
    return NULL;
}
