#include "api/batch_v1.h"
#include "api/core_v1.h"
#include "base/env.h"
#include "controller/controllers.h"
#include "controller/job_parts.h"
#include "controller/pod_util.h"
#include "fake_world.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "test.h"

#include <string.h>

#define JOB(more)                                                                                                    \
    "{'metadata':{'name':'job','namespace':'d','uid':'j'},'spec':{'selector':{'matchLabels':{'job':'j'}},'template':{" \
    "'metadata':{'labels':{'job':'j'}},'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i'}]}}" more "}}"

static const struct batch_v1_job *job_of(struct fake_world *fake)
{
    return fake_world_get(fake, &batch_v1_job_kind, "d/job");
}

static const struct batch_v1_job_condition *condition_of(struct fake_world *fake, const char *type)
{
    const struct batch_v1_job *job = job_of(fake);

    LIST_EACH(condition, &job->status.conditions)
    {
        if (str_is(condition->type, type)) {
            return condition;
        }
    }
    return NULL;
}

/* A deleted pod that has a finalizer stays until that is gone, as at an API server. */
static void apply(struct fake_world *fake)
{
    struct plan plan = fake->plan;

    for (size_t i = 0; i < plan.len; i++) {
        struct plan_action action = plan.items[i];

        fake->plan = (struct plan){.arena = fake->arena, .items = &action, .len = 1};
        fake_world_apply(fake);
    }
    fake->plan = plan;
}

static bool step(struct fake_world *fake)
{
    fake_world_plan(fake, &job_controller, "d/job");
    fake_world_remember(fake);
    apply(fake);
    return fake->plan.len > 0;
}

/* Steps until nothing is planned any more; fails when there is no end. */
static void settle(struct fake_world *fake)
{
    for (int i = 0; step(fake); i++) {
        if (i == 30) {
            test_fail(__FILE__, __LINE__, "no end");
        }
    }
}

/* So many of the pods that run end. */
static void end_pods(struct fake_world *fake, const char *phase, int count)
{
    LIST_EACH(entry, &fake->objects)
    {
        struct core_v1_pod *pod = (void *)entry->object;

        if (entry->kind == &core_v1_pod_kind && pod != NULL && !pod_is_finished(pod) && count-- > 0) {
            pod->status.phase = str_of(phase);
        }
    }
}

static int running(struct fake_world *fake)
{
    int count = 0;

    LIST_EACH(entry, &fake->objects)
    {
        count += entry->kind == &core_v1_pod_kind && entry->object != NULL &&
                 pod_is_active((const struct core_v1_pod *)(const void *)entry->object);
    }
    return count;
}

TEST("controller/job/runs so many at a time until so many have succeeded, and counts each once")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind, JOB(",'completions':3,'parallelism':2"));
    CHECK_STR(fake_world_plan(&fake, &job_controller, "d/job"),
              "create Pod d/job-*\ncreate Pod d/job-*\nupdate-status Job d/job\n");
    const struct core_v1_pod *pod = fake.plan.items[0].object;

    CHECK(job_has_finalizer(pod));
    CHECK_STR(pod->metadata.owner_references.items[0].kind, "Job");
    settle(&fake);
    CHECK_INT(job_of(&fake)->status.active, 2);
    CHECK(job_of(&fake)->status.start_time != NULL);
    end_pods(&fake, "Succeeded", 1);
    /* First the UID is written down, then the finalizer goes, then the number is raised. */
    CHECK_STR(fake_world_plan(&fake, &job_controller, "d/job"), "create Pod d/job-*\nupdate-status Job d/job\n");
    apply(&fake);
    CHECK_INT(job_of(&fake)->status.uncounted_terminated_pods->succeeded.len, 1);
    CHECK_INT(job_of(&fake)->status.succeeded, 0);
    CHECK(str_has_prefix(fake_world_plan(&fake, &job_controller, "d/job"), STR("patch Pod d/job-")));
    apply(&fake);
    settle(&fake);
    CHECK_INT(job_of(&fake)->status.succeeded, 1);
    CHECK_INT(job_of(&fake)->status.uncounted_terminated_pods->succeeded.len, 0);
    CHECK_INT(running(&fake), 2);
    end_pods(&fake, "Succeeded", 2);
    settle(&fake);
    CHECK_INT(job_of(&fake)->status.succeeded, 3);
    CHECK_INT(job_of(&fake)->status.active, 0);
    CHECK_STR(condition_of(&fake, "SuccessCriteriaMet")->reason, "CompletionsReached");
    CHECK_STR(condition_of(&fake, "Complete")->status, "True");
    CHECK(job_of(&fake)->status.completion_time != NULL);
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 3);
    fake_world_done(&fake);
}

TEST("controller/job/failed pods are made again after a while that doubles, but not for ever")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind, JOB(",'completions':1,'parallelism':1,'backoffLimit':2"));
    settle(&fake);
    for (int i = 0; i < 2; i++) {
        end_pods(&fake, "Failed", 1);
        settle(&fake);
        CHECK_INT(running(&fake), 0);
        CHECK_INT(job_of(&fake)->status.failed, i + 1);
        CHECK_INT(fake.plan.requeue_after, (10 << i) * ENV_SECOND);
        fake.world.now += fake.plan.requeue_after;
        settle(&fake);
        CHECK_INT(running(&fake), 1);
    }
    end_pods(&fake, "Failed", 1);
    settle(&fake);
    CHECK_STR(condition_of(&fake, "Failed")->reason, "BackoffLimitExceeded");
    CHECK_STR(condition_of(&fake, "Failed")->message, "Job has reached the specified backoff limit");
    CHECK_INT(job_of(&fake)->status.failed, 3);
    fake_world_done(&fake);
}

TEST("controller/job/past its deadline its pods go, and it has failed")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind, JOB(",'completions':2,'parallelism':2,'activeDeadlineSeconds':60"));
    settle(&fake);
    fake_world_plan(&fake, &job_controller, "d/job");
    CHECK_INT(fake.plan.requeue_after, 60 * ENV_SECOND);
    fake.world.now += 60 * ENV_SECOND;
    struct str plan = fake_world_plan(&fake, &job_controller, "d/job");

    CHECK(str_has_prefix(plan, STR("patch Pod d/job-"))); /* its own deletions count neither way */
    CHECK(str_contains(plan, STR("\ndelete Pod d/job-")));
    apply(&fake);
    settle(&fake);
    CHECK_STR(condition_of(&fake, "Failed")->reason, "DeadlineExceeded");
    CHECK_INT(job_of(&fake)->status.failed, 0);
    CHECK_INT(fake_world_count(&fake, &core_v1_pod_kind), 0);
    fake_world_done(&fake);
}

TEST("controller/job/each index of an Indexed job succeeds once")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind, JOB(",'completions':3,'parallelism':2,'completionMode':'Indexed'"));
    fake_world_plan(&fake, &job_controller, "d/job");
    const struct core_v1_pod *pod = fake.plan.items[1].object;

    CHECK_STR(pod->metadata.generate_name, "job-1-");
    CHECK_STR(pod->spec.hostname, "job-1");
    CHECK_STR(str_map_get(&pod->metadata.annotations, STR(JOB_INDEX)), "1");
    CHECK_STR(pod->spec.containers.items[0].env.items[0].name, "JOB_COMPLETION_INDEX");
    settle(&fake);
    end_pods(&fake, "Succeeded", 1);
    settle(&fake);
    CHECK_STR(job_of(&fake)->status.completed_indexes, "0");
    CHECK_INT(running(&fake), 2);
    end_pods(&fake, "Failed", 1); /* index 1 */
    settle(&fake);
    fake.world.now += 20 * ENV_SECOND;
    settle(&fake);
    CHECK_INT(running(&fake), 2);
    end_pods(&fake, "Succeeded", 2);
    settle(&fake);
    CHECK_STR(job_of(&fake)->status.completed_indexes, "0-2");
    CHECK_INT(job_of(&fake)->status.succeeded, 3);
    CHECK_INT(job_of(&fake)->status.failed, 1);
    CHECK(condition_of(&fake, "Complete") != NULL);
    fake_world_done(&fake);
}

TEST("controller/job/suspended it has no pods, resumed it begins anew")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind, JOB(",'completions':1,'parallelism':1,'suspend':true"));
    settle(&fake);
    CHECK_INT(running(&fake), 0);
    CHECK(job_of(&fake)->status.start_time == NULL);
    CHECK_STR(condition_of(&fake, "Suspended")->status, "True");
    *((struct batch_v1_job *)fake_world_get(&fake, &batch_v1_job_kind, "d/job"))->spec.suspend = false;
    settle(&fake);
    CHECK_INT(running(&fake), 1);
    CHECK_STR(condition_of(&fake, "Suspended")->reason, "JobResumed");
    *((struct batch_v1_job *)fake_world_get(&fake, &batch_v1_job_kind, "d/job"))->spec.suspend = true;
    settle(&fake);
    CHECK_INT(running(&fake), 0);
    CHECK_INT(job_of(&fake)->status.failed, 0);
    fake_world_done(&fake);
}

TEST("controller/job/one that is gone holds no pod back")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind, JOB(",'completions':1,'parallelism':1"));
    settle(&fake);
    fake_world_remove(&fake, &batch_v1_job_kind, "d/job");
    CHECK(str_has_prefix(fake_world_plan(&fake, &job_controller, "d/job"), STR("patch Pod d/job-")));
    apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &job_controller, "d/job"), "");
    fake_world_done(&fake);
}

TEST("controller/job/finished jobs go when their time is over")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind,
                   "{'metadata':{'name':'job','namespace':'d'},'spec':{'ttlSecondsAfterFinished':100},'status':{"
                   "'conditions':[{'type':'Complete','status':'True','lastTransitionTime':'2023-11-14T22:13:20Z'}]}}");
    CHECK_STR(fake_world_plan(&fake, &ttl_after_finished_controller, "d/job"), "");
    CHECK_INT(fake.plan.requeue_after, 100 * ENV_SECOND);
    fake.world.now += 100 * ENV_SECOND;
    CHECK_STR(fake_world_plan(&fake, &ttl_after_finished_controller, "d/job"), "delete Job d/job Foreground\n");
    fake_world_done(&fake);
}

TEST("controller/job/sets of indexes as text")
{
    static const char *const texts[][2] = {
        {"", ""}, {"0", "0"}, {"0,1", "0,1"}, {"0-2", "0-2"}, {"1,3-5,7,8", "1,3-5,7,8"}, {"5,x,-1,3-4", "3-5"}, {"98-200", "98,99"},
    };
    struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct job_indexes indexes = job_indexes_parse(arena, str_of(texts[i][0]), 100);

        CHECK_STR(job_indexes_format(arena, &indexes), texts[i][1]);
    }
    arena_free(arena);
}

static void fail_pod(struct fake_world *fake, int32_t exit_code)
{
    LIST_EACH(entry, &fake->objects)
    {
        struct core_v1_pod *pod = (void *)entry->object;

        if (entry->kind == &core_v1_pod_kind && pod != NULL && !pod_is_finished(pod)) {
            struct core_v1_container_state_terminated *end =
                ARENA_NEW(fake->arena, struct core_v1_container_state_terminated);

            end->exit_code = exit_code;
            pod->status.phase = STR("Failed");
            LIST_ADD(fake->arena, &pod->status.container_statuses)->state.terminated = end;
            pod->status.container_statuses.items[0].name = STR("c");
            return;
        }
    }
}

TEST("controller/job/the policy for failures: some fail the job, some do not count")
{
    struct fake_world fake;
    static const char job[] =
        JOB(",'completions':1,'parallelism':1,'backoffLimit':0,'podFailurePolicy':{'rules':[{'action':'Ignore',"
            "'onExitCodes':{'operator':'In','values':[7,8]}},{'action':'FailJob','onExitCodes':{'containerName':'c',"
            "'operator':'NotIn','values':[1]}}]}");

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind, job);
    settle(&fake);
    fail_pod(&fake, 7);
    settle(&fake);
    CHECK_INT(job_of(&fake)->status.failed, 0);
    CHECK_INT(running(&fake), 1);
    fail_pod(&fake, 2);
    settle(&fake);
    CHECK_STR(condition_of(&fake, "Failed")->reason, "PodFailurePolicy");
    CHECK(str_has_prefix(condition_of(&fake, "Failed")->message, STR("Container c for pod d/job-")));
    CHECK(str_has_suffix(condition_of(&fake, "Failed")->message,
                         STR(" failed with exit code 2 matching FailJob rule at index 1")));
    fake_world_done(&fake);
}

TEST("controller/job/an index that fails too often is given up, the others go on")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind,
                   JOB(",'completions':2,'parallelism':1,'completionMode':'Indexed','backoffLimitPerIndex':1,"
                       "'backoffLimit':2147483647"));
    settle(&fake);
    for (int i = 0; i < 2; i++) {
        end_pods(&fake, "Failed", 1);
        settle(&fake);
        fake.world.now += 700 * ENV_SECOND;
        settle(&fake);
    }
    CHECK_STR(*job_of(&fake)->status.failed_indexes, "0");
    CHECK_INT(running(&fake), 1);
    end_pods(&fake, "Succeeded", 1);
    settle(&fake);
    CHECK_STR(job_of(&fake)->status.completed_indexes, "1");
    CHECK_STR(condition_of(&fake, "Failed")->reason, "FailedIndexes");
    fake_world_done(&fake);
}

TEST("controller/job/enough indexes have succeeded when the policy says so")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_job_kind,
                   JOB(",'completions':5,'parallelism':5,'completionMode':'Indexed','successPolicy':{'rules':[{"
                       "'succeededIndexes':'3-4'},{'succeededIndexes':'0-2','succeededCount':2}]}"));
    settle(&fake);
    end_pods(&fake, "Succeeded", 2);
    settle(&fake);
    CHECK_STR(condition_of(&fake, "Complete")->reason, "SuccessPolicy");
    CHECK_STR(condition_of(&fake, "Complete")->message, "Matched rules at index 1");
    CHECK_INT(running(&fake), 0);
    fake_world_done(&fake);
}
