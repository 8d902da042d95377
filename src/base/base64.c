#include "base/base64.h"

#include <string.h>

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t encoded_size(size_t size)
{
    return (size + 2) / 3 * 4;
}

/* Writes encoded_size() characters, or fewer without padding; returns how many. */
static size_t encode(char *out, struct str bytes, const char *alphabet, bool padded)
{
    const unsigned char *in = (const unsigned char *)bytes.p;
    size_t written = 0;

    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        unsigned group = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) | (left > 2 ? in[i + 2] : 0U);

        out[written++] = alphabet[group >> 18];
        out[written++] = alphabet[group >> 12 & 63];
        if (left > 1 || padded) {
            out[written++] = left > 1 ? alphabet[group >> 6 & 63] : '=';
        }
        if (left > 2 || padded) {
            out[written++] = left > 2 ? alphabet[group & 63] : '=';
        }
    }
    return written;
}

struct str base64_encode(struct arena *arena, struct str bytes)
{
    char *out = arena_alloc(arena, encoded_size(bytes.n) + 1);

    return (struct str){out, encode(out, bytes, standard, true)};
}

struct str base64_url_encode(struct arena *arena, struct str bytes)
{
    char *out = arena_alloc(arena, encoded_size(bytes.n) + 1);

    return (struct str){out, encode(out, bytes, url, false)};
}

void base64_add(struct buf *buf, struct str bytes)
{
    char *out = buf_reserve(buf, encoded_size(bytes.n));

    buf->n += encode(out, bytes, standard, true);
}

static int digit(unsigned char c, char c62, char c63)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == (unsigned char)c62 ? 62 : c == (unsigned char)c63 ? 63 : -1;
}

static bool decode(struct arena *arena, struct str text, bool is_url, struct str *ret)
{
    char *out = arena_alloc(arena, text.n / 4 * 3 + 4);
    unsigned group = 0;
    size_t written = 0, digits = 0, pads = 0;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        int value = digit(c, is_url ? '-' : '+', is_url ? '_' : '/');

        if (!is_url && (c == '\n' || c == '\r')) {
            continue;
        }
        if (!is_url && c == '=' && digits % 4 + pads >= 2 && digits % 4 + pads < 4 && digits % 4 != 0) {
            pads++;
            continue;
        }
        if (value < 0 || pads > 0) {
            return false;
        }
        group = group << 6 | (unsigned)value;
        if (++digits % 4 == 0) {
            out[written++] = (char)(group >> 16);
            out[written++] = (char)(group >> 8);
            out[written++] = (char)group;
        }
    }
    if (digits % 4 == 1 || (!is_url && (digits + pads) % 4 != 0)) {
        return false;
    }
    if (digits % 4 == 2) {
        out[written++] = (char)(group >> 4);
    } else if (digits % 4 == 3) {
        out[written++] = (char)(group >> 10);
        out[written++] = (char)(group >> 2);
    }
    *ret = (struct str){out, written};
    return true;
}

bool base64_decode(struct arena *arena, struct str text, struct str *ret)
{
    return decode(arena, text, false, ret);
}

bool base64_url_decode(struct arena *arena, struct str text, struct str *ret)
{
    return decode(arena, text, true, ret);
}

struct str hex_encode(struct arena *arena, struct str bytes)
{
    char *out = arena_alloc(arena, bytes.n * 2 + 1);

    for (size_t i = 0; i < bytes.n; i++) {
        out[2 * i] = "0123456789abcdef"[(unsigned char)bytes.p[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[bytes.p[i] & 15];
    }
    return (struct str){out, bytes.n * 2};
}

int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool hex_decode(struct arena *arena, struct str text, struct str *ret)
{
    char *out = arena_alloc(arena, text.n / 2 + 1);

    if (text.n % 2 != 0) {
        return false;
    }
    for (size_t i = 0; i < text.n; i += 2) {
        int high = hex_digit(text.p[i]), low = hex_digit(text.p[i + 1]);

        if (high < 0 || low < 0) {
            return false;
        }
        out[i / 2] = (char)(high << 4 | low);
    }
    *ret = (struct str){out, text.n / 2};
    return true;
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

size_t base64_error_at(struct str text)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t digits = 0, at = 0;

    for (; at < text.n; at++) {
        char c = text.p[at];

        if (is_line_end(c)) {
            continue;
        }
        if (c == '=' && digits >= 2) {
            break;
        }
        if (c == '\0' || strchr(alphabet, c) == NULL) {
            return at;
        }
        digits = (digits + 1) % 4;
    }
    if (at == text.n) {
        return at - digits; /* in the middle of a quantum */
    }
    if (digits == 2) { /* wants one more "=" */
        for (at++; at < text.n && is_line_end(text.p[at]); at++) {
        }
        if (at == text.n || text.p[at] != '=') {
            return at == text.n ? text.n : at - 1;
        }
    }
    for (at++; at < text.n && is_line_end(text.p[at]); at++) {
    }
    return at;
}
