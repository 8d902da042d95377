#include "base/duration.h"

#include "base/env.h"

#include <stdio.h>

/* `value` units of 10^-digits as a decimal without trailing zeros. */
static int add_decimal(char *out, size_t size, uint64_t whole, uint64_t fraction, int digits)
{
    int n = snprintf(out, size, "%llu", (unsigned long long)whole);

    if (fraction != 0) {
        n += snprintf(out + n, size - (size_t)n, ".%0*llu", digits, (unsigned long long)fraction);
        while (out[n - 1] == '0') {
            n--;
        }
    }
    return n;
}

struct str duration_format(struct arena *arena, int64_t nanos)
{
    char text[64];
    uint64_t left = nanos < 0 ? -(uint64_t)nanos : (uint64_t)nanos;
    int n = 0;

    if (nanos == 0) {
        return STR("0s");
    }
    if (nanos < 0) {
        text[n++] = '-';
    }
    if (left < (uint64_t)ENV_SECOND) {
        uint64_t unit = left < 1000 ? 1 : left < 1000000 ? 1000 : 1000000;
        int digits = left < 1000 ? 0 : left < 1000000 ? 3 : 6;

        n += add_decimal(text + n, sizeof(text) - (size_t)n, left / unit, left % unit, digits);
        return arena_printf(arena, "%.*s%s", n, text, unit == 1 ? "ns" : unit == 1000 ? "\302\265s" : "ms");
    }
    uint64_t seconds = left / (uint64_t)ENV_SECOND;

    if (seconds >= 3600) {
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%lluh", (unsigned long long)(seconds / 3600));
    }
    if (seconds >= 60) {
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%llum", (unsigned long long)(seconds / 60 % 60));
    }
    n += add_decimal(text + n, sizeof(text) - (size_t)n, seconds % 60, left % (uint64_t)ENV_SECOND, 9);
    return arena_printf(arena, "%.*ss", n, text);
}

static bool take_unit(struct str *rest, int64_t *ret)
{
    static const struct {
        struct str name;
        int64_t nanos;
    } units[] = {
        {STR_INIT("ns"), 1},
        {STR_INIT("us"), 1000},
        {STR_INIT("\302\265s"), 1000},
        {STR_INIT("\316\274s"), 1000},
        {STR_INIT("ms"), 1000000},
        {STR_INIT("s"), ENV_SECOND},
        {STR_INIT("m"), (int64_t)60 * ENV_SECOND},
        {STR_INIT("h"), (int64_t)3600 * ENV_SECOND},
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (str_has_prefix(*rest, units[i].name)) {
            *rest = str_from(*rest, units[i].name.n);
            *ret = units[i].nanos;
            return true;
        }
    }
    return false;
}

static bool take_char(struct str *rest, char c)
{
    if (rest->n == 0 || rest->p[0] != c) {
        return false;
    }
    *rest = str_from(*rest, 1);
    return true;
}

static bool take_digit(struct str *rest, int *ret)
{
    if (rest->n == 0 || rest->p[0] < '0' || rest->p[0] > '9') {
        return false;
    }
    *ret = rest->p[0] - '0';
    *rest = str_from(*rest, 1);
    return true;
}

/* One "1.5h": a number and its unit. */
static bool take_part(struct str *rest, int64_t *total)
{
    int64_t whole = 0, unit;
    double fraction = 0, scale = 1;
    bool some = false;
    int digit;

    for (; take_digit(rest, &digit); some = true) {
        if (__builtin_mul_overflow(whole, (int64_t)10, &whole) || __builtin_add_overflow(whole, digit, &whole)) {
            return false;
        }
    }
    if (take_char(rest, '.')) {
        for (; take_digit(rest, &digit); some = true) {
            scale /= 10;
            fraction += digit * scale;
        }
    }
    if (!some || !take_unit(rest, &unit) || __builtin_mul_overflow(whole, unit, &whole) ||
        __builtin_add_overflow(*total, whole, total)) {
        return false;
    }
    return !__builtin_add_overflow(*total, (int64_t)(fraction * (double)unit + 1e-6), total);
}

bool duration_parse(struct str text, int64_t *ret_nanos)
{
    bool negative = take_char(&text, '-');
    int64_t total = 0;

    if (!negative) {
        take_char(&text, '+');
    }
    if (str_is(text, "0")) {
        *ret_nanos = 0;
        return true;
    }
    if (text.n == 0) {
        return false;
    }
    while (text.n != 0) {
        if (!take_part(&text, &total)) {
            return false;
        }
    }
    *ret_nanos = negative ? -total : total;
    return true;
}
