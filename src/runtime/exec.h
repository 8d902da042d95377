/* A command that runs in a container, from its start to its end: for ExecSync and the streamed kind. Calls park. */
#ifndef RUNTIME_EXEC_H
#define RUNTIME_EXEC_H

#include "runtime/state.h"

/* On the caller's stack; zero and exec_init() before use, exec_done() after. */
struct exec {
    struct container *container; /* counted */
    struct arena *arena;         /* the caller's */
    struct exec_wait wait;
    struct cond changed;
};

/* NOT_FOUND, or INVALID when the container does not run. */
MUST_USE struct status *exec_init(struct exec *exec, struct runtime *runtime, struct str container_id,
                                  struct arena *arena);
/* Starts it with these three descriptors, which are lent, as its streams; with a terminal (`ret_master` not NULL) they
 * are not used, and *ret_master is the caller's. Returns once the program runs. */
MUST_USE struct status *exec_start(struct exec *exec, const struct str_list *command, const int stdio[3],
                                   int *ret_master);
/* Parks until it has ended. False at the deadline, or when the task was cancelled. */
bool exec_wait_end(struct exec *exec, int64_t deadline);
/* SIGKILL to the command (not to what it started). */
void exec_kill(struct exec *exec);
void exec_done(struct exec *exec);

#endif
