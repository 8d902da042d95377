/* The env of a real process (base/env.h): an event loop on libuv, and a pool of four worker threads that the loops of a
 * process share. A loop with nothing to do sleeps in the kernel without any wake-up.
 *
 * A loop belongs to the thread that made it, whose current env it is. SIGPIPE is ignored in the process from the first
 * loop on: writing to a closed pipe or socket is an error value here. */
#ifndef NET_EVENT_LOOP_H
#define NET_EVENT_LOOP_H

#include "base/env.h"
#include "base/task.h"

/* Makes a loop and enters it (env_enter). */
struct env *event_loop_new(void);
/* Runs what was left to close, and leaves the thread without an env. All watches must be stopped, all tasks ended. */
void event_loop_free(struct env *env);
/* Until event_loop_stop(). */
void event_loop_run(struct env *env);
/* Makes event_loop_run() return after the callback that is running; on the loop's thread. */
void event_loop_stop(struct env *env);
/* Runs fn(arg) as a task and the loop until that task has ended. For tests and for commands. */
void event_loop_run_task(struct env *env, const char *name, task_fn *fn, void *arg);

#endif
