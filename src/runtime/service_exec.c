/* Running commands in containers: ExecSync. */
#include "runtime/service.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/limits.h"
#include "net/fd_stream.h"
#include "runtime/container_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* How long output may come after the end of the command: something it left behind may hold the pipes for good. */
#define LINGER (2 * ENV_SECOND)
#define OUTPUT_BYTES_MAX (LIMIT_GRPC_MESSAGE_BYTES / 2 - 4096)

enum { READ_BYTES = 16 << 10 };

struct sink {
    struct stream *stream;
    struct buf bytes;
};

/* One command, from its start to its end. */
struct running {
    struct container *container;
    struct arena *arena;
    struct exec_wait wait;
    struct cond changed;
    struct sink sinks[2];
    struct task_group readers;
    int theirs[3];
};

static void read_all(void *arg)
{
    struct sink *sink = arg;

    for (;;) {
        char bytes[READ_BYTES];
        size_t n = 0;
        struct status *status = stream_read(sink->stream, bytes, sizeof(bytes), TASK_FOREVER, &n);

        if (status != NULL || n == 0) {
            status_free(status);
            return;
        }
        /* More is read and dropped, so that the command does not stop for it. */
        buf_add(&sink->bytes, bytes, MIN(n, OUTPUT_BYTES_MAX - sink->bytes.n));
    }
}

static struct status *open_pipes(struct running *running)
{
    int pair[2];

    running->theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (running->theirs[0] < 0) {
        return status_errno(errno, "opening /dev/null");
    }
    for (int i = 0; i < 2; i++) {
        if (pipe2(pair, O_CLOEXEC) != 0) {
            return status_errno(errno, "making a pipe");
        }
        running->theirs[i + 1] = pair[1];
        running->sinks[i].stream = fd_stream_new(pair[0]);
    }
    return NULL;
}

static void close_theirs(struct running *running)
{
    for (int i = 0; i < 3; i++) {
        if (running->theirs[i] >= 0) {
            close(running->theirs[i]);
            running->theirs[i] = -1;
        }
    }
}

static struct status *start(struct running *running, const struct str_list *command)
{
    struct container *container = running->container;
    struct shim_exec_plan plan;
    struct shim_reply reply = {0};
    struct shim_call call = {.verb = SHIM_EXEC, .id = container->record.id, .exec = running->wait.exec,
                             .plan_type = &shim_exec_plan_type, .plan = &plan, .fd_count = 3};

    container_plan_exec(running->arena, container->record.plan, command, false, &plan);
    for (int i = 0; i < 3; i++) {
        call.fds[i] = running->theirs[i];
    }
    struct status *status = shim_client_call(container->sandbox->shim, running->arena, &call, &reply, NULL);

    return status != NULL ? status_while(status, "failed to exec in container: failed to start exec \"%.*s\"",
                                         STR_ARG(running->wait.exec))
                          : NULL;
}

static void kill_command(struct running *running)
{
    struct shim_reply reply = {0};
    struct sandbox *sandbox = running->container->sandbox;
    struct shim_call call = {.verb = SHIM_SIGNAL, .id = running->container->record.id, .exec = running->wait.exec,
                             .value = SIGKILL};

    if (sandbox->shim != NULL) {
        status_free(shim_client_call(sandbox->shim, running->arena, &call, &reply, NULL));
    }
}

static struct status *wait_end(struct running *running, int64_t timeout_seconds)
{
    int64_t deadline = timeout_seconds > 0 ? env_mono() + timeout_seconds * ENV_SECOND : TASK_FOREVER;

    while (!running->wait.is_done) {
        if (!cond_wait(&running->changed, deadline) && !running->wait.is_done) {
            kill_command(running);
            return task_is_cancelled()
                       ? status_new(STATUS_CANCELLED, "failed to exec in container: context canceled")
                       : status_new(STATUS_TIMEOUT,
                                    "failed to exec in container: timeout %llds exceeded: context deadline exceeded",
                                    (long long)timeout_seconds);
        }
    }
    int64_t patience = env_mono() + LINGER;

    while (!task_group_empty(&running->readers) && cond_wait(&running->readers.ended, patience)) {
    }
    return NULL;
}

static struct status *run(struct running *running, const struct cri_v1_exec_sync_request *asked)
{
    TRY(open_pipes(running));
    list_add_tail(&running->container->sandbox->execs, &running->wait.link);
    TRY(start(running, &asked->cmd));
    close_theirs(running);
    for (int i = 0; i < 2; i++) {
        task_group_spawn(&running->readers, "exec output", read_all, &running->sinks[i]);
    }
    return wait_end(running, asked->timeout);
}

static struct status *exec_sync(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_exec_sync_request *asked = request;
    struct cri_v1_exec_sync_response *answer = response;
    OWNED(container_unrefp) struct container *container = NULL;
    struct running running = {.arena = arena, .theirs = {-1, -1, -1}};

    TRY(container_get(arg, asked->container_id, &container));
    if (container->record.state != CRI_V1_CONTAINER_STATE_CONTAINER_RUNNING || container->sandbox->shim == NULL) {
        return status_new(STATUS_INVALID, "failed to exec in container: container \"%.*s\" is not running",
                          STR_ARG(container->record.id));
    }
    if (asked->cmd.len == 0) {
        return status_new(STATUS_BAD_REQUEST, "cmd is empty");
    }
    running.container = container;
    running.wait.exec = state_new_id(arena);
    running.wait.changed = &running.changed;
    cond_init(&running.changed);
    task_group_init(&running.readers);
    struct status *status = run(&running, asked);

    list_remove(&running.wait.link);
    close_theirs(&running);
    task_group_cancel(&running.readers);
    answer->stdout = arena_str(arena, buf_str(&running.sinks[0].bytes));
    answer->stderr = arena_str(arena, buf_str(&running.sinks[1].bytes));
    answer->exit_code = (int32_t)running.wait.process.exit_code;
    for (int i = 0; i < 2; i++) {
        stream_close(running.sinks[i].stream);
        buf_done(&running.sinks[i].bytes);
    }
    return status;
}

static const struct grpc_method methods[] = {
    {.rpc = &cri_v1_runtime_service_exec_sync_rpc, .handle = exec_sync},
};
const struct service_methods service_exec_methods = {methods, COUNT_OF(methods)};
