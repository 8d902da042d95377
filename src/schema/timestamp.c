#include "schema/timestamp.h"

#include "base/env.h"

#include <stdio.h>
#include <string.h>

enum { SECOND_NANOS = 1000000000 };

/* Days since 1970-01-01 of a date of the Gregorian calendar, and back: counting years from March puts the leap day
 * last, so that months have a closed form. */
int64_t timestamp_days(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static void date_of(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;

    *ret_day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
    *ret_year = year_of_era + era * 400 + (*ret_month <= 2);
}

static bool take_number(struct str *rest, unsigned digits, int *ret)
{
    if (rest->n < digits) {
        return false;
    }
    *ret = 0;
    for (unsigned i = 0; i < digits; i++) {
        if (rest->p[i] < '0' || rest->p[i] > '9') {
            return false;
        }
        *ret = *ret * 10 + (rest->p[i] - '0');
    }
    *rest = str_from(*rest, digits);
    return true;
}

static bool take_char(struct str *rest, char c)
{
    if (rest->n == 0 || rest->p[0] != c) {
        return false;
    }
    *rest = str_from(*rest, 1);
    return true;
}

static int days_in_month(int year, int month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

static bool take_fraction(struct str *rest, int32_t *ret_nanos)
{
    int32_t scale = SECOND_NANOS;

    *ret_nanos = 0;
    if (!take_char(rest, '.') && !take_char(rest, ',')) {
        return true;
    }
    size_t digits = 0;

    for (int digit; take_number(rest, 1, &digit); digits++) {
        scale /= 10;
        *ret_nanos += digit * scale;
    }
    return digits > 0;
}

static bool take_offset(struct str *rest, int *ret_seconds)
{
    int hours, minutes;

    *ret_seconds = 0;
    if (take_char(rest, 'Z')) {
        return true;
    }
    bool west = rest->n != 0 && rest->p[0] == '-';

    if (!west && !(rest->n != 0 && rest->p[0] == '+')) {
        return false;
    }
    *rest = str_from(*rest, 1);
    if (!take_number(rest, 2, &hours) || !take_char(rest, ':') || !take_number(rest, 2, &minutes) || hours > 24 ||
        minutes > 60) {
        return false;
    }
    *ret_seconds = (hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

bool timestamp_parse(struct str text, struct timestamp *ret)
{
    int year, month, day, hour, minute, second, offset;
    int32_t nanos;

    if (!take_number(&text, 4, &year) || !take_char(&text, '-') || !take_number(&text, 2, &month) ||
        !take_char(&text, '-') || !take_number(&text, 2, &day) || !take_char(&text, 'T') ||
        !take_number(&text, 2, &hour) || !take_char(&text, ':') || !take_number(&text, 2, &minute) ||
        !take_char(&text, ':') || !take_number(&text, 2, &second) || !take_fraction(&text, &nanos) ||
        !take_offset(&text, &offset) || text.n != 0) {
        return false;
    }
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || hour > 23 || minute > 59 ||
        second > 59) {
        return false;
    }
    *ret = (struct timestamp){
        .seconds = timestamp_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset,
        .nanos = nanos,
        .is_set = true,
    };
    return true;
}

/* Which part of a time that has the right form is not a time's. */
static const char *out_of_range(struct str text)
{
    int month = 0, hour = 0, minute = 0, second = 0;
    struct str at = str_from(text, 5);

    take_number(&at, 2, &month);
    at = str_from(text, 11);
    take_number(&at, 2, &hour);
    at = str_from(text, 14);
    take_number(&at, 2, &minute);
    at = str_from(text, 17);
    take_number(&at, 2, &second);
    return month < 1 || month > 12 ? "month" : hour > 23 ? "hour" : minute > 59 ? "minute" : second > 59 ? "second"
                                                                                                         : "day";
}

/* One element of Go's layout taken off the text. */
static bool take_element(struct str *rest, const char *element)
{
    int number;
    int32_t nanos;

    switch (element[0]) {
    case '.':
        for (unsigned i = 1; i <= 6; i++) {
            if (i >= rest->n || rest->p[i] < '0' || rest->p[i] > '9') {
                return false;
            }
        }
        *rest = str_from(*rest, 7);
        return true;
    case 'Z':
        return take_offset(rest, &number);
    case '-':
    case ':':
    case 'T':
        return take_char(rest, element[0]);
    default:
        if (!take_number(rest, element[0] == '2' ? 4 : 2, &number)) {
            return false;
        }
        return element[1] != '5' || element[0] != '0' || take_fraction(rest, &nanos);
    }
}

struct str timestamp_problem(struct arena *arena, struct str text, bool micro)
{
    static const char *const elements[] = {"2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05", ".000000",
                                           "Z07:00"};
    const char *layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
    struct str rest = text;
    struct timestamp time;
    int number;

    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
        struct str before = rest;

        if (elements[i][0] == '.' && !micro) {
            continue;
        }
        /* with a fraction in the layout, the seconds do not take one */
        if (!(micro && i == 10 ? take_number(&rest, 2, &number) : take_element(&rest, elements[i]))) {
            return arena_printf(arena, "parsing time \"%.*s\" as \"%s\": cannot parse \"%.*s\" as \"%s\"",
                                STR_ARG(text), layout, STR_ARG(before), elements[i]);
        }
    }
    if (rest.n != 0) {
        return arena_printf(arena, "parsing time \"%.*s\": extra text: \"%.*s\"", STR_ARG(text), STR_ARG(rest));
    }
    if (!timestamp_parse(text, &time)) {
        return arena_printf(arena, "parsing time \"%.*s\": %s out of range", STR_ARG(text), out_of_range(text));
    }
    return (struct str){NULL, 0};
}

bool timestamp_parse_micro(struct str text, struct timestamp *ret)
{
    size_t at = sizeof("2006-01-02T15:04:05") - 1;

    if (text.n <= at || text.p[at] != '.') {
        return false;
    }
    size_t end = ++at;

    while (end < text.n && text.p[end] >= '0' && text.p[end] <= '9') {
        end++;
    }
    return end - at == 6 && timestamp_parse(text, ret);
}

/* Exactly `digits` digits, and what stands after them. */
static char *put_number(char *out, int64_t number, unsigned digits, char after)
{
    for (unsigned i = digits; i-- > 0; number /= 10) {
        out[i] = (char)('0' + number % 10);
    }
    out[digits] = after;
    return out + digits + 1;
}

size_t timestamp_write(char *out, struct timestamp time, unsigned digits)
{
    int64_t days = time.seconds / 86400, left = time.seconds % 86400, year;
    int month, day;
    char *at = out;

    if (left < 0) {
        left += 86400;
        days--;
    }
    date_of(days, &year, &month, &day);
    if (year >= 0 && year <= 9999) {
        at = put_number(at, year, 4, '-');
    } else {
        at += snprintf(at, TIMESTAMP_TEXT, "%04lld-", (long long)year);
    }
    at = put_number(at, month, 2, '-');
    at = put_number(at, day, 2, 'T');
    at = put_number(at, left / 3600, 2, ':');
    at = put_number(at, left / 60 % 60, 2, ':');
    at = put_number(at, left % 60, 2, 'Z');
    if (digits != 0) {
        int32_t fraction = time.nanos;

        for (unsigned i = digits; i < 9; i++) {
            fraction /= 10;
        }
        at[-1] = '.';
        at = put_number(at, fraction, digits, 'Z');
    }
    *at = '\0';
    return (size_t)(at - out);
}

struct str timestamp_format(struct arena *arena, struct timestamp time)
{
    char text[TIMESTAMP_TEXT];

    return arena_str(arena, (struct str){text, timestamp_write(text, time, 0)});
}

struct str timestamp_format_micro(struct arena *arena, struct timestamp time)
{
    char text[TIMESTAMP_TEXT];

    return arena_str(arena, (struct str){text, timestamp_write(text, time, 6)});
}

struct timestamp timestamp_of_nanos(int64_t nanos)
{
    struct timestamp time = {.seconds = nanos / SECOND_NANOS, .nanos = (int32_t)(nanos % SECOND_NANOS), .is_set = true};

    if (time.nanos < 0) {
        time.nanos += SECOND_NANOS;
        time.seconds--;
    }
    return time;
}

int64_t timestamp_nanos(struct timestamp time)
{
    return time.seconds * SECOND_NANOS + time.nanos;
}

struct timestamp timestamp_now(void)
{
    struct timestamp time = timestamp_of_nanos(env_wall());

    time.nanos = 0;
    return time;
}

struct timestamp timestamp_now_micro(void)
{
    struct timestamp time = timestamp_of_nanos(env_wall());

    time.nanos -= time.nanos % 1000;
    return time;
}

int timestamp_cmp(struct timestamp a, struct timestamp b)
{
    if (!a.is_set || !b.is_set) {
        return (int)a.is_set - (int)b.is_set;
    }
    return a.seconds != b.seconds ? (a.seconds > b.seconds) - (a.seconds < b.seconds)
                                  : (a.nanos > b.nanos) - (a.nanos < b.nanos);
}
