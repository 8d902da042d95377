#include "test.h"

#include "base/env.h"
#include "base/task.h"

static struct cond changed;
static int turns;

static void counts(void *arg)
{
    for (int i = 0; i < 3; i++) {
        CHECK(task_sleep(*(int64_t *)arg));
        turns++;
    }
    cond_broadcast(&changed);
}

static void waits_for_others(void *arg)
{
    int64_t fast = ENV_SECOND, slow = 10 * ENV_SECOND;
    struct task_group group;

    (void)arg;
    cond_init(&changed);
    task_group_init(&group);
    task_group_spawn(&group, "fast", counts, &fast);
    task_group_spawn(&group, "slow", counts, &slow);
    CHECK(cond_wait(&changed, TASK_FOREVER));
    CHECK_INT(env_mono(), 3 * ENV_SECOND);
    CHECK_INT(turns, 3);
    CHECK(!cond_wait(&changed, env_mono() + ENV_SECOND));
    task_group_wait(&group);
    CHECK_INT(env_mono(), 30 * ENV_SECOND);
}

TEST("base/task/sleeps, conditions and groups run on the virtual clock")
{
    test_run_task(waits_for_others, NULL);
}

static void sleeps_long(void *arg)
{
    CHECK(!task_sleep(1000 * ENV_SECOND));
    CHECK(task_is_cancelled());
    CHECK(!task_sleep(1));
    *(bool *)arg = true;
}

static void cancels(void *arg)
{
    struct task_group group;
    bool ended = false;

    (void)arg;
    task_group_init(&group);
    task_group_spawn(&group, "long", sleeps_long, &ended);
    task_sleep(ENV_SECOND);
    task_group_cancel(&group);
    CHECK(ended);
    CHECK_INT(env_mono(), ENV_SECOND);
}

TEST("base/task/cancel ends a sleep at once")
{
    test_run_task(cancels, NULL);
}

static void adds_one(void *arg)
{
    ++*(int *)arg;
}

static void offloads(void *arg)
{
    int value = 1;

    (void)arg;
    task_offload(adds_one, &value);
    CHECK_INT(value, 2);
}

TEST("base/task/offload parks until the work is done")
{
    test_run_task(offloads, NULL);
}

static struct task_lock lock;
static int inside;

static void enters(void *arg)
{
    (void)arg;
    CHECK(task_lock_acquire(&lock));
    CHECK_INT(inside++, 0);
    task_sleep(ENV_MS);
    inside--;
    task_lock_release(&lock);
}

static void many_enter(void *arg)
{
    struct task_group group;

    (void)arg;
    task_lock_init(&lock);
    task_group_init(&group);
    for (int i = 0; i < 50; i++) {
        task_group_spawn(&group, "enters", enters, NULL);
    }
    task_group_wait(&group);
    CHECK_INT(env_mono(), 50 * ENV_MS);
}

TEST("base/task/a lock lets one task in at a time")
{
    test_run_task(many_enter, NULL);
}
