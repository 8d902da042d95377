/* Strings: the extension's functions, and regular expressions. Places count characters. */
#include "cel/cel_parts.h"
#include "schema/json_lexer.h"
#include "schema/regex.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define FN(name) static struct cel_val name(struct cel_run *run UNUSED, const struct cel_val *args UNUSED, size_t count UNUSED)
#define FAIL(...) cel_error(run->arena, __VA_ARGS__)
#define LONGEST_TEXT ((size_t)16 << 20)

static struct cel_val kept(struct cel_run *run, struct buf *out)
{
    return cel_val_string(arena_str(run->arena, buf_str(out)));
}

FN(char_at)
{
    int64_t i = args[1].integer, size = (int64_t)cel_characters(args[0].string);

    if (i < 0 || i > size) {
        return FAIL("index out of range: %lld", (long long)i);
    }
    size_t from = cel_character(args[0].string, (size_t)i), to = cel_character(args[0].string, (size_t)i + 1);
    return cel_val_string(str_sub(args[0].string, from, to));
}

FN(index_of)
{
    int64_t start = count > 2 ? args[2].integer : 0, size = (int64_t)cel_characters(args[0].string);

    if (start < 0 || start > size) {
        return FAIL("index out of range: %lld", (long long)start);
    }
    size_t from = cel_character(args[0].string, (size_t)start), at = str_find(str_from(args[0].string, from), args[1].string);
    return cel_val_int(at == SIZE_MAX ? -1 : start + (int64_t)cel_characters(str_sub(args[0].string, from, from + at)));
}

FN(last_index_of)
{
    struct str s = args[0].string, what = args[1].string;
    int64_t size = (int64_t)cel_characters(s), start = count > 2 ? args[2].integer : size;

    if (start < 0 || start > size) {
        return FAIL("index out of range: %lld", (long long)start);
    }
    for (size_t at = cel_character(s, (size_t)start) + 1; at-- > 0;) {
        if (at + what.n <= s.n && str_eq(str_sub(s, at, at + what.n), what)) {
            return cel_val_int((int64_t)cel_characters(str_sub(s, 0, at)));
        }
    }
    return cel_val_int(-1);
}

FN(lower_ascii)
{
    struct str out = arena_str(run->arena, args[0].string);

    for (size_t i = 0; i < out.n; i++) {
        ((char *)(uintptr_t)out.p)[i] = (char)(out.p[i] >= 'A' && out.p[i] <= 'Z' ? out.p[i] | 0x20 : out.p[i]);
    }
    return cel_val_string(out);
}

FN(upper_ascii)
{
    struct str out = arena_str(run->arena, args[0].string);

    for (size_t i = 0; i < out.n; i++) {
        ((char *)(uintptr_t)out.p)[i] = (char)(out.p[i] >= 'a' && out.p[i] <= 'z' ? out.p[i] & ~0x20 : out.p[i]);
    }
    return cel_val_string(out);
}

/* Bytes at `at` that an empty separator steps over: one character. */
static size_t step(struct str s, size_t at)
{
    unsigned length = utf8_decode(s, at, NULL);

    return length == 0 ? 1 : length;
}

FN(replace)
{
    OWNED(buf_done) struct buf out = {0};
    struct str s = args[0].string, from = args[1].string, to = args[2].string;
    int64_t left = count > 3 ? args[3].integer : -1;
    size_t at = 0;

    for (; left != 0 && at <= s.n && out.n < LONGEST_TEXT; left--) {
        size_t found = from.n == 0 ? 0 : str_find(str_from(s, at), from);

        if (found == SIZE_MAX) {
            break;
        }
        buf_add_str(&out, str_sub(s, at, at + found));
        buf_add_str(&out, to);
        at += found + from.n;
        if (from.n == 0) {
            size_t next = at < s.n ? step(s, at) : 1;

            buf_add_str(&out, str_sub(s, at, at + next));
            at += next;
        }
    }
    buf_add_str(&out, str_from(s, MIN(at, s.n)));
    return out.n >= LONGEST_TEXT ? FAIL("string is too long") : kept(run, &out);
}

FN(split)
{
    struct cel_items *items = cel_items_new(run->arena, 4);
    struct str s = args[0].string, by = args[1].string;
    int64_t left = count > 2 ? args[2].integer : -1;

    if (left == 0) {
        return cel_val_items(items);
    }
    while (left != 1) {
        size_t at = by.n > 0 ? str_find(s, by) : s.n == 0 ? SIZE_MAX : step(s, 0) < s.n ? step(s, 0) : SIZE_MAX;

        if (at == SIZE_MAX) {
            break;
        }
        cel_items_add(run->arena, items, cel_val_string(str_sub(s, 0, at)));
        s = str_from(s, at + by.n);
        left--;
    }
    if (by.n > 0 || s.n > 0) {
        cel_items_add(run->arena, items, cel_val_string(s));
    }
    return cel_val_items(items);
}

FN(substring)
{
    int64_t size = (int64_t)cel_characters(args[0].string), from = args[1].integer, to = count > 2 ? args[2].integer : size;

    if (from < 0 || from > size || to < 0 || to > size) {
        return FAIL("index out of range: %lld", (long long)(from < 0 || from > size ? from : to));
    }
    if (from > to) {
        return FAIL("invalid substring range. start: %lld, end: %lld", (long long)from, (long long)to);
    }
    return cel_val_string(str_sub(args[0].string, cel_character(args[0].string, (size_t)from), cel_character(args[0].string, (size_t)to)));
}

static bool is_space(uint32_t rune)
{
    return (rune >= 9 && rune <= 13) || rune == ' ' || rune == 0x85 || rune == 0xa0 || rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200a) ||
           rune == 0x2028 || rune == 0x2029 || rune == 0x202f || rune == 0x205f || rune == 0x3000;
}

FN(trim)
{
    struct str s = args[0].string;
    size_t from = SIZE_MAX, to = 0;

    for (size_t i = 0; i < s.n;) {
        uint32_t rune = 0;
        size_t length = utf8_decode(s, i, &rune);

        length = length == 0 ? 1 : length;
        if (!is_space(rune)) {
            from = MIN(from, i);
            to = i + length;
        }
        i += length;
    }
    return cel_val_string(to == 0 ? (struct str){0} : str_sub(s, from, to));
}

FN(join)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < cel_size(args[0]); i++) {
        struct cel_val item = cel_item(args[0], i);

        if (item.kind != CEL_STRING) {
            return FAIL("no such overload");
        }
        if (i > 0 && count > 1) {
            buf_add_str(&out, args[1].string);
        }
        buf_add_str(&out, item.string);
        if (out.n > LONGEST_TEXT) {
            return FAIL("string is too long");
        }
    }
    return kept(run, &out);
}

FN(quote)
{
    static const char from[] = "\a\b\f\n\r\t\v\\\"", to[] = "abfnrtv\\\"";
    OWNED(buf_done) struct buf out = {0};

    buf_add_char(&out, '"');
    for (size_t i = 0; i < args[0].string.n; i++) {
        char c = args[0].string.p[i];
        const char *at = c != '\0' ? strchr(from, c) : NULL;

        if (at != NULL) {
            buf_add_char(&out, '\\');
        }
        buf_add_char(&out, at != NULL ? to[at - from] : c);
    }
    buf_add_char(&out, '"');
    return kept(run, &out);
}

/* What %s shows. */
static void show(struct buf *out, struct cel_run *run, struct cel_val value, int depth)
{
    if (out->n > LONGEST_TEXT) {
        return;
    }
    if (value.kind == CEL_LIST && depth < 20) {
        buf_add_char(out, '[');
        for (size_t i = 0; i < cel_size(value); i++) {
            buf_add_str(out, i > 0 ? STR(", ") : STR(""));
            show(out, run, cel_item(value, i), depth + 1);
        }
        buf_add_char(out, ']');
    } else if (value.kind == CEL_MAP && depth < 20) {
        struct cel_items *keys = cel_keys(run->arena, value);

        buf_add_char(out, '{');
        for (size_t i = 0; i < keys->len; i++) {
            struct cel_val item = cel_val_null();

            buf_add_str(out, i > 0 ? STR(", ") : STR(""));
            show(out, run, keys->items[i], depth + 1);
            buf_add_str(out, STR(": "));
            cel_find(run, value, keys->items[i], &item);
            show(out, run, item, depth + 1);
        }
        buf_add_char(out, '}');
    } else {
        buf_add_str(out, cel_text(run->arena, value));
    }
}

static void show_bits(struct buf *out, uint64_t bits, unsigned base, bool upper)
{
    char text[64];
    size_t n = 0;

    do {
        unsigned digit = (unsigned)(bits % base);

        text[n++] = (char)(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10);
        bits /= base;
    } while (bits > 0);
    while (n > 0) {
        buf_add_char(out, text[--n]);
    }
}

static bool show_integer(struct buf *out, struct cel_val value, char verb)
{
    unsigned base = verb == 'b' ? 2 : verb == 'o' ? 8 : verb == 'd' ? 10 : 16;

    if (value.kind == CEL_BOOL && verb == 'b') {
        buf_add_char(out, value.boolean ? '1' : '0');
        return true;
    }
    if ((verb == 'x' || verb == 'X') && (value.kind == CEL_STRING || value.kind == CEL_BYTES)) {
        for (size_t i = 0; i < value.string.n; i++) {
            buf_printf(out, verb == 'x' ? "%02x" : "%02X", (unsigned char)value.string.p[i]);
        }
        return true;
    }
    if (value.kind == CEL_DOUBLE && verb == 'd' && (isnan(value.number) || isinf(value.number))) {
        buf_add_str(out, isnan(value.number) ? STR("NaN") : value.number > 0 ? STR("Infinity") : STR("-Infinity"));
        return true;
    }
    if (value.kind != CEL_INT && value.kind != CEL_UINT) {
        return false;
    }
    bool negative = value.kind == CEL_INT && value.integer < 0;
    if (negative) {
        buf_add_char(out, '-');
    }
    show_bits(out, negative ? 0 - value.uinteger : value.uinteger, base, verb == 'X');
    return true;
}

static bool show_double(struct buf *out, struct cel_val value, char verb, int precision)
{
    double number = value.kind == CEL_DOUBLE ? value.number : value.kind == CEL_INT ? (double)value.integer : (double)value.uinteger;

    if (value.kind != CEL_DOUBLE && value.kind != CEL_INT && value.kind != CEL_UINT) {
        return false;
    }
    if (isnan(number) || isinf(number)) {
        buf_add_str(out, isnan(number) ? STR("NaN") : number > 0 ? STR("Infinity") : STR("-Infinity"));
    } else if (verb == 'f') {
        buf_printf(out, "%.*f", precision, number);
    } else {
        buf_printf(out, "%.*e", precision, number);
    }
    return true;
}

FN(format)
{
    OWNED(buf_done) struct buf out = {0};
    struct str s = args[0].string;
    size_t next = 0;

    for (size_t i = 0; i < s.n && out.n < LONGEST_TEXT; i++) {
        int precision = 6;

        if (s.p[i] != '%' || (i + 1 < s.n && s.p[i + 1] == '%')) {
            buf_add_char(&out, s.p[i]);
            i += s.p[i] == '%';
            continue;
        }
        if (++i < s.n && s.p[i] == '.') {
            for (precision = 0, i++; i < s.n && isdigit((unsigned char)s.p[i]) && precision < 100; i++) {
                precision = precision * 10 + (s.p[i] - '0');
            }
        }
        if (i >= s.n) {
            return FAIL("unexpected end of format string");
        }
        if (next >= cel_size(args[1])) {
            return FAIL("index %zu out of range", next);
        }
        struct cel_val value = cel_item(args[1], next++);
        char verb = s.p[i];
        bool done = true;
        if (verb == 's') {
            show(&out, run, value, 0);
        } else if (strchr("dboxX", verb) != NULL) {
            done = show_integer(&out, value, verb);
        } else if (verb == 'f' || verb == 'e') {
            done = show_double(&out, value, verb, precision);
        } else {
            return FAIL("could not parse formatting clause: unrecognized formatting clause \"%c\"", verb);
        }
        if (!done) {
            return FAIL("error during formatting: %s clause can only be used on %s, was given %.*s",
                        verb == 'd' ? "decimal" : verb == 'f' ? "fixed-point" : verb == 'e' ? "scientific" : "number",
                        verb == 'd' ? "integers" : "numbers", STR_ARG(cel_type_of(value)->name));
        }
    }
    return out.n > LONGEST_TEXT ? FAIL("string is too long") : kept(run, &out);
}

FN(reverse)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = cel_characters(args[0].string); i-- > 0;) {
        size_t from = cel_character(args[0].string, i);

        buf_add_str(&out, str_sub(args[0].string, from, cel_character(args[0].string, i + 1)));
    }
    return kept(run, &out);
}

static struct cel_val find(struct cel_run *run, const struct cel_val *args, bool all, int64_t most)
{
    struct cel_items *items = cel_items_new(run->arena, 4);
    struct regex *regex;
    struct status *status = regex_new(args[1].string, &regex);
    size_t at, size, from = 0;

    if (status != NULL) {
        status_free(status);
        return FAIL("Illegal regex: error parsing regexp");
    }
    while (from <= args[0].string.n && (most < 0 || (int64_t)items->len < most) && regex_find(regex, args[0].string, from, &at, &size)) {
        cel_items_add(run->arena, items, cel_val_string(str_sub(args[0].string, at, at + size)));
        from = at + (size > 0 ? size : 1);
        if (!all) {
            break;
        }
    }
    regex_free(regex);
    return all ? cel_val_items(items) : items->len > 0 ? items->items[0] : cel_val_string((struct str){0});
}
FN(find_one) { return find(run, args, false, -1); }
FN(find_all) { return find(run, args, true, count > 2 ? args[2].integer : -1); }

FN(escape_key)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < args[0].string.n; i++) {
        char c = args[0].string.p[i];

        if (c == '~' || c == '/') {
            buf_add_str(&out, c == '~' ? STR("~0") : STR("~1"));
        } else {
            buf_add_char(&out, c);
        }
    }
    return kept(run, &out);
}

CEL_ROWS(cel_string_rows) = {
    {"string -> charAt(int): string", char_at}, {"string -> indexOf(string): int", index_of},
    {"string -> indexOf(string, int): int", index_of}, {"string -> lastIndexOf(string): int", last_index_of},
    {"string -> lastIndexOf(string, int): int", last_index_of}, {"string -> lowerAscii(): string", lower_ascii},
    {"string -> upperAscii(): string", upper_ascii}, {"string -> replace(string, string): string", replace},
    {"string -> replace(string, string, int): string", replace}, {"string -> split(string): list(string)", split},
    {"string -> split(string, int): list(string)", split}, {"string -> substring(int): string", substring},
    {"string -> substring(int, int): string", substring}, {"string -> trim(): string", trim}, {"list(string) -> join(): string", join},
    {"list(string) -> join(string): string", join}, {"strings.quote(string): string", quote},
    {"string -> format(list(dyn)): string", format}, {"string -> reverse(): string", reverse}, {"string -> find(string): string", find_one},
    {"string -> findAll(string): list(string)", find_all}, {"string -> findAll(string, int): list(string)", find_all},
    {"jsonpatch.escapeKey(string): string", escape_key}, {NULL, NULL},
};
