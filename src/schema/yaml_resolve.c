#include "schema/yaml_node.h"

#include "schema/json_lexer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const struct {
    const char *word;
    enum yaml_type type;
    bool boolean;
} words[] = {
    {"y", YAML_BOOL, true},      {"Y", YAML_BOOL, true},      {"yes", YAML_BOOL, true},    {"Yes", YAML_BOOL, true},
    {"YES", YAML_BOOL, true},    {"true", YAML_BOOL, true},   {"True", YAML_BOOL, true},   {"TRUE", YAML_BOOL, true},
    {"on", YAML_BOOL, true},     {"On", YAML_BOOL, true},     {"ON", YAML_BOOL, true},     {"n", YAML_BOOL, false},
    {"N", YAML_BOOL, false},     {"no", YAML_BOOL, false},    {"No", YAML_BOOL, false},    {"NO", YAML_BOOL, false},
    {"false", YAML_BOOL, false}, {"False", YAML_BOOL, false}, {"FALSE", YAML_BOOL, false}, {"off", YAML_BOOL, false},
    {"Off", YAML_BOOL, false},   {"OFF", YAML_BOOL, false},   {"", YAML_NULL, false},      {"~", YAML_NULL, false},
    {"null", YAML_NULL, false},  {"Null", YAML_NULL, false},  {"NULL", YAML_NULL, false},
};

static const struct {
    const char *word;
    double number;
} numbers[] = {
    {".nan", NAN},       {".NaN", NAN},       {".NAN", NAN},       {".inf", INFINITY},   {".Inf", INFINITY},
    {".INF", INFINITY},  {"+.inf", INFINITY}, {"+.Inf", INFINITY}, {"+.INF", INFINITY},  {"-.inf", -INFINITY},
    {"-.Inf", -INFINITY}, {"-.INF", -INFINITY},
};

/* Digits in a base, all of them, without overflow. */
static bool parse_magnitude(struct str digits, unsigned base, uint64_t *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];
        unsigned digit = is_digit(c) ? (unsigned)(c - '0') : (c | 0x20) >= 'a' && (c | 0x20) <= 'f'
                                                                 ? (unsigned)((c | 0x20) - 'a' + 10)
                                                                 : 99;

        if (digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value)) {
            return false;
        }
    }
    *ret = value;
    return digits.n > 0;
}

static bool signed_of(uint64_t magnitude, bool negative, bool has_sign, struct yaml_scalar *ret)
{
    if (magnitude <= (uint64_t)INT64_MAX + negative) {
        ret->type = YAML_INT;
        ret->integer = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
        return true;
    }
    ret->type = YAML_UINT;
    ret->big = magnitude;
    return !has_sign; /* Go's ParseUint takes no sign */
}

/* An integer with Go's base prefixes (0x, 0o, 0b, 0); the text has no underscores any more. */
static bool parse_integer(struct str text, struct yaml_scalar *ret)
{
    bool has_sign = text.n > 0 && (text.p[0] == '+' || text.p[0] == '-');
    struct str digits = has_sign ? str_from(text, 1) : text;
    bool negative = has_sign && text.p[0] == '-';
    unsigned base = 10;
    uint64_t magnitude;

    if (digits.n > 1 && digits.p[0] == '0') {
        char mark = digits.p[1] | 0x20;

        base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
        digits = str_from(digits, digits.n > 2 && (mark == 'x' || mark == 'o' || mark == 'b') ? 2 : 1);
    }
    if (parse_magnitude(digits, base, &magnitude)) {
        return signed_of(magnitude, negative, has_sign, ret);
    }
    if (str_has_prefix(text, STR("0b")) && text.n > 3 && (text.p[2] == '-' || text.p[2] == '+') &&
        parse_magnitude(str_from(text, 3), 2, &magnitude)) {
        return signed_of(magnitude, text.p[2] == '-', true, ret); /* go-yaml takes the sign there, too */
    }
    return false;
}

static size_t skip_digits(struct str text, size_t at)
{
    while (at < text.n && is_digit(text.p[at])) {
        at++;
    }
    return at;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?, and in a double's range */
static bool parse_float(struct str text, struct yaml_scalar *ret)
{
    size_t at = text.n > 0 && (text.p[0] == '+' || text.p[0] == '-') ? 1 : 0;
    size_t whole = skip_digits(text, at);
    bool any = whole > at;

    at = whole;
    if (at < text.n && text.p[at] == '.') {
        size_t fraction = skip_digits(text, at + 1);

        if (!any && fraction == at + 1) {
            return false;
        }
        any = true;
        at = fraction;
    }
    if (!any) {
        return false;
    }
    if (at < text.n && (text.p[at] | 0x20) == 'e') {
        size_t digits = at + 1 < text.n && (text.p[at + 1] == '+' || text.p[at + 1] == '-') ? at + 2 : at + 1;

        at = skip_digits(text, digits);
        if (at == digits) {
            return false;
        }
    }
    ret->type = YAML_FLOAT;
    ret->number = at == text.n ? json_to_double(text) : INFINITY;
    return !isinf(ret->number);
}

/* One or two digits. */
static bool take_number(struct str *text, unsigned *ret)
{
    size_t digits = text->n > 0 && is_digit(text->p[0]) ? (text->n > 1 && is_digit(text->p[1]) ? 2 : 1) : 0;

    *ret = 0;
    for (size_t i = 0; i < digits; i++) {
        *ret = *ret * 10 + (unsigned)(text->p[i] - '0');
    }
    *text = str_from(*text, digits);
    return digits > 0;
}

static bool take_char(struct str *text, char c)
{
    if (text->n == 0 || text->p[0] != c) {
        return false;
    }
    *text = str_from(*text, 1);
    return true;
}

static unsigned days_in(unsigned year, unsigned month)
{
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 ? 28 + leap : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/* "Z" or an offset such as +01:00 */
static bool is_zone(struct str text)
{
    if (str_is(text, "Z")) {
        return true;
    }
    return text.n == 6 && (text.p[0] == '+' || text.p[0] == '-') && is_digit(text.p[1]) && is_digit(text.p[2]) &&
           text.p[3] == ':' && is_digit(text.p[4]) && is_digit(text.p[5]) &&
           (text.p[1] - '0') * 10 + text.p[2] - '0' <= 24 && text.p[4] <= '6' && (text.p[4] < '6' || text.p[5] == '0');
}

/* The forms of dates that go-yaml knows: a date; with T or t, a time and a zone; with a space, a time without one. */
static bool is_timestamp(struct str text)
{
    unsigned year = 0, month, day, hour, minute, second;

    if (skip_digits(text, 0) != 4 || text.n < 5 || text.p[4] != '-') {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        year = year * 10 + (unsigned)(text.p[i] - '0');
    }
    text = str_from(text, 5);
    if (!take_number(&text, &month) || !take_char(&text, '-') || !take_number(&text, &day) || month < 1 || month > 12 ||
        day < 1 || day > days_in(year, month)) {
        return false;
    }
    if (text.n == 0) {
        return true;
    }
    char separator = text.p[0];

    text = str_from(text, 1);
    if ((separator != 'T' && separator != 't' && separator != ' ') || !take_number(&text, &hour) || hour > 23 ||
        !take_char(&text, ':') || !take_number(&text, &minute) || minute > 59 || !take_char(&text, ':') ||
        !take_number(&text, &second) || second > 59) {
        return false;
    }
    if (text.n > 1 && (text.p[0] == '.' || text.p[0] == ',') && is_digit(text.p[1])) {
        text = str_from(text, skip_digits(text, 1));
    }
    return separator == ' ' ? text.n == 0 : is_zone(text);
}

static bool resolve_word(struct str text, struct yaml_scalar *ret)
{
    for (size_t i = 0; text.n <= 5 && i < COUNT_OF(words); i++) {
        if (str_is(text, words[i].word)) {
            ret->type = words[i].type;
            ret->boolean = words[i].boolean;
            return true;
        }
    }
    for (size_t i = 0; text.n <= 5 && i < COUNT_OF(numbers); i++) {
        if (str_is(text, numbers[i].word)) {
            ret->type = YAML_FLOAT;
            ret->number = numbers[i].number;
            return true;
        }
    }
    return false;
}

struct yaml_scalar yaml_resolve(struct str text)
{
    struct yaml_scalar scalar = {.type = YAML_STRING};
    char first = text.n > 0 ? text.p[0] : '\0';
    char plain[512];
    size_t n = 0;

    if (resolve_word(text, &scalar)) {
        return scalar;
    }
    if (first == '.') {
        return parse_float(text, &scalar) ? scalar : (struct yaml_scalar){.type = YAML_STRING};
    }
    if (!is_digit(first) && first != '+' && first != '-') {
        return scalar;
    }
    if (is_timestamp(text)) {
        scalar.type = YAML_TIMESTAMP;
        return scalar;
    }
    for (size_t i = 0; i < text.n && n < sizeof(plain); i++) {
        if (text.p[i] != '_') {
            plain[n++] = text.p[i];
        }
    }
    struct str number = {plain, n};

    if (n < sizeof(plain) && (parse_integer(number, &scalar) || parse_float(number, &scalar))) {
        return scalar;
    }
    return (struct yaml_scalar){.type = YAML_STRING};
}

void yaml_add_float(struct buf *out, double number, bool single)
{
    char text[40];
    int precision = 0;

    if (isnan(number) || isinf(number)) {
        buf_add_str(out, isnan(number) ? STR(".nan") : number > 0 ? STR(".inf") : STR("-.inf"));
        return;
    }
    do {
        snprintf(text, sizeof(text), "%.*e", precision, number);
    } while ((single ? (double)strtof(text, NULL) != (double)(float)number : strtod(text, NULL) != number) &&
             ++precision < 17);
    char *mark = strchr(text, 'e');
    int exponent = atoi(mark + 1);

    if (exponent >= -4 && exponent < 6) {
        buf_printf(out, "%.*f", precision > exponent ? precision - exponent : 0, number);
    } else {
        buf_add_str(out, str_of(text));
    }
}
