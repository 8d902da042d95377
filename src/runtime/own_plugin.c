#include "runtime/own_plugin.h"

#include "base/env.h"
#include "base/limits.h"
#include "net/process.h"
#include "runtime/shim/spawner.h"
#include "runtime/state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Its standard streams are files in memory, so that nobody has to read and write while it runs. */
struct plugin_run {
    int files[SPAWNER_PLUGIN_FDS]; /* 0 to 2, and the writing end of `end` */
    int end;                       /* its exit code comes here; only the end of it when it was killed */
};

static void close_one(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

static void run_done(struct plugin_run *run)
{
    for (int i = 0; i < SPAWNER_PLUGIN_FDS; i++) {
        close_one(&run->files[i]);
    }
    close_one(&run->end);
}

static bool write_all(int fd, struct str bytes)
{
    for (size_t at = 0; at < bytes.n;) {
        ssize_t n = pwrite(fd, bytes.p + at, bytes.n - at, (off_t)at);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static struct status *run_open(struct plugin_run *run, struct str input)
{
    int ends[2];

    *run = (struct plugin_run){{-1, -1, -1, -1}, -1};
    for (int i = 0; i < 3; i++) {
        run->files[i] = memfd_create("plugin", MFD_CLOEXEC);
        if (run->files[i] < 0) {
            return status_errno(errno, "making a file for a plugin");
        }
    }
    if (!write_all(run->files[0], input)) {
        return status_errno(errno, "writing a plugin's input");
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return status_errno(errno, "making a pipe");
    }
    run->end = ends[0];
    run->files[3] = ends[1];
    return NULL;
}

static struct str read_file(struct arena *arena, int fd, bool *is_cut)
{
    struct stat stat;
    struct str text = {NULL, 0};

    if (fstat(fd, &stat) != 0) {
        return STR("");
    }
    size_t size = MIN((size_t)stat.st_size, LIMIT_CNI_BYTES);

    *is_cut |= (size_t)stat.st_size > size;
    text.p = arena_alloc(arena, size + 1);
    for (ssize_t n; text.n < size && (n = pread(fd, (char *)(uintptr_t)text.p + text.n, size - text.n,
                                                (off_t)text.n)) > 0;) {
        text.n += (size_t)n;
    }
    return text;
}

static struct status *run(struct runtime *runtime, struct plugin_run *run, const struct spawner_plugin *plugin,
                          int64_t deadline, struct arena *arena, struct process_output *ret)
{
    int code;

    if (!spawner_run(runtime->spawner, plugin, run->files)) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "the spawner takes no plugin: errno %d", errno);
    }
    close_one(&run->files[3]);
    TRY(task_wait_fd(run->end, ENV_READABLE, deadline));
    if (read(run->end, &code, sizeof(code)) != sizeof(code)) {
        ret->end = (struct process_end){.code = 128 + SIGKILL, .signal = SIGKILL};
    } else {
        ret->end = (struct process_end){.code = code};
    }
    ret->out = read_file(arena, run->files[1], &ret->is_cut);
    ret->err = read_file(arena, run->files[2], &ret->is_cut);
    return NULL;
}

struct status *own_plugin_run(void *arg, struct str path, const struct str_list *parameters, struct str input,
                              int64_t deadline, struct arena *arena, struct process_output *ret)
{
    struct runtime *runtime = arg;
    struct spawner_plugin plugin = {.path = path, .parameters = parameters};
    struct plugin_run files;

    if (deadline != TASK_FOREVER) {
        plugin.seconds = (unsigned)(MAX(deadline - env_mono(), 0) / ENV_SECOND) + 1;
    }
    *ret = (struct process_output){0};
    struct status *status = run_open(&files, input);

    if (status == NULL) {
        status = run(runtime, &files, &plugin, deadline, arena, ret);
    }
    run_done(&files);
    return status_is(status, STATUS_TIMEOUT) ? status_while(status, "running %.*s", STR_ARG(path)) : status;
}
