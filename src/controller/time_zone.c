#include "controller/time_zone.h"

#include "base/arena.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DATABASE "/usr/share/zoneinfo"

/* Names go into a path. */
static bool is_name(struct str zone)
{
    for (size_t i = 0; i < zone.n; i++) {
        char c = zone.p[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!is_word && c != '_' && c != '-' && c != '+' && c != '/') {
            return false;
        }
    }
    return zone.n > 0 && zone.p[0] != '/';
}

/* The C library knows zones by the environment alone: it is set for the one question. */
static int32_t ask(const char *zone, int64_t seconds)
{
    time_t time = (time_t)seconds;
    struct tm local = {0};

    setenv("TZ", zone, 1);
    tzset();
    localtime_r(&time, &local);
    unsetenv("TZ");
    tzset();
    return (int32_t)local.tm_gmtoff;
}

bool time_zone_offset(struct str zone, int64_t seconds, int32_t *ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    *ret = 0;
    if (zone.n == 0 || str_is(zone, "UTC") || str_is(zone, "Etc/UTC")) {
        return true;
    }
    if (!is_name(zone) || access(arena_printf(arena, DATABASE "/%.*s", STR_ARG(zone)).p, R_OK) != 0) {
        return false;
    }
    *ret = ask(arena_printf(arena, ":%.*s", STR_ARG(zone)).p, seconds);
    return true;
}
