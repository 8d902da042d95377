#include "api/age.h"

#include "schema/timestamp.h"

static struct str two_units(struct arena *arena, int64_t first, const char *unit, int64_t second, const char *small)
{
    return second == 0 ? arena_printf(arena, "%lld%s", (long long)first, unit)
                       : arena_printf(arena, "%lld%s%lld%s", (long long)first, unit, (long long)second, small);
}

struct str human_duration(struct arena *arena, int64_t nanos)
{
    int64_t seconds = nanos / 1000000000, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

    if (seconds < -1) {
        return STR("<invalid>");
    }
    if (seconds < 120) {
        return two_units(arena, seconds < 0 ? 0 : seconds, "s", 0, "");
    }
    if (minutes < 10) {
        return two_units(arena, minutes, "m", seconds % 60, "s");
    }
    if (hours < 3) {
        return two_units(arena, minutes, "m", 0, "");
    }
    if (hours < 8) {
        return two_units(arena, hours, "h", minutes % 60, "m");
    }
    if (hours < 48) {
        return two_units(arena, hours, "h", 0, "");
    }
    if (days < 8) {
        return two_units(arena, days, "d", hours % 24, "h");
    }
    if (days < 2 * 365) {
        return two_units(arena, days, "d", 0, "");
    }
    return two_units(arena, days / 365, "y", days < 8 * 365 ? days % 365 : 0, "d");
}

struct str human_age(struct arena *arena, struct timestamp then, struct timestamp now)
{
    return then.is_set ? human_duration(arena, timestamp_nanos(now) - timestamp_nanos(then)) : STR("<unknown>");
}
