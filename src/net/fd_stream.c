#include "net/fd_stream.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTIONS = 2 }; /* ENV_READABLE - 1, ENV_WRITABLE - 1 */

struct fd_stream {
    struct stream stream;
    int fd;
    bool is_socket;
    struct env_watch *watch;
    unsigned watched; /* events asked of the env */
    struct {
        env_fn *fn;
        void *arg;
    } armed[DIRECTIONS];
    bool *closed; /* while a call is out that may close the stream: where to say so */
};

static struct fd_stream *self(struct stream *stream)
{
    return CONTAINER_OF(stream, struct fd_stream, stream);
}

static struct status *fd_read_now(struct stream *stream, void *bytes, size_t size, size_t *ret_size)
{
    ssize_t got;

    do {
        got = read(self(stream)->fd, bytes, size);
    } while (got < 0 && errno == EINTR);
    if (got >= 0 || errno == EIO) {
        *ret_size = got > 0 ? (size_t)got : 0;
        return NULL;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        *ret_size = STREAM_BLOCKED;
        return NULL;
    }
    return stream_errno(errno, "read");
}

static struct status *fd_write_now(struct stream *stream, const void *bytes, size_t size, size_t *ret_size)
{
    ssize_t sent;

    do {
        sent = self(stream)->is_socket ? send(self(stream)->fd, bytes, size, MSG_NOSIGNAL)
                                       : write(self(stream)->fd, bytes, size);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0 || errno == EAGAIN || errno == EWOULDBLOCK) {
        *ret_size = sent > 0 ? (size_t)sent : 0;
        return NULL;
    }
    return stream_errno(errno, "write");
}

/* Events stay asked for after they were used, since the next wait is most likely for the same: a connection that goes
 * back and forth costs no system call for waiting. What comes when nobody waits is asked for no more. */
static void fd_ready(void *arg, unsigned events)
{
    struct fd_stream *fd_stream = arg;
    unsigned unwanted = 0;
    bool closed = false;

    for (unsigned event = ENV_READABLE; event <= ENV_WRITABLE; event++) {
        unwanted |= (events & event) != 0 && fd_stream->armed[event - 1].fn == NULL ? event : 0;
    }
    if (unwanted != 0) {
        fd_stream->watched &= ~unwanted;
        env_watch_events(fd_stream->watch, fd_stream->watched);
    }
    fd_stream->closed = &closed;
    for (unsigned event = ENV_READABLE; event <= ENV_WRITABLE && !closed; event++) {
        env_fn *fn = fd_stream->armed[event - 1].fn;

        if ((events & event) != 0 && fn != NULL) {
            fd_stream->armed[event - 1].fn = NULL;
            fn(fd_stream->armed[event - 1].arg);
        }
    }
    if (!closed) {
        fd_stream->closed = NULL;
    }
}

static void fd_arm(struct stream *stream, unsigned event, env_fn *fn, void *arg)
{
    struct fd_stream *fd_stream = self(stream);

    fd_stream->armed[event - 1].fn = fn;
    fd_stream->armed[event - 1].arg = arg;
    if (fn == NULL || (fd_stream->watched & event) != 0) {
        return;
    }
    fd_stream->watched |= event;
    if (fd_stream->watch == NULL) {
        fd_stream->watch = env_watch(fd_stream->fd, fd_stream->watched, fd_ready, fd_stream);
    } else {
        env_watch_events(fd_stream->watch, fd_stream->watched);
    }
}

static void fd_shut(struct stream *stream)
{
    if (self(stream)->is_socket) {
        shutdown(self(stream)->fd, SHUT_WR);
    }
}

static void fd_close(struct stream *stream)
{
    struct fd_stream *fd_stream = self(stream);

    if (fd_stream->closed != NULL) {
        *fd_stream->closed = true;
    }
    env_watch_stop(fd_stream->watch);
    close(fd_stream->fd);
    free(fd_stream);
}

static const struct stream_ops fd_ops = {fd_read_now, fd_write_now, fd_arm, fd_shut, fd_close};

struct stream *fd_stream_new(int fd)
{
    struct fd_stream *fd_stream = MEM_NEW(struct fd_stream);
    struct stat stat;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fstat(fd, &stat) != 0) {
        mem_die("a stream over a closed file descriptor");
    }
    if ((flags & O_NONBLOCK) == 0) {
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fd_stream->stream.ops = &fd_ops;
    fd_stream->fd = fd;
    fd_stream->is_socket = S_ISSOCK(stat.st_mode);
    return &fd_stream->stream;
}

int fd_stream_fd(struct stream *stream)
{
    return self(stream)->fd;
}

struct status *fd_stream_pair(struct stream **ret_a, struct stream **ret_b)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) {
        return status_errno(errno, "making a socket pair");
    }
    *ret_a = fd_stream_new(fds[0]);
    *ret_b = fd_stream_new(fds[1]);
    return NULL;
}
