#include "base/virtual_env.h"

#include "base/attr.h"
#include "base/mem.h"

#include <stdlib.h>

/* 2026-01-01T00:00:00Z, so that runs are alike whenever they run. */
#define WALL_START (INT64_C(1767225600) * ENV_SECOND)

struct env_timer {
    int64_t at;
    uint64_t order; /* timers of one instant fire in the order they were set */
    env_fn *fn;
    void *arg;
    size_t place; /* in the heap */
};

struct posted {
    env_fn *fn;
    void *arg;
};

struct virtual_env {
    struct env env;
    int64_t now;
    uint64_t random;
    uint64_t order;
    VEC(struct env_timer *) heap;
    VEC(struct posted) posts;
    size_t post_next;
};

static struct virtual_env *self(struct env *env)
{
    return CONTAINER_OF(env, struct virtual_env, env);
}

static int64_t virtual_wall(struct env *env)
{
    return WALL_START + self(env)->now;
}

static int64_t virtual_mono(struct env *env)
{
    return self(env)->now;
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static void virtual_random(struct env *env, void *bytes, size_t size)
{
    unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++) {
        at[i] = (unsigned char)(splitmix(&self(env)->random) >> 56);
    }
}

static bool earlier(const struct env_timer *a, const struct env_timer *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void heap_put(struct virtual_env *v, size_t place, struct env_timer *timer)
{
    v->heap.items[place] = timer;
    timer->place = place;
}

/* Moves `timer` up, then down, from `place` to where it belongs. */
static void heap_settle(struct virtual_env *v, size_t place, struct env_timer *timer)
{
    while (place > 0 && earlier(timer, v->heap.items[(place - 1) / 2])) {
        heap_put(v, place, v->heap.items[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        size_t child = place * 2 + 1;

        if (child + 1 < v->heap.len && earlier(v->heap.items[child + 1], v->heap.items[child])) {
            child++;
        }
        if (child >= v->heap.len || !earlier(v->heap.items[child], timer)) {
            break;
        }
        heap_put(v, place, v->heap.items[child]);
        place = child;
    }
    heap_put(v, place, timer);
}

static struct env_timer *virtual_timer(struct env *env, int64_t delay, env_fn *fn, void *arg)
{
    struct virtual_env *v = self(env);
    struct env_timer *timer = MEM_NEW(struct env_timer);

    *timer = (struct env_timer){.at = v->now + delay, .order = v->order++, .fn = fn, .arg = arg};
    *VEC_ADD(&v->heap) = timer;
    heap_settle(v, v->heap.len - 1, timer);
    return timer;
}

static void heap_take(struct virtual_env *v, struct env_timer *timer)
{
    struct env_timer *last = v->heap.items[--v->heap.len];

    if (last != timer) {
        heap_settle(v, timer->place, last);
    }
}

static void virtual_timer_stop(struct env *env, struct env_timer *timer)
{
    heap_take(self(env), timer);
    free(timer);
}

static void virtual_post(struct env *env, env_fn *fn, void *arg)
{
    *VEC_ADD(&self(env)->posts) = (struct posted){fn, arg};
}

static void virtual_offload(struct env *env, env_fn *work, env_fn *done, void *arg)
{
    work(arg);
    virtual_post(env, done, arg);
}

static struct env_watch *virtual_watch(struct env *env, int fd, unsigned events, env_watch_fn *fn, void *arg)
{
    (void)env, (void)fd, (void)events, (void)fn, (void)arg;
    mem_die("file descriptors cannot be watched on a virtual clock");
}

static void virtual_watch_events(struct env *env, struct env_watch *watch, unsigned events)
{
    (void)env, (void)watch, (void)events;
}

static void virtual_watch_stop(struct env *env, struct env_watch *watch)
{
    (void)env, (void)watch;
}

static const struct env_ops virtual_ops = {
    .wall = virtual_wall,
    .mono = virtual_mono,
    .random = virtual_random,
    .timer = virtual_timer,
    .timer_stop = virtual_timer_stop,
    .post = virtual_post,
    .post_remote = virtual_post,
    .offload = virtual_offload,
    .watch = virtual_watch,
    .watch_events = virtual_watch_events,
    .watch_stop = virtual_watch_stop,
};

struct env *virtual_env_new(uint64_t seed)
{
    struct virtual_env *v = MEM_NEW(struct virtual_env);

    v->env.ops = &virtual_ops;
    v->random = seed;
    return &v->env;
}

void virtual_env_free(struct env *env)
{
    struct virtual_env *v = self(env);

    for (size_t i = 0; i < v->heap.len; i++) {
        free(v->heap.items[i]);
    }
    free(v->heap.items);
    free(v->posts.items);
    free(v);
}

/* One posted call, or the next timer when that is due by `until`. False when there is neither. */
static bool step(struct virtual_env *v, int64_t until)
{
    if (v->post_next < v->posts.len) {
        struct posted posted = v->posts.items[v->post_next++];

        if (v->post_next == v->posts.len) {
            v->post_next = v->posts.len = 0;
        }
        posted.fn(posted.arg);
        return true;
    }
    if (v->heap.len == 0 || v->heap.items[0]->at > until) {
        return false;
    }
    struct env_timer *timer = v->heap.items[0];

    v->now = MAX(v->now, timer->at);
    heap_take(v, timer);
    timer->fn(timer->arg);
    free(timer);
    return true;
}

void virtual_env_run(struct env *env)
{
    while (step(self(env), INT64_MAX)) {
    }
}

bool virtual_env_run_until(struct env *env, int64_t until)
{
    struct virtual_env *v = self(env);

    while (step(v, until)) {
    }
    v->now = MAX(v->now, until);
    return v->heap.len > 0;
}
