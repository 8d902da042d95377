/* CronJob -> Jobs at their times; those that are finished are kept up to a limit. */
#include "controller/controllers.h"

#include "api/batch_v1.h"
#include "api/validation/cron.h"
#include "base/env.h"
#include "controller/controller_ref.h"
#include "controller/cron.h"
#include "controller/time_zone.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/timestamp.h"

#include <stdlib.h>

#define SCHEDULED_AT "batch.kubernetes.io/cronjob-scheduled-timestamp"
/* More missed times than that are told of, not made up for. */
enum { MISSED_MAX = 100 };

struct jobs {
    const struct batch_v1_job **items;
    size_t len;
};

/* One look at one CronJob. */
struct pass {
    const struct world *world;
    struct plan *plan;
    const struct batch_v1_cron_job *cron_job;
    struct str zone;
    struct cron cron;
    struct jobs active, succeeded, failed; /* oldest first */
    struct batch_v1_cron_job_status status;
};

static bool has_condition(const struct batch_v1_job *job, const char *type)
{
    LIST_EACH(condition, &job->status.conditions)
    {
        if (str_is(condition->type, type) && str_is(condition->status, "True")) {
            return true;
        }
    }
    return false;
}

static int by_age(const void *a, const void *b)
{
    const struct batch_v1_job *x = *(const struct batch_v1_job *const *)a, *y = *(const struct batch_v1_job *const *)b;
    int order = timestamp_cmp(x->metadata.creation_timestamp, y->metadata.creation_timestamp);

    return order != 0 ? order : str_cmp(x->metadata.name, y->metadata.name);
}

/* As the status has it; NULL when it does not. */
static const struct core_v1_object_reference *find_listed(const struct batch_v1_cron_job *cron_job, struct str uid)
{
    LIST_EACH(reference, &cron_job->status.active)
    {
        if (str_eq(reference->uid, uid)) {
            return reference;
        }
    }
    return NULL;
}

static void sort_jobs(struct pass *pass)
{
    struct object_pointers owned =
        world_owned(pass->world, &batch_v1_job_kind, pass->cron_job->metadata.uid);

    if (owned.len > 1) {
        qsort(owned.items, owned.len, sizeof(*owned.items), by_age);
    }
    for (size_t i = 0; i < owned.len; i++) {
        const struct batch_v1_job *job = owned.items[i];
        bool done = has_condition(job, "Complete"), failed = has_condition(job, "Failed");
        struct jobs *list = done ? &pass->succeeded : failed ? &pass->failed : &pass->active;

        *LIST_ADD(pass->plan->arena, list) = job;
        if ((done || failed) && find_listed(pass->cron_job, job->metadata.uid) != NULL) {
            plan_event(pass->plan, &batch_v1_cron_job_kind, pass->cron_job, "Normal", "SawCompletedJob",
                       "Saw completed job: %.*s, condition: %s", STR_ARG(job->metadata.name),
                       done ? "Complete" : "Failed");
        }
        if (done && job->status.completion_time != NULL &&
            (pass->status.last_successful_time == NULL ||
             timestamp_cmp(*pass->status.last_successful_time, *job->status.completion_time) < 0)) {
            pass->status.last_successful_time = job->status.completion_time;
        }
    }
}

static void list_active(struct pass *pass)
{
    LIST_EACH(job, &pass->active)
    {
        const struct core_v1_object_reference *listed = find_listed(pass->cron_job, (*job)->metadata.uid);

        if (listed != NULL) { /* with the version it had then */
            *LIST_ADD(pass->plan->arena, &pass->status.active) = *listed;
            continue;
        }
        *LIST_ADD(pass->plan->arena, &pass->status.active) =
            (struct core_v1_object_reference){.kind = STR("Job"),
                                              .api_version = STR("batch/v1"),
                                              .namespace = (*job)->metadata.namespace,
                                              .name = (*job)->metadata.name,
                                              .uid = (*job)->metadata.uid,
                                              .resource_version = (*job)->metadata.resource_version};
    }
}

static void clean_up(struct pass *pass, const struct jobs *jobs, const int32_t *limit, int32_t otherwise)
{
    int64_t excess = (int64_t)jobs->len - (limit != NULL ? *limit : otherwise);

    for (size_t i = 0; i < jobs->len && excess > 0; i++, excess--) {
        plan_delete(pass->plan, &batch_v1_job_kind, jobs->items[i]);
        plan_last(pass->plan)->propagation = STR("Background");
        plan_last(pass->plan)->note = (struct plan_note){.kind = &batch_v1_cron_job_kind,
                                                         .about = pass->cron_job,
                                                         .done_reason = "SuccessfulDelete",
                                                         .done_format = "Deleted job %s",
                                                         .failed_reason = "FailedDelete",
                                                         .failed_format = "Deleted job: %s"};
    }
}

/* The last time that has come since the last job; 0: none. */
static int64_t due_time(struct pass *pass)
{
    const struct batch_v1_cron_job *cron_job = pass->cron_job;
    int64_t now = pass->world->now / ENV_SECOND, due = 0;
    int64_t from = pass->status.last_schedule_time != NULL ? pass->status.last_schedule_time->seconds
                                                           : cron_job->metadata.creation_timestamp.seconds;
    int missed = 0;

    if (cron_job->spec.starting_deadline_seconds != NULL) {
        from = MAX(from, now - *cron_job->spec.starting_deadline_seconds);
    }
    for (int64_t at = cron_next(&pass->cron, pass->zone, from); at != 0 && at <= now;
         at = cron_next(&pass->cron, pass->zone, at)) {
        due = at;
        if (++missed > MISSED_MAX) {
            plan_event(pass->plan, &batch_v1_cron_job_kind, cron_job, "Warning", "TooManyMissedTimes",
                       "too many missed start times: %d. Set or decrease .spec.startingDeadlineSeconds or check clock "
                       "skew",
                       missed);
            /* From here the latest is near: one interval before now. */
            int64_t interval = cron_next(&pass->cron, pass->zone, at) - at;
            int64_t late = cron_next(&pass->cron, pass->zone, now - 2 * interval);

            while (late != 0 && late <= now) {
                due = late;
                late = cron_next(&pass->cron, pass->zone, late);
            }
            return due;
        }
    }
    return due;
}

static struct str scheduled_text(struct pass *pass, int64_t at)
{
    return timestamp_format(pass->plan->arena, (struct timestamp){.seconds = at, .is_set = true});
}

static void create_job(struct pass *pass, int64_t at)
{
    struct arena *arena = pass->plan->arena;
    const struct batch_v1_job_template_spec *template = &pass->cron_job->spec.job_template;
    struct batch_v1_job *job = ARENA_NEW(arena, struct batch_v1_job);

    job->metadata.namespace = pass->cron_job->metadata.namespace;
    job->metadata.name =
        arena_printf(arena, "%.*s-%lld", STR_ARG(pass->cron_job->metadata.name), (long long)at / 60);
    job->metadata.labels = str_map_copy(arena, &template->metadata.labels);
    job->metadata.annotations = str_map_copy(arena, &template->metadata.annotations);
    str_map_set(arena, &job->metadata.annotations, STR(SCHEDULED_AT), scheduled_text(pass, at));
    *LIST_ADD(arena, &job->metadata.owner_references) =
        controller_ref_to(arena, &batch_v1_cron_job_kind, (const struct object *)pass->cron_job);
    job->spec = template->spec;
    plan_create(pass->plan, &batch_v1_job_kind, job);
    plan_last(pass->plan)->may_exist = true;
    plan_last(pass->plan)->note = (struct plan_note){.kind = &batch_v1_cron_job_kind,
                                                     .about = pass->cron_job,
                                                     .done_reason = "SuccessfulCreate",
                                                     .done_format = "Created job %s",
                                                     .failed_reason = "FailedCreate",
                                                     .failed_format = "Error creating job: %s"};
    pass->status.last_schedule_time = ARENA_NEW(arena, struct timestamp);
    *pass->status.last_schedule_time = (struct timestamp){.seconds = at, .is_set = true};
}

static void start(struct pass *pass, int64_t at)
{
    struct str policy = pass->cron_job->spec.concurrency_policy;
    const int64_t *deadline = pass->cron_job->spec.starting_deadline_seconds;

    if (deadline != NULL && at + *deadline < pass->world->now / ENV_SECOND) {
        plan_event(pass->plan, &batch_v1_cron_job_kind, pass->cron_job, "Warning", "MissSchedule",
                   "Missed scheduled time to start a job: %.*s", STR_ARG(scheduled_text(pass, at)));
        return;
    }
    if (str_is(policy, "Forbid") && pass->active.len > 0) {
        plan_event(pass->plan, &batch_v1_cron_job_kind, pass->cron_job, "Normal", "JobAlreadyActive",
                   "Not starting job because prior execution is running and concurrency policy is Forbid");
        return;
    }
    if (str_is(policy, "Replace")) {
        clean_up(pass, &pass->active, NULL, 0);
    }
    create_job(pass, at);
}

static void schedule(struct pass *pass)
{
    int64_t now = pass->world->now / ENV_SECOND, due = due_time(pass);

    if (due != 0 &&
        (pass->status.last_schedule_time == NULL || pass->status.last_schedule_time->seconds != due)) {
        start(pass, due);
    }
    int64_t next = cron_next(&pass->cron, pass->zone, now);

    if (next != 0) {
        plan_requeue_after(pass->plan, next * ENV_SECOND - pass->world->now + 100 * ENV_MS);
    }
}

/* Whether there is anything to run, and when; what is wrong is told. */
static bool is_runnable(struct pass *pass)
{
    const struct batch_v1_cron_job *cron_job = pass->cron_job;
    int32_t offset;

    if (cron_job->spec.suspend != NULL && *cron_job->spec.suspend) {
        return false;
    }
    if (cron_job->spec.time_zone != NULL) {
        pass->zone = *cron_job->spec.time_zone;
        if (!time_zone_offset(pass->zone, pass->world->now / ENV_SECOND, &offset)) {
            plan_event(pass->plan, &batch_v1_cron_job_kind, cron_job, "Warning", "UnknownTimeZone",
                       "invalid timeZone: \"%.*s\"", STR_ARG(pass->zone));
            return false;
        }
    }
    if (!cron_parse(cron_job->spec.schedule, &pass->cron)) {
        struct str problem = cron_problem(pass->plan->arena, cron_job->spec.schedule);

        plan_event(pass->plan, &batch_v1_cron_job_kind, cron_job, "Warning", "UnparseableSchedule",
                   "unparseable schedule: \"%.*s\" : %.*s", STR_ARG(cron_job->spec.schedule), STR_ARG(problem));
        return false;
    }
    return true;
}

static struct status *cronjob_plan(const struct world *world, struct str key, struct plan *plan)
{
    struct pass pass = {.world = world, .plan = plan, .cron_job = world_find(world, &batch_v1_cron_job_kind, key)};

    if (pass.cron_job == NULL || pass.cron_job->metadata.deletion_timestamp != NULL) {
        return NULL;
    }
    pass.status.last_schedule_time = pass.cron_job->status.last_schedule_time;
    pass.status.last_successful_time = pass.cron_job->status.last_successful_time;
    sort_jobs(&pass);
    list_active(&pass);
    if (is_runnable(&pass)) {
        schedule(&pass);
    }
    clean_up(&pass, &pass.succeeded, pass.cron_job->spec.successful_jobs_history_limit, 3);
    clean_up(&pass, &pass.failed, pass.cron_job->spec.failed_jobs_history_limit, 1);
    if (!schema_equal(&batch_v1_cron_job_status_type, &pass.status, &pass.cron_job->status)) {
        struct batch_v1_cron_job *changed = ARENA_NEW(plan->arena, struct batch_v1_cron_job);

        *changed = *pass.cron_job;
        changed->status = pass.status;
        plan_update_status(plan, &batch_v1_cron_job_kind, changed);
        plan_last(plan)->regardless = false; /* a job that could not be made is still due */
    }
    return NULL;
}

const struct controller cronjob_controller = {
    .name = "cronjob-controller",
    .account = "cronjob-controller",
    .kind = &batch_v1_cron_job_kind,
    .watches = {{&batch_v1_job_kind, NULL}},
    .plan = cronjob_plan,
};
