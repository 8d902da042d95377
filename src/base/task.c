#include "base/task.h"

#include "base/env.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifdef HAVE_ASAN
#include <sanitizer/common_interface_defs.h>
#define TASK_STACK_BYTES ((size_t)2 << 20) /* red zones make frames much larger */
#else
#define TASK_STACK_BYTES ((size_t)256 << 10)
#endif

enum { STACK_POOL_MAX = 16 };

struct task {
    const char *name;
    task_fn *fn;
    void *arg;
    char *stack; /* TASK_STACK_BYTES, the lowest page is the guard */
    void *sp;
    struct task_group *group;
    struct link in_group;
    struct env_timer *timer;
    bool parked;
    bool woken;     /* a wake that no park has used yet */
    bool scheduled; /* a resume is posted */
    bool timed_out;
    bool cancelled;
    bool ended;
    void *fake_stack; /* ASan's */
};

static _Thread_local struct task *running;
static _Thread_local void *loop_sp;
#ifdef HAVE_ASAN
static _Thread_local const void *loop_bottom;
static _Thread_local size_t loop_size;
static _Thread_local void *loop_fake_stack;
#endif
static _Thread_local char *stack_pool[STACK_POOL_MAX];
static _Thread_local int stack_pool_count;

void task_switch_(void **save_sp, void *load_sp);
void task_entry_(void);
NO_RETURN void task_main_(void);

static char *stack_take(void)
{
    if (stack_pool_count > 0) {
        return stack_pool[--stack_pool_count];
    }
    char *stack = mmap(NULL, TASK_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (stack == MAP_FAILED || mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE) != 0) {
        mem_die("no memory for a task's stack");
    }
    return stack;
}

static void stack_give(char *stack)
{
    if (stack_pool_count < STACK_POOL_MAX) {
        stack_pool[stack_pool_count++] = stack;
        return;
    }
    munmap(stack, TASK_STACK_BYTES);
}

/* From the loop into the task, until it parks or ends. */
static void task_enter(struct task *task)
{
    running = task;
#ifdef HAVE_ASAN
    __sanitizer_start_switch_fiber(&loop_fake_stack, task->stack, TASK_STACK_BYTES);
#endif
    task_switch_(&loop_sp, task->sp);
#ifdef HAVE_ASAN
    __sanitizer_finish_switch_fiber(loop_fake_stack, NULL, NULL);
#endif
    running = NULL;
}

/* From the running task back to the loop. */
static void task_leave(struct task *task)
{
#ifdef HAVE_ASAN
    __sanitizer_start_switch_fiber(task->ended ? NULL : &task->fake_stack, loop_bottom, loop_size);
#endif
    task_switch_(&task->sp, loop_sp);
#ifdef HAVE_ASAN
    __sanitizer_finish_switch_fiber(task->fake_stack, &loop_bottom, &loop_size);
#endif
}

static void task_resume(void *arg)
{
    struct task *task = arg;

    task->scheduled = false;
    task_enter(task);
    if (task->ended) {
        stack_give(task->stack);
        if (task->group != NULL) {
            list_remove(&task->in_group);
            cond_broadcast(&task->group->ended);
        }
        free(task);
    }
}

static void task_schedule(struct task *task)
{
    if (!task->scheduled) {
        task->scheduled = true;
        env_post(task_resume, task);
    }
}

NO_RETURN void task_main_(void)
{
    struct task *task = running;

#ifdef HAVE_ASAN
    __sanitizer_finish_switch_fiber(NULL, &loop_bottom, &loop_size);
#endif
    task->fn(task->arg);
    task->ended = true;
    task_leave(task);
    mem_die("an ended task was resumed");
}

struct task *task_spawn(const char *name, task_fn *fn, void *arg)
{
    struct task *task = mem_zalloc(sizeof(*task));

    task->name = name;
    task->fn = fn;
    task->arg = arg;
    task->stack = stack_take();
    /* task_switch_ will pop six registers (or load twenty) and return into task_entry_ with an aligned stack. */
    void **top = (void **)(void *)(task->stack + TASK_STACK_BYTES);
#if defined(__x86_64__)
    enum { FRAME = 9, RETURN_ADDRESS = 6 };

    memset(top - FRAME, 0, FRAME * sizeof(*top));
    top[-FRAME + RETURN_ADDRESS] = (void *)(uintptr_t)task_entry_; /* sp after it is a multiple of 16 */
    task->sp = top - FRAME;
#else
    enum { FRAME = 20, LINK_REGISTER = 11 };

    memset(top - FRAME, 0, FRAME * sizeof(*top));
    top[-FRAME + LINK_REGISTER] = (void *)(uintptr_t)task_entry_;
    task->sp = top - FRAME;
#endif
    task_schedule(task);
    return task;
}

struct task *task_current(void)
{
    return running;
}

const char *task_name(const struct task *task)
{
    return task->name;
}

void task_cancel(struct task *task)
{
    task->cancelled = true;
    task_wake(task);
}

bool task_is_cancelled(void)
{
    return running != NULL && running->cancelled;
}

void task_wake(struct task *task)
{
    task->woken = true;
    if (task->parked) {
        task->parked = false;
        task_schedule(task);
    }
}

static void park_timeout(void *arg)
{
    struct task *task = arg;

    task->timer = NULL;
    task->timed_out = true;
    if (task->parked) {
        task->parked = false;
        task_schedule(task);
    }
}

/* Parks until woken or the deadline, whether cancelled or not. True when woken. */
static bool park_uncancellable(int64_t deadline)
{
    struct task *task = running;

    if (task == NULL) {
        mem_die("a parking call outside a task");
    }
    if (!task->woken) {
        task->timed_out = false;
        if (deadline != TASK_FOREVER) {
            task->timer = env_timer(deadline - env_mono(), park_timeout, task);
        }
        task->parked = true;
        task_leave(task);
        env_timer_stop(TAKE(task->timer));
    }
    bool woken = task->woken;

    task->woken = false;
    return woken;
}

bool task_park(int64_t deadline)
{
    if (task_is_cancelled()) {
        return false;
    }
    return park_uncancellable(deadline) && !running->cancelled;
}

bool task_sleep(int64_t duration)
{
    int64_t deadline = env_mono() + duration;

    while (!task_is_cancelled() && env_mono() < deadline) {
        task_park(deadline);
    }
    return !task_is_cancelled();
}

void task_yield(void)
{
    task_schedule(running);
    running->parked = false;
    task_leave(running);
}

struct offload {
    task_fn *fn;
    void *arg;
    struct task *task;
    bool done;
};

static void offload_work(void *arg)
{
    struct offload *offload = arg;

    offload->fn(offload->arg);
}

static void offload_done(void *arg)
{
    struct offload *offload = arg;

    offload->done = true;
    task_wake(offload->task);
}

void task_offload(task_fn *fn, void *arg)
{
    struct offload offload = {fn, arg, running, false};

    env_offload(offload_work, offload_done, &offload);
    while (!offload.done) {
        park_uncancellable(TASK_FOREVER);
    }
}

static void fd_ready(void *arg, unsigned events)
{
    (void)events;
    task_wake(arg);
}

struct status *task_wait_fd(int fd, unsigned events, int64_t deadline)
{
    struct env_watch *watch = env_watch(fd, events, fd_ready, running);
    bool woken = task_park(deadline);

    env_watch_stop(watch);
    if (woken) {
        return NULL;
    }
    return task_is_cancelled() ? status_new(STATUS_CANCELLED, "cancelled") : status_new(STATUS_TIMEOUT, "timed out");
}

struct waiter {
    struct link link;
    struct task *task;
    bool signalled;
};

void cond_init(struct cond *cond)
{
    list_init(&cond->waiters);
}

static bool cond_park(struct cond *cond, int64_t deadline, bool cancellable)
{
    struct waiter waiter = {.task = running};

    list_add_tail(&cond->waiters, &waiter.link);
    while (!waiter.signalled && !(cancellable && task_is_cancelled()) && env_mono() < deadline) {
        park_uncancellable(deadline);
    }
    list_remove(&waiter.link);
    return waiter.signalled;
}

bool cond_wait(struct cond *cond, int64_t deadline)
{
    return cond_park(cond, deadline, true);
}

void cond_signal(struct cond *cond)
{
    struct link *link = list_pop(&cond->waiters);

    if (link != NULL) {
        struct waiter *waiter = CONTAINER_OF(link, struct waiter, link);

        waiter->signalled = true;
        task_wake(waiter->task);
    }
}

void cond_broadcast(struct cond *cond)
{
    while (!list_empty(&cond->waiters)) {
        cond_signal(cond);
    }
}

void task_group_init(struct task_group *group)
{
    list_init(&group->tasks);
    cond_init(&group->ended);
}

struct task *task_group_spawn(struct task_group *group, const char *name, task_fn *fn, void *arg)
{
    struct task *task = task_spawn(name, fn, arg);

    task->group = group;
    list_add_tail(&group->tasks, &task->in_group);
    return task;
}

bool task_group_empty(const struct task_group *group)
{
    return list_empty(&group->tasks);
}

void task_group_wait(struct task_group *group)
{
    while (!list_empty(&group->tasks)) {
        cond_park(&group->ended, TASK_FOREVER, false);
    }
}

void task_group_cancel(struct task_group *group)
{
    LINK_EACH(link, &group->tasks)
    {
        task_cancel(CONTAINER_OF(link, struct task, in_group));
    }
    task_group_wait(group);
}

void task_lock_init(struct task_lock *lock)
{
    cond_init(&lock->freed);
    lock->held = false;
}

bool task_lock_acquire(struct task_lock *lock)
{
    while (lock->held) {
        if (!cond_wait(&lock->freed, TASK_FOREVER) && task_is_cancelled()) {
            return false;
        }
    }
    lock->held = true;
    return true;
}

void task_lock_release(struct task_lock *lock)
{
    lock->held = false;
    cond_signal(&lock->freed);
}
