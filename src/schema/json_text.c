/* The writing half of json_lexer.h, and the conversions of numbers and UTF-8. */
#include "schema/json_lexer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned utf8_decode(struct str s, size_t at, uint32_t *ret)
{
    const unsigned char *p = (const unsigned char *)s.p + at;
    size_t left = s.n - at;
    uint32_t rune;

    if (left == 0) {
        return 0;
    }
    if (p[0] < 0x80) {
        if (ret != NULL) {
            *ret = p[0];
        }
        return 1;
    }
    unsigned length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;

    if (p[0] < 0xc2 || p[0] > 0xf4 || left < length) {
        return 0;
    }
    rune = p[0] & (0xffu >> (length + 1));
    for (unsigned i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
        rune = rune << 6 | (p[i] & 0x3f);
    }
    if ((length == 3 && (rune < 0x800 || (rune >= 0xd800 && rune < 0xe000))) ||
        (length == 4 && (rune < 0x10000 || rune > 0x10ffff))) {
        return 0;
    }
    if (ret != NULL) {
        *ret = rune;
    }
    return length;
}

unsigned utf8_encode(uint32_t rune, char *out)
{
    if (rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000)) {
        rune = 0xfffd;
    }
    if (rune < 0x80) {
        out[0] = (char)rune;
        return 1;
    }
    if (rune < 0x800) {
        out[0] = (char)(0xc0 | rune >> 6);
        out[1] = (char)(0x80 | (rune & 0x3f));
        return 2;
    }
    if (rune < 0x10000) {
        out[0] = (char)(0xe0 | rune >> 12);
        out[1] = (char)(0x80 | (rune >> 6 & 0x3f));
        out[2] = (char)(0x80 | (rune & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | rune >> 18);
    out[1] = (char)(0x80 | (rune >> 12 & 0x3f));
    out[2] = (char)(0x80 | (rune >> 6 & 0x3f));
    out[3] = (char)(0x80 | (rune & 0x3f));
    return 4;
}

double json_to_double(struct str number)
{
    char text[64];

    /* No program of c8s calls setlocale(), so strtod reads a point. A double is settled well before 63 digits when
     * the rest is given as exponent; longer literals go through the heap. */
    if (number.n < sizeof(text)) {
        memcpy(text, number.p, number.n);
        text[number.n] = '\0';
        return strtod(text, NULL);
    }
    struct buf copy = {0};

    buf_add_str(&copy, number);
    double value = strtod(buf_cstr(&copy), NULL);

    buf_done(&copy);
    return value;
}

static void add_escaped_byte(struct buf *out, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *found = c != '\0' ? strchr(from, c) : NULL;

    if (found != NULL) {
        buf_add_char(out, '\\');
        buf_add_char(out, to[found - from]);
    } else {
        buf_printf(out, "\\u%04x", c);
    }
}

enum { STAYS = 0, ESCAPED_IN_HTML = 1, SPECIAL = 2 };

/* What an encoder does with a byte: nearly always nothing. */
static const unsigned char byte_class[256] = {
    [0 ... 0x1f] = SPECIAL, ['"'] = SPECIAL,         ['\\'] = SPECIAL,        [0x80 ... 0xff] = SPECIAL,
    ['<'] = ESCAPED_IN_HTML, ['>'] = ESCAPED_IN_HTML, ['&'] = ESCAPED_IN_HTML,
};

static void add_string(struct buf *out, struct str s, bool html)
{
    size_t from = 0, at = 0;
    unsigned char most = html ? STAYS : ESCAPED_IN_HTML; /* of what is copied as it is */

    buf_add_char(out, '"');
    while (at < s.n) {
        unsigned char c = (unsigned char)s.p[at];

        if (byte_class[c] <= most) {
            at++;
            continue;
        }
        uint32_t rune = c;
        unsigned length = c < 0x80 ? 1 : utf8_decode(s, at, &rune);

        if (c >= 0x80 && length != 0 && rune != 0x2028 && rune != 0x2029) {
            at += length;
            continue;
        }
        buf_add(out, s.p + from, at - from);
        if (c < 0x80) {
            add_escaped_byte(out, c);
        } else if (length == 0) {
            buf_add_str(out, STR("\\ufffd"));
            length = 1;
        } else {
            buf_printf(out, "\\u%04x", (unsigned)rune);
        }
        at += length;
        from = at;
    }
    buf_add(out, s.p + from, s.n - from);
    buf_add_char(out, '"');
}

void json_add_string(struct buf *out, struct str s)
{
    add_string(out, s, true);
}

void json_add_string_plain(struct buf *out, struct str s)
{
    add_string(out, s, false);
}

void json_add_double(struct buf *out, double value)
{
    char text[40];

    /* The shortest digits that read back as the same value. */
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*e", digits - 1, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    double magnitude = fabs(value);

    if (magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21)) {
        /* Go writes e-09 as e-9, and e+21. */
        char *e = strchr(text, 'e');

        if (e[1] == '-' && e[2] == '0') {
            memmove(e + 2, e + 3, strlen(e + 3) + 1);
        }
        buf_add_str(out, str_of(text));
        return;
    }
    char digits[24];
    size_t n = 0;

    for (const char *p = text; *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9') {
            digits[n++] = *p;
        }
    }
    int exponent = atoi(strchr(text, 'e') + 1);
    int point = exponent + 1; /* digits before the point */

    if (signbit(value)) {
        buf_add_char(out, '-');
    }
    if (point <= 0) {
        buf_add_str(out, STR("0."));
        for (int i = point; i < 0; i++) {
            buf_add_char(out, '0');
        }
        buf_add(out, digits, n);
        return;
    }
    for (int i = 0; i < point || (size_t)i < n; i++) {
        if (i == point) {
            buf_add_char(out, '.');
        }
        buf_add_char(out, (size_t)i < n ? digits[i] : '0');
    }
}
