#include "main/supervisor.h"

#include "base/env.h"
#include "base/log.h"
#include "base/trace.h"
#include "main/box.h"

#include <errno.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DELAY_FIRST ENV_SECOND
#define DELAY_MAX (30 * ENV_SECOND)
#define WELL_AFTER (60 * ENV_SECOND)
#define STOP_AFTER (10 * ENV_SECOND)

struct child {
    pid_t pid; /* 0: not running */
    int64_t started;
    int64_t start_at;
    int failures;
};

/* The supervisor has no env: it only waits for signals, and must not own an event loop that its children inherit. */
static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * ENV_SECOND + now.tv_nsec;
}

int64_t supervisor_delay_ns(int64_t ran_ns, int *failures)
{
    if (ran_ns >= WELL_AFTER) {
        *failures = 0;
    }
    int before = (*failures)++;

    if (before == 0) {
        return 0;
    }
    int64_t delay = before > 5 ? DELAY_MAX : DELAY_FIRST << (before - 1);

    return delay < DELAY_MAX ? delay : DELAY_MAX;
}

static void close_others(int keep_fd)
{
    if (keep_fd < 0) {
        close_range(3, ~0U, 0);
        return;
    }
    if (keep_fd > 3) {
        close_range(3, (unsigned)keep_fd - 1, 0);
    }
    close_range((unsigned)keep_fd + 1, ~0U, 0);
}

static void trace_open_for(const struct component *component)
{
    struct status *status =
        component->trace_directory != NULL ? trace_open(component->trace_directory, component->name) : NULL;

    if (status != NULL) {
        log_warn("%s is not traced: %.*s", component->name, STR_ARG(status->message));
        status_free(status);
    }
}

static void enter_box(const struct component *component)
{
    struct status *status = box_enter(component->box);

    if (status != NULL) {
        log_error("%s: %.*s", component->name, STR_ARG(status->message));
        _exit(1);
    }
}

static void component_exec(const struct component *component)
{
    char name[16];
    sigset_t none;
    int argc = 0;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    snprintf(name, sizeof(name), "c8s:%s", component->name);
    prctl(PR_SET_NAME, name);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_others(component->keep_fd);
    trace_open_for(component); /* as root: the file is not the component's to replace */
    if (component->uid != 0 && (setgroups(0, NULL) != 0 || setresgid(component->gid, component->gid, component->gid) ||
                                setresuid(component->uid, component->uid, component->uid) != 0)) {
        log_error("%s: cannot become user %u: %s", component->name, component->uid, strerror(errno));
        _exit(1);
    }
    if (component->box.n > 0) {
        enter_box(component);
    }
    log_component(component->name);
    while (component->argv[argc] != NULL) {
        argc++;
    }
    exit(component->run(argc, (char **)(uintptr_t)component->argv));
}

pid_t component_fork(const struct component *component)
{
    fflush(NULL); /* lest the child prints again what waits here */
    pid_t pid = fork();

    if (pid == 0) {
        component_exec(component);
    }
    return pid;
}

static void child_start(const struct component *component, struct child *child)
{
    pid_t pid = component_fork(component);

    child->started = now_ns();
    if (pid < 0) {
        log_error("cannot start %s: %s", component->name, strerror(errno));
        child->start_at = child->started + supervisor_delay_ns(0, &child->failures);
        return;
    }
    child->pid = pid;
}

static void child_ended(const struct component *component, struct child *child, int status)
{
    int64_t ran = now_ns() - child->started;
    int64_t delay = supervisor_delay_ns(ran, &child->failures);

    child->pid = 0;
    child->start_at = now_ns() + delay;
    if (WIFSIGNALED(status)) {
        log_warn("%s was killed by signal %d, starting it again in %lld ms", component->name, WTERMSIG(status),
                 (long long)(delay / ENV_MS));
    } else {
        log_warn("%s ended with code %d, starting it again in %lld ms", component->name, WEXITSTATUS(status),
                 (long long)(delay / ENV_MS));
    }
}

/* Collects every child that has ended, also orphans of other components. */
static void reap(const struct component *components, struct child *children, size_t count)
{
    int status;

    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (size_t i = 0; i < count; i++) {
            if (children[i].pid == pid) {
                child_ended(&components[i], &children[i], status);
            }
        }
    }
}

/* Starts what is due; returns when the next one is. */
static int64_t start_due(const struct component *components, struct child *children, size_t count)
{
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < count; i++) {
        if (children[i].pid == 0 && children[i].start_at <= now_ns()) {
            child_start(&components[i], &children[i]);
        }
        if (children[i].pid == 0 && children[i].start_at < next) {
            next = children[i].start_at;
        }
    }
    return next;
}

static int wait_signal(const sigset_t *set, int64_t until)
{
    if (until == INT64_MAX) {
        return sigwaitinfo(set, NULL);
    }
    int64_t left = until - now_ns();

    left = left > 0 ? left : 0;
    struct timespec timeout = {left / ENV_SECOND, left % ENV_SECOND};

    return sigtimedwait(set, NULL, &timeout);
}

static void stop_all(const struct component *components, struct child *children, size_t count, const sigset_t *set)
{
    for (size_t i = count; i-- > 0;) {
        if (children[i].pid == 0) {
            continue;
        }
        int64_t deadline = now_ns() + STOP_AFTER;

        kill(children[i].pid, SIGTERM);
        while (waitpid(children[i].pid, NULL, WNOHANG) == 0) {
            if (now_ns() >= deadline) {
                log_warn("%s does not end, killing it", components[i].name);
                kill(children[i].pid, SIGKILL);
                waitpid(children[i].pid, NULL, 0);
                break;
            }
            wait_signal(set, now_ns() + 100 * ENV_MS < deadline ? now_ns() + 100 * ENV_MS : deadline);
        }
        children[i].pid = 0;
    }
}

int supervisor_run(struct component *components, size_t count)
{
    sigset_t set;
    struct child *children = calloc(count ? count : 1, sizeof(*children));

    if (children == NULL) {
        return 1;
    }
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (;;) {
        int64_t next = start_due(components, children, count);
        int signal = wait_signal(&set, next);

        if (signal == SIGTERM || signal == SIGINT) {
            break;
        }
        reap(components, children, count);
    }
    stop_all(components, children, count, &set);
    free(children);
    return 0;
}
