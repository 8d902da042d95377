/* The pause process: it holds the namespaces that a pod's containers share, and does nothing else. */
#ifndef RUNTIME_SHIM_PAUSE_H
#define RUNTIME_SHIM_PAUSE_H

#include "base/attr.h"
#include "runtime/plan.h"

/* Called in the new process, inside its new namespaces (always a mount namespace too). Reports READY, and stays until it
 * is killed. Its root is an empty tmpfs with shm, as containers that share its PID namespace can look into it. */
NO_RETURN void pause_run(const struct shim_sandbox_plan *plan, int report);

#endif
