#include "runtime/shim/output.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10 };

/* One who is attached. */
struct client {
    struct link link;
    struct output *output;
    struct watch in_watch, out_watch[LOG_STREAMS];
    int in, out[LOG_STREAMS];
    struct buf pending[LOG_STREAMS];
};

static char read_buffer[READ_BYTES]; /* the shim has one thread */

static void on_stdout(struct watch *watch, unsigned events);
static void on_stderr(struct watch *watch, unsigned events);
static void on_client_stdout(struct watch *watch, unsigned events);
static void on_client_stderr(struct watch *watch, unsigned events);
static void on_client_input(struct watch *watch, unsigned events);
static void on_stdin_writable(struct watch *watch, unsigned events);

int64_t output_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void make_non_blocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool output_open(struct output *output, struct loop *loop, const char *log_path, bool is_stdin_once)
{
    *output = (struct output){.loop = loop, .log = {.fd = -1}, .fds = {-1, -1}, .stdin_fd = -1,
                              .is_stdin_once = is_stdin_once};
    list_init(&output->clients);
    if (!log_writer_open(&output->log, log_path)) {
        return false;
    }
    output->log_path = mem_strdup(log_path);
    return true;
}

static void watch_stream(struct output *output, int stream)
{
    if (output->fds[stream] >= 0 && output->streams[stream].loop == NULL) {
        loop_add(output->loop, &output->streams[stream], output->fds[stream], EPOLLIN,
                 stream == LOG_STDOUT ? on_stdout : on_stderr);
    }
}

void output_pipes(struct output *output, int in, int out, int err)
{
    output->stdin_fd = in;
    output->fds[LOG_STDOUT] = out;
    output->fds[LOG_STDERR] = err;
    if (in >= 0) {
        make_non_blocking(in);
    }
    for (int i = 0; i < LOG_STREAMS; i++) {
        make_non_blocking(output->fds[i]);
        watch_stream(output, i);
    }
}

void output_terminal(struct output *output, int master, bool has_stdin)
{
    output->is_tty = true;
    output->fds[LOG_STDOUT] = master;
    make_non_blocking(master);
    output->stdin_fd = has_stdin ? fcntl(master, F_DUPFD_CLOEXEC, 0) : -1;
    watch_stream(output, LOG_STDOUT);
}

static void free_client(struct client *client)
{
    list_remove(&client->link);
    loop_remove(&client->in_watch);
    close_fd(&client->in);
    for (int i = 0; i < LOG_STREAMS; i++) {
        loop_remove(&client->out_watch[i]);
        close_fd(&client->out[i]);
        buf_done(&client->pending[i]);
    }
    free(client);
}

static void resume(struct output *output)
{
    LINK_EACH(at, &output->clients) {
        struct client *client = CONTAINER_OF(at, struct client, link);

        if (client->pending[LOG_STDOUT].n > 0 || client->pending[LOG_STDERR].n > 0) {
            return;
        }
    }
    watch_stream(output, LOG_STDOUT);
    watch_stream(output, LOG_STDERR);
}

/* Drops a client of whom nothing is left to serve. */
static void leave_stream(struct client *client, int stream)
{
    loop_remove(&client->out_watch[stream]);
    close_fd(&client->out[stream]);
    buf_done(&client->pending[stream]);
    if (client->out[LOG_STDOUT] < 0 && client->out[LOG_STDERR] < 0 && client->in < 0) {
        free_client(client);
    }
}

static void push(struct client *client, int stream)
{
    struct output *output = client->output;
    struct buf *pending = &client->pending[stream];
    ssize_t n = write(client->out[stream], pending->p, pending->n);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n < 0) {
        leave_stream(client, stream);
    } else {
        buf_consume(pending, (size_t)n);
        if (pending->n == 0) {
            buf_done(pending);
            loop_remove(&client->out_watch[stream]);
        }
    }
    resume(output);
}

static void on_client_stdout(struct watch *watch, unsigned events)
{
    (void)events;
    push(CONTAINER_OF(watch, struct client, out_watch[LOG_STDOUT]), LOG_STDOUT);
}

static void on_client_stderr(struct watch *watch, unsigned events)
{
    (void)events;
    push(CONTAINER_OF(watch, struct client, out_watch[LOG_STDERR]), LOG_STDERR);
}

static void send_to_clients(struct output *output, int stream, struct str bytes)
{
    LINK_EACH(at, &output->clients) {
        struct client *client = CONTAINER_OF(at, struct client, link);
        int fd = client->out[stream];

        if (fd < 0) {
            continue;
        }
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            leave_stream(client, stream);
            continue;
        }
        if (n < (ssize_t)bytes.n) {
            buf_add_str(&client->pending[stream], str_from(bytes, n > 0 ? (size_t)n : 0));
            loop_add(output->loop, &client->out_watch[stream], fd, EPOLLOUT,
                     stream == LOG_STDOUT ? on_client_stdout : on_client_stderr);
            loop_remove(&output->streams[LOG_STDOUT]);
            loop_remove(&output->streams[LOG_STDERR]);
        }
    }
}

/* One read. False when there is nothing (any more) now. */
static bool take(struct output *output, int stream)
{
    int fd = output->fds[stream];
    ssize_t n = fd < 0 ? 0 : read(fd, read_buffer, sizeof(read_buffer));

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return false;
    }
    if (n <= 0) {
        /* A terminal whose other end nobody holds gives EIO: the end. */
        log_writer_end(&output->log, (enum log_stream)stream, output_now());
        loop_remove(&output->streams[stream]);
        close_fd(&output->fds[stream]);
        return false;
    }
    struct str bytes = {read_buffer, (size_t)n};

    log_writer_add(&output->log, (enum log_stream)stream, output_now(), bytes);
    send_to_clients(output, stream, bytes);
    return true;
}

static void on_stdout(struct watch *watch, unsigned events)
{
    (void)events;
    take(CONTAINER_OF(watch, struct output, streams[LOG_STDOUT]), LOG_STDOUT);
}

static void on_stderr(struct watch *watch, unsigned events)
{
    (void)events;
    take(CONTAINER_OF(watch, struct output, streams[LOG_STDERR]), LOG_STDERR);
}

static void close_stdin(struct output *output)
{
    loop_remove(&output->stdin_watch);
    close_fd(&output->stdin_fd);
    buf_done(&output->to_stdin);
}

static void read_clients(struct output *output, bool does)
{
    LINK_EACH(at, &output->clients) {
        struct client *client = CONTAINER_OF(at, struct client, link);

        if (client->in < 0) {
            continue;
        }
        if (!does) {
            loop_remove(&client->in_watch);
        } else if (client->in_watch.loop == NULL) {
            loop_add(output->loop, &client->in_watch, client->in, EPOLLIN, on_client_input);
        }
    }
}

static void push_stdin(struct output *output)
{
    struct buf *pending = &output->to_stdin;

    while (output->stdin_fd >= 0 && pending->n > 0) {
        ssize_t n = write(output->stdin_fd, pending->p, pending->n);

        if (n < 0 && errno == EAGAIN) {
            if (output->stdin_watch.loop == NULL) {
                loop_add(output->loop, &output->stdin_watch, output->stdin_fd, EPOLLOUT, on_stdin_writable);
            }
            read_clients(output, false);
            return;
        }
        if (n < 0 && errno != EINTR) {
            close_stdin(output);
            return;
        }
        buf_consume(pending, n > 0 ? (size_t)n : 0);
    }
    buf_done(pending);
    loop_remove(&output->stdin_watch);
    read_clients(output, true);
}

static void on_stdin_writable(struct watch *watch, unsigned events)
{
    (void)events;
    push_stdin(CONTAINER_OF(watch, struct output, stdin_watch));
}

static void on_client_input(struct watch *watch, unsigned events)
{
    struct client *client = CONTAINER_OF(watch, struct client, in_watch);
    struct output *output = client->output;
    ssize_t n = read(client->in, read_buffer, sizeof(read_buffer));

    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n > 0) {
        if (output->stdin_fd >= 0) {
            buf_add(&output->to_stdin, read_buffer, (size_t)n);
            push_stdin(output);
        }
        return;
    }
    loop_remove(&client->in_watch);
    close_fd(&client->in);
    if (output->is_stdin_once && !output->is_tty) {
        close_stdin(output);
    }
    if (client->out[LOG_STDOUT] < 0 && client->out[LOG_STDERR] < 0) {
        free_client(client);
    }
}

void output_attach(struct output *output, int in, int out, int err)
{
    struct client *client = MEM_NEW(struct client);

    client->output = output;
    client->in = in;
    client->out[LOG_STDOUT] = out;
    client->out[LOG_STDERR] = err;
    list_add_tail(&output->clients, &client->link);
    for (int i = 0; i < LOG_STREAMS; i++) {
        if (client->out[i] >= 0) {
            make_non_blocking(client->out[i]);
        }
    }
    if (in >= 0) {
        make_non_blocking(in);
        if (output->to_stdin.n == 0) {
            loop_add(output->loop, &client->in_watch, in, EPOLLIN, on_client_input);
        }
    }
}

bool output_resize(struct output *output, unsigned rows, unsigned columns)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

    return output->is_tty && output->fds[LOG_STDOUT] >= 0 && ioctl(output->fds[LOG_STDOUT], TIOCSWINSZ, &size) == 0;
}

bool output_reopen(struct output *output)
{
    return log_writer_open(&output->log, output->log_path);
}

void output_finish(struct output *output)
{
    for (int i = 0; i < LOG_STREAMS; i++) {
        /* Bounded: someone outside may hold the pipe and write on. */
        for (int reads = 0; reads < 1024 && take(output, i); reads++) {
        }
        if (output->fds[i] >= 0) {
            log_writer_end(&output->log, (enum log_stream)i, output_now());
        }
        loop_remove(&output->streams[i]);
        close_fd(&output->fds[i]);
    }
    close_stdin(output);
    while (!list_empty(&output->clients)) {
        struct client *client = CONTAINER_OF(output->clients.next, struct client, link);

        for (int i = 0; i < LOG_STREAMS; i++) {
            if (client->pending[i].n > 0 && client->out[i] >= 0 &&
                write(client->out[i], client->pending[i].p, client->pending[i].n) < 0) {
                client->pending[i].n = 0; /* it does not read; it is closed now */
            }
        }
        free_client(client);
    }
    log_writer_close(&output->log);
    free(output->log_path);
    output->log_path = NULL;
}
