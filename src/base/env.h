/* The world as a component sees it: clock, random numbers, timers, readiness of file descriptors, and workers.
 *
 * Each thread that runs components has one current env, its event loop: libuv's in a real process
 * (net/event_loop.h), a virtual one under simulation (sim/). Nothing else in c8s asks for the time, for random
 * numbers, or waits. All calls and callbacks are on the env's own thread unless said otherwise; callbacks never
 * run inside the call that registers them. Times are nanoseconds. */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENV_READABLE = 1, ENV_WRITABLE = 2 };

#define ENV_US INT64_C(1000)
#define ENV_MS INT64_C(1000000)
#define ENV_SECOND INT64_C(1000000000)

struct env;
struct env_timer;
struct env_watch;

typedef void env_fn(void *arg);
/* `events` are those of ENV_READABLE and ENV_WRITABLE that hold now; an error or hang-up shows as readable. */
typedef void env_watch_fn(void *arg, unsigned events);

struct env_ops {
    int64_t (*wall)(struct env *env);
    int64_t (*mono)(struct env *env);
    void (*random)(struct env *env, void *bytes, size_t size);
    struct env_timer *(*timer)(struct env *env, int64_t delay, env_fn *fn, void *arg);
    void (*timer_stop)(struct env *env, struct env_timer *timer);
    void (*post)(struct env *env, env_fn *fn, void *arg);
    void (*post_remote)(struct env *env, env_fn *fn, void *arg);
    void (*offload)(struct env *env, env_fn *work, env_fn *done, void *arg);
    struct env_watch *(*watch)(struct env *env, int fd, unsigned events, env_watch_fn *fn, void *arg);
    void (*watch_events)(struct env *env, struct env_watch *watch, unsigned events);
    void (*watch_stop)(struct env *env, struct env_watch *watch);
};

struct env {
    const struct env_ops *ops;
};

/* The calling thread's env; aborts when it has none. */
struct env *env_current(void);
/* Makes `env` current on this thread and returns the one before (NULL: none). */
struct env *env_enter(struct env *env);

/* Since 1970 in UTC; may jump. */
int64_t env_wall(void);
/* Since some start; never goes back. */
int64_t env_mono(void);
/* Cryptographically good bytes (reproducible ones under simulation). */
void env_random(void *bytes, size_t size);
/* Uniform below `bound`, which is not 0. */
uint64_t env_random_below(uint64_t bound);

/* Calls fn(arg) once after `delay` (below 0 counts as 0). The timer is gone when it has fired. */
struct env_timer *env_timer(int64_t delay, env_fn *fn, void *arg);
/* Stops a timer that has not fired; NULL is fine. */
void env_timer_stop(struct env_timer *timer);

/* Calls fn(arg) soon, after what is already posted. */
void env_post(env_fn *fn, void *arg);
/* The same from any thread, on `env`'s thread. */
void env_post_remote(struct env *env, env_fn *fn, void *arg);
/* Runs work(arg) on a worker thread, then done(arg) here. `work` must own all it touches. */
void env_offload(env_fn *work, env_fn *done, void *arg);

/* Calls fn whenever fd is ready for any of `events`, until stopped (level triggered). Stop before closing fd. */
struct env_watch *env_watch(int fd, unsigned events, env_watch_fn *fn, void *arg);
/* Waits for other events from now on; 0 pauses. */
void env_watch_events(struct env_watch *watch, unsigned events);
/* NULL is fine. No call comes after it. */
void env_watch_stop(struct env_watch *watch);

#endif
