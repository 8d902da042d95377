#include "runtime/shim/become.h"

#include "base/buf.h"
#include "runtime/shim/kernel.h"
#include "runtime/shim/report.h"
#include "runtime/shim/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ACCOUNT_FILE_BYTES = 4 << 20 };

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0) {
        return false;
    }
    bool is_written = write(fd, text, strlen(text)) >= 0;
    int error = errno;

    close(fd);
    errno = error;
    return is_written;
}

void become_charged(int report, const struct shim_cgroups *cgroups)
{
    char path[PATH_MAX];

    LIST_EACH(cgroup, &cgroups->entries) {
        if (cgroup->controller.n > 0) {
            /* "tasks" and 0: the one way in that does not wait for the kernel's grace period. */
            snprintf(path, sizeof(path), "%s/tasks", cgroup->directory.p);
            if (!write_file(path, "0")) {
                report_fail(report, errno, "cgroup", "entering cgroup %s", cgroup->directory.p);
            }
        }
    }
}

void become_killable(int report, int oom_score_adj)
{
    int wanted = oom_score_adj;
    char text[16];

    for (; wanted < 1000; wanted = wanted < 0 ? 0 : wanted + 50) {
        snprintf(text, sizeof(text), "%d", wanted);
        if (write_file("/proc/self/oom_score_adj", text)) {
            return;
        }
        if (errno != EACCES && errno != EPERM) {
            report_fail(report, errno, "process", "setting the OOM score to %s", text);
        }
    }
    write_file("/proc/self/oom_score_adj", "1000");
}

void become_known(struct becoming *self, const char *root)
{
    struct str passwd = rootfs_read(self->arena, root, "/etc/passwd", ACCOUNT_FILE_BYTES);
    struct str group = rootfs_read(self->arena, root, "/etc/group", ACCOUNT_FILE_BYTES);
    struct report report = {.kind = REPORT_USER};
    struct status *status = users_resolve(self->plan, passwd, group, &self->who);

    if (status != NULL) {
        report_fail(self->report, 0, "user", "%.*s", STR_ARG(status->message));
    }
    report.uid = self->who.uid;
    report.gid = self->who.gid;
    report.group_count = (uint32_t)self->who.group_count;
    for (size_t i = 0; i < self->who.group_count; i++) {
        report.groups[i] = self->who.groups[i];
    }
    report_send(self->report, &report, -1);
}

int become_terminal(struct becoming *self)
{
    const struct shim_process_plan *plan = self->plan;
    struct report report = {.kind = REPORT_TTY};
    struct winsize size = {.ws_row = (unsigned short)plan->rows, .ws_col = (unsigned short)plan->columns};
    int unlocked = 0;

    if (!plan->is_tty) {
        return -1;
    }
    int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) != 0) {
        report_fail(self->report, errno, "tty", "opening a terminal in /dev/pts");
    }
    int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) != 0) {
        report_fail(self->report, errno, "tty", "taking the terminal");
    }
    if (size.ws_row > 0) {
        ioctl(slave, TIOCSWINSZ, &size);
    }
    if (fchown(slave, self->who.uid, (gid_t)-1) != 0) {
        report_fail(self->report, errno, "tty", "giving the terminal to user %u", self->who.uid);
    }
    report_send(self->report, &report, master);
    close(master);
    self->stdio[0] = self->stdio[1] = self->stdio[2] = slave;
    return slave;
}

static void set_limits(struct becoming *self)
{
    LIST_EACH(limit, &self->plan->rlimits) {
        struct rlimit value = {limit->soft, limit->hard}, now;

        /* Without CAP_SYS_RESOURCE a limit can't be raised: then as far as we may. */
        if (setrlimit((int)limit->resource, &value) != 0 && getrlimit((int)limit->resource, &now) == 0) {
            value.rlim_max = MIN(value.rlim_max, now.rlim_max);
            value.rlim_cur = MIN(value.rlim_cur, value.rlim_max);
            setrlimit((int)limit->resource, &value);
        }
    }
}

static void set_stdio(struct becoming *self)
{
    int high[3];
    struct stat stat;

    /* Out of the way first, so that none overwrites another. */
    for (int i = 0; i < 3; i++) {
        high[i] = fcntl(self->stdio[i], F_DUPFD_CLOEXEC, 10);
        if (high[i] < 0) {
            report_fail(self->report, errno, "process", "standard streams");
        }
    }
    for (int i = 0; i < 3; i++) {
        if (dup2(high[i], i) < 0) {
            report_fail(self->report, errno, "process", "standard streams");
        }
        /* So that it can open /dev/stdout again. */
        if (fstat(i, &stat) == 0 && S_ISFIFO(stat.st_mode) && fchown(i, self->who.uid, (gid_t)-1) != 0) {
            report_fail(self->report, errno, "process", "standard streams");
        }
    }
}

static void set_capabilities(struct becoming *self)
{
    const struct shim_process_plan *plan = self->plan;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0}, ours[2] = {0};

    syscall(SYS_capget, &head, ours);
    for (int i = 0; i < 2; i++) {
        /* Not more than the machine gave us: root in a box may lack some that a privileged container is to have. */
        data[i].effective = (uint32_t)(plan->caps_effective >> (32 * i)) & ours[i].permitted;
        data[i].permitted = (uint32_t)(plan->caps_permitted >> (32 * i)) & ours[i].permitted;
        data[i].inheritable = (uint32_t)(plan->caps_inheritable >> (32 * i));
    }
    if (syscall(SYS_capset, &head, data) != 0) {
        report_fail(self->report, errno, "process", "setting capabilities");
    }
    for (unsigned cap = 0; cap < 64; cap++) {
        if (plan->caps_ambient >> cap & 1) {
            prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
        }
    }
}

/* The most this process may ever have: what the machine gave us less what the plan leaves out. */
static void bound_capabilities(struct becoming *self)
{
    for (unsigned cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
        if (!(self->plan->caps_bounding >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0) {
            report_fail(self->report, errno, "process", "dropping capability %u", cap);
        }
    }
}

static void set_user(struct becoming *self)
{
    const struct user_identity *who = &self->who;

    /* The system calls themselves: the C library's would look for other threads. */
    if (syscall(SYS_setgroups, who->group_count, who->groups) != 0 ||
        syscall(SYS_setresgid, who->gid, who->gid, who->gid) != 0 || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_setresuid, who->uid, who->uid, who->uid) != 0) {
        report_fail(self->report, errno, "user", "becoming user %u, group %u", who->uid, who->gid);
    }
}

static void filter_calls(struct becoming *self)
{
    const struct shim_process_plan *plan = self->plan;
    struct sock_fprog program = {.len = (unsigned short)(plan->seccomp.n / sizeof(struct sock_filter)),
                                 .filter = (struct sock_filter *)(uintptr_t)plan->seccomp.p};

    if (plan->seccomp.n > 0 &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, (unsigned)plan->seccomp_flags, &program) != 0) {
        report_fail(self->report, errno, "seccomp", "installing the seccomp filter");
    }
}

static void confine(struct becoming *self)
{
    OWNED(buf_done) struct buf text = {0};

    if (self->plan->apparmor.n == 0) {
        return;
    }
    buf_printf(&text, "exec %.*s", STR_ARG(self->plan->apparmor));
    if (!write_file("/proc/self/attr/apparmor/exec", buf_cstr(&text)) &&
        !write_file("/proc/self/attr/exec", buf_cstr(&text))) {
        report_fail(self->report, errno, "apparmor", "AppArmor profile %s", self->plan->apparmor.p);
    }
}

static char **to_argv(struct arena *arena, const struct str_list *texts, size_t room)
{
    char **argv = ARENA_ARRAY(arena, char *, texts->len + room + 1);

    for (size_t i = 0; i < texts->len; i++) {
        argv[i] = arena_cstr(arena, texts->items[i]);
    }
    return argv;
}

static const char *find_env(char **env, const char *name)
{
    size_t n = strlen(name);

    for (; *env != NULL; env++) {
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=') {
            return *env + n + 1;
        }
    }
    return NULL;
}

static NO_RETURN void refuse(struct becoming *self, const char *name, const char *tried, int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        if (strchr(name, '/') != NULL) {
            report_fail(self->report, 0, "exec", "exec: \"%s\": stat %s: no such file or directory", name, name);
        }
        report_fail(self->report, 0, "exec", "exec: \"%s\": executable file not found in $PATH", name);
    case EACCES:
        report_fail(self->report, 0, "exec", "exec: \"%s\": permission denied", name);
    case ENOEXEC:
        report_fail(self->report, 0, "exec", "exec %s: exec format error", tried);
    default:
        report_fail(self->report, error, "exec", "exec %s", tried);
    }
}

static NO_RETURN void execute(struct becoming *self)
{
    char **argv = to_argv(self->arena, &self->plan->args, 0), **env = to_argv(self->arena, &self->plan->env, 1);
    const char *name = argv[0], *path = find_env(env, "PATH");
    struct str rest = str_of(path != NULL ? path : "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    struct str directory;
    int error = ENOENT;

    if (name == NULL) {
        report_fail(self->report, 0, "exec", "no command specified");
    }
    if (find_env(env, "HOME") == NULL) {
        env[self->plan->env.len] = arena_cstr(self->arena, arena_printf(self->arena, "HOME=%.*s", STR_ARG(self->who.home)));
    }
    if (strchr(name, '/') != NULL) {
        execve(name, argv, env);
        refuse(self, name, name, errno);
    }
    while (str_next(&rest, ':', &directory)) {
        struct str file = arena_printf(self->arena, "%.*s/%s", STR_ARG(directory.n > 0 ? directory : STR(".")), name);
        struct stat stat_of;

        if (stat(file.p, &stat_of) != 0 && errno == ENOENT) {
            continue; /* an exec that fails costs far more */
        }
        execve(file.p, argv, env);
        if (errno == EACCES) {
            error = EACCES;
        } else if (errno != ENOENT && errno != ENOTDIR) {
            refuse(self, name, file.p, errno);
        }
    }
    refuse(self, name, name, error);
}

NO_RETURN void become_program(struct becoming *self)
{
    const struct shim_process_plan *plan = self->plan;
    sigset_t none;

    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    set_stdio(self);
    kernel_close_range(3, ~0u, KERNEL_CLOSE_RANGE_CLOEXEC);
    set_limits(self);
    umask(0022);
    confine(self);
    /* Without no_new_privs a filter takes CAP_SYS_ADMIN, so it comes before that is dropped. */
    if (!plan->is_no_new_privileges) {
        filter_calls(self);
    }
    bound_capabilities(self);
    set_user(self);
    if (chdir(plan->cwd.n > 0 ? plan->cwd.p : "/") != 0) {
        report_fail(self->report, errno, "process", "chdir to cwd (\"%s\") set in config.json failed", plan->cwd.p);
    }
    set_capabilities(self);
    if (plan->is_no_new_privileges) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
            report_fail(self->report, errno, "process", "no_new_privs");
        }
        filter_calls(self);
    }
    execute(self);
}
