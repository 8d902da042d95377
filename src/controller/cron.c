#include "controller/cron.h"

#include "base/flags.h"
#include "controller/time_zone.h"

enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };
/* A schedule that matches nothing, such as the 30th of February, is given up on. */
#define HORIZON_DAYS (5 * 366)

struct bounds {
    int min, max;
    const char *const *names; /* of the values from min on; NULL: numbers only */
};

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const day_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct bounds minute_bounds = {0, 59, NULL}, hour_bounds = {0, 23, NULL}, day_bounds = {1, 31, NULL},
                           month_bounds = {1, 12, month_names}, weekday_bounds = {0, 6, day_names};

static bool value_of(struct str text, const struct bounds *bounds, int *ret)
{
    int64_t number;

    for (int i = 0; bounds->names != NULL && bounds->names[i] != NULL; i++) {
        if (str_eq_nocase(text, str_of(bounds->names[i]))) {
            *ret = bounds->min + i;
            return true;
        }
    }
    if (!str_to_i64(text, &number) || number < bounds->min || number > bounds->max) {
        return false;
    }
    *ret = (int)number;
    return true;
}

/* "*", "5", "1-5", each with "/step". */
static bool add_range(struct str text, const struct bounds *bounds, uint64_t *bits, bool *ret_any)
{
    struct str range, step_text, first_text, last_text;
    int first = bounds->min, last = bounds->max;
    int64_t step = 1;
    bool has_step = str_cut(text, '/', &range, &step_text);
    bool is_any = str_is(range, "*") || str_is(range, "?");

    if (has_step && (!str_to_i64(step_text, &step) || step < 1 || step > bounds->max)) {
        return false;
    }
    if (!is_any) {
        bool has_last = str_cut(range, '-', &first_text, &last_text);

        if (!value_of(first_text, bounds, &first)) {
            return false;
        }
        last = has_step ? bounds->max : first;
        if (has_last && !value_of(last_text, bounds, &last)) {
            return false;
        }
        if (last < first) {
            return false;
        }
    }
    for (int i = first; i <= last; i += (int)step) {
        *bits |= UINT64_C(1) << i;
    }
    *ret_any = *ret_any || (is_any && step == 1);
    return true;
}

static bool add_field(struct str text, const struct bounds *bounds, uint64_t *bits, bool *ret_any)
{
    *ret_any = false;
    for (struct str rest = text, part; str_next(&rest, ',', &part);) {
        if (!add_range(part, bounds, bits, ret_any)) {
            return false;
        }
    }
    return true;
}

static const struct {
    const char *name, *schedule;
} named[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

static bool parse_named(struct str text, struct cron *ret)
{
    struct str every = STR("@every ");
    int64_t nanoseconds;

    for (size_t i = 0; i < COUNT_OF(named); i++) {
        if (str_is(text, named[i].name)) {
            return cron_parse(str_of(named[i].schedule), ret);
        }
    }
    if (!str_has_prefix(text, every) || !duration_parse(str_from(text, every.n), &nanoseconds)) {
        return false;
    }
    ret->every = MAX(nanoseconds / 1000000000, 1);
    return true;
}

bool cron_parse(struct str text, struct cron *ret)
{
    struct str fields[5];
    size_t count = 0;
    bool any;

    *ret = (struct cron){0};
    text = str_trim(text);
    if (text.n > 0 && text.p[0] == '@') {
        return parse_named(text, ret);
    }
    for (struct str rest = text, part; str_next(&rest, ' ', &part);) {
        if (part.n == 0) {
            continue;
        }
        if (count == COUNT_OF(fields)) {
            return false;
        }
        fields[count++] = part;
    }
    return count == COUNT_OF(fields) && add_field(fields[0], &minute_bounds, &ret->minutes, &any) &&
           add_field(fields[1], &hour_bounds, &ret->hours, &any) &&
           add_field(fields[2], &day_bounds, &ret->days, &ret->any_day) &&
           add_field(fields[3], &month_bounds, &ret->months, &any) &&
           add_field(fields[4], &weekday_bounds, &ret->weekdays, &ret->any_weekday);
}

/* Days since 1970 as a date. */
static void date_of(int64_t days, int *ret_month, int *ret_day)
{
    int64_t era_days = days + 719468;
    int64_t era = (era_days >= 0 ? era_days : era_days - 146096) / 146097;
    int64_t of_era = era_days - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t shifted = (5 * of_year + 2) / 153; /* months from March */

    *ret_day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
    *ret_month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
}

static bool has(uint64_t bits, int64_t value)
{
    return (bits >> value & 1) != 0;
}

static bool day_matches(const struct cron *cron, int64_t days)
{
    int month, day;

    date_of(days, &month, &day);
    bool by_day = has(cron->days, day), by_weekday = has(cron->weekdays, ((days + 4) % 7 + 7) % 7);

    if (!has(cron->months, month)) {
        return false;
    }
    return cron->any_day || cron->any_weekday ? by_day && by_weekday : by_day || by_weekday;
}

int64_t cron_next(const struct cron *cron, struct str zone, int64_t after)
{
    if (cron->every > 0) {
        return after + cron->every;
    }
    int64_t at = (after / MINUTE + 1) * MINUTE, end = after + (int64_t)HORIZON_DAYS * DAY;

    while (at < end) {
        int32_t offset;

        if (!time_zone_offset(zone, at, &offset)) {
            return 0;
        }
        int64_t local = at + offset, of_day = local % DAY;

        if (!day_matches(cron, local / DAY)) {
            at += DAY - of_day; /* an hour that the clock skips or repeats is put right by looking again */
        } else if (!has(cron->hours, of_day / HOUR)) {
            at += HOUR - of_day % HOUR;
        } else if (!has(cron->minutes, of_day % HOUR / MINUTE)) {
            at += MINUTE;
        } else {
            return at;
        }
    }
    return 0;
}
