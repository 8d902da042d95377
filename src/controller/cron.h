/* Cron schedules: "30 9 * * MON-FRI", "@hourly". As stock reads them. */
#ifndef CONTROLLER_CRON_H
#define CONTROLLER_CRON_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* A bit for each value that matches. */
struct cron {
    uint64_t minutes, hours, days, months, weekdays;
    bool any_day, any_weekday; /* they were "*": then the other one alone decides */
    int64_t every;             /* seconds, of "@every 5m"; 0: by the clock */
};

/* False when it is none; api/validation/cron.h says what is wrong. */
bool cron_parse(struct str text, struct cron *ret);
/* The first moment after `after` (seconds since 1970) that matches in that zone (time_zone.h); 0 when there is none
 * within five years. */
int64_t cron_next(const struct cron *cron, struct str zone, int64_t after);

#endif
