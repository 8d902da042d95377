/* Job -> Pods that run to their end: so many at a time, until so many have succeeded, or too many have failed. */
#include "controller/controllers.h"

#include "base/env.h"
#include "controller/controller_ref.h"
#include "controller/job_parts.h"
#include "controller/pod_util.h"
#include "schema/copy.h"
#include "schema/object.h"
#include "schema/selectors.h"

/* Validation lets no Indexed job have more. */
enum { INDEXES_MAX = 100000 };

#define BACKOFF_FIRST (10 * ENV_SECOND)
#define BACKOFF_MAX (600 * ENV_SECOND)

static struct timestamp time_of(const struct job_pass *pass)
{
    return (struct timestamp){.seconds = pass->world->now / ENV_SECOND, .is_set = true};
}

static const struct batch_v1_job_condition *find_condition(const struct batch_v1_job_status *status, const char *type)
{
    LIST_EACH(condition, &status->conditions)
    {
        if (str_is(condition->type, type) && str_is(condition->status, "True")) {
            return condition;
        }
    }
    return NULL;
}

static void set_condition(struct job_pass *pass, const char *type, bool holds, struct str reason, struct str message)
{
    struct batch_v1_job_condition wanted = {
        .type = str_of(type),
        .status = holds ? STR("True") : STR("False"),
        .reason = reason,
        .message = message,
        .last_probe_time = time_of(pass),
        .last_transition_time = time_of(pass),
    };

    LIST_EACH(condition, &pass->status.conditions)
    {
        if (str_is(condition->type, type)) {
            *condition = wanted;
            return;
        }
    }
    *LIST_ADD(pass->plan->arena, &pass->status.conditions) = wanted;
}

static bool is_finished(const struct batch_v1_job_status *status)
{
    return find_condition(status, "Complete") != NULL || find_condition(status, "Failed") != NULL;
}

static int32_t parallelism_of(const struct batch_v1_job *job)
{
    return job->spec.parallelism != NULL ? *job->spec.parallelism : 1;
}

static bool is_suspended(const struct batch_v1_job *job)
{
    return job->spec.suspend != NULL && *job->spec.suspend;
}

/* Containers that are started again where they are count as failures too. */
static bool restarts_too_often(const struct job_pass *pass, int32_t limit)
{
    int32_t restarts = 0;

    if (!str_is(pass->job->spec.template.spec.restart_policy, "OnFailure")) {
        return false;
    }
    LIST_EACH(pod, &pass->active)
    {
        LIST_EACH(container, &(*pod)->status.init_container_statuses)
        {
            restarts += container->restart_count;
        }
        LIST_EACH(container, &(*pod)->status.container_statuses)
        {
            restarts += container->restart_count;
        }
    }
    return limit == 0 ? restarts > 0 : restarts >= limit;
}

static bool is_past_deadline(struct job_pass *pass)
{
    const int64_t *seconds = pass->job->spec.active_deadline_seconds;

    if (seconds == NULL || pass->status.start_time == NULL || is_suspended(pass->job)) {
        return false;
    }
    int64_t left = (pass->status.start_time->seconds + *seconds) * ENV_SECOND - pass->world->now;

    if (left > 0) {
        plan_requeue_after(pass->plan, left);
    }
    return left <= 0;
}

static bool has_enough(const struct job_pass *pass)
{
    return pass->job->spec.completions != NULL ? pass->succeeded >= *pass->job->spec.completions
                                               : pass->succeeded > 0 && pass->active.len == 0;
}

static bool has_given_up_too_many(const struct job_pass *pass)
{
    const int32_t *most = pass->job->spec.max_failed_indexes;

    return most != NULL && job_indexes_count(&pass->given_up) > *most;
}

/* Whether it is over, and how: the pods that are left have to end before it is finished. */
static void decide(struct job_pass *pass)
{
    int32_t limit = pass->job->spec.backoff_limit != NULL ? *pass->job->spec.backoff_limit : 6;

    if (find_condition(&pass->status, "FailureTarget") != NULL ||
        find_condition(&pass->status, "SuccessCriteriaMet") != NULL) {
        return;
    }
    int rule = job_policy_success(pass);

    if (pass->policy_message.n > 0) {
        set_condition(pass, "FailureTarget", true, STR("PodFailurePolicy"), pass->policy_message);
    } else if (pass->failed > limit || restarts_too_often(pass, limit)) {
        set_condition(pass, "FailureTarget", true, STR("BackoffLimitExceeded"),
                      STR("Job has reached the specified backoff limit"));
    } else if (is_past_deadline(pass)) {
        set_condition(pass, "FailureTarget", true, STR("DeadlineExceeded"),
                      STR("Job was active longer than specified deadline"));
    } else if (has_given_up_too_many(pass)) {
        set_condition(pass, "FailureTarget", true, STR("MaxFailedIndexesExceeded"),
                      STR("Job has exceeded the specified maximal number of failed indexes"));
    } else if (job_indexes_count(&pass->given_up) > 0 && pass->active.len == 0 &&
               job_indexes_count(&pass->given_up) + job_indexes_count(&pass->done) >= pass->done.size) {
        set_condition(pass, "FailureTarget", true, STR("FailedIndexes"), STR("Job has failed indexes"));
    } else if (rule >= 0) {
        set_condition(pass, "SuccessCriteriaMet", true, STR("SuccessPolicy"),
                      arena_printf(pass->plan->arena, "Matched rules at index %d", rule));
    } else if (has_enough(pass)) {
        set_condition(pass, "SuccessCriteriaMet", true, STR("CompletionsReached"),
                      STR("Reached expected number of succeeded pods"));
    }
}

static bool is_counted(const struct job_pass *pass)
{
    const struct batch_v1_uncounted_terminated_pods *uncounted = pass->status.uncounted_terminated_pods;

    return uncounted->succeeded.len == 0 && uncounted->failed.len == 0;
}

static void finish(struct job_pass *pass)
{
    const struct batch_v1_job_condition *failure = find_condition(&pass->status, "FailureTarget");
    const struct batch_v1_job_condition *success = find_condition(&pass->status, "SuccessCriteriaMet");

    if (pass->active.len > 0) {
        job_delete_pods(pass, (int32_t)pass->active.len);
        return;
    }
    if (pass->terminating > 0 || !is_counted(pass)) {
        return;
    }
    if (failure != NULL) {
        struct str reason = failure->reason, message = failure->message;

        set_condition(pass, "Failed", true, reason, message);
        plan_event(pass->plan, &batch_v1_job_kind, pass->job, "Warning", arena_cstr(pass->plan->arena, reason), "%.*s",
                   STR_ARG(message));
    } else {
        set_condition(pass, "Complete", true, success->reason, success->message);
        pass->status.completion_time = ARENA_NEW(pass->plan->arena, struct timestamp);
        *pass->status.completion_time = time_of(pass);
        plan_event(pass->plan, &batch_v1_job_kind, pass->job, "Normal", "Completed", "Job completed");
    }
}

/* How many pods should be running. */
static int32_t wanted_of(const struct job_pass *pass)
{
    int32_t wanted = parallelism_of(pass->job);

    if (pass->job->spec.completions == NULL) {
        return pass->succeeded > 0 ? (int32_t)pass->active.len : wanted;
    }
    int32_t given_up = job_indexes_count(&pass->given_up);

    return MAX(MIN(*pass->job->spec.completions - pass->succeeded - given_up, wanted), 0);
}

/* The wait after failures: 10 s, doubling with each in a row. */
static int64_t backoff_left(const struct job_pass *pass)
{
    int64_t failures = pass->plan->memory[0];

    if (failures == 0) {
        return 0;
    }
    int64_t wait = failures > 6 ? BACKOFF_MAX : MIN(BACKOFF_FIRST << (failures - 1), BACKOFF_MAX);

    return pass->plan->memory[1] + wait - pass->world->now;
}

static void manage(struct job_pass *pass)
{
    int32_t active = (int32_t)pass->active.len, wanted = is_suspended(pass->job) ? 0 : wanted_of(pass);
    const struct str *policy = pass->job->spec.pod_replacement_policy;

    if (active > wanted) {
        job_delete_pods(pass, active - wanted);
        return;
    }
    if (policy != NULL && str_is(*policy, "Failed")) {
        active += pass->terminating; /* a pod is replaced when it has ended */
    }
    if (active >= wanted) {
        return;
    }
    int64_t wait = backoff_left(pass);

    if (wait > 0) {
        plan_requeue_after(pass->plan, wait);
    } else {
        job_create_pods(pass, wanted - active);
    }
}

static void start_or_suspend(struct job_pass *pass)
{
    bool was = find_condition(&pass->status, "Suspended") != NULL;
    bool is = is_suspended(pass->job);

    if (is && !was) {
        set_condition(pass, "Suspended", true, STR("JobSuspended"), STR("Job suspended"));
        plan_event(pass->plan, &batch_v1_job_kind, pass->job, "Normal", "Suspended", "Job suspended");
        pass->status.start_time = NULL;
    } else if (!is && was) {
        set_condition(pass, "Suspended", false, STR("JobResumed"), STR("Job resumed"));
        plan_event(pass->plan, &batch_v1_job_kind, pass->job, "Normal", "Resumed", "Job resumed");
    }
    if (!is && pass->status.start_time == NULL) {
        pass->status.start_time = ARENA_NEW(pass->plan->arena, struct timestamp);
        *pass->status.start_time = time_of(pass);
    }
}

static void plan_status(struct job_pass *pass)
{
    int32_t *ready = ARENA_NEW(pass->plan->arena, int32_t), *terminating = ARENA_NEW(pass->plan->arena, int32_t);

    LIST_EACH(pod, &pass->active)
    {
        *ready += pod_is_ready(*pod);
    }
    *terminating = pass->terminating;
    pass->status.active = is_finished(&pass->status) ? 0 : (int32_t)pass->active.len;
    pass->status.ready = ready;
    pass->status.terminating = terminating;
    if (schema_equal(&batch_v1_job_status_type, &pass->status, &pass->job->status)) {
        return;
    }
    struct batch_v1_job *changed = ARENA_NEW(pass->plan->arena, struct batch_v1_job);

    *changed = *pass->job;
    changed->status = pass->status;
    plan_update_status(pass->plan, &batch_v1_job_kind, changed);
}

/* A Job that is gone, or going, holds no pod back. */
static void let_go(struct plan *plan, struct object_pointers pods, struct str name)
{
    for (size_t i = 0; i < pods.len; i++) {
        const struct core_v1_pod *pod = pods.items[i];
        const struct meta_v1_owner_reference *owner = controller_ref_find(&pod->metadata);

        if (owner != NULL && str_is(owner->kind, "Job") && str_eq(owner->name, name) && job_has_finalizer(pod)) {
            job_plan_remove_finalizer(plan, pod);
        }
    }
}

static struct status *gather_pods(struct job_pass *pass)
{
    const struct batch_v1_job *job = pass->job;
    struct label_selector selector;

    TRY(label_selector_of(pass->plan->arena, job->spec.selector, &selector));
    struct object_pointers owned = controller_ref_claim(
        pass->plan, &batch_v1_job_kind, (const struct object *)job, &selector, &core_v1_pod_kind,
        world_claimable(pass->world, &core_v1_pod_kind, job->metadata.uid, job->metadata.namespace));

    pass->pods = (struct job_pods){(const struct core_v1_pod **)owned.items, owned.len};
    LIST_EACH(pod, &pass->pods)
    {
        if (pod_is_active(*pod)) {
            *LIST_ADD(pass->plan->arena, &pass->active) = *pod;
        }
    }
    return NULL;
}

static void begin(struct job_pass *pass)
{
    const struct batch_v1_job *job = pass->job;
    struct batch_v1_job *copy = schema_copy(pass->plan->arena, &batch_v1_job_type, job);

    pass->status = copy->status;
    pass->plan->memory[0] = pass->world->memory[0];
    pass->plan->memory[1] = pass->world->memory[1];
    pass->is_indexed = job->spec.completion_mode != NULL && str_is(*job->spec.completion_mode, "Indexed") &&
                       job->spec.completions != NULL;
    if (pass->is_indexed) {
        pass->done = job_indexes_parse(pass->plan->arena, job->status.completed_indexes,
                                       MIN(*job->spec.completions, (int32_t)INDEXES_MAX));
    }
}

static struct status *job_plan(const struct world *world, struct str key, struct plan *plan)
{
    struct job_pass pass = {.world = world, .plan = plan, .job = world_find(world, &batch_v1_job_kind, key)};
    struct str namespace, name;

    str_cut(key, '/', &namespace, &name);
    if (pass.job == NULL || pass.job->metadata.deletion_timestamp != NULL) {
        let_go(plan, world_in_namespace(world, &core_v1_pod_kind, namespace), name);
        return NULL;
    }
    if (pass.job->spec.managed_by != NULL && !str_is(*pass.job->spec.managed_by, "kubernetes.io/job-controller")) {
        return NULL;
    }
    if (is_finished(&pass.job->status)) {
        let_go(plan, world_owned(world, &core_v1_pod_kind, pass.job->metadata.uid), name);
        return NULL;
    }
    begin(&pass);
    TRY(gather_pods(&pass));
    start_or_suspend(&pass);
    job_track(&pass);
    job_fail_indexes(&pass);
    decide(&pass);
    if (find_condition(&pass.status, "FailureTarget") || find_condition(&pass.status, "SuccessCriteriaMet")) {
        finish(&pass);
    } else {
        manage(&pass);
    }
    plan_status(&pass);
    return NULL;
}

static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;
    const struct meta_v1_owner_reference *owner = controller_ref_find(&pod->metadata);

    if (owner != NULL && str_is(owner->kind, "Job")) {
        *LIST_ADD(world->arena, ret) = world_key(world->arena, pod->metadata.namespace, owner->name);
    } else if (owner == NULL) {
        struct object_pointers jobs = world_in_namespace(world, &batch_v1_job_kind, pod->metadata.namespace);

        for (size_t i = 0; i < jobs.len; i++) {
            const struct object *job = jobs.items[i];

            *LIST_ADD(world->arena, ret) = world_key(world->arena, pod->metadata.namespace, job->metadata.name);
        }
    }
}

const struct controller job_controller = {
    .name = "job-controller",
    .account = "job-controller",
    .kind = &batch_v1_job_kind,
    .watches = {{&core_v1_pod_kind, map_pod}},
    .plan = job_plan,
};
