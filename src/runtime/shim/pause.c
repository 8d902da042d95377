#include "runtime/shim/pause.h"

#include "runtime/shim/become.h"
#include "base/buf.h"
#include "runtime/shim/kernel.h"
#include "runtime/shim/report.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void set_sysctl(int report, const struct shim_sysctl *sysctl)
{
    OWNED(buf_done) struct buf path = {0};

    buf_printf(&path, "/proc/sys/%.*s", STR_ARG(sysctl->name));
    int fd = open(buf_cstr(&path), O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, sysctl->value.p, sysctl->value.n) < 0) {
        report_fail(report, errno, "sysctl", "setting sysctl %s", sysctl->name.p);
    }
    close(fd);
}

/* Any directory does to mount the new root on; nothing of it is seen outside this mount namespace. */
static void move_to_empty_root(const struct shim_sandbox_plan *plan, int report)
{
    char options[64];

    if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=16k") != 0 ||
        chdir("/proc") != 0 || mkdir("shm", 01777) != 0) {
        report_fail(report, errno, "rootfs", "making the root of the pause process");
    }
    if (plan->shm_bytes > 0) {
        snprintf(options, sizeof(options), "mode=1777,size=%llu", (unsigned long long)plan->shm_bytes);
        if (mount("shm", "shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) != 0) {
            report_fail(report, errno, "rootfs", "making the shared memory");
        }
    }
    if (kernel_pivot_root(".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0 ||
        mount("", "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        report_fail(report, errno, "rootfs", "entering the root of the pause process");
    }
}

static void drop_privileges(int report)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};

    for (unsigned cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
        prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
    }
    if (syscall(SYS_setgroups, 0, NULL) != 0 || syscall(SYS_capset, &head, none) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        report_fail(report, errno, "process", "dropping privileges");
    }
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

NO_RETURN void pause_run(const struct shim_sandbox_plan *plan, int report)
{
    struct report ready = {.kind = REPORT_READY};
    sigset_t signals;

    setsid();
    prctl(PR_SET_NAME, "c8s-pause");
    become_charged(report, &plan->cgroups);
    become_killable(report, plan->oom_score_adj);
    LIST_EACH(sysctl, &plan->sysctls) {
        set_sysctl(report, sysctl);
    }
    if (plan->hostname.n > 0 && sethostname(plan->hostname.p, plan->hostname.n) != 0) {
        report_fail(report, errno, "process", "setting hostname %s", plan->hostname.p);
    }
    move_to_empty_root(plan, report);
    drop_privileges(report);
    sigemptyset(&signals);
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    report_send(report, &ready, -1);
    kernel_close_range(0, ~0u, 0);
    for (;;) {
        /* As PID 1 it inherits the orphans of the pod. */
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        sigwaitinfo(&signals, NULL);
    }
}
