#include "net/event_loop.h"

#include "base/list.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <uv.h>

enum { POSTS_A_TURN = 256 }; /* so that calls posting calls do not keep the loop from its file descriptors */

struct posted {
    env_fn *fn;
    void *arg;
};

struct post_list {
    struct posted *items;
    size_t len, cap;
};

struct uv_env {
    struct env env;
    uv_loop_t loop;
    uv_async_t remote_wake;
    uv_idle_t no_wait; /* active while something was posted during a turn */
    bool is_in_turn;
    uv_mutex_t remote_lock;
    struct post_list remote; /* under remote_lock */
    struct post_list posts;
    size_t post_next;
    struct fd_poll **polls; /* by file descriptor */
    size_t poll_cap;
    struct env_timer *spare_timers;
    bool stopped;
};

struct env_timer {
    uv_timer_t handle;
    struct uv_env *owner;
    env_fn *fn;
    void *arg;
    struct env_timer *next_spare;
};

/* libuv takes one handle for each fd; here any number of watches share it. */
struct fd_poll {
    uv_poll_t handle;
    struct uv_env *owner;
    int fd;
    unsigned events; /* asked of libuv now */
    struct link watches;
    bool never_blocks; /* a regular file or the like, which epoll refuses: always ready */
    bool posted, dead; /* for those */
};

struct env_watch {
    struct link link;
    struct fd_poll *poll;
    unsigned events;
    unsigned pending; /* happened and not yet told */
    env_watch_fn *fn;
    void *arg;
};

static struct uv_env *self(struct env *env)
{
    return CONTAINER_OF(env, struct uv_env, env);
}

static int64_t clock_now(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * ENV_SECOND + now.tv_nsec;
}

static int64_t uv_env_wall(struct env *env)
{
    (void)env;
    return clock_now(CLOCK_REALTIME);
}

static int64_t uv_env_mono(struct env *env)
{
    (void)env;
    return clock_now(CLOCK_MONOTONIC);
}

/* Asks the kernel each time: a buffer would be handed out twice after a fork. */
static void uv_env_random(struct env *env, void *bytes, size_t size)
{
    (void)env;
    for (size_t done = 0; done < size;) {
        ssize_t got = getrandom((char *)bytes + done, size - done, 0);

        if (got < 0 && errno != EINTR) {
            mem_die("the kernel gives no random bytes");
        }
        done += got > 0 ? (size_t)got : 0;
    }
}

/* Timers. Their handles are kept for use again: closing one costs a turn of the loop. */

static void timer_fired(uv_timer_t *handle)
{
    struct env_timer *timer = handle->data;
    env_fn *fn = timer->fn;
    void *arg = timer->arg;

    timer->next_spare = timer->owner->spare_timers;
    timer->owner->spare_timers = timer;
    fn(arg);
}

static struct env_timer *uv_env_timer(struct env *env, int64_t delay, env_fn *fn, void *arg)
{
    struct uv_env *uv = self(env);
    struct env_timer *timer = uv->spare_timers;

    if (timer != NULL) {
        uv->spare_timers = timer->next_spare;
    } else {
        timer = MEM_NEW(struct env_timer);
        uv_timer_init(&uv->loop, &timer->handle);
        timer->handle.data = timer;
        timer->owner = uv;
    }
    timer->fn = fn;
    timer->arg = arg;
    /* libuv counts in milliseconds of the same clock; rounding the instant up never fires early. */
    int64_t now = clock_now(CLOCK_MONOTONIC);
    uint64_t at = (uint64_t)(delay < INT64_MAX - now - ENV_MS ? now + delay + ENV_MS - 1 : INT64_MAX) / ENV_MS;
    uint64_t loop_now = uv_now(&uv->loop);

    uv_timer_start(&timer->handle, timer_fired, at > loop_now ? at - loop_now : 0, 0);
    return timer;
}

static void uv_env_timer_stop(struct env *env, struct env_timer *timer)
{
    uv_timer_stop(&timer->handle);
    timer->next_spare = self(env)->spare_timers;
    self(env)->spare_timers = timer;
}

/* Posts and workers. */

static void idle(uv_idle_t *handle)
{
    (void)handle;
}

static void uv_env_post(struct env *env, env_fn *fn, void *arg)
{
    struct uv_env *uv = self(env);

    *VEC_ADD(&uv->posts) = (struct posted){fn, arg};
    if (uv->is_in_turn) {
        /* libuv runs timers before it polls: what one of them posts must not wait for the next event. */
        uv_idle_start(&uv->no_wait, idle);
    }
}

static void uv_env_post_remote(struct env *env, env_fn *fn, void *arg)
{
    struct uv_env *uv = self(env);

    uv_mutex_lock(&uv->remote_lock);
    *VEC_ADD(&uv->remote) = (struct posted){fn, arg};
    uv_mutex_unlock(&uv->remote_lock);
    uv_async_send(&uv->remote_wake);
}

static void remote_posted(uv_async_t *handle)
{
    struct uv_env *uv = handle->data;

    uv_mutex_lock(&uv->remote_lock);
    struct post_list remote = uv->remote;

    uv->remote = (struct post_list){0};
    uv_mutex_unlock(&uv->remote_lock);
    for (size_t i = 0; i < remote.len; i++) {
        *VEC_ADD(&uv->posts) = remote.items[i];
    }
    free(remote.items);
}

struct work {
    uv_work_t request;
    env_fn *work, *done;
    void *arg;
};

static void work_run(uv_work_t *request)
{
    struct work *work = request->data;

    work->work(work->arg);
}

static void work_done(uv_work_t *request, int status)
{
    struct work *work = request->data;

    (void)status;
    work->done(work->arg);
    free(work);
}

static void uv_env_offload(struct env *env, env_fn *fn, env_fn *done, void *arg)
{
    struct work *work = MEM_NEW(struct work);

    *work = (struct work){.work = fn, .done = done, .arg = arg};
    work->request.data = work;
    uv_queue_work(&self(env)->loop, &work->request, work_run, work_done);
}

/* Watches. */

static void poll_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* Tells each watch what happened to it; any call may stop any watch. */
static void poll_tell(struct fd_poll *poll, unsigned events, bool failed)
{
    LINK_EACH(link, &poll->watches)
    {
        struct env_watch *watch = CONTAINER_OF(link, struct env_watch, link);

        watch->pending = watch->events & events;
        if (failed && watch->events != 0) {
            watch->pending = watch->events;
        }
    }
    for (struct link *link = poll->watches.next; link != &poll->watches;) {
        struct env_watch *watch = CONTAINER_OF(link, struct env_watch, link);

        link = link->next;
        if (watch->pending != 0) {
            unsigned pending = watch->pending;

            watch->pending = 0;
            watch->fn(watch->arg, pending);
            link = poll->watches.next;
        }
    }
}

static void poll_update(struct fd_poll *poll);

static void poll_ready(uv_poll_t *handle, int status, int uv_events)
{
    struct fd_poll *poll = handle->data;
    unsigned events = 0;

    if (status < 0) {
        poll->events = 0; /* libuv stops a handle in error */
    }
    events |= uv_events & UV_READABLE ? ENV_READABLE : 0;
    events |= uv_events & UV_WRITABLE ? ENV_WRITABLE : 0;
    poll_tell(poll, events, status < 0);
    if (!poll->dead) {
        poll_update(poll);
    }
}

static void always_ready(void *arg)
{
    struct fd_poll *poll = arg;

    poll->posted = false;
    if (poll->dead) {
        free(poll);
        return;
    }
    poll->posted = true; /* keeps it alive through the calls */
    poll_tell(poll, ENV_READABLE | ENV_WRITABLE, false);
    poll->posted = false;
    if (poll->dead) {
        free(poll);
        return;
    }
    poll_update(poll);
}

/* Asks libuv for what the watches want together. */
static void poll_update(struct fd_poll *poll)
{
    unsigned events = 0;

    LINK_EACH(link, &poll->watches)
    {
        events |= CONTAINER_OF(link, struct env_watch, link)->events;
    }
    if (poll->never_blocks) {
        if (events != 0 && !poll->posted) {
            poll->posted = true;
            uv_env_post(&poll->owner->env, always_ready, poll);
        }
        return;
    }
    if (events == poll->events) {
        return;
    }
    poll->events = events;
    if (events == 0) {
        uv_poll_stop(&poll->handle);
        return;
    }
    int uv_events = (events & ENV_READABLE ? UV_READABLE : 0) | (events & ENV_WRITABLE ? UV_WRITABLE : 0);

    if (uv_poll_start(&poll->handle, uv_events, poll_ready) != 0) {
        mem_die("cannot watch a file descriptor");
    }
}

static struct fd_poll *poll_new(struct uv_env *uv, int fd)
{
    struct fd_poll *poll = MEM_NEW(struct fd_poll);
    int flags = fcntl(fd, F_GETFL);
    int error = uv_poll_init(&uv->loop, &poll->handle, fd);

    if (flags >= 0 && (flags & O_NONBLOCK) == 0) {
        fcntl(fd, F_SETFL, flags); /* libuv makes it non-blocking; that is not ours to decide for, say, a terminal */
    }
    if (error == UV_EPERM) {
        poll->never_blocks = true;
    } else if (error != 0) {
        mem_die("cannot watch this file descriptor");
    }
    poll->handle.data = poll;
    poll->owner = uv;
    poll->fd = fd;
    list_init(&poll->watches);
    return poll;
}

static struct env_watch *uv_env_watch(struct env *env, int fd, unsigned events, env_watch_fn *fn, void *arg)
{
    struct uv_env *uv = self(env);
    size_t at = (size_t)fd;

    if (fd < 0) {
        mem_die("watching a file descriptor below 0");
    }
    if (at >= uv->poll_cap) {
        size_t cap = MAX(at + 1, uv->poll_cap * 2);

        uv->polls = mem_resize(uv->polls, cap, sizeof(*uv->polls));
        memset(uv->polls + uv->poll_cap, 0, (cap - uv->poll_cap) * sizeof(*uv->polls));
        uv->poll_cap = cap;
    }
    if (uv->polls[at] == NULL) {
        uv->polls[at] = poll_new(uv, fd);
    }
    struct env_watch *watch = MEM_NEW(struct env_watch);

    *watch = (struct env_watch){.poll = uv->polls[at], .events = events, .fn = fn, .arg = arg};
    list_add_tail(&watch->poll->watches, &watch->link);
    poll_update(watch->poll);
    return watch;
}

static void uv_env_watch_events(struct env *env, struct env_watch *watch, unsigned events)
{
    (void)env;
    watch->events = events;
    watch->pending &= events;
    poll_update(watch->poll);
}

static void uv_env_watch_stop(struct env *env, struct env_watch *watch)
{
    struct fd_poll *poll = watch->poll;

    list_remove(&watch->link);
    free(watch);
    if (!list_empty(&poll->watches)) {
        poll_update(poll);
        return;
    }
    self(env)->polls[poll->fd] = NULL;
    poll->dead = true;
    if (!poll->never_blocks) {
        uv_close((uv_handle_t *)&poll->handle, poll_closed);
    } else if (!poll->posted) {
        free(poll);
    }
}

static const struct env_ops uv_ops = {
    .wall = uv_env_wall,
    .mono = uv_env_mono,
    .random = uv_env_random,
    .timer = uv_env_timer,
    .timer_stop = uv_env_timer_stop,
    .post = uv_env_post,
    .post_remote = uv_env_post_remote,
    .offload = uv_env_offload,
    .watch = uv_env_watch,
    .watch_events = uv_env_watch_events,
    .watch_stop = uv_env_watch_stop,
};

struct env *event_loop_new(void)
{
    struct uv_env *uv = MEM_NEW(struct uv_env);

    signal(SIGPIPE, SIG_IGN);
    uv->env.ops = &uv_ops;
    if (uv_loop_init(&uv->loop) != 0 || uv_mutex_init(&uv->remote_lock) != 0 ||
        uv_async_init(&uv->loop, &uv->remote_wake, remote_posted) != 0 ||
        uv_idle_init(&uv->loop, &uv->no_wait) != 0) {
        mem_die("cannot make an event loop");
    }
    uv->remote_wake.data = uv;
    env_enter(&uv->env);
    return &uv->env;
}

static void timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_timer(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (handle->type == UV_TIMER) {
        uv_close(handle, timer_closed);
    }
}

/* Some of what is posted; the rest waits for the next turn. */
static void run_posts(struct uv_env *uv)
{
    for (int i = 0; i < POSTS_A_TURN && uv->post_next < uv->posts.len && !uv->stopped; i++) {
        struct posted posted = uv->posts.items[uv->post_next++];

        posted.fn(posted.arg);
    }
    if (uv->post_next == uv->posts.len) {
        uv->post_next = uv->posts.len = 0;
    } else if (uv->post_next >= POSTS_A_TURN) {
        uv->posts.len -= uv->post_next;
        memmove(uv->posts.items, uv->posts.items + uv->post_next, uv->posts.len * sizeof(*uv->posts.items));
        uv->post_next = 0;
    }
}

static void turn(struct uv_env *uv)
{
    run_posts(uv);
    if (!uv->stopped) {
        uv->is_in_turn = true;
        uv_run(&uv->loop, uv->post_next < uv->posts.len ? UV_RUN_NOWAIT : UV_RUN_ONCE);
        uv->is_in_turn = false;
        uv_idle_stop(&uv->no_wait);
    }
}

static void note_poll(uv_handle_t *handle, void *arg)
{
    *(bool *)arg |= handle->type == UV_POLL && uv_is_active(handle);
}

static bool watches_anything(struct uv_env *uv)
{
    bool found = false;

    uv_walk(&uv->loop, note_poll, &found);
    return found;
}

void event_loop_free(struct env *env)
{
    struct uv_env *uv = self(env);

    uv->stopped = false;
    while (watches_anything(uv)) { /* connections that linger: their timers end them within seconds */
        turn(uv);
    }
    uv_walk(&uv->loop, close_timer, NULL);
    uv_close((uv_handle_t *)&uv->remote_wake, NULL);
    uv_close((uv_handle_t *)&uv->no_wait, NULL);
    uv_run(&uv->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&uv->loop) != 0) {
        mem_die("an event loop was freed with watches left");
    }
    uv_mutex_destroy(&uv->remote_lock);
    env_enter(NULL);
    free(uv->remote.items);
    free(uv->posts.items);
    free(uv->polls);
    free(uv);
}

void event_loop_run(struct env *env)
{
    struct uv_env *uv = self(env);
    struct env *before = env_enter(env);

    uv->stopped = false;
    while (!uv->stopped) {
        turn(uv);
    }
    env_enter(before);
}

void event_loop_stop(struct env *env)
{
    self(env)->stopped = true;
}

struct main_task {
    struct env *env;
    task_fn *fn;
    void *arg;
};

static void main_task_run(void *arg)
{
    struct main_task *main_task = arg;

    main_task->fn(main_task->arg);
    env_post((env_fn *)event_loop_stop, main_task->env); /* after the task has ended */
}

void event_loop_run_task(struct env *env, const char *name, task_fn *fn, void *arg)
{
    struct main_task main_task = {env, fn, arg};
    struct env *before = env_enter(env);

    task_spawn(name, main_task_run, &main_task);
    event_loop_run(env);
    env_enter(before);
}
