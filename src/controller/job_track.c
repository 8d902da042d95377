#include "base/buf.h"
#include "base/env.h"
#include "controller/job_parts.h"
#include "controller/pod_util.h"

/* More would make the status too large for one write; the rest waits for the next look. */
enum { UNCOUNTED_MAX = 500 };

bool job_has_finalizer(const struct core_v1_pod *pod)
{
    LIST_EACH(finalizer, &pod->metadata.finalizers)
    {
        if (str_is(*finalizer, JOB_FINALIZER)) {
            return true;
        }
    }
    return false;
}

void job_plan_remove_finalizer(struct plan *plan, const struct core_v1_pod *pod)
{
    OWNED(buf_done) struct buf patch = {0};
    const char *separator = "";

    buf_printf(&patch, "{\"metadata\":{\"uid\":\"%.*s\",\"finalizers\":[", STR_ARG(pod->metadata.uid));
    LIST_EACH(finalizer, &pod->metadata.finalizers)
    {
        if (!str_is(*finalizer, JOB_FINALIZER)) {
            buf_printf(&patch, "%s\"%.*s\"", separator, STR_ARG(*finalizer));
            separator = ",";
        }
    }
    buf_printf(&patch, "]}}");
    plan_patch(plan, &core_v1_pod_kind, pod, arena_str(plan->arena, buf_str(&patch)));
    plan_last(plan)->may_be_gone = true;
}

static const struct core_v1_pod *find_pod(const struct job_pods *pods, struct str uid)
{
    LIST_EACH(pod, pods)
    {
        if (str_eq((*pod)->metadata.uid, uid)) {
            return *pod;
        }
    }
    return NULL;
}

static bool is_listed(const struct str_list *list, struct str uid)
{
    LIST_EACH(item, list)
    {
        if (str_eq(*item, uid)) {
            return true;
        }
    }
    return false;
}

/* Of the UIDs written down, those whose pods have no finalizer any more become numbers; the others' finalizers go. */
static int32_t settle(struct job_pass *pass, const struct str_list *written, struct str_list *ret)
{
    int32_t settled = 0;

    LIST_EACH(uid, written)
    {
        const struct core_v1_pod *pod = find_pod(&pass->pods, *uid);

        if (pod == NULL || !job_has_finalizer(pod)) {
            settled++;
            continue;
        }
        job_plan_remove_finalizer(pass->plan, pod);
        *LIST_ADD(pass->plan->arena, ret) = *uid;
    }
    return settled;
}

static bool has_failed(const struct job_pass *pass, const struct core_v1_pod *pod)
{
    const struct str *policy = pass->job->spec.pod_replacement_policy;
    bool only_failed = policy != NULL ? str_is(*policy, "Failed") : pass->job->spec.pod_failure_policy != NULL;

    return str_is(pod->status.phase, "Failed") ||
           (!only_failed && pod->metadata.deletion_timestamp != NULL && !str_is(pod->status.phase, "Succeeded"));
}

/* A new failure makes the next pod wait: how often in a row, and since when, is kept from look to look. */
static void note_failure(struct job_pass *pass)
{
    pass->plan->memory[0]++;
    pass->plan->memory[1] = pass->world->now;
}

static void track_indexed(struct job_pass *pass, const struct core_v1_pod *pod, const struct job_indexes *written)
{
    int32_t index = job_index_of(pod);

    if (index >= 0 && index < pass->done.size && !pass->done.has[index]) {
        pass->done.has[index] = true;
        pass->plan->memory[0] = 0;
    } else if (index < 0 || index >= written->size || written->has[index]) {
        job_plan_remove_finalizer(pass->plan, pod);
    }
}

static void track_failed(struct job_pass *pass, const struct core_v1_pod *pod,
                         struct batch_v1_uncounted_terminated_pods *uncounted)
{
    struct str message = {0};
    struct str action = job_policy_for(pass, pod, &message);

    if (str_is(action, "Ignore")) {
        job_plan_remove_finalizer(pass->plan, pod);
        return;
    }
    if (str_is(action, "FailJob")) {
        pass->policy_message = message;
    }
    *LIST_ADD(pass->plan->arena, &uncounted->failed) = pod->metadata.uid;
    note_failure(pass);
}

static void track_pods(struct job_pass *pass, struct batch_v1_uncounted_terminated_pods *uncounted)
{
    struct arena *arena = pass->plan->arena;
    struct job_indexes written = {0};

    if (pass->is_indexed) {
        written = job_indexes_parse(arena, pass->job->status.completed_indexes, pass->done.size);
    }
    LIST_EACH(at, &pass->pods)
    {
        const struct core_v1_pod *pod = *at;
        bool succeeded = str_is(pod->status.phase, "Succeeded");

        if (!job_has_finalizer(pod) || is_listed(&uncounted->succeeded, pod->metadata.uid) ||
            is_listed(&uncounted->failed, pod->metadata.uid)) {
            continue;
        }
        if (succeeded && pass->is_indexed) {
            track_indexed(pass, pod, &written);
        } else if (uncounted->succeeded.len + uncounted->failed.len >= UNCOUNTED_MAX) {
            plan_requeue_after(pass->plan, ENV_SECOND);
        } else if (succeeded) {
            *LIST_ADD(arena, &uncounted->succeeded) = pod->metadata.uid;
            pass->plan->memory[0] = 0;
        } else if (has_failed(pass, pod)) {
            track_failed(pass, pod, uncounted);
        }
    }
}

void job_track(struct job_pass *pass)
{
    struct batch_v1_uncounted_terminated_pods *uncounted =
        ARENA_NEW(pass->plan->arena, struct batch_v1_uncounted_terminated_pods);
    const struct batch_v1_uncounted_terminated_pods *before = pass->job->status.uncounted_terminated_pods;

    if (before != NULL) {
        pass->status.succeeded += settle(pass, &before->succeeded, &uncounted->succeeded);
        pass->status.failed += settle(pass, &before->failed, &uncounted->failed);
    }
    track_pods(pass, uncounted);
    pass->status.uncounted_terminated_pods = uncounted;
    if (pass->is_indexed) {
        pass->status.completed_indexes = job_indexes_format(pass->plan->arena, &pass->done);
        pass->status.succeeded = job_indexes_count(&pass->done);
    }
    pass->succeeded = pass->status.succeeded + (int32_t)uncounted->succeeded.len;
    pass->failed = pass->status.failed + (int32_t)uncounted->failed.len;
    LIST_EACH(pod, &pass->pods)
    {
        pass->terminating += (*pod)->metadata.deletion_timestamp != NULL && !pod_is_finished(*pod);
    }
}
