#include "runtime/shim/log_writer.h"
#include "test.h"

#include <string.h>

#define NOON INT64_C(1754481600123456789) /* 2025-08-06T12:00:00.123456789Z */

TEST("runtime/log_writer/a line is stamped with time, stream and tag")
{
    OWNED(buf_done) struct buf out = {0}, pending = {0};

    log_format(&out, &pending, LOG_STDERR, NOON, STR("hello\nwor"));
    CHECK_STR(buf_str(&out), "2025-08-06T12:00:00.123456789Z stderr F hello\n");
    CHECK_STR(buf_str(&pending), "wor");
    buf_clear(&out);
    log_format(&out, &pending, LOG_STDERR, NOON, STR("ld\n\n"));
    CHECK_STR(buf_str(&out), "2025-08-06T12:00:00.123456789Z stderr F world\n"
                             "2025-08-06T12:00:00.123456789Z stderr F \n");
    CHECK_INT(pending.n, 0);
}

TEST("runtime/log_writer/a long line is cut in pieces, the last of them F")
{
    OWNED(buf_done) struct buf out = {0}, pending = {0}, line = {0};
    static const size_t head = sizeof("2025-08-06T12:00:00.123456789Z stdout F ") - 1;

    memset(buf_reserve(&line, LOG_LINE_BYTES + 5), 'x', LOG_LINE_BYTES + 5);
    line.n = LOG_LINE_BYTES + 5;
    buf_add_char(&line, '\n');
    log_format(&out, &pending, LOG_STDOUT, NOON, buf_str(&line));
    CHECK_INT(out.n, 2 * head + LOG_LINE_BYTES + 5 + 2);
    CHECK(out.p[head - 2] == 'P');
    CHECK(out.p[head + LOG_LINE_BYTES] == '\n');
    CHECK(out.p[2 * head + LOG_LINE_BYTES + 1 - 2] == 'F');
}

TEST("runtime/log_writer/a line of just the limit is whole")
{
    OWNED(buf_done) struct buf out = {0}, pending = {0}, line = {0};

    memset(buf_reserve(&line, LOG_LINE_BYTES), 'x', LOG_LINE_BYTES);
    line.n = LOG_LINE_BYTES;
    log_format(&out, &pending, LOG_STDOUT, NOON, buf_str(&line));
    CHECK_INT(out.n, 0);
    log_format(&out, &pending, LOG_STDOUT, NOON, STR("\n"));
    CHECK(str_contains(buf_str(&out), STR(" F xxx")));
    CHECK_INT(pending.n, 0);
}
