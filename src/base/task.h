/* Cooperative tasks: straight-line code that waits without blocking the event loop.
 *
 * A task has a stack of its own and runs on the env's thread until it parks; only one task runs at a time, and
 * control changes hands only at calls documented to "park". So between two parks a task needs no locks. Under
 * simulation tasks run in an order that depends on the seed alone.
 *
 * Stack: TASK_STACK_BYTES of address space with a guard page, of which only touched pages cost memory. Keep large
 * buffers in arenas. All calls are on the env's thread. */
#ifndef BASE_TASK_H
#define BASE_TASK_H

#include "base/attr.h"
#include "base/list.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define TASK_FOREVER INT64_MAX

struct task;

typedef void task_fn(void *arg);

/* Starts fn(arg) soon, in a task of its own, which ends when fn returns. The name is for logs and debuggers and must
 * outlive the task. The pointer is valid until the task ends; keep it only if the task tells you when it does. */
struct task *task_spawn(const char *name, task_fn *fn, void *arg);
/* The running task, or NULL on the bare event loop. */
struct task *task_current(void);
const char *task_name(const struct task *task);

/* Asks a task to end: from now on every parking call in it returns at once with a CANCELLED status (or false).
 * The task then unwinds by itself. */
void task_cancel(struct task *task);
bool task_is_cancelled(void);

/* Parks until task_wake(), or until env_mono() reaches `deadline`. True when woken, false at the deadline or when
 * cancelled. A wake that came before the park counts. Spurious wakes happen: test the condition in a loop. */
bool task_park(int64_t deadline);
void task_wake(struct task *task);

/* Parks for that long; false when cancelled before. */
bool task_sleep(int64_t duration);
/* Lets others run, then goes on. */
void task_yield(void);
/* Runs fn(arg) on a worker thread and parks until it is done, cancelled or not. */
void task_offload(task_fn *fn, void *arg);
/* Parks until the fd is ready for any of `events` (env.h) or the deadline. DEADLINE gives a TIMEOUT status. */
MUST_USE struct status *task_wait_fd(int fd, unsigned events, int64_t deadline);

/* Tasks waiting for something to change. The zero value is not ready: cond_init(). */
struct cond {
    struct link waiters;
};

void cond_init(struct cond *cond);
/* Parks until signalled or the deadline (env_mono). True when signalled. */
bool cond_wait(struct cond *cond, int64_t deadline);
/* Wakes one, or all, of those waiting now. */
void cond_signal(struct cond *cond);
void cond_broadcast(struct cond *cond);

/* Counts tasks that must end before their parent goes on. */
struct task_group {
    struct link tasks;
    struct cond ended;
};

void task_group_init(struct task_group *group);
struct task *task_group_spawn(struct task_group *group, const char *name, task_fn *fn, void *arg);
bool task_group_empty(const struct task_group *group);
/* Cancels all and parks until all have ended. */
void task_group_cancel(struct task_group *group);
/* Parks until all have ended, cancelled or not. */
void task_group_wait(struct task_group *group);

/* A mutex for tasks: held across parks. */
struct task_lock {
    struct cond freed;
    bool held;
};

void task_lock_init(struct task_lock *lock);
/* Parks until free; false when cancelled (then it is not held). */
bool task_lock_acquire(struct task_lock *lock);
void task_lock_release(struct task_lock *lock);

#endif
