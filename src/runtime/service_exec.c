/* Running commands in containers: ExecSync, and the URLs where Exec, Attach and PortForward are served. */
#include "runtime/service.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/limits.h"
#include "net/fd_stream.h"
#include "runtime/exec.h"
#include "runtime/streaming.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* How long output may come after the end of the command: something it left behind may hold the pipes for good. */
#define LINGER (2 * ENV_SECOND)
#define OUTPUT_BYTES_MAX (LIMIT_GRPC_MESSAGE_BYTES / 2 - 4096)

enum { READ_BYTES = 16 << 10 };

struct sink {
    struct stream *stream;
    struct buf bytes;
};

/* One command whose output is kept. */
struct running {
    struct exec exec;
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

static struct status *wait_end(struct running *running, int64_t timeout_seconds)
{
    int64_t deadline = timeout_seconds > 0 ? env_mono() + timeout_seconds * ENV_SECOND : TASK_FOREVER;

    if (!exec_wait_end(&running->exec, deadline)) {
        exec_kill(&running->exec);
        return task_is_cancelled() ? status_new(STATUS_CANCELLED, "context canceled")
                                   : status_new(STATUS_TIMEOUT, "timeout %llds exceeded: context deadline exceeded",
                                                (long long)timeout_seconds);
    }
    int64_t patience = env_mono() + LINGER;

    while (!task_group_empty(&running->readers) && cond_wait(&running->readers.ended, patience)) {
    }
    return NULL;
}

static struct status *run(struct running *running, const struct cri_v1_exec_sync_request *asked)
{
    TRY(open_pipes(running));
    TRY(exec_start(&running->exec, &asked->cmd, running->theirs, NULL));
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
    struct running running = {.theirs = {-1, -1, -1}};
    struct status *status = exec_init(&running.exec, arg, asked->container_id, arena);

    if (status == NULL) {
        task_group_init(&running.readers);
        status = run(&running, asked);
        close_theirs(&running);
        task_group_cancel(&running.readers);
        answer->stdout = arena_str(arena, buf_str(&running.sinks[0].bytes));
        answer->stderr = arena_str(arena, buf_str(&running.sinks[1].bytes));
        answer->exit_code = (int32_t)running.exec.wait.process.exit_code;
        exec_done(&running.exec);
    }
    for (int i = 0; i < 2; i++) {
        stream_close(running.sinks[i].stream);
        buf_done(&running.sinks[i].bytes);
    }
    return status != NULL ? status_while(status, "failed to exec in container") : NULL;
}

static struct status *exec(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_exec_request *asked = request;
    struct runtime *runtime = arg;
    struct streaming_request wanted = {.kind = STREAMING_EXEC, .id = asked->container_id, .command = asked->cmd,
                                       .wants = {asked->stdin, asked->stdout, asked->stderr, asked->tty}};
    struct exec probe = {0};

    TRY(exec_init(&probe, runtime, asked->container_id, arena)); /* better said now than on the connection */
    exec_done(&probe);
    if (asked->tty && asked->stderr) {
        return status_new(STATUS_BAD_REQUEST, "tty and stderr cannot both be true");
    }
    return streaming_add(runtime->streaming, &wanted, arena, &((struct cri_v1_exec_response *)response)->url);
}

static struct status *attach(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_attach_request *asked = request;
    struct runtime *runtime = arg;
    struct streaming_request wanted = {.kind = STREAMING_ATTACH, .id = asked->container_id,
                                       .wants = {asked->stdin, asked->stdout, asked->stderr, asked->tty}};
    struct exec probe = {0};

    TRY(exec_init(&probe, runtime, asked->container_id, arena));
    exec_done(&probe);
    return streaming_add(runtime->streaming, &wanted, arena, &((struct cri_v1_attach_response *)response)->url);
}

static struct status *port_forward(void *arg, struct arena *arena, const void *request, void *response)
{
    const struct cri_v1_port_forward_request *asked = request;
    struct runtime *runtime = arg;
    struct streaming_request wanted = {.kind = STREAMING_FORWARD, .id = asked->pod_sandbox_id};
    OWNED(sandbox_unrefp) struct sandbox *sandbox = NULL;

    TRY(sandbox_get(runtime, asked->pod_sandbox_id, &sandbox));
    if (sandbox->pause_pid == 0) {
        return status_new(STATUS_INVALID, "sandbox container \"%.*s\" is not running", STR_ARG(sandbox->record.id));
    }
    return streaming_add(runtime->streaming, &wanted, arena,
                         &((struct cri_v1_port_forward_response *)response)->url);
}

static const struct grpc_method methods[] = {
    {.rpc = &cri_v1_runtime_service_exec_sync_rpc, .handle = exec_sync},
    {.rpc = &cri_v1_runtime_service_exec_rpc, .handle = exec},
    {.rpc = &cri_v1_runtime_service_attach_rpc, .handle = attach},
    {.rpc = &cri_v1_runtime_service_port_forward_rpc, .handle = port_forward},
};
const struct service_methods service_exec_methods = {methods, COUNT_OF(methods)};
