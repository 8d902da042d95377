#include "base/env.h"

#include "base/mem.h"

static _Thread_local struct env *current;

struct env *env_current(void)
{
    if (current == NULL) {
        mem_die("this thread has no env");
    }
    return current;
}

struct env *env_enter(struct env *env)
{
    struct env *before = current;

    current = env;
    return before;
}

int64_t env_wall(void)
{
    return env_current()->ops->wall(current);
}

int64_t env_mono(void)
{
    return env_current()->ops->mono(current);
}

void env_random(void *bytes, size_t size)
{
    env_current()->ops->random(current, bytes, size);
}

uint64_t env_random_below(uint64_t bound)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound; /* the largest multiple, so that no value is favoured */
    uint64_t value;

    do {
        env_random(&value, sizeof(value));
    } while (value >= limit);
    return value % bound;
}

struct env_timer *env_timer(int64_t delay, env_fn *fn, void *arg)
{
    return env_current()->ops->timer(current, delay > 0 ? delay : 0, fn, arg);
}

void env_timer_stop(struct env_timer *timer)
{
    if (timer != NULL) {
        env_current()->ops->timer_stop(current, timer);
    }
}

void env_post(env_fn *fn, void *arg)
{
    env_current()->ops->post(current, fn, arg);
}

void env_post_remote(struct env *env, env_fn *fn, void *arg)
{
    env->ops->post_remote(env, fn, arg);
}

void env_offload(env_fn *work, env_fn *done, void *arg)
{
    env_current()->ops->offload(current, work, done, arg);
}

struct env_watch *env_watch(int fd, unsigned events, env_watch_fn *fn, void *arg)
{
    return env_current()->ops->watch(current, fd, events, fn, arg);
}

void env_watch_events(struct env_watch *watch, unsigned events)
{
    env_current()->ops->watch_events(current, watch, events);
}

void env_watch_stop(struct env_watch *watch)
{
    if (watch != NULL) {
        env_current()->ops->watch_stop(current, watch);
    }
}
