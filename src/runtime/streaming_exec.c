/* A command, or a container's own streams, at the other end of a client's connection. */
#include "runtime/streaming.h"

#include "base/env.h"
#include "net/fd_stream.h"
#include "runtime/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* How long output may come after the end of the command. */
#define LINGER (2 * ENV_SECOND)

enum { COPY_BYTES = 16 << 10 };

/* One connection being served: our ends of the process's streams, and the tasks that copy. */
struct session {
    struct runtime *runtime;
    const struct streaming_request *request;
    struct arena *arena;
    struct remote_command *command;
    struct exec exec;
    struct stream *input, *output[2]; /* of a terminal input and output[0] are its master's */
    int theirs[3];
    int master; /* a copy of the terminal's, for its size; -1: none */
    struct task_group copiers, outputs;
    struct cond ended; /* the command has ended or the client has gone */
    bool is_gone, is_over;
};

struct copy {
    struct session *session;
    struct stream *from;
    enum remote_channel channel;
};

static void copy_output(void *arg)
{
    struct copy *copy = arg;

    for (;;) {
        char bytes[COPY_BYTES];
        size_t n = 0;
        struct status *status = stream_read(copy->from, bytes, sizeof(bytes), TASK_FOREVER, &n);

        if (status == NULL && n > 0) {
            status = remote_command_write(copy->session->command, copy->channel, (struct str){bytes, n});
        }
        if (status != NULL || n == 0) {
            status_free(status);
            break;
        }
    }
    cond_broadcast(&copy->session->ended);
}

static void copy_input(void *arg)
{
    struct session *session = arg;
    struct stream *from = remote_command_input(session->command);

    for (;;) {
        char bytes[COPY_BYTES];
        size_t n = 0;
        struct status *status = stream_read(from, bytes, sizeof(bytes), TASK_FOREVER, &n);

        if (status == NULL && n > 0) {
            status = stream_write(session->input, bytes, n, TASK_FOREVER);
        }
        if (status != NULL || n == 0) {
            status_free(status);
            break;
        }
    }
    /* The end of input for the command; a terminal stays, as its output does. */
    if (!session->request->wants.tty) {
        stream_close(TAKE(session->input));
    }
}

static void resize_container(struct session *session, uint16_t width, uint16_t height)
{
    struct sandbox *sandbox = session->exec.container->sandbox;
    struct shim_reply reply = {0};
    struct shim_call call = {.verb = SHIM_RESIZE, .id = session->exec.container->record.id, .rows = height,
                             .columns = width};
    OWNED(arena_freep) struct arena *arena = arena_new();

    if (sandbox->shim != NULL) {
        status_free(shim_client_call(sandbox->shim, arena, &call, &reply, NULL));
    }
}

static void follow_size(void *arg)
{
    struct session *session = arg;
    uint16_t width = 0, height = 0;
    struct status *status;

    while ((status = remote_command_size(session->command, &width, &height)) == NULL) {
        struct winsize size = {.ws_row = height, .ws_col = width};

        if (session->request->kind == STREAMING_ATTACH) {
            resize_container(session, width, height);
        } else {
            ioctl(session->master, TIOCSWINSZ, &size);
        }
    }
    status_free(status);
}

static void watch_client(void *arg)
{
    struct session *session = arg;

    session->is_gone = remote_command_wait_gone(session->command, TASK_FOREVER);
    cond_broadcast(&session->ended);
}

static void watch_command(void *arg)
{
    struct session *session = arg;

    session->is_over = exec_wait_end(&session->exec, TASK_FOREVER);
    cond_broadcast(&session->ended);
}

/* Pipes for the streams that are wanted, /dev/null (of exec) or nothing (of attach) for the others. */
static struct status *open_pipes(struct session *session)
{
    const struct remote_wants *wants = &session->request->wants;
    const bool wanted[3] = {wants->stdin, wants->stdout, wants->stderr};
    int pair[2];

    for (int i = 0; i < 3; i++) {
        if (!wanted[i]) {
            session->theirs[i] =
                session->request->kind == STREAMING_EXEC ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
            continue;
        }
        if (pipe2(pair, O_CLOEXEC) != 0) {
            return status_errno(errno, "making a pipe");
        }
        session->theirs[i] = pair[i == 0 ? 0 : 1];
        if (i == 0) {
            session->input = fd_stream_new(pair[1]);
        } else {
            session->output[i - 1] = fd_stream_new(pair[0]);
        }
    }
    return NULL;
}

static void close_theirs(struct session *session)
{
    for (int i = 0; i < 3; i++) {
        if (session->theirs[i] >= 0) {
            close(session->theirs[i]);
            session->theirs[i] = -1;
        }
    }
}

static struct status *start_exec(struct session *session)
{
    const struct streaming_request *request = session->request;
    int master = -1;

    if (!request->wants.tty) {
        TRY(open_pipes(session));
        return exec_start(&session->exec, &request->command, session->theirs, NULL);
    }
    TRY(exec_start(&session->exec, &request->command, session->theirs, &master));
    if (master < 0) {
        return status_new(STATUS_INTERNAL_ERROR, "the command has no terminal");
    }
    session->master = fcntl(master, F_DUPFD_CLOEXEC, 3);
    session->input = fd_stream_new(fcntl(master, F_DUPFD_CLOEXEC, 3));
    session->output[0] = fd_stream_new(master);
    return NULL;
}

static struct status *start_attach(struct session *session)
{
    struct container *container = session->exec.container;
    struct shim_reply reply = {0};
    struct shim_call call = {.verb = SHIM_ATTACH, .id = container->record.id};

    TRY(open_pipes(session));
    for (int i = 0; i < 3; i++) {
        if (session->theirs[i] >= 0) {
            call.value |= UINT64_C(1) << i;
            call.fds[call.fd_count++] = session->theirs[i];
        }
    }
    return shim_client_call(container->sandbox->shim, session->arena, &call, &reply, NULL);
}

/* Copies until the command ends, or the container's streams do, or the client goes away. */
static void copy_all(struct session *session)
{
    const struct remote_wants *wants = &session->request->wants;
    struct copy copies[2] = {{session, session->output[0], REMOTE_STDOUT}, {session, session->output[1], REMOTE_STDERR}};
    bool is_exec = session->request->kind == STREAMING_EXEC;

    for (int i = 0; i < 2; i++) {
        if (copies[i].from != NULL) {
            task_group_spawn(&session->outputs, "stream output", copy_output, &copies[i]);
        }
    }
    if (wants->stdin && session->input != NULL) {
        task_group_spawn(&session->copiers, "stream input", copy_input, session);
    }
    if (wants->tty) {
        task_group_spawn(&session->copiers, "stream size", follow_size, session);
    }
    task_group_spawn(&session->copiers, "stream client", watch_client, session);
    if (is_exec) {
        task_group_spawn(&session->copiers, "stream command", watch_command, session);
    }
    while (!session->is_gone && !session->is_over && !task_is_cancelled() &&
           (is_exec || !task_group_empty(&session->outputs))) {
        cond_wait(&session->ended, env_mono() + ENV_SECOND);
    }
    if (session->is_over) {
        int64_t patience = env_mono() + LINGER;

        while (!task_group_empty(&session->outputs) && cond_wait(&session->outputs.ended, patience)) {
        }
    } else if (is_exec) {
        exec_kill(&session->exec);
    }
    task_group_cancel(&session->outputs);
    task_group_cancel(&session->copiers);
}

static void end(struct session *session, const struct status *status)
{
    struct str json = remote_command_exit_status(session->arena, (int)session->exec.wait.process.exit_code);
    struct str message = STR("");

    if (status != NULL) {
        json = remote_command_failure_status(session->arena, status->message);
        message = status->message;
    } else if (session->exec.wait.process.exit_code != 0) {
        message = arena_printf(session->arena, "command terminated with exit code %u",
                               session->exec.wait.process.exit_code);
    }
    remote_command_end(session->command, json, message);
}

static void serve(struct runtime *runtime, const struct streaming_request *request, struct http_exchange *exchange,
                  struct status *(*start)(struct session *session))
{
    struct session session = {.runtime = runtime, .request = request, .arena = exchange->arena,
                              .theirs = {-1, -1, -1}, .master = -1};
    struct status *status = exec_init(&session.exec, runtime, request->id, exchange->arena);

    if (status == NULL) {
        status = remote_command_accept(exchange, &request->wants, &session.command);
        if (status != NULL) {
            exec_done(&session.exec);
        }
    }
    if (status != NULL) {
        streaming_refuse(exchange, status);
        return;
    }
    task_group_init(&session.copiers);
    task_group_init(&session.outputs);
    cond_init(&session.ended);
    status = start(&session);
    close_theirs(&session);
    if (status == NULL) {
        copy_all(&session);
    }
    end(&session, status);
    status_free(status);
    stream_close(session.input);
    stream_close(session.output[0]);
    stream_close(session.output[1]);
    if (session.master >= 0) {
        close(session.master);
    }
    exec_done(&session.exec);
}

void streaming_exec(struct runtime *runtime, const struct streaming_request *request, struct http_exchange *exchange)
{
    serve(runtime, request, exchange, start_exec);
}

void streaming_attach(struct runtime *runtime, const struct streaming_request *request,
                      struct http_exchange *exchange)
{
    serve(runtime, request, exchange, start_attach);
}
