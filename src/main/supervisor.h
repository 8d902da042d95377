/* Starts the components of `c8s server` and `c8s agent` as processes of their own and keeps them running.
 *
 * Each is forked from this process without exec, so the pages of the one binary are shared. One that ends is started
 * again: at once the first time, then after 1 s, doubling up to 30 s, and from the start again once it has run for a
 * minute. The supervisor itself has no event loop and no threads: it sleeps until a signal comes. */
#ifndef MAIN_SUPERVISOR_H
#define MAIN_SUPERVISOR_H

#include "base/str.h"

#include <sys/types.h>

enum { COMPONENT_ARGS_MAX = 64 };

struct component {
    const char *name;
    int (*run)(int argc, char **argv);
    char *argv[COMPONENT_ARGS_MAX]; /* argv[0] is the name; NULL-terminated */
    uid_t uid;                      /* runs as this user and group; 0: as we are */
    gid_t gid;
    struct str box; /* the seccomp filter it runs under (main/box.h); empty: none */
    const char *trace_directory; /* its flight recorder is there (base/trace.h); NULL: none */
    int keep_fd; /* a descriptor the component inherits; -1: none. All other inherited ones but 0-2 are closed. */
};

/* Forks it; its pid, or -1 with errno. The child ends when this process does. */
pid_t component_fork(const struct component *component);

/* When to start a component again that has run for `ran_ns` and ended for the `failures`th time in a row. Pure. */
int64_t supervisor_delay_ns(int64_t ran_ns, int *failures);

/* Runs them until SIGTERM or SIGINT, then ends them in reverse order (SIGTERM, after 10 s SIGKILL). The process's
 * name as `ps` shows it becomes "c8s: NAME". Returns the exit code. */
int supervisor_run(struct component *components, size_t count);

#endif
