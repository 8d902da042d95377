/* The last steps of a new process inside a container, from its own root: who it is, its terminal, its program.
 * Each step ends the process through report_fail() when it can't be done. */
#ifndef RUNTIME_SHIM_BECOME_H
#define RUNTIME_SHIM_BECOME_H

#include "runtime/plan.h"
#include "runtime/shim/users.h"

struct becoming {
    const struct shim_process_plan *plan;
    struct arena *arena;
    int report; /* the socket to the shim */
    int stdio[3];
    struct user_identity who;
};

/* Enters the cgroups; first of all, so that all that follows is charged to them. Not for v2, where the process is born
 * in its cgroup. */
void become_charged(int report, const struct shim_cgroups *cgroups);
/* Needs the host's /proc. A value that the machine does not allow us is left as near as it does. */
void become_killable(int report, int oom_score_adj);
/* Looks up the user in /etc/passwd below `root` and tells the shim. */
void become_known(struct becoming *self, const char *root);
/* Opens a terminal in the root's /dev/pts, makes it the controlling one and all of stdio; its master goes to the shim.
 * The slave, or -1 when the plan has no terminal. */
int become_terminal(struct becoming *self);
/* Takes on the identity and executes the program. */
NO_RETURN void become_program(struct becoming *self);

#endif
