#include "runtime/shim/child.h"

#include "base/mem.h"
#include "runtime/shim/kernel.h"
#include "schema/protobuf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

struct child *child_new(struct shim *shim, struct str id, struct str exec)
{
    struct child *child = MEM_NEW(struct child);

    child->shim = shim;
    child->arena = arena_new();
    child->id = arena_cstr(child->arena, id);
    child->exec = arena_cstr(child->arena, exec);
    child->record = (struct shim_process){.id = str_of(child->id), .exec = str_of(child->exec)};
    child->record.groups.items = child->groups;
    child->pidfd = child->master = -1;
    child->output.stdin_fd = -1;
    list_add_tail(&shim->children, &child->link);
    return child;
}

struct child *child_find(struct shim *shim, struct str id, struct str exec)
{
    LINK_EACH(at, &shim->children) {
        struct child *child = CONTAINER_OF(at, struct child, link);

        if (str_eq(child->record.id, id) && str_eq(child->record.exec, exec)) {
            return child;
        }
    }
    return NULL;
}

static void stop_reporting(struct child *child)
{
    if (child->report.loop != NULL) {
        loop_remove(&child->report);
        close(child->report.fd);
    }
}

void child_free(struct child *child)
{
    list_remove(&child->link);
    stop_reporting(child);
    if (child->pidfd >= 0) {
        close(child->pidfd);
    }
    if (child->master >= 0) {
        close(child->master);
    }
    if (child->is_container) {
        output_finish(&child->output);
    }
    arena_free(child->arena);
    free(child);
}

static void heed(struct child *child, const struct report *report, int fd)
{
    switch ((enum report_kind)report->kind) {
    case REPORT_USER:
        child->record.uid = report->uid;
        child->record.gid = report->gid;
        child->record.groups.len = MIN(report->group_count, (uint32_t)USERS_GROUPS_MAX);
        for (size_t i = 0; i < child->record.groups.len; i++) {
            child->groups[i] = report->groups[i];
        }
        break;
    case REPORT_TTY:
        if (child->is_container) {
            output_terminal(&child->output, fd, child->has_stdin);
        } else {
            child->master = fd;
        }
        return;
    case REPORT_ERROR:
        child->failure = *report;
        break;
    case REPORT_PID:
        child->record.pid = report->pid;
        close(child->pidfd);
        child->pidfd = kernel_pidfd_open((pid_t)report->pid);
        break;
    case REPORT_READY:
        break;
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* True while there may be more. */
static bool hear(struct child *child)
{
    struct report report;
    int fd;

    errno = 0;
    if (report_receive(child->report.fd, &report, &fd)) {
        heed(child, &report, fd);
        return true;
    }
    return errno == EAGAIN;
}

static void on_report(struct watch *watch, unsigned events)
{
    struct child *child = CONTAINER_OF(watch, struct child, report);

    (void)events;
    if (hear(child)) {
        return;
    }
    stop_reporting(child);
    if (child->failure.kind == 0) {
        child->record.state = SHIM_RUNNING;
        child->record.started_at = output_now();
        serve_started(child);
    } /* else its end, which comes now, says so */
}

void child_launched(struct child *child, const struct launched *launched)
{
    child->record.pid = (uint32_t)launched->pid;
    child->waited_for = launched->pid;
    child->pidfd = launched->pidfd;
    if (!loop_add(&child->shim->loop, &child->report, launched->report, EPOLLIN, on_report)) {
        close(launched->report);
    }
}

/* The number after `name` in a file of "name number" lines; 0 when it isn't there. */
static uint64_t read_counter(const char *directory, const char *file, const char *name)
{
    char path[4200], text[2048];
    uint64_t value = 0;

    snprintf(path, sizeof(path), "%s/%s", directory, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

    if (fd >= 0) {
        close(fd);
    }
    struct str rest = {text, n > 0 ? (size_t)n : 0}, line, key, number;

    while (str_next(&rest, '\n', &line)) {
        if (str_cut(line, ' ', &key, &number) && str_is(key, name)) {
            str_to_u64(number, &value);
        }
    }
    return value;
}

static bool was_oom_killed(const struct child *child)
{
    LIST_EACH(cgroup, &child->cgroups.entries) {
        if (str_is(cgroup->controller, "memory") &&
            read_counter(cgroup->directory.p, "memory.oom_control", "oom_kill") > 0) {
            return true;
        }
        if (cgroup->controller.n == 0 && read_counter(cgroup->directory.p, "memory.events", "oom_kill") > 0) {
            return true;
        }
    }
    return false;
}

void child_kill_all(const struct child *child)
{
    char path[4200], text[4096];

    if (child->cgroups.entries.len == 0) {
        return;
    }
    snprintf(path, sizeof(path), "%s/cgroup.procs", child->cgroups.entries.items[0].directory.p);
    FILE *file = fopen(path, "re");

    while (file != NULL && fgets(text, sizeof(text), file) != NULL) {
        kill((pid_t)strtol(text, NULL, 10), SIGKILL);
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* So that a runtime that comes back learns it even when this shim is gone by then. Not synced: a machine that lost
 * power has no running container to tell about. */
static void write_exit(const struct child *child)
{
    OWNED(buf_done) struct buf bytes = {0};
    char path[4200];

    if (child->exit_path == NULL || child->exit_path[0] == '\0') {
        return;
    }
    snprintf(path, sizeof(path), "%s.tmp", child->exit_path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0) {
        return;
    }
    protobuf_encode(&shim_process_type, &child->record, &bytes);
    bool is_written = write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n;

    close(fd);
    if (is_written) {
        rename(path, child->exit_path);
    }
}

/* The end of a process that watches a container. */
static void end_watched(struct child *child, int status)
{
    if (WIFSIGNALED(status)) {
        kernel_pidfd_send_signal(child->pidfd, SIGKILL); /* it is not watched any more, so it must not go on */
    } else if (child->record.exit_code > 128 && child->record.exit_code < 128 + NSIG) {
        child->record.signal = child->record.exit_code - 128;
    }
}

static void end(struct child *child, int status)
{
    bool has_run;

    while (child->report.loop != NULL && hear(child) && errno != EAGAIN) {
    }
    stop_reporting(child);
    has_run = child->failure.kind == 0;
    child->record.finished_at = output_now();
    if (child->record.started_at == 0) {
        child->record.started_at = child->record.finished_at;
    }
    bool was_running = child->record.state == SHIM_RUNNING;

    child->record.state = SHIM_ENDED;
    child->record.signal = WIFSIGNALED(status) ? (uint32_t)WTERMSIG(status) : 0;
    child->record.exit_code = WIFSIGNALED(status) ? 128u + (uint32_t)WTERMSIG(status) : (uint32_t)WEXITSTATUS(status);
    if (child->record.pid != (uint32_t)child->waited_for) {
        end_watched(child, status);
    }
    if (child->is_container && has_run) {
        if (child->is_pid_namespace_shared) {
            child_kill_all(child);
        }
        child->record.is_oom_killed = was_oom_killed(child);
        output_finish(&child->output);
        child->is_container = false;
        write_exit(child);
    }
    if (!was_running) {
        serve_started(child); /* it was too quick, or it failed; frees a child that never ran */
    }
    if (has_run) {
        serve_exited(child);
    }
}

static struct child *find_pid(struct shim *shim, pid_t pid)
{
    LINK_EACH(at, &shim->children) {
        struct child *child = CONTAINER_OF(at, struct child, link);

        if (child->waited_for == pid && child->record.state != SHIM_ENDED) {
            return child;
        }
    }
    return NULL;
}

void child_reap(struct shim *shim)
{
    int status;

    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        struct child *child = find_pid(shim, pid);

        if (child != NULL) {
            end(child, status);
        }
    }
}
