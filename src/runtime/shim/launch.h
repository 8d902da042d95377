/* Makes the processes of a sandbox: pause, containers, and what is executed in them. What a new process has to say
 * comes over a socket of its own (report.h) whose end means that its program runs. */
#ifndef RUNTIME_SHIM_LAUNCH_H
#define RUNTIME_SHIM_LAUNCH_H

#include "runtime/plan.h"

#include <sys/types.h>

struct launched {
    pid_t pid;
    int pidfd;
    int report; /* non-blocking */
};

/* All return false with errno when not even a process could be made. Descriptors given are lent. */
bool launch_pause(const struct shim_sandbox_plan *plan, struct launched *ret);
/* `pause` and `target` (for PLAN_PID_TARGET, else -1) are pidfds. With a terminal stdio is not used. */
bool launch_container(const struct shim_container_plan *plan, int pause, int target, const int stdio[3],
                      struct launched *ret);
/* In the namespaces of `container` (a pidfd). */
bool launch_exec(const struct shim_exec_plan *plan, int container, const int stdio[3], struct launched *ret);

#endif
