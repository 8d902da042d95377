#include "runtime/shim_client.h"

#include "base/env.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/task.h"
#include "runtime/shim/packet.h"
#include "schema/copy.h"
#include "schema/protobuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A call that waits for its answer; on its task's stack. */
struct waiting {
    struct link link;
    struct task *task;
    struct arena *arena;
    uint64_t serial;
    bool is_done;
    struct shim_reply *reply;
    int fd;
};

struct shim_client {
    int socket; /* -1: the shim is gone */
    struct env_watch *watch;
    const struct shim_client_events *events;
    void *arg;
    uint64_t last_serial;
    struct link waiting;
    char packet[SHIM_MESSAGE_BYTES];
};

static void disconnect(struct shim_client *client)
{
    if (client->socket < 0) {
        return;
    }
    env_watch_stop(client->watch);
    close(client->socket);
    client->socket = -1;
    LINK_EACH(at, &client->waiting) {
        task_wake(CONTAINER_OF(at, struct waiting, link)->task);
    }
}

static void deliver(struct shim_client *client, struct str bytes, int fd)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct shim_reply reply = {0};
    struct status *status = protobuf_decode(arena, &shim_reply_type, bytes, &reply);

    if (status != NULL) {
        status_free(status); /* not a shim's word; nobody waits for it */
    } else if (reply.event == SHIM_EXITED && reply.processes.len > 0) {
        schema_own(arena, &shim_reply_type, &reply);
        client->events->exited(client->arg, &reply.processes.items[0]);
    } else {
        LINK_EACH(at, &client->waiting) {
            struct waiting *waiting = CONTAINER_OF(at, struct waiting, link);

            if (waiting->serial == reply.serial && !waiting->is_done) {
                *waiting->reply = *(struct shim_reply *)schema_copy(waiting->arena, &shim_reply_type, &reply);
                waiting->fd = fd;
                waiting->is_done = true;
                task_wake(waiting->task);
                return;
            }
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void on_packet(void *arg, unsigned events)
{
    struct shim_client *client = arg;
    int fds[PACKET_FDS];
    size_t fd_count;
    long n = packet_receive(client->socket, client->packet, sizeof(client->packet), fds, &fd_count);

    (void)events;
    if (n < 0 && errno == EAGAIN) {
        return;
    }
    for (size_t i = 1; i < fd_count; i++) {
        close(fds[i]);
    }
    if (n > 0) {
        deliver(client, (struct str){client->packet, (size_t)n}, fd_count > 0 ? fds[0] : -1);
        return;
    }
    disconnect(client);
    client->events->gone(client->arg);
}

struct status *shim_client_open(const char *directory, const struct shim_client_events *events, void *arg,
                                struct shim_client **ret)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (at < 0) {
        return status_errno(errno, "the sandbox's directory %s", directory);
    }
    /* A socket's address is short, the directory's path may not be. */
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" SHIM_SOCKET_NAME, at);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        int error = errno;

        close(at);
        close(fd);
        return error == ECONNREFUSED || error == ENOENT
                   ? status_new(STATUS_NOT_FOUND, "no shim is in %s", directory)
                   : status_errno(error, "connecting to the shim in %s", directory);
    }
    close(at);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    struct shim_client *client = MEM_NEW(struct shim_client);

    client->socket = fd;
    client->events = events;
    client->arg = arg;
    list_init(&client->waiting);
    client->watch = env_watch(fd, ENV_READABLE, on_packet, client);
    *ret = client;
    return NULL;
}

void shim_client_close(struct shim_client *client)
{
    if (client != NULL) {
        disconnect(client);
        while (!list_empty(&client->waiting)) {
            list_pop(&client->waiting); /* its task looks no further than is_done and the link */
        }
        free(client);
    }
}

/* The plan's bytes as a file of their own: they may be more than a packet takes. -1 and errno. */
static int plan_file(const struct shim_call *call)
{
    OWNED(buf_done) struct buf bytes = {0};
    int fd = memfd_create("plan", MFD_CLOEXEC);

    protobuf_encode(call->plan_type, call->plan, &bytes);
    for (size_t at = 0; fd >= 0 && at < bytes.n;) {
        ssize_t n = write(fd, bytes.p + at, bytes.n - at);

        if (n < 0 && errno != EINTR) {
            int error = errno;

            close(fd);
            errno = error;
            return -1;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return fd;
}

static struct status *send_call(struct shim_client *client, const struct shim_call *call, uint64_t serial)
{
    OWNED(buf_done) struct buf bytes = {0};
    struct shim_request request = {.serial = serial, .verb = call->verb, .id = call->id, .exec = call->exec,
                                   .value = call->value, .rows = call->rows, .columns = call->columns};
    int fds[PACKET_FDS], plan = -1;
    size_t count = 0;

    protobuf_encode(&shim_request_type, &request, &bytes);
    if (call->plan_type != NULL) {
        plan = plan_file(call);
        if (plan < 0) {
            return status_errno(errno, "making a file for a plan");
        }
        fds[count++] = plan;
    }
    for (size_t i = 0; i < call->fd_count; i++) {
        fds[count++] = call->fds[i];
    }
    bool is_sent = packet_send(client->socket, buf_str(&bytes), fds, count);
    int error = errno;

    if (plan >= 0) {
        close(plan);
    }
    return is_sent ? NULL : status_new(STATUS_SERVICE_UNAVAILABLE, "the sandbox's shim does not listen: errno %d", error);
}

static struct status *refusal(const struct shim_reply *reply)
{
    struct status *status = status_new(reply->error == ESRCH    ? STATUS_NOT_FOUND
                                       : reply->error == EEXIST ? STATUS_ALREADY_EXISTS
                                                                : STATUS_INTERNAL_ERROR,
                                       "%.*s", STR_ARG(reply->message));

    status_add_cause(status, STR(""), reply->stage, "%.*s", STR_ARG(reply->message));
    return status;
}

struct status *shim_client_call(struct shim_client *client, struct arena *arena, const struct shim_call *call,
                                struct shim_reply *ret, int *ret_fd)
{
    struct waiting waiting = {.task = task_current(), .arena = arena, .serial = ++client->last_serial, .reply = ret,
                              .fd = -1};

    if (client->socket < 0) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "the sandbox's shim is gone");
    }
    TRY(send_call(client, call, waiting.serial));
    list_add_tail(&client->waiting, &waiting.link);
    while (!waiting.is_done && waiting.link.next != NULL && client->socket >= 0) {
        if (!task_park(TASK_FOREVER) && task_is_cancelled() && !waiting.is_done) {
            list_remove(&waiting.link);
            return status_new(STATUS_CANCELLED, "cancelled while the shim was at it");
        }
    }
    list_remove(&waiting.link);
    if (!waiting.is_done) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "the sandbox's shim is gone");
    }
    if (ret_fd != NULL) {
        *ret_fd = waiting.fd;
    } else if (waiting.fd >= 0) {
        close(waiting.fd);
    }
    return ret->error != 0 ? refusal(ret) : NULL;
}
