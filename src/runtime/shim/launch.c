#include "runtime/shim/launch.h"

#include "runtime/shim/become.h"
#include "runtime/shim/kernel.h"
#include "runtime/shim/oci.h"
#include "runtime/shim/pause.h"
#include "runtime/shim/report.h"
#include "runtime/shim/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Forks with `flags`, into the v2 cgroup when there is one. 0 in the child. */
static pid_t make(uint64_t flags, const struct shim_cgroups *cgroups, struct launched *ret)
{
    struct kernel_clone_args args = {.flags = flags | KERNEL_CLONE_PIDFD, .exit_signal = SIGCHLD};
    int pidfd = -1, pair[2], cgroup = -1;

    args.pidfd = (uintptr_t)&pidfd;
    if (cgroups->entries.len > 0 && cgroups->entries.items[0].controller.n == 0) {
        cgroup = open(cgroups->entries.items[0].directory.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (cgroup < 0) {
            return -1;
        }
        args.flags |= KERNEL_CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)cgroup;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        close(cgroup);
        return -1;
    }
    pid_t pid = (pid_t)kernel_clone3(&args);
    int error = errno;

    if (cgroup >= 0) {
        close(cgroup);
    }
    if (pid == 0) {
        close(pair[0]);
        ret->report = pair[1];
        return 0;
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        errno = error;
        return -1;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *ret = (struct launched){.pid = pid, .pidfd = pidfd, .report = pair[0]};
    return pid;
}

/* The same with the child in the PID namespace of `pidfd`: one goes there only by being born there. */
static pid_t make_beside(int pidfd, uint64_t flags, const struct shim_cgroups *cgroups, struct launched *ret)
{
    int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

    if (own < 0 || setns(pidfd, KERNEL_CLONE_NEWPID) != 0) {
        int error = errno;

        close(own);
        errno = error;
        return -1;
    }
    pid_t pid = make(flags, cgroups, ret);
    int error = errno;

    if (pid != 0) {
        if (setns(own, KERNEL_CLONE_NEWPID) != 0) {
            _exit(1); /* every later process would go astray */
        }
        errno = error;
    }
    close(own);
    return pid;
}

static NO_RETURN void run_container(const struct shim_container_plan *plan, int report, int pause, const int stdio[3])
{
    struct becoming self = {.plan = (&plan->process), .arena = arena_new(), .report = report,
                            .stdio = {stdio[0], stdio[1], stdio[2]}};
    struct rootfs rootfs = {.plan = plan, .report = report};
    unsigned joined = (plan->shares_network ? KERNEL_CLONE_NEWNET : 0) | (plan->shares_ipc ? KERNEL_CLONE_NEWIPC : 0) |
                      (plan->shares_uts ? KERNEL_CLONE_NEWUTS : 0);

    setsid();
    become_charged(report, &plan->cgroups);
    become_killable(report, self.plan->oom_score_adj);
    if (plan->is_cgroup_private && unshare(KERNEL_CLONE_NEWCGROUP) != 0) {
        report_fail(report, errno, "namespaces", "making a cgroup namespace");
    }
    if (joined != 0 && setns(pause, (int)joined) != 0) {
        report_fail(report, errno, "namespaces", "joining the sandbox's namespaces");
    }
    rootfs_gather(&rootfs, pause);
    rootfs_enter(&rootfs);
    rootfs_populate(&rootfs);
    become_known(&self, "/");
    int terminal = become_terminal(&self);

    if (self.plan->cwd.n > 0 && !rootfs_make_directory(self.plan->cwd.p) && errno != EROFS) {
        report_fail(report, errno, "rootfs", "working directory %s", self.plan->cwd.p);
    }
    rootfs_seal(&rootfs, terminal);
    become_program(&self);
}

static NO_RETURN void run_exec(const struct shim_exec_plan *plan, int report, int container, const int stdio[3])
{
    struct becoming self = {.plan = (&plan->process), .arena = arena_new(), .report = report,
                            .stdio = {stdio[0], stdio[1], stdio[2]}};
    unsigned joined = KERNEL_CLONE_NEWNS | KERNEL_CLONE_NEWNET | KERNEL_CLONE_NEWIPC | KERNEL_CLONE_NEWUTS |
                      KERNEL_CLONE_NEWCGROUP;

    setsid();
    become_charged(report, &plan->cgroups);
    become_killable(report, self.plan->oom_score_adj);
    if (setns(container, (int)joined) != 0) {
        report_fail(report, errno, "namespaces", "joining the container's namespaces");
    }
    become_known(&self, "/");
    become_terminal(&self);
    become_program(&self);
}

bool launch_pause(const struct shim_sandbox_plan *plan, struct launched *ret)
{
    pid_t pid = make(plan->namespaces | KERNEL_CLONE_NEWNS, &plan->cgroups, ret);

    if (pid == 0) {
        pause_run(plan, ret->report);
    }
    return pid > 0;
}

bool launch_container(const struct shim_container_plan *plan, int pause, int target, const int stdio[3],
                      struct launched *ret)
{
    pid_t pid = -1;

    if (plan->oci_runtime.n > 0) {
        pid = make(KERNEL_CLONE_NEWNS, &(struct shim_cgroups){0}, ret); /* the OCI runtime enters the cgroups */
        if (pid == 0) {
            oci_run(plan, &(struct oci_peers){pause, target}, ret->report, stdio);
        }
        return pid > 0;
    }
    switch ((enum plan_pid_namespace)plan->pid_namespace) {
    case PLAN_PID_OWN:
        pid = make(KERNEL_CLONE_NEWPID, &plan->cgroups, ret);
        break;
    case PLAN_PID_SANDBOX:
        pid = make_beside(pause, 0, &plan->cgroups, ret);
        break;
    case PLAN_PID_TARGET:
        pid = make_beside(target, 0, &plan->cgroups, ret);
        break;
    case PLAN_PID_HOST:
        pid = make(0, &plan->cgroups, ret);
        break;
    }
    if (pid == 0) {
        run_container(plan, ret->report, pause, stdio);
    }
    return pid > 0;
}

bool launch_exec(const struct shim_exec_plan *plan, int container, const int stdio[3], struct launched *ret)
{
    pid_t pid = make_beside(container, 0, &plan->cgroups, ret);

    if (pid == 0) {
        run_exec(plan, ret->report, container, stdio);
    }
    return pid > 0;
}
