#include "base/str.h"

#include <string.h>
#include <strings.h>

struct str str_of(const char *text)
{
    return (struct str){text, text ? strlen(text) : 0};
}

bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *text)
{
    return str_eq(a, str_of(text));
}

int str_cmp(struct str a, struct str b)
{
    size_t shared = a.n < b.n ? a.n : b.n;
    int order = shared ? memcmp(a.p, b.p, shared) : 0;

    if (order != 0) {
        return order;
    }
    return (a.n > b.n) - (a.n < b.n);
}

bool str_has_prefix(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_eq(str_sub(s, 0, prefix.n), prefix);
}

bool str_has_suffix(struct str s, struct str suffix)
{
    return s.n >= suffix.n && str_eq(str_from(s, s.n - suffix.n), suffix);
}

bool str_eq_nocase(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

struct str str_sub(struct str s, size_t from, size_t to)
{
    if (to > s.n) {
        to = s.n;
    }
    if (from >= to) {
        return (struct str){s.p ? s.p + (from < s.n ? from : s.n) : NULL, 0};
    }
    return (struct str){s.p + from, to - from};
}

struct str str_from(struct str s, size_t from)
{
    return str_sub(s, from, s.n);
}

size_t str_index(struct str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_last_index(struct str s, char c)
{
    const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;

    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_find(struct str s, struct str needle)
{
    if (needle.n == 0) {
        return 0;
    }
    const char *at = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;

    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

bool str_contains(struct str s, struct str needle)
{
    return str_find(s, needle) != SIZE_MAX;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.n > 0 && is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && is_space(s.p[s.n - 1])) {
        s.n--;
    }
    return s;
}

bool str_cut(struct str s, char separator, struct str *ret_head, struct str *ret_tail)
{
    size_t at = str_index(s, separator);

    if (at == SIZE_MAX) {
        *ret_head = s;
        *ret_tail = (struct str){0};
        return false;
    }
    *ret_head = str_sub(s, 0, at);
    *ret_tail = str_from(s, at + 1);
    return true;
}

bool str_next(struct str *rest, char separator, struct str *ret_item)
{
    if (rest->p == NULL) {
        return false;
    }
    struct str tail;

    if (!str_cut(*rest, separator, ret_item, &tail)) {
        tail = (struct str){0};
    }
    *rest = tail;
    return true;
}

bool str_to_u64(struct str s, uint64_t *ret)
{
    uint64_t value = 0;

    if (s.n == 0) {
        return false;
    }
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, (uint64_t)(s.p[i] - '0'), &value)) {
            return false;
        }
    }
    *ret = value;
    return true;
}

bool str_to_i64(struct str s, int64_t *ret)
{
    bool negative = s.n > 0 && s.p[0] == '-';
    uint64_t magnitude;

    if (!str_to_u64(negative ? str_from(s, 1) : s, &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *ret = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

uint64_t str_hash(struct str s)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (size_t i = 0; i < s.n; i++) {
        hash = (hash ^ (uint8_t)s.p[i]) * 0x100000001b3U;
    }
    return hash;
}
