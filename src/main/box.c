#include "main/box.h"

#include "runtime/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NEW_NAMESPACES = 0x7e020000, THREAD = 0x10000 }; /* of clone: CLONE_NEW* of every kind; CLONE_THREAD */

static const char allowed[] =
    /* memory, threads, signals to itself */
    "arch_prctl brk exit exit_group futex futex_wait futex_wake futex_requeue futex_waitv get_robust_list getcpu madvise "
    "membarrier mincore mmap mprotect mremap msync munmap prctl restart_syscall rseq rt_sigaction rt_sigpending "
    "rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_getaffinity sched_yield set_robust_list "
    "set_tid_address sigaltstack sigreturn tgkill "
    /* time, randomness, who we are */
    "clock_getres clock_gettime clock_nanosleep getegid geteuid getgid getgroups getpgrp getpid getppid getrandom "
    "getresgid getresuid getrlimit getrusage getsid gettid gettimeofday getuid nanosleep prlimit64 sysinfo time times "
    "ugetrlimit uname "
    /* events */
    "epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 inotify_add_watch "
    "inotify_init inotify_init1 inotify_rm_watch pipe pipe2 poll ppoll pselect6 select signalfd signalfd4 timerfd_create "
    "timerfd_gettime timerfd_settime "
    /* files, by the rights of the user */
    "access chdir chmod close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64 fallocate "
    "fchdir fchmod fchmodat fcntl fdatasync fgetxattr flock fstat fstatfs fsync ftruncate getcwd getdents getdents64 "
    "ioctl link linkat lseek lstat mkdir mkdirat newfstatat open openat openat2 pread64 preadv preadv2 pwrite64 pwritev "
    "pwritev2 read readahead readlink readlinkat readv rename renameat renameat2 rmdir sendfile stat statfs statx symlink "
    "symlinkat sync_file_range truncate umask unlink unlinkat utimensat write writev "
    /* connections */
    "accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg sendmsg "
    "sendto setsockopt shutdown socketpair";

struct status *box_make(struct arena *arena, struct str *ret_instructions)
{
    static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
    struct seccomp_profile profile = {.default_action = SECCOMP_ERRNO, .default_error = EPERM};
    struct seccomp_rule *absent;

    seccomp_allow(arena, &profile, allowed);
    for (size_t i = 0; i < COUNT_OF(families); i++) {
        seccomp_allow_when(arena, &profile, "socket", (struct seccomp_argument){0, SECCOMP_EQUAL, (uint64_t)families[i], 0});
    }
    seccomp_allow_when(arena, &profile, "clone",
             (struct seccomp_argument){0, SECCOMP_MASKED_EQUAL, NEW_NAMESPACES | THREAD, THREAD});
    /* Its flags lie in memory that a filter can't see: say it isn't there, and the C library uses clone. */
    absent = seccomp_allow(arena, &profile, "clone3");
    absent->action = SECCOMP_ERRNO;
    absent->error = ENOSYS;
    return seccomp_filter_make(&profile, arena, ret_instructions);
}

struct status *box_enter(struct str instructions)
{
    struct sock_fprog program = {
        .len = (unsigned short)(instructions.n / sizeof(struct sock_filter)),
        .filter = (struct sock_filter *)(uintptr_t)instructions.p,
    };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
        return status_errno(errno, "entering the seccomp box");
    }
    return NULL;
}
