#include "base/log.h"

#include "base/attr.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *component = "c8s";
static enum log_level threshold = LOG_INFO;
static int64_t (*clock_wall)(void);

void log_component(const char *name)
{
    component = name;
}

void log_level(enum log_level level)
{
    threshold = level;
}

bool log_is_on(enum log_level level)
{
    return level >= threshold;
}

void log_clock(int64_t (*wall)(void))
{
    clock_wall = wall;
}

/* The one use of the clock outside env.h: lines must come out on any thread, with the true time. */
static struct timespec time_now(void)
{
    struct timespec now;

    if (clock_wall != NULL) {
        int64_t wall = clock_wall();

        return (struct timespec){.tv_sec = wall / 1000000000, .tv_nsec = wall % 1000000000};
    }
    clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

void log_line(enum log_level level, const char *format, ...)
{
    static const char letters[] = "DIWE";
    char line[2048];

    if (!log_is_on(level)) {
        return;
    }
    struct timespec now = time_now();
    struct tm utc;

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
