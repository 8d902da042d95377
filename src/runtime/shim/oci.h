/* A container made by an OCI runtime (runc, crun) instead of by the shim itself: for pods whose RuntimeClass asks for it.
 *
 * Between the shim and the container stands one process that has mounted the container's root in a mount namespace of its
 * own, has run the OCI runtime's `create` and `start`, and waits for the container to end as it would; then it runs
 * `delete`. Signals, logs and what is executed in the container are the shim's own business: the container must be
 * processes in namespaces of this kernel. */
#ifndef RUNTIME_SHIM_OCI_H
#define RUNTIME_SHIM_OCI_H

#include "base/arena.h"
#include "runtime/plan.h"
#include "runtime/shim/users.h"

/* pidfds; target: whose PID namespace it enters, -1: none. */
struct oci_peers {
    int pause, target;
};

/* Called in the new process, in a mount namespace of its own. */
NO_RETURN void oci_run(const struct shim_container_plan *plan, const struct oci_peers *peers, int report,
                       const int stdio[3]);

struct oci_facts {
    const struct user_identity *who;
    int pause, target; /* processes whose namespaces the container shares */
    int oom_score_adj; /* that may be had */
};

/* config.json of the bundle. BAD_REQUEST when the plan's seccomp profile is broken. Pure. */
MUST_USE struct status *oci_spec(struct arena *arena, const struct shim_container_plan *plan,
                                 const struct oci_facts *facts, struct str *ret);

#endif
