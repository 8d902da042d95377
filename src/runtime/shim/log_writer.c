#include "runtime/shim/log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct str stream_names[LOG_STREAMS] = {STR_INIT("stdout"), STR_INIT("stderr")};

static void put_digits(char *at, int count, int64_t value)
{
    while (count-- > 0) {
        at[count] = (char)('0' + value % 10);
        value /= 10;
    }
}

static void add_line(struct buf *into, enum log_stream stream, int64_t now, char tag, struct str first, struct str rest)
{
    char stamp[] = "0000-00-00T00:00:00.000000000Z ";
    time_t seconds = (time_t)(now / 1000000000);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    put_digits(stamp, 4, tm.tm_year + 1900);
    put_digits(stamp + 5, 2, tm.tm_mon + 1);
    put_digits(stamp + 8, 2, tm.tm_mday);
    put_digits(stamp + 11, 2, tm.tm_hour);
    put_digits(stamp + 14, 2, tm.tm_min);
    put_digits(stamp + 17, 2, tm.tm_sec);
    put_digits(stamp + 20, 9, now % 1000000000);
    buf_add(into, stamp, sizeof(stamp) - 1);
    buf_add_str(into, stream_names[stream]);
    buf_add(into, (char[]){' ', tag, ' '}, 3);
    buf_add_str(into, first);
    buf_add_str(into, rest);
    buf_add_char(into, '\n');
}

void log_format(struct buf *into, struct buf *pending, enum log_stream stream, int64_t now, struct str bytes)
{
    while (bytes.n > 0) {
        size_t room = LOG_LINE_BYTES - pending->n;
        size_t end = str_index(str_sub(bytes, 0, room + 1), '\n');

        if (end != SIZE_MAX) {
            add_line(into, stream, now, 'F', buf_str(pending), str_sub(bytes, 0, end));
            buf_clear(pending);
            bytes = str_from(bytes, end + 1);
        } else if (bytes.n > room) {
            add_line(into, stream, now, 'P', buf_str(pending), str_sub(bytes, 0, room));
            buf_clear(pending);
            bytes = str_from(bytes, room);
        } else {
            buf_add_str(pending, bytes);
            break;
        }
    }
}

bool log_writer_open(struct log_writer *writer, const char *path)
{
    int fd = -1;

    if (path[0] != '\0') {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
        if (fd < 0) {
            return false;
        }
    }
    if (writer->fd >= 0) {
        close(writer->fd);
    }
    writer->fd = fd;
    return true;
}

void log_writer_close(struct log_writer *writer)
{
    if (writer->fd >= 0) {
        close(writer->fd);
        writer->fd = -1;
    }
    for (int i = 0; i < LOG_STREAMS; i++) {
        buf_done(&writer->pending[i]);
    }
    buf_done(&writer->out);
}

static void flush(struct log_writer *writer)
{
    size_t done = 0;

    while (writer->fd >= 0 && done < writer->out.n) {
        ssize_t wrote = write(writer->fd, writer->out.p + done, writer->out.n - done);

        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            break;
        }
        done += (size_t)wrote;
    }
    writer->dropped_bytes += writer->out.n - done;
    buf_done(&writer->out); /* a quiet container holds no memory for its log */
}

void log_writer_add(struct log_writer *writer, enum log_stream stream, int64_t now, struct str bytes)
{
    if (writer->fd < 0) {
        writer->dropped_bytes += bytes.n;
        return;
    }
    log_format(&writer->out, &writer->pending[stream], stream, now, bytes);
    flush(writer);
    if (writer->pending[stream].n == 0) {
        buf_done(&writer->pending[stream]);
    }
}

void log_writer_end(struct log_writer *writer, enum log_stream stream, int64_t now)
{
    struct buf *pending = &writer->pending[stream];

    if (pending->n > 0 && writer->fd >= 0) {
        add_line(&writer->out, stream, now, 'P', buf_str(pending), STR(""));
        flush(writer);
    }
    buf_done(pending);
}
