#include "test.h"

#include "base/env.h"
#include "base/task.h"
#include "client/work_queue.h"

static void one_at_a_time(void *arg)
{
    struct work_queue *queue = work_queue_new();
    struct arena *arena = arena_new();
    struct str key;

    (void)arg;
    work_queue_add(queue, STR("a"));
    work_queue_add(queue, STR("b"));
    work_queue_add(queue, STR("a"));
    CHECK_INT(work_queue_length(queue), 2);
    CHECK(work_queue_get(queue, arena, &key));
    CHECK_STR(key, "a");
    work_queue_add(queue, STR("a")); /* while it is worked on: comes again, but after the work */
    CHECK_INT(work_queue_length(queue), 1);
    CHECK(work_queue_get(queue, arena, &key));
    CHECK_STR(key, "b");
    work_queue_done(queue, STR("b"));
    CHECK_INT(work_queue_length(queue), 0);
    work_queue_done(queue, STR("a"));
    CHECK(work_queue_get(queue, arena, &key));
    CHECK_STR(key, "a");
    work_queue_done(queue, STR("a"));
    work_queue_shut(queue);
    CHECK(!work_queue_get(queue, arena, &key));
    work_queue_free(queue);
    arena_free(arena);
}

TEST("client/work_queue/a key is queued once and worked on by one task")
{
    test_run_task(one_at_a_time, NULL);
}

static void backs_off(void *arg)
{
    struct work_queue *queue = work_queue_new();
    struct arena *arena = arena_new();
    struct str key;
    int64_t wanted = 5 * ENV_MS;

    (void)arg;
    work_queue_add(queue, STR("a"));
    CHECK(work_queue_get(queue, arena, &key));
    for (int i = 0; i < 25; i++) {
        int64_t before = env_mono();

        work_queue_retry(queue, key);
        CHECK(work_queue_get(queue, arena, &key));
        CHECK_INT(env_mono() - before, wanted < 1000 * ENV_SECOND ? wanted : 1000 * ENV_SECOND);
        wanted *= 2;
    }
    CHECK_INT(work_queue_failures(queue, key), 25);
    work_queue_forget(queue, key);
    CHECK_INT(work_queue_failures(queue, key), 0);
    work_queue_done(queue, key);
    work_queue_add_after(queue, STR("b"), 10 * ENV_SECOND);
    work_queue_add_after(queue, STR("b"), ENV_SECOND);
    work_queue_add_after(queue, STR("b"), 20 * ENV_SECOND);
    int64_t before = env_mono();

    CHECK(work_queue_get(queue, arena, &key));
    CHECK_INT(env_mono() - before, ENV_SECOND);
    work_queue_done(queue, key);
    work_queue_shut(queue);
    work_queue_free(queue);
    arena_free(arena);
}

TEST("client/work_queue/failed keys come back with doubling delays, forgotten when well")
{
    test_run_task(backs_off, NULL);
}
