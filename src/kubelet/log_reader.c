#include "kubelet/log_reader.h"

#include "base/env.h"
#include "base/task.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 64 << 10,
    LINE_BYTES_MAX = 1 << 20, /* a line without end is cut here; runtimes write at most 16 KiB */
    NAME_BYTES_MAX = 4096,
};

/* How long to wait for a change before asking whether the container still runs. */
#define LOOK_AGAIN ENV_SECOND

struct reading {
    const struct log_request *request;
    const struct log_sink *sink;
    struct container_log_writer writer;
    int fd;
    int64_t offset;
    struct buf input, output;
};

/* A read of a file blocks when it is not in memory, so it is done by a worker. */
struct pread_work {
    int fd;
    void *bytes;
    size_t size;
    int64_t offset;
    ssize_t got;
    int error;
};

static void do_pread(void *arg)
{
    struct pread_work *work = arg;

    work->got = pread(work->fd, work->bytes, work->size, work->offset);
    work->error = errno;
}

static struct status *read_piece(int fd, void *bytes, size_t size, int64_t offset, size_t *ret_size)
{
    struct pread_work work = {.fd = fd, .bytes = bytes, .size = size, .offset = offset};

    task_offload(do_pread, &work);
    if (work.got < 0) {
        return status_errno(work.error, "failed to read log file");
    }
    *ret_size = (size_t)work.got;
    return NULL;
}

static struct status *open_log(struct reading *reading)
{
    reading->fd = open(reading->request->path, O_RDONLY | O_CLOEXEC);
    reading->offset = 0;
    return reading->fd >= 0 ? NULL
                            : status_errno(errno, "failed to try resolving symlinks in path \"%s\"",
                                           reading->request->path);
}

/* Moves to where the last lines begin, by looking at ever more of the file's end. */
static struct status *seek_tail(struct reading *reading)
{
    struct stat st;

    if (reading->request->tail_lines < 0) {
        return NULL;
    }
    if (fstat(reading->fd, &st) != 0) {
        return status_errno(errno, "failed to get the size of log file");
    }
    for (int64_t size = PIECE_BYTES;; size *= 4) {
        OWNED(buf_done) struct buf end = {0};
        int64_t from = MAX(st.st_size - size, 0);
        bool is_complete;

        while ((int64_t)end.n < st.st_size - from) {
            size_t got = 0;

            TRY(read_piece(reading->fd, buf_reserve(&end, PIECE_BYTES), PIECE_BYTES, from + (int64_t)end.n, &got));
            if (got == 0) {
                break;
            }
            end.n += got;
        }
        size_t at = container_log_tail(buf_str(&end), reading->request->tail_lines, &is_complete);

        if (is_complete || from == 0) {
            reading->offset = from + (int64_t)at;
            return NULL;
        }
    }
}

static struct status *flush(struct reading *reading)
{
    struct status *error = reading->output.n == 0 ? NULL
                                                  : reading->sink->write(reading->sink->arg, buf_str(&reading->output));

    buf_clear(&reading->output);
    return error;
}

/* All that is in the file now. */
static struct status *send_new(struct reading *reading)
{
    for (;;) {
        size_t got = 0, at = 0;

        TRY(read_piece(reading->fd, buf_reserve(&reading->input, PIECE_BYTES), PIECE_BYTES, reading->offset, &got));
        reading->input.n += got;
        reading->offset += (int64_t)got;
        for (;;) {
            struct str rest = str_from(buf_str(&reading->input), at);
            size_t end = str_index(rest, '\n');

            if (end == SIZE_MAX && rest.n < LINE_BYTES_MAX) {
                break;
            }
            struct str line = end == SIZE_MAX ? rest : str_sub(rest, 0, end + 1);

            container_log_write(&reading->writer, line, &reading->output);
            at += line.n;
        }
        buf_consume(&reading->input, at);
        TRY(flush(reading));
        if (got == 0 || reading->writer.is_done) {
            return NULL;
        }
        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "cancelled");
        }
    }
}

/* The path leads to another file than the one being read. */
static bool is_rotated(const struct reading *reading)
{
    struct stat now, open_file;

    return stat(reading->request->path, &now) == 0 && fstat(reading->fd, &open_file) == 0 &&
           (now.st_ino != open_file.st_ino || now.st_dev != open_file.st_dev);
}

static void drain(int fd)
{
    char events[NAME_BYTES_MAX];

    while (read(fd, events, sizeof(events)) > 0) {
    }
}

static int watch_directory(const char *path)
{
    char directory[NAME_BYTES_MAX];
    struct str name = str_of(path);
    size_t slash = str_last_index(name, '/');
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    if (fd >= 0 && slash != SIZE_MAX && slash < sizeof(directory)) {
        __builtin_memcpy(directory, path, slash);
        directory[slash] = '\0';
        if (inotify_add_watch(fd, directory, IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE) < 0) {
            close(fd);
            fd = -1;
        }
    }
    return fd;
}

/* False when the task was cancelled. */
static bool wait_for_change(int watch)
{
    if (watch < 0) {
        return task_sleep(LOOK_AGAIN / 4); /* the machine has run out of watches */
    }
    struct status *error = task_wait_fd(watch, ENV_READABLE, env_mono() + LOOK_AGAIN);

    drain(watch);
    status_free(error);
    return !task_is_cancelled();
}

static struct status *follow(struct reading *reading, int watch)
{
    while (!reading->writer.is_done) {
        if (is_rotated(reading)) {
            TRY(send_new(reading));
            close(reading->fd);
            TRY(open_log(reading));
        } else if (reading->sink->is_over(reading->sink->arg)) {
            return send_new(reading); /* what came between our last look and its end */
        } else if (!wait_for_change(watch)) {
            return status_new(STATUS_CANCELLED, "cancelled");
        }
        TRY(send_new(reading));
    }
    return NULL;
}

struct status *log_read(const struct log_request *request, const struct log_sink *sink)
{
    struct reading reading = {.request = request, .sink = sink, .writer = {.filter = request->filter}, .fd = -1};
    int watch = request->follow ? watch_directory(request->path) : -1;
    struct status *error = open_log(&reading);

    if (error == NULL) {
        error = seek_tail(&reading);
    }
    if (error == NULL) {
        error = send_new(&reading);
    }
    if (error == NULL && request->follow) {
        error = follow(&reading, watch);
    }
    if (error == NULL && reading.input.n > 0) {
        container_log_write(&reading.writer, buf_str(&reading.input), &reading.output); /* a last line without end */
        error = flush(&reading);
    }
    if (reading.fd >= 0) {
        close(reading.fd);
    }
    if (watch >= 0) {
        close(watch);
    }
    buf_done(&reading.input);
    buf_done(&reading.output);
    return error;
}
