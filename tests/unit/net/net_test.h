/* Runs a test's tasks on a real event loop, and fails the test when that takes too long. */
#ifndef TESTS_UNIT_NET_TEST_H
#define TESTS_UNIT_NET_TEST_H

#include "test.h"

#include "base/task.h"
#include "net/event_loop.h"

static inline void run_on_loop(task_fn *fn, void *arg)
{
    struct env *env = event_loop_new();

    event_loop_run_task(env, "test", fn, arg);
    event_loop_free(env);
}

#endif
