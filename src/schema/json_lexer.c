#include "schema/json_lexer.h"

#include "base/base64.h"
#include "base/limits.h"

#include <stdio.h>
#include <string.h>

void json_begin(struct json_lexer *in, struct str text, struct arena *arena)
{
    *in = (struct json_lexer){.at = text.p, .end = text.p + text.n, .start = text.p, .arena = arena};
    if (text.p == NULL) {
        in->at = in->end = in->start = "";
    }
}

bool json_failed(const struct json_lexer *in)
{
    return in->error.n != 0;
}

void json_fail(struct json_lexer *in, const char *text)
{
    if (!json_failed(in)) {
        in->error = str_of(text);
        in->error_offset = (size_t)(in->at - in->start);
        in->at = in->end;
    }
}

/* The byte as Go quotes a rune in its syntax errors. */
static void quote_byte(unsigned char c, char out[16])
{
    static const char named[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
    const char *found = c != 0 ? strchr(named, c) : NULL;

    if (c == '\'' || c == '\\') {
        snprintf(out, 16, "'\\%c'", c);
    } else if (found != NULL) {
        snprintf(out, 16, "'\\%c'", letters[found - named]);
    } else if (c < 0x20 || c == 0x7f) {
        snprintf(out, 16, "'\\x%02x'", c);
    } else if (c >= 0x80 && c < 0xa1) {
        snprintf(out, 16, "'\\u%04x'", c);
    } else if (c == 0xad) {
        snprintf(out, 16, "'\\u00ad'");
    } else if (c >= 0x80) {
        snprintf(out, 16, "'%c%c'", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
    } else {
        snprintf(out, 16, "'%c'", c);
    }
}

/* Fails because of the byte at in->at, or because the text ends there. */
static bool fail_at(struct json_lexer *in, const char *where)
{
    char quoted[16];

    if (json_failed(in)) {
        return false;
    }
    if (in->at >= in->end) {
        json_fail(in, "unexpected end of JSON input");
        return false;
    }
    quote_byte((unsigned char)*in->at, quoted);
    snprintf(in->error_text, sizeof(in->error_text), "invalid character %s %s", quoted, where);
    json_fail(in, in->error_text);
    return false;
}

static inline void skip_space(struct json_lexer *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\n' || *in->at == '\r' || *in->at == '\t')) {
        in->at++;
    }
}

static const unsigned char kind_of[256] = {
    ['n'] = JSON_NULL,   ['t'] = JSON_BOOL,   ['f'] = JSON_BOOL,   ['-'] = JSON_NUMBER, ['0'] = JSON_NUMBER,
    ['1'] = JSON_NUMBER, ['2'] = JSON_NUMBER, ['3'] = JSON_NUMBER, ['4'] = JSON_NUMBER, ['5'] = JSON_NUMBER,
    ['6'] = JSON_NUMBER, ['7'] = JSON_NUMBER, ['8'] = JSON_NUMBER, ['9'] = JSON_NUMBER, ['"'] = JSON_STRING,
    ['['] = JSON_ARRAY,  ['{'] = JSON_OBJECT,
};

enum json_kind json_peek(struct json_lexer *in)
{
    skip_space(in);
    enum json_kind kind = in->at < in->end ? kind_of[(unsigned char)*in->at] : JSON_INVALID;

    if (kind == JSON_INVALID) {
        fail_at(in, "looking for beginning of value");
    }
    return kind;
}

static bool open_bracket(struct json_lexer *in, char bracket)
{
    skip_space(in);
    if (in->at >= in->end || *in->at != bracket) {
        return fail_at(in, "looking for beginning of value");
    }
    if (in->depth >= LIMIT_DECODE_DEPTH) {
        json_fail(in, "exceeded max depth");
        return false;
    }
    in->at++;
    in->depth++;
    in->first = true;
    return true;
}

bool json_object_start(struct json_lexer *in)
{
    return open_bracket(in, '{');
}

bool json_array_start(struct json_lexer *in)
{
    return open_bracket(in, '[');
}

/* At a separator or closing bracket. True when an element follows. */
static inline bool next_element(struct json_lexer *in, char closing, const char *where)
{
    bool first = in->first;

    skip_space(in);
    in->first = false;
    if (in->at >= in->end) {
        return fail_at(in, "");
    }
    if (*in->at == closing) {
        in->at++;
        in->depth--;
        return false;
    }
    if (first) {
        return true;
    }
    if (*in->at != ',') {
        return fail_at(in, where);
    }
    in->at++;
    skip_space(in);
    return true;
}

bool json_object_next(struct json_lexer *in, struct str *ret_key)
{
    if (!next_element(in, '}', "after object key:value pair")) {
        return false;
    }
    if (in->at >= in->end || *in->at != '"') {
        return fail_at(in, "looking for beginning of object key string");
    }
    if (!json_string(in, ret_key)) {
        return false;
    }
    skip_space(in);
    if (in->at >= in->end || *in->at != ':') {
        return fail_at(in, "after object key");
    }
    in->at++;
    return true;
}

bool json_array_next(struct json_lexer *in)
{
    if (!next_element(in, ']', "after array element")) {
        return false;
    }
    if (in->at < in->end && *in->at == ']') {
        return fail_at(in, "looking for beginning of value");
    }
    return true;
}

/* Bytes that end the run of plain string text: quote, backslash, control, and all of non-ASCII. */
static inline bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static inline const char *plain_run(const char *p, const char *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;

    while (end - p >= 8) {
        uint64_t w;

        memcpy(&w, p, 8);
        uint64_t quote = w ^ ones * '"', slash = w ^ ones * '\\';
        uint64_t stop = ((w - ones * 0x20) | (quote - ones) | (slash - ones) | w) & highs;

        /* A borrow may mark a byte after a real stop only, so a hit is settled byte by byte. */
        if (stop != 0) {
            break;
        }
        p += 8;
    }
    while (p < end && is_plain((unsigned char)*p)) {
        p++;
    }
    return p;
}

static bool take_hex4(struct json_lexer *in, uint32_t *ret)
{
    uint32_t value = 0;

    for (int i = 0; i < 4; i++) {
        int digit = in->at < in->end ? hex_digit(*in->at) : -1;

        if (digit < 0) {
            return fail_at(in, "in \\u hexadecimal character escape");
        }
        value = value << 4 | (uint32_t)digit;
        in->at++;
    }
    *ret = value;
    return true;
}

/* At the byte after a backslash; writes what the escape stands for. */
static bool take_escape(struct json_lexer *in, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = in->at < in->end ? *in->at : '\0';
    const char *found = c != '\0' ? strchr(from, c) : NULL;

    if (found != NULL) {
        in->at++;
        *(*out)++ = to[found - from];
        return true;
    }
    if (c != 'u') {
        return fail_at(in, "in string escape code");
    }
    uint32_t rune, low;

    in->at++;
    if (!take_hex4(in, &rune)) {
        return false;
    }
    if (rune >= 0xd800 && rune < 0xdc00 && in->end - in->at >= 6 && in->at[0] == '\\' && in->at[1] == 'u') {
        const char *before = in->at;

        in->at += 2;
        if (!take_hex4(in, &low)) {
            return false;
        }
        if (low >= 0xdc00 && low < 0xe000) {
            rune = 0x10000 + ((rune - 0xd800) << 10) + (low - 0xdc00);
        } else {
            in->at = before; /* Not a pair: the second escape stands for itself. */
        }
    }
    *out += utf8_encode(rune, *out);
    return true;
}

/* Finds the closing quote. *ret_clean tells whether the text is its own value. */
static bool scan_string(struct json_lexer *in, struct str *ret_raw, bool *ret_clean)
{
    const char *begin = ++in->at;
    const char *p = begin;

    *ret_clean = true;
    for (;;) {
        p = plain_run(p, in->end);
        if (p >= in->end) {
            in->at = in->end;
            return fail_at(in, "");
        }
        unsigned char c = (unsigned char)*p;

        if (c == '"') {
            break;
        }
        if (c == '\\') {
            *ret_clean = false;
            p += p + 1 < in->end ? 2 : 1;
        } else if (c < 0x20) {
            in->at = p;
            return fail_at(in, "in string literal");
        } else {
            unsigned length = utf8_decode((struct str){p, (size_t)(in->end - p)}, 0, NULL);

            *ret_clean = *ret_clean && length != 0;
            p += length != 0 ? length : 1;
        }
    }
    *ret_raw = (struct str){begin, (size_t)(p - begin)};
    in->at = p + 1;
    return true;
}

/* Writes the value of a scanned string to `out`, which has room for 3 bytes for each of its bytes. */
static bool unescape(struct json_lexer *in, struct str raw, char *out, size_t *ret_size)
{
    const char *after = in->at, *end = in->end, *stop = raw.p + raw.n;
    char *begin = out;

    in->at = raw.p;
    while (in->at < stop) {
        if (*in->at == '\\') {
            in->at++;
            if (!take_escape(in, &out)) {
                return false;
            }
            continue;
        }
        unsigned length = utf8_decode((struct str){in->at, (size_t)(stop - in->at)}, 0, NULL);

        if (length == 0) {
            out += utf8_encode(0xfffd, out);
            in->at++;
        } else {
            memcpy(out, in->at, length);
            out += length;
            in->at += length;
        }
    }
    in->at = after;
    in->end = end;
    *ret_size = (size_t)(out - begin);
    return true;
}

bool json_string(struct json_lexer *in, struct str *ret)
{
    struct str raw;
    bool clean;

    skip_space(in);
    if (in->at >= in->end || *in->at != '"') {
        return fail_at(in, "looking for beginning of value");
    }
    if (!scan_string(in, &raw, &clean)) {
        return false;
    }
    if (clean) {
        *ret = raw;
        return true;
    }
    if (in->arena == NULL) {
        /* Only checked, by way of a small window. */
        char window[16], *out;

        const char *after = in->at, *stop = raw.p + raw.n;

        for (in->at = raw.p; in->at < stop;) {
            out = window;
            if (*in->at++ == '\\' && !take_escape(in, &out)) {
                return false;
            }
        }
        in->at = after;
        *ret = raw;
        return true;
    }
    char *out = arena_alloc(in->arena, raw.n * 3);
    size_t size;

    if (!unescape(in, raw, out, &size)) {
        return false;
    }
    *ret = (struct str){out, size};
    return true;
}

static bool take_word(struct json_lexer *in, const char *word)
{
    char where[48];

    for (const char *p = word; *p != '\0'; p++, in->at++) {
        if (in->at >= in->end || *in->at != *p) {
            snprintf(where, sizeof(where), "in literal %s (expecting '%c')", word, *p);
            return fail_at(in, where);
        }
    }
    return true;
}

bool json_bool(struct json_lexer *in, bool *ret)
{
    skip_space(in);
    bool value = in->at < in->end && *in->at == 't';

    if (!take_word(in, value ? "true" : "false")) {
        return false;
    }
    *ret = value;
    return true;
}

bool json_null(struct json_lexer *in)
{
    skip_space(in);
    return take_word(in, "null");
}

static bool take_digits(struct json_lexer *in, const char *where)
{
    if (in->at >= in->end || *in->at < '0' || *in->at > '9') {
        return fail_at(in, where);
    }
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        in->at++;
    }
    return true;
}

bool json_number(struct json_lexer *in, struct str *ret)
{
    skip_space(in);
    const char *begin = in->at;

    if (in->at < in->end && *in->at == '-') {
        in->at++;
    }
    if (in->at < in->end && *in->at == '0') {
        in->at++;
    } else if (!take_digits(in, "in numeric literal")) {
        return false;
    }
    if (in->at < in->end && *in->at == '.') {
        in->at++;
        if (!take_digits(in, "after decimal point in numeric literal")) {
            return false;
        }
    }
    if (in->at < in->end && (*in->at == 'e' || *in->at == 'E')) {
        in->at++;
        if (in->at < in->end && (*in->at == '+' || *in->at == '-')) {
            in->at++;
        }
        if (!take_digits(in, "in exponent of numeric literal")) {
            return false;
        }
    }
    *ret = (struct str){begin, (size_t)(in->at - begin)};
    return true;
}

/* Recursion is bounded by LIMIT_DECODE_DEPTH. */
static bool skip_value(struct json_lexer *in)
{
    struct str text;
    bool truth;

    switch (json_peek(in)) {
    case JSON_NULL:
        return json_null(in);
    case JSON_BOOL:
        return json_bool(in, &truth);
    case JSON_NUMBER:
        return json_number(in, &text);
    case JSON_STRING:
        return json_string(in, &text);
    case JSON_ARRAY:
        if (!json_array_start(in)) {
            return false;
        }
        while (json_array_next(in)) {
            if (!skip_value(in)) {
                return false;
            }
        }
        return !json_failed(in);
    case JSON_OBJECT:
        if (!json_object_start(in)) {
            return false;
        }
        while (json_object_next(in, &text)) {
            if (!skip_value(in)) {
                return false;
            }
        }
        return !json_failed(in);
    case JSON_INVALID:
        break;
    }
    return false;
}

bool json_skip(struct json_lexer *in, struct str *ret_text)
{
    struct arena *arena = TAKE(in->arena);

    skip_space(in);
    const char *begin = in->at;
    bool ok = skip_value(in);

    in->arena = arena;
    if (ok && ret_text != NULL) {
        *ret_text = (struct str){begin, (size_t)(in->at - begin)};
    }
    return ok;
}

bool json_to_i64(struct str number, int64_t *ret)
{
    return str_to_i64(number, ret);
}

struct status *json_finish(struct json_lexer *in)
{
    if (!json_failed(in)) {
        skip_space(in);
        if (in->at < in->end) {
            fail_at(in, "after top-level value");
        }
    }
    return json_failed(in) ? status_new(STATUS_BAD_REQUEST, "%.*s", STR_ARG(in->error)) : NULL;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_INVALID] = "invalid", [JSON_NULL] = "null",   [JSON_BOOL] = "bool",     [JSON_NUMBER] = "number",
        [JSON_STRING] = "string",   [JSON_ARRAY] = "array", [JSON_OBJECT] = "object",
    };

    return names[kind];
}
