#include "net/http_date.h"

#include "base/env.h"

#include <stdio.h>
#include <time.h>

struct str http_date(int64_t wall)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    static _Thread_local char text[64];
    static _Thread_local time_t written;
    time_t now = (time_t)(wall / ENV_SECOND);

    if (now != written || text[0] == '\0') {
        struct tm parts;

        gmtime_r(&now, &parts);
        snprintf(text, sizeof(text), "%s, %02d %s %04d %02d:%02d:%02d GMT", days[parts.tm_wday], parts.tm_mday,
                 months[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
        written = now;
    }
    return str_of(text);
}
