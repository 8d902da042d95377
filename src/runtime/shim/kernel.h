/* The newer system calls, by number: the C library the shim is linked with may not know them, and the kernel's headers
 * collide with it. All return what the kernel returns: -1 and errno on failure. Needs Linux 5.12 (mount_setattr). */
#ifndef RUNTIME_SHIM_KERNEL_H
#define RUNTIME_SHIM_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define KERNEL_CLONE_NEWNS 0x00020000u
#define KERNEL_CLONE_NEWCGROUP 0x02000000u
#define KERNEL_CLONE_NEWUTS 0x04000000u
#define KERNEL_CLONE_NEWIPC 0x08000000u
#define KERNEL_CLONE_NEWUSER 0x10000000u
#define KERNEL_CLONE_NEWPID 0x20000000u
#define KERNEL_CLONE_NEWNET 0x40000000u
#define KERNEL_CLONE_PIDFD 0x00001000u
#define KERNEL_CLONE_CLEAR_SIGHAND UINT64_C(0x100000000)
#define KERNEL_CLONE_INTO_CGROUP UINT64_C(0x200000000)

struct kernel_clone_args {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

#define KERNEL_RESOLVE_NO_MAGICLINKS 0x02u
#define KERNEL_RESOLVE_IN_ROOT 0x10u

struct kernel_open_how {
    uint64_t flags, mode, resolve;
};

#define KERNEL_OPEN_TREE_CLONE 1u
#define KERNEL_OPEN_TREE_CLOEXEC 02000000u
#define KERNEL_AT_RECURSIVE 0x8000u
#define KERNEL_AT_EMPTY_PATH 0x1000u
#define KERNEL_MOVE_MOUNT_F_EMPTY_PATH 0x04u
#define KERNEL_MOVE_MOUNT_T_EMPTY_PATH 0x40u

#define KERNEL_MOUNT_ATTR_RDONLY 0x01u
#define KERNEL_MOUNT_ATTR_NOSUID 0x02u
#define KERNEL_MOUNT_ATTR_NODEV 0x04u
#define KERNEL_MOUNT_ATTR_NOEXEC 0x08u

struct kernel_mount_attr {
    uint64_t attr_set, attr_clr, propagation, userns_fd;
};

static inline long kernel_clone3(struct kernel_clone_args *args)
{
    return syscall(SYS_clone3, args, sizeof(*args));
}

static inline int kernel_pidfd_send_signal(int pidfd, int signal)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

static inline int kernel_openat2(int at, const char *path, struct kernel_open_how *how)
{
    return (int)syscall(SYS_openat2, at, path, how, sizeof(*how));
}

static inline int kernel_open_tree(int at, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, at, path, flags);
}

/* Mounts the detached tree `from` on what `to` refers to. */
static inline int kernel_move_mount(int from, int to)
{
    return (int)syscall(SYS_move_mount, from, "", to, "", KERNEL_MOVE_MOUNT_F_EMPTY_PATH | KERNEL_MOVE_MOUNT_T_EMPTY_PATH);
}

static inline int kernel_mount_setattr(int tree, unsigned flags, struct kernel_mount_attr *attr)
{
    return (int)syscall(SYS_mount_setattr, tree, "", KERNEL_AT_EMPTY_PATH | flags, attr, sizeof(*attr));
}

static inline int kernel_pivot_root(const char *new_root, const char *put_old)
{
    return (int)syscall(SYS_pivot_root, new_root, put_old);
}

#define KERNEL_CLOSE_RANGE_CLOEXEC 4u

static inline int kernel_close_range(unsigned first, unsigned last, unsigned flags)
{
    return (int)syscall(SYS_close_range, first, last, flags);
}

static inline int kernel_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

#endif
