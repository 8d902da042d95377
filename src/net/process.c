#include "net/process.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/task.h"
#include "net/fd_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct process {
    pid_t pid;
    int pidfd;
    bool has_ended;
    struct process_end end;
    struct env_watch *orphan_watch; /* reaps it once nobody waits any more */
};

/* What the child, which shares our memory until it executes, is to do. */
struct start {
    const struct process_options *options;
    const char *path;
    int *fds; /* copies, so high that none is in the way */
    size_t fd_count;
    const char *failed; /* the call that failed, set by the child */
    int error;
};

/* The file to execute: argv[0] itself, or the first in PATH. NULL when there is none; else release with free(). */
static char *find_program(const char *name)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/') != NULL) {
        return mem_strdup(name);
    }
    for (struct str rest = str_of(path != NULL ? path : "/usr/bin:/bin"), folder; str_next(&rest, ':', &folder);) {
        char *file = NULL;

        if (asprintf(&file, "%.*s/%s", STR_ARG(folder), name) < 0) {
            mem_die("out of memory");
        }
        if (folder.n > 0 && access(file, X_OK) == 0) {
            return file;
        }
        free(file);
    }
    return NULL;
}

/* In the child: says what failed. No library call that could take a lock is allowed there. */
static bool fails(struct start *start, const char *call, long result)
{
    if (result >= 0) {
        return false;
    }
    start->failed = call;
    start->error = errno;
    return true;
}

static bool child_takes_user(struct start *start)
{
    const struct process_options *options = start->options;

    /* System calls by number: the C library's would change the parent's threads too. */
    return !options->sets_user ||
           !(fails(start, "setgroups", syscall(SYS_setgroups, options->group_count, options->groups)) ||
             fails(start, "setgid", syscall(SYS_setresgid, options->gid, options->gid, options->gid)) ||
             fails(start, "setuid", syscall(SYS_setresuid, options->uid, options->uid, options->uid)));
}

static void child_run(struct start *start)
{
    const struct process_options *options = start->options;
    sigset_t none;

    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < start->fd_count; i++) {
        if (fails(start, "dup2", dup2(start->fds[i], (int)i))) {
            return;
        }
    }
    if ((options->new_session && fails(start, "setsid", setsid())) ||
        (options->takes_tty && fails(start, "TIOCSCTTY", ioctl(0, TIOCSCTTY, 0))) ||
        (options->cwd != NULL && fails(start, "chdir", chdir(options->cwd))) || !child_takes_user(start) ||
        (options->death_signal != 0 && fails(start, "prctl", prctl(PR_SET_PDEATHSIG, options->death_signal)))) {
        return;
    }
    execve(start->path, (char *const *)options->argv, options->env ? (char *const *)options->env : environ);
    fails(start, "exec", -1);
}

/* Copies of the descriptors above those the child will fill. */
static struct status *fds_prepare(struct start *start)
{
    const struct process_options *options = start->options;

    start->fd_count = MAX(options->fd_count, 3U);
    start->fds = mem_zalloc_array(start->fd_count, sizeof(int));
    for (size_t i = 0; i < start->fd_count; i++) {
        int fd = i < options->fd_count ? options->fds[i] : -1;
        int source = fd >= 0 ? fd : open("/dev/null", O_RDWR | O_CLOEXEC);

        start->fds[i] = fcntl(source, F_DUPFD_CLOEXEC, (int)start->fd_count);
        int error = errno;

        if (fd < 0 && source >= 0) {
            close(source);
        }
        if (start->fds[i] < 0) {
            start->fd_count = i;
            return status_errno(error, "starting %s: descriptor %zu", options->argv[0], i);
        }
    }
    return NULL;
}

static pid_t spawn(struct start *start)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* no handler may run in the child */
    pid_t pid = vfork();

    if (pid == 0) {
        child_run(start);
        _exit(127);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

struct status *process_start(const struct process_options *options, struct process **ret)
{
    struct start start = {.options = options};
    char *path = find_program(options->argv[0]);
    struct status *status = NULL;
    pid_t pid = -1;
    int pidfd = -1;

    if (path == NULL) {
        return status_new(STATUS_NOT_FOUND, "exec: \"%s\": executable file not found in $PATH", options->argv[0]);
    }
    start.path = path;
    status = fds_prepare(&start);
    if (status == NULL) {
        pid = spawn(&start);
        pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
        if (pid > 0 && start.failed != NULL) {
            waitpid(pid, NULL, 0);
            status = status_errno(start.error, "starting %s: %s", path, start.failed);
        } else if (pidfd < 0) {
            status = status_errno(errno, "starting %s", path);
        }
    }
    for (size_t i = 0; i < start.fd_count; i++) {
        close(start.fds[i]);
    }
    free(start.fds);
    free(path);
    if (status != NULL) {
        if (pidfd >= 0) {
            close(pidfd);
        }
        return status;
    }
    struct process *process = MEM_NEW(struct process);

    *process = (struct process){.pid = pid, .pidfd = pidfd};
    *ret = process;
    return NULL;
}

pid_t process_pid(const struct process *process)
{
    return process->pid;
}

int process_pidfd(const struct process *process)
{
    return process->pidfd;
}

/* Takes its end from the kernel if it has come. */
static void reap(struct process *process)
{
    siginfo_t info = {0};

    if (process->has_ended || waitid(P_PIDFD, (id_t)process->pidfd, &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) {
        return;
    }
    process->has_ended = true;
    if (info.si_code == CLD_EXITED) {
        process->end = (struct process_end){.code = info.si_status};
    } else {
        process->end = (struct process_end){.code = 128 + info.si_status, .signal = info.si_status};
    }
}

struct status *process_wait(struct process *process, int64_t deadline, struct process_end *ret)
{
    for (;;) {
        reap(process);
        if (process->has_ended) {
            *ret = process->end;
            return NULL;
        }
        TRY(task_wait_fd(process->pidfd, ENV_READABLE, deadline));
    }
}

void process_signal(struct process *process, int number)
{
    if (!process->has_ended) {
        syscall(SYS_pidfd_send_signal, process->pidfd, number, NULL, 0);
    }
}

static void process_done(struct process *process)
{
    close(process->pidfd);
    free(process);
}

static void orphan_ended(void *arg, unsigned events)
{
    struct process *process = arg;

    (void)events;
    reap(process);
    if (process->has_ended) {
        env_watch_stop(process->orphan_watch);
        process_done(process);
    }
}

void process_free(struct process *process)
{
    if (process == NULL) {
        return;
    }
    reap(process);
    if (process->has_ended) {
        process_done(process);
    } else {
        process->orphan_watch = env_watch(process->pidfd, ENV_READABLE, orphan_ended, process);
    }
}

/* One pipe to or from a child being run. */
struct run_pipe {
    struct stream *stream;
    struct str input;
    struct buf output;
    size_t max;
    bool is_cut;
};

static void run_write(void *arg)
{
    struct run_pipe *pipe = arg;

    /* A child that does not read to the end is not our failure. */
    status_free(stream_write(pipe->stream, pipe->input.p, pipe->input.n, TASK_FOREVER));
    stream_close(TAKE(pipe->stream));
}

static void run_read(void *arg)
{
    struct run_pipe *pipe = arg;
    char bytes[4096];

    for (;;) {
        size_t got = 0;
        struct status *status = stream_read(pipe->stream, bytes, sizeof(bytes), TASK_FOREVER, &got);

        if (status != NULL || got == 0) {
            status_free(status);
            return;
        }
        size_t room = pipe->max - pipe->output.n;

        buf_add(&pipe->output, bytes, MIN(got, room));
        pipe->is_cut |= got > room;
    }
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

/* Starts the child; the pipes get our ends. */
static struct status *run_start(const struct process_options *options, struct run_pipe *pipes,
                                struct process **ret_process)
{
    int ends[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};

    for (int i = 0; i < 3; i++) {
        if (pipe2(ends[i], O_CLOEXEC) != 0) {
            struct status *status = status_errno(errno, "making a pipe");

            close_all(&ends[0][0], 6);
            return status;
        }
    }
    int fds[3] = {ends[0][0], ends[1][1], ends[2][1]};
    struct process_options with_pipes = *options;

    with_pipes.fds = fds;
    with_pipes.fd_count = 3;
    struct status *status = process_start(&with_pipes, ret_process);

    close_all(fds, 3);
    if (status != NULL) {
        close_all((int[]){ends[0][1], ends[1][0], ends[2][0]}, 3);
        return status;
    }
    pipes[0].stream = fd_stream_new(ends[0][1]);
    pipes[1].stream = fd_stream_new(ends[1][0]);
    pipes[2].stream = fd_stream_new(ends[2][0]);
    return NULL;
}

struct status *process_run(const struct process_options *options, struct str input, size_t max, int64_t deadline,
                           struct arena *arena, struct process_output *ret)
{
    struct run_pipe pipes[3] = {{.input = input}, {.max = max}, {.max = max}};
    struct process *process;
    struct process_end end = {0};
    struct task_group group;

    TRY(run_start(options, pipes, &process));
    task_group_init(&group);
    task_group_spawn(&group, "process input", run_write, &pipes[0]);
    task_group_spawn(&group, "process output", run_read, &pipes[1]);
    task_group_spawn(&group, "process errors", run_read, &pipes[2]);
    struct status *status = process_wait(process, deadline, &end);

    if (status != NULL) {
        process_signal(process, SIGKILL);
        if (status_is(status, STATUS_TIMEOUT)) {
            status = status_while(status, "running %s", options->argv[0]);
        }
    }
    /* What the child wrote before its end is in the pipes; a grandchild that holds them open must not hold us. */
    for (int round = 0; status == NULL && round < 20 && !task_group_empty(&group); round++) {
        task_sleep(round == 0 ? 0 : 5 * ENV_MS);
    }
    task_group_cancel(&group);
    for (int i = 0; i < 3; i++) {
        stream_close(pipes[i].stream);
    }
    process_free(process);
    if (status == NULL) {
        *ret = (struct process_output){.end = end,
                                       .out = arena_str(arena, buf_str(&pipes[1].output)),
                                       .err = arena_str(arena, buf_str(&pipes[2].output)),
                                       .is_cut = pipes[1].is_cut || pipes[2].is_cut};
    }
    buf_done(&pipes[1].output);
    buf_done(&pipes[2].output);
    return status;
}
