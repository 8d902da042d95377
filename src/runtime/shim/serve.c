#include "runtime/shim/serve.h"

#include "base/mem.h"
#include "runtime/shim/child.h"
#include "runtime/shim/kernel.h"
#include "runtime/shim/packet.h"
#include "schema/copy.h"
#include "schema/protobuf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A runtime that is connected. */
struct connection {
    struct link link;
    struct shim *shim;
    struct watch watch;
    bool wants_events;
};

/* What came with a request. Descriptors that a handler keeps are replaced by -1. */
struct incoming {
    struct connection *from;
    struct shim_request request;
    struct arena *arena;
    int fds[PACKET_FDS];
    size_t fd_count;
};

static char packet[SHIM_MESSAGE_BYTES];

static void drop(struct connection *connection)
{
    struct shim *shim = connection->shim;

    LINK_EACH(at, &shim->children) {
        struct child *child = CONTAINER_OF(at, struct child, link);

        if (child->client == connection) {
            child->client = NULL;
        }
    }
    if (shim->quitter == connection) {
        shim->quitter = NULL;
    }
    loop_remove(&connection->watch);
    close(connection->watch.fd);
    list_remove(&connection->link);
    free(connection);
}

/* A connection that does not keep up is broken by the next read: the other end sees it and comes anew. */
static void reply(struct connection *to, const struct shim_reply *what, int fd)
{
    OWNED(buf_done) struct buf bytes = {0};

    if (to == NULL) {
        return;
    }
    protobuf_encode(&shim_reply_type, what, &bytes);
    if (!packet_send(to->watch.fd, buf_str(&bytes), &fd, fd >= 0 ? 1 : 0)) {
        shutdown(to->watch.fd, SHUT_RDWR);
    }
}

static void reply_error(const struct incoming *in, int error, const char *stage, const char *message)
{
    reply(in->from, &(struct shim_reply){.serial = in->request.serial, .error = error != 0 ? (uint32_t)error : 1,
                                         .stage = str_of(stage), .message = str_of(message)}, -1);
}

static void reply_done(const struct incoming *in)
{
    reply(in->from, &(struct shim_reply){.serial = in->request.serial}, -1);
}

void serve_started(struct child *child)
{
    struct shim_reply answer = {.serial = child->serial, .processes = {&child->record, 1}};
    bool has_failed = child->failure.kind != 0;

    if (has_failed) {
        answer.error = (uint32_t)child->failure.error;
        answer.stage = str_of(child->failure.stage);
        answer.message = str_of(child->failure.message);
    }
    reply(child->client, &answer, child->master);
    child->client = NULL;
    if (child->master >= 0) {
        close(child->master);
        child->master = -1;
    }
    if (has_failed) {
        child_free(child);
    }
}

static bool has_running(const struct shim *shim)
{
    LINK_EACH(at, &shim->children) {
        if (CONTAINER_OF(at, struct child, link)->record.state != SHIM_ENDED) {
            return true;
        }
    }
    return false;
}

static void finish_quitting(struct shim *shim)
{
    if (shim->is_quitting && !has_running(shim)) {
        reply(shim->quitter, &(struct shim_reply){.serial = shim->quit_serial}, -1);
        shim->loop.is_done = true;
    }
}

void serve_exited(struct child *child)
{
    struct shim *shim = child->shim;
    struct shim_reply event = {.event = SHIM_EXITED, .processes = {&child->record, 1}};

    LINK_EACH(at, &shim->connections) {
        struct connection *connection = CONTAINER_OF(at, struct connection, link);

        if (connection->wants_events) {
            reply(connection, &event, -1);
        }
    }
    if (child->exec[0] != '\0') {
        child_free(child);
    }
}

/* The plan in the memfd that came first. False when an error has been sent. */
static bool read_plan(struct incoming *in, const struct type *type, void *plan)
{
    struct stat stat;
    void *bytes = NULL;

    if (in->fd_count == 0 || fstat(in->fds[0], &stat) != 0) {
        reply_error(in, EINVAL, "plan", "no plan came with the request");
        return false;
    }
    if (stat.st_size > 0) {
        bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, in->fds[0], 0);
    }
    if (bytes == MAP_FAILED) {
        reply_error(in, errno, "plan", "the plan can't be read");
        return false;
    }
    struct str text = arena_str(in->arena, (struct str){bytes, (size_t)stat.st_size});

    if (bytes != NULL) {
        munmap(bytes, (size_t)stat.st_size);
    }
    memset(plan, 0, type->size);
    struct status *status = protobuf_decode(in->arena, type, text, plan);

    if (status != NULL) {
        reply_error(in, EINVAL, "plan", arena_cstr(in->arena, status->message));
        status_free(status);
        return false;
    }
    schema_own(in->arena, type, plan); /* for the NUL after each text */
    return true;
}

static struct child *begin(struct incoming *in)
{
    struct child *child = child_new(in->from->shim, in->request.id, in->request.exec);

    child->client = in->from;
    child->serial = in->request.serial;
    return child;
}

static void give_up(struct incoming *in, struct child *child, const char *stage, const char *doing)
{
    int error = errno;

    reply_error(in, error, stage, arena_printf(in->arena, "%s: %s", doing, strerror(error)).p);
    child_free(child);
}

static void start_sandbox(struct incoming *in)
{
    struct shim_sandbox_plan plan;
    struct launched launched;

    if (!read_plan(in, &shim_sandbox_plan_type, &plan)) {
        return;
    }
    struct child *child = begin(in);

    if (!launch_pause(&plan, &launched)) {
        give_up(in, child, "process", "making the pause process");
        return;
    }
    child_launched(child, &launched);
}

static struct shim_cgroups copy_cgroups(struct arena *arena, const struct shim_cgroups *cgroups)
{
    struct shim_cgroups copy = {0};

    LIST_EACH(cgroup, &cgroups->entries) {
        *LIST_ADD(arena, &copy.entries) = (struct shim_cgroup){arena_str(arena, cgroup->directory),
                                                       arena_str(arena, cgroup->controller)};
    }
    return copy;
}

static void close_all(int *fds, int count)
{
    for (int i = 0; i < count; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

/* Pipes for what the container has no terminal for: its ends, and ours. False with errno. */
static bool make_pipes(bool has_stdin, int theirs[3], int ours[3])
{
    int pair[2];

    for (int i = 0; i < 3; i++) {
        if (i == 0 && !has_stdin) {
            theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
            continue;
        }
        if (pipe2(pair, O_CLOEXEC) != 0) {
            return false;
        }
        theirs[i] = pair[i == 0 ? 0 : 1];
        ours[i] = pair[i == 0 ? 1 : 0];
    }
    return theirs[0] >= 0;
}

static void run_container(struct incoming *in, const struct shim_container_plan *plan, struct child *child)
{
    struct shim *shim = child->shim;
    struct child *pause = child_find(shim, STR(""), STR("")), *target = child_find(shim, plan->pid_target, STR(""));
    int theirs[3] = {-1, -1, -1}, ours[3] = {-1, -1, -1};
    bool is_tty = (&plan->process)->is_tty;
    struct launched launched;

    if (!is_tty && !make_pipes(plan->has_stdin, theirs, ours)) {
        give_up(in, child, "process", "making pipes");
        close_all(theirs, 3);
        close_all(ours, 3);
        return;
    }
    if (!launch_container(plan, pause->pidfd, target != NULL ? target->pidfd : -1, theirs, &launched)) {
        give_up(in, child, "process", "making the container's process");
        close_all(ours, 3);
    } else {
        if (!is_tty) {
            output_pipes(&child->output, ours[0], ours[1], ours[2]);
        }
        child_launched(child, &launched);
    }
    close_all(theirs, 3);
}

static void start_container(struct incoming *in)
{
    struct shim *shim = in->from->shim;
    struct child *pause = child_find(shim, STR(""), STR(""));
    struct shim_container_plan plan;

    if (!read_plan(in, &shim_container_plan_type, &plan)) {
        return;
    }
    if (child_find(shim, in->request.id, STR("")) != NULL) {
        reply_error(in, EEXIST, "plan", "the container has been started before");
        return;
    }
    if (pause == NULL || pause->record.state != SHIM_RUNNING) {
        reply_error(in, ESRCH, "namespaces", "the sandbox is not running");
        return;
    }
    struct child *child = begin(in);

    child->cgroups = copy_cgroups(child->arena, &plan.cgroups);
    child->exit_path = arena_cstr(child->arena, plan.exit_path);
    child->is_pid_namespace_shared = plan.pid_namespace != PLAN_PID_OWN;
    child->has_stdin = plan.has_stdin;
    if (!output_open(&child->output, &shim->loop, plan.log_path.n > 0 ? plan.log_path.p : "", plan.is_stdin_once)) {
        give_up(in, child, "log", arena_printf(in->arena, "opening log %.*s", STR_ARG(plan.log_path)).p);
        return;
    }
    child->is_container = true;
    run_container(in, &plan, child);
}

static void start_exec(struct incoming *in)
{
    struct shim *shim = in->from->shim;
    struct child *container = child_find(shim, in->request.id, STR(""));
    struct shim_exec_plan plan;
    struct launched launched;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), stdio[3];

    for (size_t i = 0; i < 3; i++) {
        stdio[i] = i + 1 < in->fd_count ? in->fds[i + 1] : null;
    }
    if (read_plan(in, &shim_exec_plan_type, &plan)) {
        if (container == NULL || container->record.state != SHIM_RUNNING) {
            reply_error(in, ESRCH, "process", "the container is not running");
        } else {
            struct child *child = begin(in);

            if (launch_exec(&plan, container->pidfd, stdio, &launched)) {
                child_launched(child, &launched);
            } else {
                give_up(in, child, "process", "making a process in the container");
            }
        }
    }
    close(null);
}

static void send_signal(struct incoming *in)
{
    struct child *child = child_find(in->from->shim, in->request.id, in->request.exec);

    if (child == NULL || child->record.state == SHIM_ENDED) {
        reply_error(in, ESRCH, "signal", "no such process");
        return;
    }
    if (kernel_pidfd_send_signal(child->pidfd, (int)in->request.value) != 0 && errno != ESRCH) {
        reply_error(in, errno, "signal", strerror(errno));
        return;
    }
    reply_done(in);
}

static void attach(struct incoming *in, struct child *child)
{
    int to[3] = {-1, -1, -1};
    size_t next = 0;

    for (int i = 0; i < 3; i++) {
        if (in->request.value >> i & 1 && next < in->fd_count) {
            to[i] = in->fds[next];
            in->fds[next++] = -1;
        }
    }
    output_attach(&child->output, to[0], to[1], to[2]);
    reply_done(in);
}

/* What is asked of a container that runs. */
static void serve_running(struct incoming *in)
{
    struct child *child = child_find(in->from->shim, in->request.id, STR(""));

    if (child == NULL || !child->is_container || child->record.state != SHIM_RUNNING) {
        reply_error(in, ESRCH, "process", "the container is not running");
        return;
    }
    if (in->request.verb == SHIM_ATTACH) {
        attach(in, child);
    } else if (in->request.verb == SHIM_RESIZE) {
        output_resize(&child->output, (unsigned)in->request.rows, (unsigned)in->request.columns);
        reply_done(in);
    } else if (output_reopen(&child->output)) {
        reply_done(in);
    } else {
        reply_error(in, errno, "log", strerror(errno));
    }
}

static void hello(struct incoming *in)
{
    struct shim *shim = in->from->shim;
    struct shim_reply answer = {.serial = in->request.serial};

    in->from->wants_events = true;
    LINK_EACH(at, &shim->children) {
        struct child *child = CONTAINER_OF(at, struct child, link);

        if (child->record.state != 0) {
            *LIST_ADD(in->arena, &answer.processes) = child->record;
        }
    }
    reply(in->from, &answer, -1);
}

static void forget(struct incoming *in)
{
    struct child *child = child_find(in->from->shim, in->request.id, STR(""));

    if (child != NULL && child->record.state != SHIM_ENDED) {
        reply_error(in, EBUSY, "process", "the container is running");
        return;
    }
    if (child != NULL) {
        child_free(child);
    }
    reply_done(in);
}

static void quit(struct incoming *in)
{
    struct shim *shim = in->from->shim;

    shim->is_quitting = true;
    shim->quitter = in->from;
    shim->quit_serial = in->request.serial;
    LINK_EACH(at, &shim->children) {
        struct child *child = CONTAINER_OF(at, struct child, link);

        if (child->record.state != SHIM_ENDED) {
            kernel_pidfd_send_signal(child->pidfd, SIGKILL);
        }
    }
    finish_quitting(shim);
}

static void serve(struct incoming *in)
{
    switch ((enum shim_verb)in->request.verb) {
    case SHIM_HELLO:
        hello(in);
        return;
    case SHIM_SANDBOX:
        start_sandbox(in);
        return;
    case SHIM_START:
        start_container(in);
        return;
    case SHIM_EXEC:
        start_exec(in);
        return;
    case SHIM_SIGNAL:
        send_signal(in);
        return;
    case SHIM_ATTACH:
    case SHIM_RESIZE:
    case SHIM_REOPEN:
        serve_running(in);
        return;
    case SHIM_FORGET:
        forget(in);
        return;
    case SHIM_QUIT:
        quit(in);
        return;
    }
    reply_error(in, ENOSYS, "protocol", "this shim is older than the runtime and does not know the request");
}

static void on_request(struct watch *watch, unsigned events)
{
    struct connection *connection = CONTAINER_OF(watch, struct connection, watch);
    struct incoming in = {.from = connection};
    long n = packet_receive(watch->fd, packet, sizeof(packet), in.fds, &in.fd_count);

    (void)events;
    if (n < 0 && errno == EAGAIN) {
        return;
    }
    if (n <= 0) {
        drop(connection);
        return;
    }
    in.arena = arena_new();
    struct status *status = protobuf_decode(in.arena, &shim_request_type, (struct str){packet, (size_t)n}, &in.request);

    if (status == NULL) {
        schema_own(in.arena, &shim_request_type, &in.request);
        serve(&in);
    } else {
        status_free(status);
        shutdown(watch->fd, SHUT_RDWR);
    }
    close_all(in.fds, (int)in.fd_count);
    arena_free(in.arena);
}

static void on_connection(struct watch *watch, unsigned events)
{
    struct shim *shim = CONTAINER_OF(watch, struct shim, listener);
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0) {
        return;
    }
    struct connection *connection = MEM_NEW(struct connection);

    connection->shim = shim;
    list_add_tail(&shim->connections, &connection->link);
    loop_add(&shim->loop, &connection->watch, fd, EPOLLIN, on_request);
}

static void on_signal(struct watch *watch, unsigned events)
{
    struct shim *shim = CONTAINER_OF(watch, struct shim, signals);
    struct signalfd_siginfo info;

    (void)events;
    if (read(watch->fd, &info, sizeof(info)) > 0) {
        child_reap(shim);
        finish_quitting(shim);
    }
}

NO_RETURN void shim_serve(int listener)
{
    struct shim shim = {0};
    sigset_t signals;

    prctl(PR_SET_NAME, "c8s-shim");
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* init may be slow to reap what containers leave behind */
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    list_init(&shim.children);
    list_init(&shim.connections);
    if (!loop_open(&shim.loop) || !loop_add(&shim.loop, &shim.listener, listener, EPOLLIN, on_connection) ||
        !loop_add(&shim.loop, &shim.signals, signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK), EPOLLIN, on_signal)) {
        _exit(1);
    }
    loop_run(&shim.loop);
    _exit(0);
}
