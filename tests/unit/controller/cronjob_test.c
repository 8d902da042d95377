#include "api/batch_v1.h"
#include "base/env.h"
#include "controller/controllers.h"
#include "controller/cron.h"
#include "fake_world.h"
#include "schema/object.h"
#include "schema/timestamp.h"
#include "test.h"

static int64_t seconds_of(const char *text)
{
    struct timestamp time;

    CHECK(timestamp_parse(str_of(text), &time));
    return time.seconds;
}

TEST("controller/cron/the next time of a schedule")
{
    static const struct {
        const char *schedule, *zone, *after, *next;
    } rows[] = {
        {"* * * * *", "", "2023-11-14T22:13:20Z", "2023-11-14T22:14:00Z"},
        {"*/15 * * * *", "", "2023-11-14T22:15:00Z", "2023-11-14T22:30:00Z"},
        {"0 0 * * *", "", "2023-11-14T22:13:20Z", "2023-11-15T00:00:00Z"},
        {"30 9 * * MON-FRI", "", "2023-11-17T10:00:00Z", "2023-11-20T09:30:00Z"},
        {"0 0 29 2 *", "", "2023-03-01T00:00:00Z", "2024-02-29T00:00:00Z"},
        {"0 0 13 * 5", "", "2023-11-14T00:00:00Z", "2023-11-17T00:00:00Z"}, /* the 13th, or a Friday */
        {"0 0 1 jan *", "", "2023-11-14T00:00:00Z", "2024-01-01T00:00:00Z"},
        {"5,10-12 3 * * *", "", "2023-11-14T03:05:00Z", "2023-11-14T03:10:00Z"},
        {"10/20 * * * *", "", "2023-11-14T03:11:00Z", "2023-11-14T03:30:00Z"},
        {"@hourly", "", "2023-11-14T22:13:20Z", "2023-11-14T23:00:00Z"},
        {"@every 90s", "", "2023-11-14T22:13:20Z", "2023-11-14T22:14:50Z"},
        {"0 12 * * *", "Europe/Berlin", "2023-11-14T00:00:00Z", "2023-11-14T11:00:00Z"},
        {"0 12 * * *", "Europe/Berlin", "2023-07-14T00:00:00Z", "2023-07-14T10:00:00Z"},
        {"30 2 * * *", "Europe/Berlin", "2023-03-26T00:00:00Z", "2023-03-27T00:30:00Z"}, /* 2:30 was skipped */
        {"0 0 31 2 *", "", "2023-03-01T00:00:00Z", NULL},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cron cron;

        CHECK(cron_parse(str_of(rows[i].schedule), &cron));
        int64_t next = cron_next(&cron, str_of(rows[i].zone), seconds_of(rows[i].after));

        if (next != (rows[i].next != NULL ? seconds_of(rows[i].next) : 0)) {
            test_fail(__FILE__, __LINE__, "%s after %s: %lld", rows[i].schedule, rows[i].after, (long long)next);
        }
    }
}

TEST("controller/cron/what is no schedule")
{
    static const char *const texts[] = {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *",
                                        "* * * 13 *", "* * * * 7", "a * * * *", "5-1 * * * *", "*/0 * * * *", "@never"};
    struct cron cron;

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (cron_parse(str_of(texts[i]), &cron)) {
            test_fail(__FILE__, __LINE__, "\"%s\" was taken", texts[i]);
        }
    }
}

#define CRON(more) \
    "{'metadata':{'name':'c','namespace':'d','uid':'cj','creationTimestamp':'2023-11-14T22:10:00Z'},'spec':{'schedule':" \
    "'*/5 * * * *','jobTemplate':{'metadata':{'labels':{'a':'b'}},'spec':{'template':{'spec':{}}}}" more "}}"

static const struct batch_v1_cron_job *cron_job_of(struct fake_world *fake)
{
    return fake_world_get(fake, &batch_v1_cron_job_kind, "d/c");
}

TEST("controller/cronjob/makes a job at each time, named for it, and keeps to the next")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake.world.now = seconds_of("2023-11-14T22:13:20Z") * ENV_SECOND;
    fake_world_add(&fake, &batch_v1_cron_job_kind, CRON(""));
    CHECK_STR(fake_world_plan(&fake, &cronjob_controller, "d/c"), "");
    CHECK_INT(fake.plan.requeue_after, 100 * ENV_SECOND + 100 * ENV_MS);
    fake.world.now = seconds_of("2023-11-14T22:15:00Z") * ENV_SECOND;
    CHECK_STR(fake_world_plan(&fake, &cronjob_controller, "d/c"), "create Job d/c-28333335\nupdate-status CronJob d/c\n");
    const struct batch_v1_job *job = fake.plan.items[0].object;

    CHECK_STR(job->metadata.labels.items[0].value, "b");
    CHECK_STR(job->metadata.annotations.items[0].value, "2023-11-14T22:15:00Z");
    fake_world_apply(&fake);
    CHECK_STR(fake_world_plan(&fake, &cronjob_controller, "d/c"), "update-status CronJob d/c\n");
    fake_world_apply(&fake);
    CHECK_INT(cron_job_of(&fake)->status.active.len, 1);
    CHECK_STR(fake_world_plan(&fake, &cronjob_controller, "d/c"), "");
    fake_world_done(&fake);
}

TEST("controller/cronjob/after a gap only the latest time is made up for, unless it is too late")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake.world.now = seconds_of("2023-11-15T00:01:00Z") * ENV_SECOND;
    fake_world_add(&fake, &batch_v1_cron_job_kind, CRON(""));
    CHECK(str_has_prefix(fake_world_plan(&fake, &cronjob_controller, "d/c"), STR("create Job d/c-28333440\n")));
    fake_world_done(&fake);
    fake_world_init(&fake);
    fake.world.now = seconds_of("2023-11-15T00:01:00Z") * ENV_SECOND;
    fake_world_add(&fake, &batch_v1_cron_job_kind, CRON(",'startingDeadlineSeconds':30"));
    CHECK_STR(fake_world_plan(&fake, &cronjob_controller, "d/c"), "");
    fake_world_done(&fake);
    fake_world_init(&fake);
    fake.world.now = seconds_of("2023-11-24T00:01:00Z") * ENV_SECOND;
    fake_world_add(&fake, &batch_v1_cron_job_kind, CRON(""));
    struct str plan = fake_world_plan(&fake, &cronjob_controller, "d/c");

    CHECK(str_has_prefix(plan, STR("event Warning TooManyMissedTimes: too many missed start times: 101.")));
    CHECK(str_contains(plan, STR("create Job d/c-28346400\n")));
    fake_world_done(&fake);
}

#define JOB(name, type) \
    "{'metadata':{'name':'" name "','namespace':'d','uid':'" name "','ownerReferences':[{'kind':'CronJob','name':'c'," \
    "'uid':'cj','controller':true}]},'status':{'conditions':[{'type':'" type "','status':'True'}]}}"

TEST("controller/cronjob/what happens while a job still runs")
{
    static const struct {
        const char *policy, *plan;
    } rows[] = {
        {"Allow", "create Job d/c-28333335\nupdate-status CronJob d/c\n"},
        {"Forbid", "event Normal JobAlreadyActive: Not starting job because prior execution is running and concurrency "
                   "policy is Forbid\nupdate-status CronJob d/c\n"},
        {"Replace", "delete Job d/old Background\ncreate Job d/c-28333335\nupdate-status CronJob d/c\n"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fake_world fake;

        fake_world_init(&fake);
        fake.world.now = seconds_of("2023-11-14T22:16:00Z") * ENV_SECOND;
        fake_world_add(&fake, &batch_v1_cron_job_kind,
                       arena_printf(fake.arena, CRON(",'concurrencyPolicy':'%s'"), rows[i].policy).p);
        fake_world_add(&fake, &batch_v1_job_kind, JOB("old", "Running"));
        CHECK_STR(fake_world_plan(&fake, &cronjob_controller, "d/c"), rows[i].plan);
        fake_world_done(&fake);
    }
}

TEST("controller/cronjob/finished jobs are kept up to the limits; suspended, unreadable and unknown do nothing")
{
    struct fake_world fake;

    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_cron_job_kind, CRON(",'suspend':true,'successfulJobsHistoryLimit':1"));
    fake_world_add(&fake, &batch_v1_job_kind, JOB("a", "Complete"));
    fake_world_add(&fake, &batch_v1_job_kind, JOB("b", "Complete"));
    fake_world_add(&fake, &batch_v1_job_kind, JOB("x", "Failed"));
    fake_world_add(&fake, &batch_v1_job_kind, JOB("y", "Failed"));
    CHECK_STR(fake_world_plan(&fake, &cronjob_controller, "d/c"),
              "delete Job d/a Background\ndelete Job d/x Background\n");
    fake_world_done(&fake);
    fake_world_init(&fake);
    fake_world_add(&fake, &batch_v1_cron_job_kind, CRON(",'timeZone':'Mars/Olympus'"));
    CHECK_STR(fake_world_plan(&fake, &cronjob_controller, "d/c"),
              "event Warning UnknownTimeZone: invalid timeZone: \"Mars/Olympus\"\n");
    fake_world_done(&fake);
}
