#include "schema/quantity.h"

#include "base/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* mantissa * 10^exponent. */
struct amount {
    __int128 mantissa;
    int32_t exponent;
    enum quantity_format format;
};

enum { SCALE_NANO = -9, EXPONENT_MAX = 1 << 20 };

/* The parts of the text, in the order they are written. */
struct parts {
    bool negative;
    struct str whole, fraction; /* digits; the whole part without leading zeros */
    struct str suffix;
};

static const struct {
    char text[3];
    uint8_t base;
    int8_t exponent;
} suffixes[] = {
    {"n", 10, -9},  {"u", 10, -6},  {"m", 10, -3},  {"", 10, 0},    {"k", 10, 3},   {"M", 10, 6},
    {"G", 10, 9},   {"T", 10, 12},  {"P", 10, 15},  {"E", 10, 18},  {"Ki", 2, 10},  {"Mi", 2, 20},
    {"Gi", 2, 30},  {"Ti", 2, 40},  {"Pi", 2, 50},  {"Ei", 2, 60},
};

static struct str take_while(struct str *rest, const char *set)
{
    size_t n = 0;

    while (n < rest->n && rest->p[n] != '\0' && strchr(set, rest->p[n]) != NULL) {
        n++;
    }
    struct str taken = str_sub(*rest, 0, n);

    *rest = str_from(*rest, n);
    return taken;
}

static bool split(struct str text, struct parts *ret)
{
    static const char digits[] = "0123456789";
    const char *start = NULL;

    *ret = (struct parts){.negative = text.n != 0 && text.p[0] == '-'};
    if (text.n != 0 && (text.p[0] == '-' || text.p[0] == '+')) {
        text = str_from(text, 1);
    }
    if (text.n == 0) {
        return false;
    }
    take_while(&text, "0");
    ret->whole = take_while(&text, digits);
    if (text.n != 0 && text.p[0] == '.') {
        text = str_from(text, 1);
        ret->fraction = take_while(&text, digits);
    }
    start = text.p;
    take_while(&text, "eEinumkKMGTP");
    if (text.n != 0 && (text.p[0] == '-' || text.p[0] == '+')) {
        text = str_from(text, 1);
    }
    take_while(&text, digits);
    ret->suffix = (struct str){start, (size_t)(text.p - start)};
    return text.n == 0;
}

static bool interpret(struct str suffix, enum quantity_format *ret_format, int *ret_base, int32_t *ret_exponent)
{
    int64_t exponent;

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (str_is(suffix, suffixes[i].text)) {
            *ret_format = suffixes[i].base == 2 ? QUANTITY_BINARY_SI : QUANTITY_DECIMAL_SI;
            *ret_base = suffixes[i].base;
            *ret_exponent = suffixes[i].exponent;
            return true;
        }
    }
    if (suffix.n < 2 || (suffix.p[0] != 'e' && suffix.p[0] != 'E')) {
        return false;
    }
    struct str number = str_from(suffix, suffix.p[1] == '+' ? 2 : 1);

    if (!str_to_i64(number, &exponent) || exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX) {
        return false;
    }
    *ret_format = QUANTITY_DECIMAL_EXPONENT;
    *ret_base = 10;
    *ret_exponent = (int32_t)exponent;
    return true;
}

/* The digits of both parts as one number; what is beyond LIMIT_QUANTITY_DIGITS only counts by its place (upwards: a
 * rest that is not zero adds one). Gives the exponent that goes with it. */
static __int128 digits_of(const struct parts *parts, int32_t *ret_exponent)
{
    __int128 value = 0;
    unsigned used = 0;
    bool rest = false;

    *ret_exponent = 0;
    for (size_t i = 0; i < parts->whole.n + parts->fraction.n; i++) {
        bool is_fraction = i >= parts->whole.n;
        char c = is_fraction ? parts->fraction.p[i - parts->whole.n] : parts->whole.p[i];

        if (used < LIMIT_QUANTITY_DIGITS) {
            value = value * 10 + (c - '0');
            used += value != 0;
            *ret_exponent -= is_fraction;
        } else {
            rest = rest || c != '0';
            *ret_exponent += !is_fraction;
        }
    }
    return value + rest;
}

/* Divides rounding away from zero. */
static __int128 divide_up(__int128 value, __int128 by)
{
    __int128 rest = value % by;

    return value / by + (rest > 0) - (rest < 0);
}

static void strip_zeros(struct amount *amount)
{
    if (amount->mantissa == 0) {
        amount->exponent = 0;
        return;
    }
    while (amount->mantissa % 10 == 0) {
        amount->mantissa /= 10;
        amount->exponent++;
    }
}

/* Rounded up to a multiple of 10^exponent. */
static void round_to(struct amount *amount, int32_t exponent)
{
    if (amount->exponent >= exponent) {
        return;
    }
    int32_t places = exponent - amount->exponent;

    for (; places > 30; places--) { /* what is so small is one unit in the end: only its sign counts */
        amount->mantissa = divide_up(amount->mantissa, 10);
    }
    __int128 by = 1;

    for (; places > 0; places--) {
        by *= 10;
    }
    amount->mantissa = divide_up(amount->mantissa, by);
    amount->exponent = exponent;
}

static __int128 power_of_two(int32_t exponent)
{
    return (__int128)1 << exponent;
}

/* Binary amounts are whole numbers unless they have a fraction; they end at 2^63-1. */
static void apply_binary(struct amount *amount, int32_t exponent)
{
    __int128 product;

    if (amount->exponent > 30 ||
        __builtin_mul_overflow(amount->mantissa, power_of_two(exponent), &product)) {
        product = amount->mantissa > 0 ? INT64_MAX : -(__int128)INT64_MAX;
        amount->exponent = 0;
    }
    amount->mantissa = product;
}

static void cap_binary(struct amount *amount)
{
    __int128 value = amount->mantissa;

    for (int32_t i = amount->exponent; i < 0; i++) {
        value /= 10;
    }
    for (int32_t i = 0; i < amount->exponent && value < INT64_MAX && value > -(__int128)INT64_MAX; i++) {
        value *= 10;
    }
    if (value > INT64_MAX || value < -(__int128)INT64_MAX) {
        amount->mantissa = value > 0 ? INT64_MAX : -(__int128)INT64_MAX;
        amount->exponent = 0;
    }
}

/* Whether stock keeps the text as it was written (it takes it for canonical). */
static bool keeps_text(const struct parts *parts, enum quantity_format format, int32_t exponent, __int128 digits)
{
    size_t whole = parts->whole.n != 0 ? parts->whole.n : 1;
    size_t count = whole + parts->fraction.n;

    if (format == QUANTITY_BINARY_SI) {
        return parts->fraction.n == 0 &&
               15 - (int32_t)whole - (int32_t)((float)exponent * 3 / 10) - 1 >= 0 && (digits & 7) != 0;
    }
    int32_t scale = exponent - (int32_t)parts->fraction.n;

    return count <= 18 && scale >= SCALE_NANO && scale % 3 == 0 && parts->whole.n != 0 && digits % 1000 != 0;
}

static const char *parse(struct str text, struct amount *ret, bool *ret_keep)
{
    struct parts parts;
    int base;
    int32_t exponent, scale;
    enum quantity_format format;

    if (!split(text, &parts)) {
        return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    }
    if (!interpret(parts.suffix, &format, &base, &exponent)) {
        return "unable to parse quantity's suffix";
    }
    __int128 digits = digits_of(&parts, &scale);

    *ret_keep = digits != 0 && keeps_text(&parts, format, exponent, digits);
    *ret = (struct amount){.mantissa = parts.negative ? -digits : digits, .exponent = scale, .format = format};
    if (base == 2) {
        apply_binary(ret, exponent);
    } else {
        ret->exponent += exponent;
    }
    round_to(ret, SCALE_NANO);
    if (base == 2) {
        cap_binary(ret);
        if (ret->exponent < 0 && ret->mantissa > 0) {
            struct amount whole = *ret;

            round_to(&whole, 0);
            if (whole.mantissa == 1) {
                ret->format = QUANTITY_DECIMAL_SI; /* between 0 and 1 */
            }
        }
    }
    strip_zeros(ret);
    return NULL;
}

static struct amount amount_of(struct quantity quantity)
{
    struct amount amount;
    bool keep;

    if (quantity.text.n == 0 || parse(str_trim(quantity.text), &amount, &keep) != NULL) {
        return (struct amount){.format = QUANTITY_DECIMAL_SI};
    }
    return amount;
}

static struct str integer_text(char buffer[64], __int128 value)
{
    char *at = buffer + 64;
    bool negative = value < 0;
    unsigned __int128 left = negative ? -(unsigned __int128)value : (unsigned __int128)value;

    do {
        *--at = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left != 0);
    if (negative) {
        *--at = '-';
    }
    return (struct str){at, (size_t)(buffer + 64 - at)};
}

static const char *suffix_text(int base, int32_t exponent)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (suffixes[i].base == base && suffixes[i].exponent == exponent) {
            return suffixes[i].text;
        }
    }
    return "";
}

static struct str decimal_text(struct arena *arena, struct amount amount, enum quantity_format format)
{
    char buffer[64];

    while (amount.exponent % 3 != 0) {
        amount.mantissa *= 10;
        amount.exponent--;
    }
    struct str number = integer_text(buffer, amount.mantissa);

    if (format == QUANTITY_DECIMAL_SI) {
        return arena_printf(arena, "%.*s%s", STR_ARG(number), suffix_text(10, amount.exponent));
    }
    return amount.exponent == 0 ? arena_str(arena, number)
                                : arena_printf(arena, "%.*se%d", STR_ARG(number), (int)amount.exponent);
}

static struct str canonical_text(struct arena *arena, struct amount amount)
{
    strip_zeros(&amount);
    if (amount.mantissa == 0) {
        return STR("0");
    }
    if (amount.format != QUANTITY_BINARY_SI || amount.exponent < 0 || amount.exponent > 30) {
        return decimal_text(arena, amount,
                            amount.format == QUANTITY_BINARY_SI ? QUANTITY_DECIMAL_SI : amount.format);
    }
    __int128 whole = amount.mantissa;

    for (int32_t i = 0; i < amount.exponent && whole < INT64_MAX && whole > INT64_MIN; i++) {
        whole *= 10;
    }
    if (whole > -1024 && whole < 1024) {
        return decimal_text(arena, amount, QUANTITY_DECIMAL_SI);
    }
    char buffer[64];
    int exponent = 0;

    while (whole % 1024 == 0 && exponent < 60) {
        whole /= 1024;
        exponent += 10;
    }
    return arena_printf(arena, "%.*s%s", STR_ARG(integer_text(buffer, whole)),
                        exponent == 0 ? "" : suffix_text(2, exponent));
}

struct status *quantity_parse(struct arena *arena, struct str text, struct quantity *ret)
{
    struct amount amount;
    bool keep;

    text = str_trim(text);
    const char *error = parse(text, &amount, &keep);

    if (error != NULL) {
        return status_new(STATUS_BAD_REQUEST, "%s", error);
    }
    ret->text = keep ? text : canonical_text(arena, amount);
    return NULL;
}

/* Saturated, in units of 10^exponent. */
static int64_t scaled(struct quantity quantity, int32_t exponent)
{
    struct amount amount = amount_of(quantity);

    round_to(&amount, exponent);
    for (; amount.exponent > exponent && amount.mantissa != 0; amount.exponent--) {
        if (amount.mantissa > INT64_MAX || amount.mantissa < INT64_MIN) {
            break;
        }
        amount.mantissa *= 10;
    }
    return amount.mantissa > INT64_MAX ? INT64_MAX : amount.mantissa < INT64_MIN ? INT64_MIN : (int64_t)amount.mantissa;
}

int64_t quantity_value(struct quantity quantity)
{
    return scaled(quantity, 0);
}

int64_t quantity_milli(struct quantity quantity)
{
    return scaled(quantity, -3);
}

double quantity_double(struct quantity quantity)
{
    struct amount amount = amount_of(quantity);

    return (double)amount.mantissa * pow(10, amount.exponent);
}

bool quantity_nano(struct quantity quantity, __int128 *ret)
{
    struct amount amount = amount_of(quantity);

    for (; amount.exponent > SCALE_NANO && amount.mantissa != 0; amount.exponent--) {
        if (__builtin_mul_overflow(amount.mantissa, (__int128)10, &amount.mantissa)) {
            return false;
        }
    }
    *ret = amount.mantissa;
    return true;
}

enum quantity_format quantity_format_of(struct quantity quantity)
{
    return amount_of(quantity).format;
}

static int sign_of(__int128 value)
{
    return (value > 0) - (value < 0);
}

/* Brings both to one exponent as far as they fit; false when one is too large for that. */
static bool align(struct amount *a, struct amount *b)
{
    struct amount *high = a->exponent > b->exponent ? a : b, *low = high == a ? b : a;

    while (high->exponent > low->exponent && high->mantissa != 0) {
        __int128 shifted;

        if (__builtin_mul_overflow(high->mantissa, (__int128)10, &shifted)) {
            return false;
        }
        high->mantissa = shifted;
        high->exponent--;
    }
    high->exponent = low->exponent;
    return true;
}

int quantity_cmp(struct quantity a, struct quantity b)
{
    struct amount left = amount_of(a), right = amount_of(b);

    if (sign_of(left.mantissa) != sign_of(right.mantissa)) {
        return sign_of(left.mantissa) - sign_of(right.mantissa);
    }
    bool left_is_high = left.exponent > right.exponent;

    if (!align(&left, &right)) {
        return left_is_high ? sign_of(left.mantissa) : -sign_of(right.mantissa);
    }
    return (left.mantissa > right.mantissa) - (left.mantissa < right.mantissa);
}

bool quantity_is_zero(struct quantity quantity)
{
    return amount_of(quantity).mantissa == 0;
}

static struct quantity sum(struct arena *arena, struct quantity a, struct quantity b, int sign)
{
    struct amount left = amount_of(a), right = amount_of(b), high = left.exponent > right.exponent ? left : right;
    enum quantity_format format = left.mantissa == 0 ? right.format : left.format;

    right.mantissa *= sign;
    if (!align(&left, &right) || __builtin_add_overflow(left.mantissa, right.mantissa, &left.mantissa)) {
        left = high; /* the other one is lost in its last digit */
    }
    left.format = format;
    return (struct quantity){canonical_text(arena, left)};
}

struct quantity quantity_add(struct arena *arena, struct quantity a, struct quantity b)
{
    return sum(arena, a, b, 1);
}

struct quantity quantity_sub(struct arena *arena, struct quantity a, struct quantity b)
{
    return sum(arena, a, b, -1);
}

struct quantity quantity_of(struct arena *arena, int64_t value, enum quantity_format format)
{
    return (struct quantity){canonical_text(arena, (struct amount){value, 0, format})};
}

struct quantity quantity_of_milli(struct arena *arena, int64_t milli, enum quantity_format format)
{
    return (struct quantity){canonical_text(arena, (struct amount){milli, -3, format})};
}
