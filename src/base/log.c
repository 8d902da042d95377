#include "base/log.h"

#include "base/attr.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *component = "c8s";
static enum log_level threshold = LOG_INFO;

void log_component(const char *name)
{
    component = name;
}

void log_level(enum log_level level)
{
    threshold = level;
}

void log_line(enum log_level level, const char *format, ...)
{
    static const char letters[] = "DIWE";
    char line[2048];

    if (level < threshold) {
        return;
    }
    /* The one use of the clock outside env.h: lines must come out on any thread, with the true time. */
    struct timespec now;
    struct tm utc;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(line, sizeof(line), "%FT%T", &utc);

    n += (size_t)snprintf(line + n, sizeof(line) - n, ".%03ldZ %c %s: ", now.tv_nsec / 1000000, letters[level],
                          component);
    va_list args;

    va_start(args, format);
    int length = vsnprintf(line + n, sizeof(line) - n - 1, format, args);

    va_end(args);
    n += length < 0 ? 0 : MIN((size_t)length, sizeof(line) - n - 2);
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0) {
        return; /* nowhere to complain */
    }
}
