/* Timestamps and durations. Without a zone, UTC. */
#include "cel/cel_parts.h"
#include "base/duration.h"
#include "schema/timestamp.h"

#include <stdlib.h>
#include <time.h>

#define FN(name) static struct cel_val name(struct cel_run *run UNUSED, const struct cel_val *args UNUSED, size_t count UNUSED)
#define FAIL(...) cel_error(run->arena, __VA_ARGS__)

#define FIRST_SECOND (-INT64_C(62135596800)) /* year 1 */
#define LAST_SECOND INT64_C(253402300799)    /* year 9999 */

FN(same) { return args[0]; }

FN(timestamp_of_string)
{
    struct timestamp time;

    return timestamp_parse(args[0].string, &time) ? cel_val_timestamp(time.seconds, time.nanos)
                                                  : FAIL("%.*s", STR_ARG(timestamp_problem(run->arena, args[0].string, false)));
}
FN(timestamp_of_int)
{
    return args[0].integer < FIRST_SECOND || args[0].integer > LAST_SECOND ? FAIL("timestamp overflow") : cel_val_timestamp(args[0].integer, 0);
}
FN(duration_of_string)
{
    int64_t nanos;

    return duration_parse(args[0].string, &nanos) ? cel_val_duration(nanos) : FAIL("time: invalid duration \"%.*s\"", STR_ARG(args[0].string));
}
FN(duration_of_int) { return cel_val_duration(args[0].integer); }

static struct cel_val shift(struct cel_run *run, struct cel_val time, int64_t nanos)
{
    int64_t seconds = time.seconds + nanos / 1000000000, rest = time.nanos + nanos % 1000000000;

    seconds += rest < 0 ? -1 : rest >= 1000000000 ? 1 : 0;
    rest += rest < 0 ? 1000000000 : rest >= 1000000000 ? -1000000000 : 0;
    return seconds < FIRST_SECOND || seconds > LAST_SECOND ? FAIL("timestamp overflow") : cel_val_timestamp(seconds, (int32_t)rest);
}
FN(add_time) { return shift(run, args[0].kind == CEL_TIMESTAMP ? args[0] : args[1], args[0].kind == CEL_TIMESTAMP ? args[1].integer : args[0].integer); }
FN(sub_time) { return args[1].integer == INT64_MIN ? FAIL("integer overflow") : shift(run, args[0], -args[1].integer); }
FN(between)
{
    __int128 nanos = ((__int128)args[0].seconds - args[1].seconds) * 1000000000 + (args[0].nanos - args[1].nanos);

    return nanos > INT64_MAX || nanos < INT64_MIN ? FAIL("integer overflow") : cel_val_duration((int64_t)nanos);
}

/* "+05:30", "-08:00"; names of zones other than UTC need the system's tables, which nothing pure can read. */
static bool zone_offset(struct str zone, int64_t *ret)
{
    int64_t hours, minutes, sign = 1;
    struct str h, m;

    *ret = 0;
    if (zone.n == 0 || str_is(zone, "UTC") || str_is(zone, "Z") || str_is(zone, "GMT")) {
        return true;
    }
    if (zone.p[0] == '+' || zone.p[0] == '-') {
        sign = zone.p[0] == '-' ? -1 : 1;
        zone = str_from(zone, 1);
    }
    if (!str_cut(zone, ':', &h, &m) || !str_to_i64(h, &hours) || !str_to_i64(m, &minutes) || hours > 23 || minutes > 59) {
        return false;
    }
    *ret = sign * (hours * 3600 + minutes * 60);
    return true;
}

static bool parts(const struct cel_val *args, size_t count, struct tm *ret)
{
    int64_t offset = 0;

    if (count > 1 && !zone_offset(args[1].string, &offset)) {
        return false;
    }
    time_t seconds = (time_t)(args[0].seconds + offset);
    return gmtime_r(&seconds, ret) != NULL;
}
#define PART(name, expression)                                                                              \
    FN(name)                                                                                                \
    {                                                                                                       \
        struct tm tm;                                                                                       \
        return parts(args, count, &tm) ? cel_val_int(expression)                                            \
                                       : FAIL("unknown time zone %.*s", STR_ARG(args[1].string));           \
    }
PART(full_year, tm.tm_year + 1900)
PART(month, tm.tm_mon)
PART(date, tm.tm_mday)
PART(day_of_month, tm.tm_mday - 1)
PART(day_of_week, tm.tm_wday)
PART(day_of_year, tm.tm_yday)
PART(hours, tm.tm_hour)
PART(minutes, tm.tm_min)
PART(seconds, tm.tm_sec)
PART(millis, tm.tm_sec >= 0 ? args[0].nanos / 1000000 : 0)
FN(in_hours) { return cel_val_int(args[0].integer / 3600000000000); }
FN(in_minutes) { return cel_val_int(args[0].integer / 60000000000); }
FN(in_seconds) { return cel_val_int(args[0].integer / 1000000000); }
FN(in_millis) { return cel_val_int(args[0].integer / 1000000 % 1000); }

#define BOTH(name, fn) {"timestamp -> " name "(): int", fn}, {"timestamp -> " name "(string): int", fn}
CEL_ROWS(cel_time_rows) = {
    {"timestamp(timestamp): timestamp", same}, {"timestamp(string): timestamp", timestamp_of_string},
    {"timestamp(int): timestamp", timestamp_of_int}, {"duration(duration): duration", same},
    {"duration(string): duration", duration_of_string}, {"duration(int): duration", duration_of_int},
    {"_+_(timestamp, duration): timestamp", add_time}, {"_+_(duration, timestamp): timestamp", add_time},
    {"_-_(timestamp, duration): timestamp", sub_time}, {"_-_(timestamp, timestamp): duration", between},
    BOTH("getFullYear", full_year), BOTH("getMonth", month), BOTH("getDate", date), BOTH("getDayOfMonth", day_of_month),
    BOTH("getDayOfWeek", day_of_week), BOTH("getDayOfYear", day_of_year), BOTH("getHours", hours), BOTH("getMinutes", minutes),
    BOTH("getSeconds", seconds), BOTH("getMilliseconds", millis), {"duration -> getHours(): int", in_hours},
    {"duration -> getMinutes(): int", in_minutes}, {"duration -> getSeconds(): int", in_seconds},
    {"duration -> getMilliseconds(): int", in_millis}, {NULL, NULL},
};
