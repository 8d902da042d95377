#include "runtime/shim/oci.h"

#include "base/file.h"
#include "runtime/shim/become.h"
#include "runtime/shim/kernel.h"
#include "runtime/shim/report.h"
#include "runtime/shim/rootfs.h"
#include "schema/value.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOG_BYTES_MAX = 256 << 10, ARGUMENTS_MAX = 24, LINE_BYTES = 256 };

#define CONSOLE_SOCKET "console.sock"

/* What is under way. The working directory is the bundle while the OCI runtime runs. */
struct oci {
    const struct shim_container_plan *plan;
    struct becoming self;
    struct str log, pid_path, id;
    int host_mounts; /* the mount namespace of the host; -1 when it can't be had */
    int console;     /* listens for the terminal; -1: there is none */
    pid_t container; /* 0: not made yet */
};

static struct str read_small(struct arena *arena, const char *path)
{
    struct str text = STR("");
    struct status *status = file_read(arena, path, LOG_BYTES_MAX, &text);

    status_free(status);
    return text;
}

static pid_t pid_of(struct arena *arena, int pidfd)
{
    struct str info = read_small(arena, arena_printf(arena, "/proc/self/fdinfo/%d", pidfd).p);
    uint64_t pid = 0;

    for (struct str line; str_next(&info, '\n', &line);) {
        if (str_has_prefix(line, STR("Pid:")) && str_to_u64(str_trim(str_from(line, 4)), &pid)) {
            break;
        }
    }
    return (pid_t)pid;
}

/* What the OCI runtime wrote last into its log: why it failed. */
static struct str last_words(const struct oci *oci)
{
    struct arena *arena = oci->self.arena;
    struct str log = read_small(arena, oci->log.p), words = STR("it did not say why");

    for (struct str line; str_next(&log, '\n', &line);) {
        struct value *entry;
        struct status *status = value_read_json(arena, line, &entry, NULL);

        if (status == NULL && value_str_at(entry, "msg").n > 0) {
            words = value_str_at(entry, "msg");
        }
        status_free(status);
    }
    return words;
}

/* Runs it to its end; its exit status as wait() has it, -1 when it could not be started. */
static int run(char *const argv[], const int stdio[3])
{
    int status = -1, null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t pid = fork();

    if (pid == 0) {
        sigset_t none;

        for (int i = 0; i < 3; i++) {
            int high = fcntl(stdio[i] >= 0 ? stdio[i] : null, F_DUPFD_CLOEXEC, 10);

            if (high < 0 || dup2(high, i) < 0) {
                _exit(127);
            }
        }
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        kernel_close_range(3, ~0u, KERNEL_CLOSE_RANGE_CLOEXEC);
        execv(argv[0], argv);
        _exit(127);
    }
    close(null);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* Its exit status; `options` ends with NULL. */
static int call(const struct oci *oci, const char *verb, const char *const options[], const int stdio[3])
{
    const struct shim_container_plan *plan = oci->plan;
    const char *argv[ARGUMENTS_MAX] = {plan->oci_runtime.p, "--root", plan->oci_root.p, "--log", oci->log.p,
                                       "--log-format", "json", verb};
    int count = 8;

    for (; *options != NULL; options++) {
        argv[count++] = *options;
    }
    argv[count] = oci->id.p;
    return run((char *const *)(uintptr_t)argv, stdio);
}

static void forget(const struct oci *oci)
{
    static const int no_stdio[3] = {-1, -1, -1};
    static const char *const options[] = {"--force", NULL};

    call(oci, "delete", options, no_stdio);
}

static NO_RETURN void fail(const struct oci *oci, const char *doing)
{
    struct str words = last_words(oci);

    if (oci->container > 0) {
        forget(oci);
    }
    report_fail(oci->self.report, 0, "oci", "%s: %s: %.*s", oci->plan->oci_runtime.p, doing, STR_ARG(words));
}

/* The OCI runtime connects and hands over the terminal's master; whatever else comes is no terminal. */
static void take_terminal(const struct oci *oci)
{
    struct report report = {.kind = REPORT_TTY};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char text[LINE_BYTES];
    struct iovec part = {text, sizeof(text)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    int master = -1, connection = accept4(oci->console, NULL, NULL, SOCK_CLOEXEC);

    if (connection < 0 || recvmsg(connection, &message, MSG_CMSG_CLOEXEC) <= 0) {
        report_fail(oci->self.report, errno, "tty", "taking the terminal");
    }
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    if (head == NULL || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(int))) {
        report_fail(oci->self.report, 0, "tty", "%s gave no terminal", oci->plan->oci_runtime.p);
    }
    memcpy(&master, CMSG_DATA(head), sizeof(master));
    report_send(oci->self.report, &report, master);
    close(master);
    close(connection);
}

/* By the working directory, as the path may be longer than a socket's address takes. Not blocking, so that a runtime
 * that never connects is told of and not waited for. */
static int listen_for_terminal(const struct oci *oci)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = CONSOLE_SOCKET};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    unlink(CONSOLE_SOCKET);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 1) != 0) {
        report_fail(oci->self.report, errno, "tty", "making a socket for the terminal");
    }
    return fd;
}

static void create(struct oci *oci)
{
    const char *options[] = {"--bundle", oci->plan->bundle.p, "--pid-file", oci->pid_path.p,
                             oci->console >= 0 ? "--console-socket" : NULL, CONSOLE_SOCKET, NULL};
    struct report made = {.kind = REPORT_PID};
    uint64_t pid = 0;

    if (call(oci, "create", options, oci->self.stdio) != 0) {
        fail(oci, "create");
    }
    if (!str_to_u64(str_trim(read_small(oci->self.arena, oci->pid_path.p)), &pid) || pid == 0) {
        fail(oci, "create did not say which process it made");
    }
    oci->container = (pid_t)pid;
    made.pid = (uint32_t)pid;
    report_send(oci->self.report, &made, -1);
    if (oci->console >= 0) {
        take_terminal(oci);
        close(oci->console);
    }
}

static void start(struct oci *oci)
{
    static const int no_stdio[3] = {-1, -1, -1};
    static const char *const options[] = {NULL};

    if (call(oci, "start", options, no_stdio) != 0) {
        fail(oci, "start");
    }
}

/* Without leave to go lower (CAP_SYS_RESOURCE), as near as may be. */
static int reachable_oom_score(struct arena *arena, int wanted)
{
    struct str text = str_trim(read_small(arena, "/proc/self/oom_score_adj"));
    int64_t lowest = 0;

    return str_to_i64(text, &lowest) && wanted < lowest && prctl(PR_CAPBSET_READ, CAP_SYS_RESOURCE, 0, 0, 0) != 1
               ? (int)lowest
               : wanted;
}

/* The bundle's mounts are its own business and go with this process; where the host's are shared, they stay so. */
static void mount_bundle(struct oci *oci, int pause)
{
    const struct shim_container_plan *plan = oci->plan;
    const char *bundle = plan->bundle.p;
    struct rootfs rootfs = {.plan = plan, .report = oci->self.report, .shm = -1};
    int report = oci->self.report;

    if (plan->shares_ipc) {
        rootfs_take_shared_memory(&rootfs, pause);
    }
    if (mount(bundle, bundle, NULL, MS_BIND, NULL) != 0 || mount("", bundle, NULL, MS_PRIVATE, NULL) != 0 ||
        chdir(bundle) != 0) {
        report_fail(report, errno, "mount", "taking bundle %s from the host's mounts", bundle);
    }
    if (rootfs.shm >= 0) {
        int to = mkdir("shm", 0700) == 0 || errno == EEXIST ? open("shm", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

        if (to < 0 || kernel_move_mount(rootfs.shm, to) != 0) {
            report_fail(report, errno, "mount", "mounting the sandbox's shared memory");
        }
        close(to);
        close(rootfs.shm);
    }
    if (plan->layers.len > 0) {
        rootfs_mount(&rootfs);
    }
    if (chdir(bundle) != 0) {
        report_fail(report, errno, "mount", "bundle %s", bundle);
    }
}

static void write_spec(struct oci *oci, int pause, int target)
{
    struct arena *arena = oci->self.arena;
    struct oci_facts facts = {
        .who = &oci->self.who, .pause = pid_of(arena, pause), .target = target >= 0 ? pid_of(arena, target) : 0,
        .oom_score_adj = reachable_oom_score(arena, oci->plan->process.oom_score_adj)};
    struct str spec;
    struct status *status = oci_spec(arena, oci->plan, &facts, &spec);

    if (status == NULL) {
        status = file_write_unsynced("config.json", spec, 0600);
    }
    if (status != NULL) {
        report_fail(oci->self.report, 0, "oci", "%.*s", STR_ARG(status->message));
    }
}

/* Ends as the container does, which ends when the shim has (SIGTERM). */
static NO_RETURN void follow(const struct oci *oci, const sigset_t *signals)
{
    siginfo_t info;
    int status;

    for (;;) {
        pid_t pid = waitpid(-1, &status, WNOHANG);

        if (pid == oci->container) {
            forget(oci);
            _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
        }
        if (pid < 0) {
            _exit(255);
        }
        if (pid == 0 && sigwaitinfo(signals, &info) == SIGTERM) {
            kill(oci->container, SIGKILL);
        }
    }
}

static int open_host_mounts(struct arena *arena)
{
    return open(arena_printf(arena, "/proc/%d/ns/mnt", getppid()).p, O_RDONLY | O_CLOEXEC);
}

NO_RETURN void oci_run(const struct shim_container_plan *plan, const struct oci_peers *peers, int report,
                       const int stdio[3])
{
    struct arena *arena = arena_new();
    struct oci oci = {.plan = plan,
                      .self = {.plan = &plan->process, .arena = arena, .report = report,
                               .stdio = {stdio[0], stdio[1], stdio[2]}},
                      .log = arena_printf(arena, "%s/oci.log", plan->bundle.p),
                      .pid_path = arena_printf(arena, "%s/oci.pid", plan->bundle.p),
                      .id = str_of(strrchr(plan->bundle.p, '/') + 1),
                      .host_mounts = open_host_mounts(arena), .console = -1};
    sigset_t signals;

    setsid();
    prctl(PR_SET_NAME, "c8s-oci");
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* the container becomes this process' child when its maker has ended */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    signal(SIGCHLD, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    mount_bundle(&oci, peers->pause);
    become_known(&oci.self, plan->rootfs.p);
    if (plan->process.is_tty) {
        oci.console = listen_for_terminal(&oci);
    }
    write_spec(&oci, peers->pause, peers->target);
    create(&oci);
    start(&oci);
    /* Not to keep mounts that the host lets go. */
    if (oci.host_mounts >= 0 && setns(oci.host_mounts, KERNEL_CLONE_NEWNS) != 0) {
        fail(&oci, "going back to the host's mounts");
    }
    kernel_close_range(0, ~0u, 0);
    follow(&oci, &signals);
}
