#include "base/env.h"
#include "base/task.h"
#include "bed.h"
#include "scheduler/queue.h"
#include "test.h"

static struct str take(struct queue *queue, struct queued_pod *ret)
{
    CHECK(queue_take(queue, ret));
    return ((const struct core_v1_pod *)ret->held->object)->metadata.name;
}

static struct str take_away(struct queue *queue)
{
    struct queued_pod pod;
    static char name[64];
    struct str taken = take(queue, &pod);

    __builtin_memcpy(name, taken.p, taken.n);
    cached_unref(pod.held);
    return (struct str){name, taken.n};
}

static void priority_run(void *arg)
{
    struct bed bed;
    struct queue *queue = queue_new();

    bed_init(&bed);
    queue_put(queue, bed_cached_pod(&bed, "{'metadata':{'name':'low-1'}}"));
    queue_put(queue, bed_cached_pod(&bed, "{'metadata':{'name':'low-2'},'spec':{'priority':0}}"));
    queue_put(queue, bed_cached_pod(&bed, "{'metadata':{'name':'high'},'spec':{'priority':1000}}"));
    queue_put(queue, bed_cached_pod(&bed, "{'metadata':{'name':'lowest'},'spec':{'priority':-1}}"));
    queue_put(queue, bed_cached_pod(&bed, "{'metadata':{'name':'gone','uid':'gone'}}"));
    queue_remove(queue, STR("gone"));
    CHECK_STR(take_away(queue), "high");
    CHECK_STR(take_away(queue), "low-1");
    CHECK_STR(take_away(queue), "low-2");
    CHECK_STR(take_away(queue), "lowest");
    queue_free(queue);
    bed_done(&bed);
}

TEST("scheduler/queue/pods come by priority, then by age")
{
    test_run_task(priority_run, NULL);
}

static void backoff_run(void *arg)
{
    static const int64_t waits[] = {1, 2, 4, 8, 10, 10};
    struct bed bed;
    struct queue *queue = queue_new();
    struct queued_pod pod;

    bed_init(&bed);
    queue_put(queue, bed_cached_pod(&bed, "{'metadata':{'name':'a'}}"));
    take(queue, &pod);
    for (size_t i = 0; i < COUNT_OF(waits); i++) {
        int64_t start = env_mono();

        queue_put_back(queue, &pod, false);
        take(queue, &pod);
        CHECK_INT(env_mono() - start, waits[i] * ENV_SECOND);
    }
    cached_unref(pod.held);
    queue_free(queue);
    bed_done(&bed);
}

TEST("scheduler/queue/a failed attempt waits a second, doubling up to ten")
{
    test_run_task(backoff_run, NULL);
}

static void unschedulable_run(void *arg)
{
    struct bed bed;
    struct queue *queue = queue_new();
    struct queued_pod pod;
    int64_t start;

    bed_init(&bed);
    queue_put(queue, bed_cached_pod(&bed, "{'metadata':{'name':'a','uid':'a'}}"));
    take(queue, &pod);
    start = env_mono();
    queue_put_back(queue, &pod, true);
    take(queue, &pod);
    CHECK_INT(env_mono() - start, 300 * ENV_SECOND);
    start = env_mono();
    queue_put_back(queue, &pod, true);
    queue_stir(queue); /* before its back-off is over */
    take(queue, &pod);
    CHECK_INT(env_mono() - start, 2 * ENV_SECOND);
    queue_put_back(queue, &pod, true);
    task_sleep(20 * ENV_SECOND);
    start = env_mono();
    queue_stir(queue);
    take(queue, &pod);
    CHECK_INT(env_mono() - start, 0);
    queue_put_back(queue, &pod, true);
    task_sleep(20 * ENV_SECOND);
    queue_put(queue, bed_cached_pod(&bed, "{'metadata':{'name':'changed','uid':'a'}}"));
    CHECK_STR(take(queue, &pod), "changed");
    CHECK_INT(pod.attempts, 5);
    cached_unref(pod.held);
    queue_free(queue);
    bed_done(&bed);
}

TEST("scheduler/queue/a pod that fits nowhere waits until something happens, or five minutes")
{
    test_run_task(unschedulable_run, NULL);
}
