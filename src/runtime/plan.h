/* What a shim is asked to do, decided down to the last number by the runtime: the shim only carries it out.
 *
 * Plans travel as wire.h bytes in a memfd beside a request (shim/protocol.h). Paths are absolute and of the host unless
 * said otherwise. */
#ifndef RUNTIME_PLAN_H
#define RUNTIME_PLAN_H

#include "runtime/wire.h"

enum plan_mount_kind {
    PLAN_MOUNT_BIND, /* a file or directory of the host; the target is made to match */
    PLAN_MOUNT_FS,   /* a new file system of type `source` with `options` */
    PLAN_MOUNT_SHM,  /* the sandbox's shared memory, held by its pause process */
    PLAN_MOUNT_CGROUP, /* the container's view of its cgroups: cgroup2, or a tmpfs with the v1 controllers */
};

enum plan_propagation { PLAN_PRIVATE, PLAN_SLAVE, PLAN_SHARED };

struct plan_mount {
    uint64_t kind;
    struct str source;
    struct str target; /* in the container */
    struct str options; /* of a new file system */
    uint64_t flags;     /* MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_RDONLY, MS_STRICTATIME */
    uint64_t propagation;
    uint64_t is_recursive_read_only; /* with MS_RDONLY: what is mounted below as well */
};

struct plan_device {
    struct str path; /* in the container */
    uint64_t mode;   /* with S_IFCHR or S_IFBLK */
    uint64_t major, minor;
    uint64_t uid, gid;
};

struct plan_rlimit {
    uint64_t resource, soft, hard;
};

struct plan_id_map {
    uint64_t inside, outside, count;
};

/* name and value of a file under /proc/sys, "net/ipv4/ip_forward" */
struct plan_sysctl {
    struct str name, value;
};

/* Where a process is charged. On a v1 machine one directory a hierarchy. */
struct plan_cgroup {
    struct str directory;  /* "/sys/fs/cgroup/memory/kubepods/..." */
    struct str controller; /* "memory", or "" for v2 */
};

struct plan_cgroups {
    struct plan_cgroup *items;
    size_t len;
};

/* The pause process: it holds the namespaces that the containers of a pod share. */
struct sandbox_plan {
    struct str hostname;       /* empty: leave */
    uint64_t namespaces;       /* CLONE_NEW* to make: NEWNET, NEWIPC, NEWUTS, NEWPID, NEWUSER; the others are the host's */
    struct { struct plan_sysctl *items; size_t len; } sysctls;
    struct plan_cgroups cgroups;
    uint64_t shm_bytes;        /* 0: no shared memory of its own (host IPC) */
    uint64_t oom_score_adj;    /* an int in two's complement */
    struct { struct plan_id_map *items; size_t len; } uid_maps, gid_maps;
};

enum plan_pid_namespace {
    PLAN_PID_OWN,
    PLAN_PID_SANDBOX, /* the pause process is pid 1 */
    PLAN_PID_HOST,
    PLAN_PID_TARGET,  /* that of container `pid_target` */
};

/* A process, in a new container or in one that runs. */
struct process_plan {
    struct wire_texts args, env;
    struct str cwd; /* made when it is missing */
    /* Who: a name or number from the image ("nginx:www-data", "1000"), or numbers that override it. */
    struct str user;
    uint64_t has_uid, uid, has_gid, gid;
    struct wire_u64s groups;      /* supplementary, beside those that /etc/group of the image gives the user */
    uint64_t is_strict_groups;    /* leave out those of /etc/group */
    uint64_t caps_bounding, caps_effective, caps_inheritable, caps_permitted, caps_ambient;
    uint64_t is_no_new_privileges;
    struct str seccomp;           /* the filter's instructions, struct sock_filter[]; empty: none */
    uint64_t seccomp_flags;
    struct str apparmor;          /* profile; empty: none */
    uint64_t oom_score_adj;
    struct { struct plan_rlimit *items; size_t len; } rlimits;
    uint64_t is_tty;
    uint64_t rows, columns;       /* of the terminal; 0: leave */
};

struct process_plans {
    struct process_plan *items;
    size_t len; /* 1 */
};

struct container_plan {
    struct process_plans process;
    struct plan_cgroups cgroups;
    uint64_t shares_network, shares_ipc, shares_uts; /* with the sandbox, else the host's */
    uint64_t pid_namespace;
    struct str pid_target;
    uint64_t is_cgroup_private; /* a cgroup namespace of its own */
    struct str rootfs;          /* an empty directory to mount on, or the root itself when there are no layers */
    struct wire_texts layers;   /* overlay lowerdirs, topmost first; relative to `layers_directory` or absolute */
    struct str layers_directory, upper, work;
    uint64_t is_root_read_only;
    struct { struct plan_mount *items; size_t len; } mounts; /* in this order */
    struct { struct plan_device *items; size_t len; } devices;
    struct wire_texts masked_paths, read_only_paths;
    struct str log_path;        /* empty: output is dropped */
    uint64_t has_stdin, is_stdin_once;
    struct str exit_path;       /* where the shim records how it ended */
    /* An OCI runtime's command lines instead of all above but log, stdin, exit path and cgroups: its container is made
     * by running `oci_create` (which writes `oci_pid_path`) and started by `oci_start`. */
    struct wire_texts oci_create, oci_start;
    struct str oci_pid_path;
};

struct exec_plan {
    struct process_plans process;
    struct plan_cgroups cgroups;
};

extern const struct wire_type sandbox_plan_type;
extern const struct wire_type container_plan_type;
extern const struct wire_type exec_plan_type;

#endif
