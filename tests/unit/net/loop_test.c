#include "net_test.h"

#include "net/signals.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void sleeps(void *arg)
{
    int64_t start = env_mono();

    (void)arg;
    for (int64_t ms = 0; ms < 12; ms += 3) {
        int64_t before = env_mono();

        CHECK(!task_park(before + ms * ENV_MS));
        CHECK(env_mono() - before >= ms * ENV_MS); /* never early */
    }
    CHECK(env_mono() - start < 5 * ENV_SECOND);
    CHECK(env_wall() > INT64_C(1700000000) * ENV_SECOND);
}

TEST("net/event_loop/timers are never early")
{
    run_on_loop(sleeps, NULL);
}

static void wake_after_sleep(void *arg)
{
    CHECK(task_sleep(ENV_MS));
    task_wake(arg);
}

static void is_busy(void *arg)
{
    (void)arg;
    task_spawn("sleeper", wake_after_sleep, task_current());
    task_yield();
    for (int64_t until = env_mono() + 5 * ENV_MS; env_mono() < until;) {
    }
    CHECK(task_park(TASK_FOREVER)); /* the timer is due before the loop gets to wait, and nothing else will happen */
}

TEST("net/event_loop/what a timer wakes that is late already runs at once")
{
    run_on_loop(is_busy, NULL);
}

static void work(void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

static void remote_call(void *arg)
{
    *(bool *)arg = true;
}

struct remote {
    struct env *env;
    bool called;
};

static void *other_thread(void *arg)
{
    struct remote *remote = arg;

    env_post_remote(remote->env, remote_call, &remote->called);
    return NULL;
}

static void offloads(void *arg)
{
    pthread_t worker = pthread_self(), thread;
    struct remote remote = {env_current(), false};

    (void)arg;
    task_offload(work, &worker);
    CHECK(!pthread_equal(worker, pthread_self()));
    pthread_create(&thread, NULL, other_thread, &remote);
    while (!remote.called) {
        task_sleep(ENV_MS);
    }
    pthread_join(thread, NULL);
}

TEST("net/event_loop/workers and other threads reach the loop")
{
    run_on_loop(offloads, NULL);
}

static void reads_one(void *arg)
{
    int *fds = arg;
    char byte;

    CHECK_OK(task_wait_fd(fds[0], ENV_READABLE, TASK_FOREVER));
    CHECK_INT(read(fds[0], &byte, 1), 1);
}

static void watches_twice(void *arg)
{
    int fds[2];
    char block[65536] = {0};
    struct task_group group;

    (void)arg;
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    while (write(fds[0], block, sizeof(block)) > 0) {
    }
    task_group_init(&group);
    task_group_spawn(&group, "reader", reads_one, fds);
    CHECK_ERROR(task_wait_fd(fds[0], ENV_WRITABLE, env_mono() + 10 * ENV_MS), "timed out");
    while (read(fds[1], block, sizeof(block)) > 0) {
    }
    CHECK_OK(task_wait_fd(fds[0], ENV_WRITABLE, TASK_FOREVER));
    CHECK(!task_group_empty(&group));
    CHECK_INT(write(fds[1], "x", 1), 1);
    task_group_wait(&group);
    close(fds[1]);
    CHECK_OK(task_wait_fd(fds[0], ENV_READABLE, TASK_FOREVER)); /* a hang-up reads */
    close(fds[0]);
}

TEST("net/event_loop/one descriptor is watched for reading and for writing by two tasks")
{
    run_on_loop(watches_twice, NULL);
}

static void watches_file(void *arg)
{
    int fd = open("/proc/self/exe", O_RDONLY);

    (void)arg;
    CHECK_OK(task_wait_fd(fd, ENV_READABLE, TASK_FOREVER));
    CHECK_OK(task_wait_fd(fd, ENV_READABLE, TASK_FOREVER));
    CHECK_INT(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    close(fd);
}

TEST("net/event_loop/a regular file is always ready and stays blocking")
{
    run_on_loop(watches_file, NULL);
}

static void idles(void *arg)
{
    struct rusage before, after;
    int fds[2];

    (void)arg;
    CHECK_INT(pipe(fds), 0);
    task_sleep(20 * ENV_MS);
    getrusage(RUSAGE_SELF, &before);
    CHECK_ERROR(task_wait_fd(fds[0], ENV_READABLE, env_mono() + 300 * ENV_MS), "timed out");
    getrusage(RUSAGE_SELF, &after);
    /* Each wake-up is a voluntary switch; one for the deadline, and a few of the sanitizer's thread. */
    CHECK(after.ru_nvcsw - before.ru_nvcsw <= 6);
    close(fds[0]);
    close(fds[1]);
}

TEST("net/event_loop/an idle loop does not wake up")
{
    run_on_loop(idles, NULL);
}

static void gets_signals(void *arg)
{
    const int numbers[] = {SIGTERM, SIGHUP, 0};
    struct signals *signals;
    int number;

    (void)arg;
    CHECK_OK(signals_open(numbers, &signals));
    CHECK_ERROR(signals_wait(signals, env_mono() + ENV_MS, &number), "timed out");
    kill(getpid(), SIGHUP);
    CHECK_OK(signals_wait(signals, TASK_FOREVER, &number));
    CHECK_INT(number, SIGHUP);
    kill(getpid(), SIGTERM);
    CHECK_OK(signals_wait(signals, TASK_FOREVER, &number));
    CHECK_INT(number, SIGTERM);
    signals_close(signals);
}

TEST("net/signals/a task waits for signals")
{
    run_on_loop(gets_signals, NULL);
}
