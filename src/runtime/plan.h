/* The numbers in a shim's plans (schema/shim.k): what a shim is asked to do, decided down to the last of them by the
 * runtime; the shim only carries it out. Plans travel in a memfd beside a request (shim/protocol.h). */
#ifndef RUNTIME_PLAN_H
#define RUNTIME_PLAN_H

#include "schema/shim.h"

/* shim_mount.kind */
enum plan_mount_kind {
    PLAN_MOUNT_BIND,   /* a file or directory of the host; the target is made to match */
    PLAN_MOUNT_FS,     /* a new file system of type `source` with `options` */
    PLAN_MOUNT_SHM,    /* the sandbox's shared memory, held by its pause process */
    PLAN_MOUNT_CGROUP, /* the container's view of its cgroups: cgroup2, or a tmpfs with the v1 controllers */
};

/* shim_mount.propagation */
enum plan_propagation { PLAN_PRIVATE, PLAN_SLAVE, PLAN_SHARED };

/* shim_container_plan.pid_namespace */
enum plan_pid_namespace {
    PLAN_PID_OWN,
    PLAN_PID_SANDBOX, /* the pause process is pid 1 */
    PLAN_PID_HOST,
    PLAN_PID_TARGET,  /* that of container `pid_target` */
};

#endif
