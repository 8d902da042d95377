/* Jobs that finished go when their time to live is over. */
#include "controller/controllers.h"

#include "api/batch_v1.h"
#include "base/env.h"

static const struct timestamp *finished_at(const struct batch_v1_job *job)
{
    LIST_EACH(condition, &job->status.conditions)
    {
        if ((str_is(condition->type, "Complete") || str_is(condition->type, "Failed")) &&
            str_is(condition->status, "True")) {
            return &condition->last_transition_time;
        }
    }
    return NULL;
}

static struct status *ttl_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct batch_v1_job *job = world_find(world, &batch_v1_job_kind, key);
    const struct timestamp *finished = job != NULL ? finished_at(job) : NULL;

    if (finished == NULL || job->metadata.deletion_timestamp != NULL || job->spec.ttl_seconds_after_finished == NULL) {
        return NULL;
    }
    int64_t left = (finished->seconds + *job->spec.ttl_seconds_after_finished) * ENV_SECOND - world->now;

    if (left > 0) {
        plan_requeue_after(plan, left);
        return NULL;
    }
    plan_delete(plan, &batch_v1_job_kind, job);
    plan_last(plan)->propagation = STR("Foreground");
    return NULL;
}

const struct controller ttl_after_finished_controller = {
    .name = "ttl-after-finished-controller",
    .account = "ttl-after-finished-controller",
    .kind = &batch_v1_job_kind,
    .workers = 1,
    .plan = ttl_plan,
};
