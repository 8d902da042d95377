/* RuntimeDefault: what programs need, less what lets them out of a container. The set is that of stock runtimes, so
 * that an image that works there works here. */
#include "runtime/seccomp.h"

#include "runtime/capability.h"

#include <errno.h>

static const char allowed[] =
    "accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown chown32 "
    "clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep "
    "clock_nanosleep_time64 close close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 "
    "epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit "
    "exit_group faccessat faccessat2 fadvise64 fadvise64_64 fallocate fanotify_mark fchdir fchmod fchmodat fchmodat2 "
    "fchown fchown32 fchownat fcntl fcntl64 fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat "
    "fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate ftruncate64 futex futex_requeue futex_time64 futex_wait "
    "futex_waitv futex_wake futimesat getcpu getcwd getdents getdents64 getegid getegid32 geteuid geteuid32 getgid "
    "getgid32 getgroups getgroups32 getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom "
    "getresgid getresgid32 getresuid getresuid32 getrlimit get_robust_list getrusage getsid getsockname getsockopt "
    "get_thread_area gettid gettimeofday getuid getuid32 getxattr getxattrat inotify_add_watch inotify_init "
    "inotify_init1 inotify_rm_watch io_cancel ioctl io_destroy io_getevents io_pgetevents io_pgetevents_time64 "
    "ioprio_get ioprio_set io_setup io_submit ipc kill landlock_add_rule landlock_create_ruleset "
    "landlock_restrict_self lchown lchown32 lgetxattr link linkat listen listmount listxattr listxattrat llistxattr "
    "_llseek lremovexattr lseek lsetxattr lstat lstat64 madvise map_shadow_stack membarrier memfd_create memfd_secret "
    "mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mmap2 mprotect mq_getsetattr mq_notify mq_open "
    "mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink mremap mseal msgctl msgget "
    "msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep newfstatat _newselect open openat "
    "openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll ppoll_time64 "
    "prctl pread64 preadv preadv2 prlimit64 process_mrelease pselect6 pselect6_time64 pwrite64 pwritev pwritev2 read "
    "readahead readlink readlinkat readv recv recvfrom recvmmsg recvmmsg_time64 recvmsg remap_file_pages removexattr "
    "removexattrat rename renameat renameat2 restart_syscall riscv_hwprobe rmdir rseq rt_sigaction rt_sigpending "
    "rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 "
    "rt_tgsigqueueinfo sched_getaffinity sched_getattr sched_getparam sched_get_priority_max sched_get_priority_min "
    "sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr "
    "sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop semtimedop_time64 "
    "send sendfile sendfile64 sendmmsg sendmsg sendto setfsgid setfsgid32 setfsuid setfsuid32 setgid setgid32 "
    "setgroups setgroups32 setitimer setpgid setpriority setregid setregid32 setresgid setresgid32 setresuid "
    "setresuid32 setreuid setreuid32 setrlimit set_robust_list setsid setsockopt set_thread_area set_tid_address "
    "setuid setuid32 setxattr setxattrat shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 sigprocmask "
    "sigreturn socketcall socketpair splice stat stat64 statfs statfs64 statmount statx symlink symlinkat sync "
    "sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime "
    "timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime "
    "timerfd_settime64 times tkill truncate truncate64 ugetrlimit umask uname unlink unlinkat uretprobe utime utimensat "
    "utimensat_time64 utimes vfork vmsplice wait4 waitid waitpid write writev ptrace process_vm_readv "
    "process_vm_writev modify_ldt sync_file_range2 arm_fadvise64_64 arm_sync_file_range breakpoint cacheflush set_tls";

/* What single capabilities add: without them the kernel refuses most uses, and some that it does not are ways out. */
static const struct {
    const char *capability, *calls;
} granted[] = {
    {"DAC_READ_SEARCH", "open_by_handle_at"},
    {"SYS_ADMIN", "bpf clone clone3 fanotify_init fsconfig fsmount fsopen fspick lookup_dcookie mount mount_setattr "
                  "move_mount open_tree perf_event_open quotactl quotactl_fd setdomainname sethostname setns syslog "
                  "umount umount2 unshare"},
    {"SYS_BOOT", "reboot"},
    {"SYS_CHROOT", "chroot"},
    {"SYS_MODULE", "delete_module init_module finit_module"},
    {"SYS_PACCT", "acct"},
    {"SYS_PTRACE", "kcmp pidfd_getfd process_madvise"},
    {"SYS_RAWIO", "iopl ioperm"},
    {"SYS_TIME", "settimeofday stime clock_settime clock_settime64"},
    {"SYS_TTY_CONFIG", "vhangup"},
    {"SYS_NICE", "get_mempolicy mbind set_mempolicy set_mempolicy_home_node"},
    {"SYSLOG", "syslog"},
    {"BPF", "bpf"},
    {"PERFMON", "perf_event_open"},
};

struct seccomp_rule *seccomp_allow(struct arena *arena, struct seccomp_profile *profile, const char *calls)
{
    struct seccomp_rule *rule = LIST_ADD(arena, &profile->rules);
    struct str rest = str_of(calls), name;

    while (str_next(&rest, ' ', &name)) {
        *LIST_ADD(arena, &rule->names) = name;
    }
    return rule;
}

void seccomp_allow_when(struct arena *arena, struct seccomp_profile *profile, const char *call,
                        struct seccomp_argument argument)
{
    struct seccomp_rule *rule = seccomp_allow(arena, profile, call);

    *LIST_ADD(arena, &rule->arguments) = argument;
}

static bool has(uint64_t capabilities, const char *name)
{
    uint64_t bit = 0;

    status_free(capability_parse(str_of(name), &bit));
    return (capabilities & bit) != 0;
}

void seccomp_profile_default(struct arena *arena, uint64_t capabilities, struct seccomp_profile *ret)
{
    static const uint64_t personalities[] = {0, 8, 0x20000, 0x20008, 0xffffffff};
    enum { NEW_NAMESPACES = 0x7e020000 }; /* CLONE_NEW* of every kind */
    struct seccomp_profile *profile = ret;

    *profile = (struct seccomp_profile){.default_action = SECCOMP_ERRNO, .default_error = EPERM};
#if defined(__x86_64__)
    *LIST_ADD(arena, &profile->architectures) = STR("x86");
    *LIST_ADD(arena, &profile->architectures) = STR("x32");
#elif defined(__aarch64__)
    *LIST_ADD(arena, &profile->architectures) = STR("arm");
#endif
    seccomp_allow(arena, profile, allowed);
    for (size_t i = 0; i < COUNT_OF(personalities); i++) {
        seccomp_allow_when(arena, profile, "personality",
                 (struct seccomp_argument){0, SECCOMP_EQUAL, personalities[i], 0});
    }
    /* Sockets to the hypervisor are not behind any network namespace. */
    seccomp_allow_when(arena, profile, "socket", (struct seccomp_argument){0, SECCOMP_NOT_EQUAL, 40 /* AF_VSOCK */, 0});
    for (size_t i = 0; i < COUNT_OF(granted); i++) {
        if (has(capabilities, granted[i].capability)) {
            seccomp_allow(arena, profile, granted[i].calls);
        }
    }
    if (!has(capabilities, "SYS_ADMIN")) {
        struct seccomp_rule *absent;

        seccomp_allow_when(arena, profile, "clone", (struct seccomp_argument){0, SECCOMP_MASKED_EQUAL, NEW_NAMESPACES, 0});
        /* Its flags lie in memory that a filter can't see: say it isn't there, and C libraries use clone. */
        absent = seccomp_allow(arena, profile, "clone3");
        absent->action = SECCOMP_ERRNO;
        absent->error = ENOSYS;
    }
}
