/* Child processes: start one, wait for its end in a task, run one to its end and keep what it printed. */
#ifndef NET_PROCESS_H
#define NET_PROCESS_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>
#include <sys/types.h>

struct process_options {
    const char *const *argv; /* NULL-terminated; argv[0] without a slash is looked for in PATH */
    const char *const *env;  /* NULL-terminated; NULL: the parent's */
    const char *cwd;         /* NULL: the parent's */
    const int *fds;          /* these become 0, 1, 2, ...; -1: /dev/null. The caller keeps them. */
    size_t fd_count;         /* when below 3 the rest of 0 to 2 is /dev/null; everything else is close-on-exec */
    bool sets_user;
    uid_t uid; /* when sets_user, with these groups and no others */
    gid_t gid;
    const gid_t *groups;
    size_t group_count;
    bool new_session; /* setsid() */
    bool takes_tty;   /* with new_session: fd 0 becomes the controlling terminal */
    int death_signal; /* sent to the child when the thread that made it ends; 0: none */
};

struct process;

struct process_end {
    int code;   /* exit code; 128 + signal when killed by one */
    int signal; /* 0: it exited by itself */
};

/* The child has executed the program when this returns; NOT_FOUND when there is none. Does not park. */
MUST_USE struct status *process_start(const struct process_options *options, struct process **ret);
pid_t process_pid(const struct process *process);
/* A pidfd, still the process's. */
int process_pidfd(const struct process *process);
/* Parks until it ends; TIMEOUT at the deadline. Any number of times, from one task at a time. */
MUST_USE struct status *process_wait(struct process *process, int64_t deadline, struct process_end *ret);
/* Does nothing when it has ended. */
void process_signal(struct process *process, int number);
/* A child that still runs goes on and is reaped when it ends, as long as the loop runs. NULL is fine. */
void process_free(struct process *process);

struct process_output {
    struct process_end end;
    struct str out, err; /* in the arena, at most `max` bytes each; more is thrown away */
    bool is_cut;
};

/* Starts it with fds 0 to 2 piped, writes `input`, and parks until it ends. Killed (SIGKILL) at the deadline, which is a
 * TIMEOUT, and when the task is cancelled. options->fds is not used. A program that ends in failure is no error here. */
MUST_USE struct status *process_run(const struct process_options *options, struct str input, size_t max,
                                    int64_t deadline, struct arena *arena, struct process_output *ret);

#endif
