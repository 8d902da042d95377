#include "kubelet/container_log.h"

#include "base/env.h"
#include "schema/timestamp.h"

/* Two or four decimal digits. */
static bool digits(struct str text, size_t at, size_t count, int64_t *ret)
{
    *ret = 0;
    for (size_t i = at; i < at + count; i++) {
        if (i >= text.n || text.p[i] < '0' || text.p[i] > '9') {
            return false;
        }
        *ret = *ret * 10 + (text.p[i] - '0');
    }
    return true;
}

bool container_log_parse_time(struct str text, int64_t *ret)
{
    int64_t year, month, day, hour, minute, second;
    int64_t nanoseconds = 0, scale = 100000000, offset = 0;
    size_t at = 19;

    if (text.n < 20 || !digits(text, 0, 4, &year) || text.p[4] != '-' || !digits(text, 5, 2, &month) ||
        text.p[7] != '-' || !digits(text, 8, 2, &day) || (text.p[10] != 'T' && text.p[10] != 't') ||
        !digits(text, 11, 2, &hour) || text.p[13] != ':' || !digits(text, 14, 2, &minute) || text.p[16] != ':' ||
        !digits(text, 17, 2, &second) || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 ||
        minute > 59 || second > 60 || year < 1678 || year > 2261) {
        return false;
    }
    if (text.p[at] == '.') {
        for (at++; at < text.n && text.p[at] >= '0' && text.p[at] <= '9'; at++) {
            nanoseconds += (text.p[at] - '0') * scale;
            scale /= 10;
        }
    }
    if (at >= text.n) {
        return false;
    }
    if (text.p[at] == 'Z' || text.p[at] == 'z') {
        at++;
    } else if (text.p[at] == '+' || text.p[at] == '-') {
        int64_t hours, minutes;

        if (!digits(text, at + 1, 2, &hours) || at + 3 >= text.n || text.p[at + 3] != ':' ||
            !digits(text, at + 4, 2, &minutes)) {
            return false;
        }
        offset = (hours * 60 + minutes) * 60 * (text.p[at] == '-' ? -1 : 1);
        at += 6;
    }
    if (at != text.n) {
        return false;
    }
    int64_t minutes_passed = (timestamp_days(year, (int)month, (int)day) * 24 + hour) * 60 + minute;

    *ret = (minutes_passed * 60 + second - offset) * ENV_SECOND + nanoseconds;
    return true;
}

struct status *container_log_parse(struct str line, struct container_log_line *ret)
{
    struct container_log_line parsed = {0};
    struct str rest = line, stream, tags, tag;

    if (!str_cut(rest, ' ', &parsed.timestamp, &rest) || !container_log_parse_time(parsed.timestamp, &parsed.time)) {
        return status_new(STATUS_BAD_REQUEST, "log line does not begin with a timestamp: \"%.*s\"",
                          STR_ARG(str_sub(line, 0, 80)));
    }
    if (!str_cut(rest, ' ', &stream, &rest) || (!str_is(stream, "stdout") && !str_is(stream, "stderr"))) {
        return status_new(STATUS_BAD_REQUEST, "unexpected stream type \"%.*s\" in log line",
                          STR_ARG(str_sub(stream, 0, 80)));
    }
    if (!str_cut(rest, ' ', &tags, &parsed.content)) {
        return status_new(STATUS_BAD_REQUEST, "log line has no tag");
    }
    parsed.is_stderr = str_is(stream, "stderr");
    str_cut(tags, ':', &tag, &tags);
    parsed.is_partial = str_is(tag, "P");
    if (parsed.is_partial && str_has_suffix(parsed.content, STR("\n"))) {
        parsed.content.n--;
    }
    *ret = parsed;
    return NULL;
}

static void add(struct container_log_writer *writer, struct str bytes, struct buf *out)
{
    if (writer->filter.limit_bytes >= 0) {
        int64_t room = writer->filter.limit_bytes - writer->written;

        if ((int64_t)bytes.n >= room) {
            bytes = str_sub(bytes, 0, (size_t)MAX(room, 0));
            writer->is_done = true;
        }
    }
    buf_add_str(out, bytes);
    writer->written += (int64_t)bytes.n;
}

void container_log_write(struct container_log_writer *writer, struct str line, struct buf *out)
{
    struct container_log_line parsed;
    struct status *error = container_log_parse(line, &parsed);

    if (error != NULL) {
        status_free(error);
        return;
    }
    if (writer->is_done || parsed.time < writer->filter.since ||
        !(parsed.is_stderr ? writer->filter.want_stderr : writer->filter.want_stdout)) {
        return;
    }
    if (writer->filter.timestamps && !writer->in_line[parsed.is_stderr]) {
        add(writer, parsed.timestamp, out);
        if (!writer->is_done) {
            add(writer, STR(" "), out);
        }
    }
    if (!writer->is_done) {
        add(writer, parsed.content, out);
    }
    writer->in_line[parsed.is_stderr] = parsed.is_partial;
}

size_t container_log_tail(struct str bytes, int64_t count, bool *ret_complete)
{
    size_t at = bytes.n;

    *ret_complete = true;
    if (count <= 0) {
        return bytes.n;
    }
    /* A newline at the very end closes the last line; it begins none. */
    if (at > 0 && bytes.p[at - 1] == '\n') {
        at--;
    }
    for (int64_t found = 0; at > 0; at--) {
        if (bytes.p[at - 1] == '\n' && ++found == count) {
            return at;
        }
    }
    *ret_complete = false;
    return 0;
}
