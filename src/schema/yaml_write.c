/* Writes YAML as go-yaml v2's emitter does, whose choices (when to quote, where to fold) differ from libyaml's in
 * small ways that show in kubectl's output. Block style only, as no option of kubectl asks for more. */
#include "schema/yaml.h"

#include "schema/json_lexer.h"
#include "schema/yaml_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, SIMPLE_KEY_MAX = 128 };

struct writer {
    struct buf *out;
    int indent;
    int column;
    bool whitespace; /* the last thing written was white space or an indicator that needs none after it */
    bool indention;  /* nothing but indentation is on this line yet */
};

enum style { STYLE_PLAIN, STYLE_SINGLE, STYLE_DOUBLE, STYLE_LITERAL };

/* What may be done with a string, found in one pass over it. */
struct analysis {
    bool multiline, plain, single, block;
};

static void put(struct writer *writer, const char *bytes, size_t n)
{
    buf_add(writer->out, bytes, n);
    writer->column++;
}

static void put_break(struct writer *writer)
{
    buf_add_char(writer->out, '\n');
    writer->column = 0;
}

static void write_indent(struct writer *writer)
{
    int indent = writer->indent > 0 ? writer->indent : 0;

    if (!writer->indention || writer->column > indent || (writer->column == indent && !writer->whitespace)) {
        put_break(writer);
    }
    while (writer->column < indent) {
        put(writer, " ", 1);
    }
    writer->whitespace = writer->indention = true;
}

static void write_indicator(struct writer *writer, const char *text, bool needs_space, bool is_space, bool is_indention)
{
    if (needs_space && !writer->whitespace) {
        put(writer, " ", 1);
    }
    buf_add_str(writer->out, str_of(text));
    writer->column += (int)strlen(text);
    writer->whitespace = is_space;
    writer->indention = writer->indention && is_indention;
}

static bool is_break_rune(uint32_t rune)
{
    return rune == '\n' || rune == '\r' || rune == 0x85 || rune == 0x2028 || rune == 0x2029;
}

static bool is_printable(uint32_t rune)
{
    return rune == '\n' || (rune >= 0x20 && rune <= 0x7e) || (rune >= 0xa0 && rune <= 0xd7ff) ||
           (rune >= 0xe000 && rune <= 0xfffd && rune != 0xfeff);
}

/* The rune at *at, which moves past it. Strings are made valid before. */
static uint32_t next_rune(struct str s, size_t *at, size_t *ret_length)
{
    uint32_t rune = 0;

    *ret_length = utf8_decode(s, *at, &rune);
    if (*ret_length == 0) {
        *ret_length = 1;
        rune = (unsigned char)s.p[*at];
    }
    *at += *ret_length;
    return rune;
}

/* Characters that mean something to a YAML reader where they stand, in block context. */
static bool is_indicator(struct str s, size_t at, uint32_t rune, bool after_blank)
{
    bool before_blank = at + 1 >= s.n || s.p[at + 1] == ' ' || s.p[at + 1] == '\t';

    if (at == 0) {
        return (rune < 0x80 && rune != 0 && strchr("#,[]{}&*!|>'\"%@`", (int)rune) != NULL) ||
               ((rune == '?' || rune == ':' || rune == '-') && before_blank);
    }
    return (rune == ':' && before_blank) || (rune == '#' && after_blank);
}

static struct analysis analyse(struct str s)
{
    bool indicators = str_has_prefix(s, STR("---")) || str_has_prefix(s, STR("...")), special = false;
    bool edge_blank = false, trailing_space = false, break_space = false, space_break = false;
    bool previous_space = false, previous_break = false, after_blank = true, multiline = false;

    if (s.n == 0) {
        return (struct analysis){.plain = true, .single = true};
    }
    for (size_t at = 0, length; at < s.n;) {
        size_t here = at;
        uint32_t rune = next_rune(s, &at, &length);
        bool is_break = is_break_rune(rune), is_space = rune == ' ', edge = here == 0 || at == s.n;

        indicators |= is_indicator(s, here, rune, after_blank);
        special |= !is_printable(rune);
        edge_blank |= edge && (is_space || is_break);
        trailing_space |= is_space && at == s.n;
        break_space |= is_space && previous_break;
        space_break |= is_break && previous_space;
        multiline |= is_break;
        previous_space = is_space;
        previous_break = is_break;
        after_blank = is_space || is_break || rune == '\t' || rune == 0;
    }
    return (struct analysis){
        .multiline = multiline,
        .plain = !edge_blank && !break_space && !space_break && !special && !multiline && !indicators,
        .single = !break_space && !space_break && !special,
        .block = !trailing_space && !space_break && !special,
    };
}

/* YAML 1.1's sixties, which go-yaml reads as strings but quotes for other readers: [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? */
static bool is_base60(struct str s)
{
    size_t at = s.n > 0 && (s.p[0] == '+' || s.p[0] == '-') ? 1 : 0, groups = 0;

    if (at >= s.n || s.p[at] < '0' || s.p[at] > '9') {
        return false;
    }
    while (at < s.n && ((s.p[at] >= '0' && s.p[at] <= '9') || s.p[at] == '_')) {
        at++;
    }
    while (at < s.n && s.p[at] == ':') {
        size_t digits = at + 1;

        while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9') {
            digits++;
        }
        size_t count = digits - at - 1;

        if (count == 0 || count > 2 || (count == 2 && s.p[at + 1] > '5')) {
            return false;
        }
        groups++;
        at = digits;
    }
    if (at < s.n && s.p[at] == '.') {
        at++;
        while (at < s.n && ((s.p[at] >= '0' && s.p[at] <= '9') || s.p[at] == '_')) {
            at++;
        }
    }
    return groups > 0 && at == s.n;
}

static enum style style_of(struct str s, const struct analysis *can, bool is_key)
{
    if (memchr(s.n > 0 ? s.p : "", '\n', s.n) != NULL) {
        return can->block && !is_key ? STYLE_LITERAL : STYLE_DOUBLE;
    }
    if (is_key && can->multiline) {
        return STYLE_DOUBLE;
    }
    if (yaml_resolve(s).type != YAML_STRING || is_base60(s)) {
        return STYLE_DOUBLE;
    }
    if (can->plain && (s.n > 0 || !is_key)) {
        return STYLE_PLAIN;
    }
    return can->single ? STYLE_SINGLE : STYLE_DOUBLE;
}

/* True, and the line is broken, where a space is that may become a line break. */
static bool fold(struct writer *writer, struct str s, size_t at, bool previous_space, bool may_fold, bool quoted)
{
    bool inside = at > 0 && at + 1 < s.n;
    bool next_is_space = at + 1 < s.n && s.p[at + 1] == ' ';

    if (!may_fold || previous_space || writer->column <= WIDTH || (quoted && !inside) || next_is_space) {
        return false;
    }
    write_indent(writer);
    return true;
}

/* Plain and single-quoted text. */
static void write_flowing(struct writer *writer, struct str s, bool may_fold, bool quoted)
{
    bool spaces = false, breaks = false;

    for (size_t at = 0, length; at < s.n;) {
        size_t here = at;
        uint32_t rune = next_rune(s, &at, &length);

        if (rune == ' ') {
            if (!fold(writer, s, here, spaces, may_fold, quoted)) {
                put(writer, " ", 1);
            }
            spaces = true;
            continue;
        }
        if (is_break_rune(rune)) {
            put(writer, s.p + here, length);
            writer->column = 0;
            writer->indention = breaks = true;
            continue;
        }
        if (breaks) {
            write_indent(writer);
        }
        if (rune == '\'' && quoted) {
            put(writer, "'", 1);
        }
        put(writer, s.p + here, length);
        writer->indention = spaces = breaks = false;
    }
}

static void write_escape(struct writer *writer, uint32_t rune)
{
    static const struct {
        uint32_t rune;
        char letter;
    } named[] = {{0, '0'},    {7, 'a'},    {8, 'b'},    {9, 't'},     {10, 'n'},   {11, 'v'},     {12, 'f'},    {13, 'r'},
                 {0x1b, 'e'}, {'"', '"'}, {'\\', '\\'}, {0x85, 'N'}, {0xa0, '_'}, {0x2028, 'L'}, {0x2029, 'P'}};

    for (size_t i = 0; i < COUNT_OF(named); i++) {
        if (named[i].rune == rune) {
            put(writer, "\\", 1);
            put(writer, &named[i].letter, 1);
            return;
        }
    }
    size_t before = writer->out->n;

    buf_printf(writer->out, rune <= 0xff ? "\\x%02X" : rune <= 0xffff ? "\\u%04X" : "\\U%08X", rune);
    writer->column += (int)(writer->out->n - before);
}

static void write_double_quoted(struct writer *writer, struct str s, bool may_fold)
{
    bool spaces = false, all = str_has_prefix(s, STR("\xef\xbb\xbf")); /* after a byte order mark, go-yaml escapes all */

    write_indicator(writer, "\"", true, false, false);
    for (size_t at = 0, length; at < s.n;) {
        size_t here = at;
        uint32_t rune = next_rune(s, &at, &length);

        if (all || !is_printable(rune) || is_break_rune(rune) || rune == '"' || rune == '\\') {
            write_escape(writer, rune);
            spaces = false;
        } else if (rune == ' ') {
            if (may_fold && !spaces && writer->column > WIDTH && here > 0 && here + 1 < s.n) {
                write_indent(writer);
                if (s.p[here + 1] == ' ') {
                    put(writer, "\\", 1);
                }
            } else {
                put(writer, " ", 1);
            }
            spaces = true;
        } else {
            put(writer, s.p + here, length);
            spaces = false;
        }
    }
    write_indicator(writer, "\"", false, false, false);
}

static bool ends_in_break(struct str s, size_t *ret_rest)
{
    static const char *const breaks[] = {"\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

    for (size_t i = 0; i < COUNT_OF(breaks); i++) {
        if (str_has_suffix(s, str_of(breaks[i]))) {
            *ret_rest = s.n - strlen(breaks[i]);
            return true;
        }
    }
    return false;
}

static void write_literal(struct writer *writer, struct str s)
{
    size_t rest, length, first = 0;
    bool breaks = true;

    write_indicator(writer, "|", true, false, false);
    if (s.p[0] == ' ' || is_break_rune(next_rune(s, &first, &length))) {
        write_indicator(writer, "2", false, false, false);
    }
    if (!ends_in_break(s, &rest)) {
        write_indicator(writer, "-", false, false, false);
    } else if (rest == 0 || ends_in_break(str_sub(s, 0, rest), &rest)) {
        write_indicator(writer, "+", false, false, false);
    }
    put_break(writer);
    writer->indention = writer->whitespace = true;
    for (size_t at = 0; at < s.n;) {
        size_t here = at;
        uint32_t rune = next_rune(s, &at, &length);

        if (is_break_rune(rune)) {
            put(writer, s.p + here, length);
            writer->column = 0;
            writer->indention = breaks = true;
            continue;
        }
        if (breaks) {
            write_indent(writer);
        }
        put(writer, s.p + here, length);
        writer->indention = breaks = false;
    }
}

static void write_string(struct writer *writer, struct str s, const struct analysis *can, bool is_key)
{
    int outer = writer->indent;
    bool may_fold = !is_key;

    writer->indent = outer < 0 ? 2 : outer + 2; /* where a further line of it would start */
    switch (style_of(s, can, is_key)) {
    case STYLE_LITERAL:
        write_literal(writer, s);
        break;
    case STYLE_DOUBLE:
        write_double_quoted(writer, s, may_fold);
        break;
    case STYLE_SINGLE:
        write_indicator(writer, "'", true, false, false);
        write_flowing(writer, s, may_fold, true);
        write_indicator(writer, "'", false, false, false);
        break;
    case STYLE_PLAIN:
    default:
        if (!writer->whitespace) {
            put(writer, " ", 1);
        }
        write_flowing(writer, s, may_fold, false);
        writer->whitespace = writer->indention = false;
        break;
    }
    writer->indent = outer;
}

static void write_plain(struct writer *writer, struct str s)
{
    if (!writer->whitespace) {
        put(writer, " ", 1);
    }
    write_flowing(writer, s, false, false);
    writer->whitespace = writer->indention = false;
}

/* Numbers come to go-yaml as JSON text, which it reads again by its own rules. */
static void write_double(struct writer *writer, double number)
{
    OWNED(buf_done) struct buf text = {0};
    struct yaml_scalar scalar;

    json_add_double(&text, number);
    scalar = yaml_resolve(buf_str(&text));
    if (scalar.type == YAML_FLOAT) {
        buf_clear(&text);
        yaml_add_float(&text, scalar.number, false);
    }
    write_plain(writer, buf_str(&text));
}

static bool is_letter(uint32_t rune)
{
    if (rune < 0x80) {
        return (rune | 0x20) >= 'a' && (rune | 0x20) <= 'z';
    }
    bool latin_sign = rune < 0xc0 ? rune != 0xaa && rune != 0xb5 && rune != 0xba : rune == 0xd7 || rune == 0xf7;

    bool sign = (rune >= 0x2000 && rune <= 0x2bff) || (rune >= 0x3000 && rune <= 0x3004) ||
                (rune >= 0xfe00 && rune <= 0xfe6f) || rune == 0xfeff || (rune >= 0xfff0 && rune <= 0xffff);

    return !latin_sign && !sign && rune < 0x1f000;
}

static bool is_digit(uint32_t rune)
{
    return rune >= '0' && rune <= '9';
}

static int64_t take_number(struct str s, size_t *at, uint64_t number)
{
    while (*at < s.n && is_digit((unsigned char)s.p[*at])) {
        number = number * 10 + (uint64_t)(s.p[(*at)++] - '0');
    }
    return (int64_t)number;
}

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* At the first difference, which `at` is the place of in both. */
static int natural_order_at(struct str a, struct str b, size_t at)
{
    size_t end_a = at, end_b = at, length;
    uint32_t rune_a = next_rune(a, &end_a, &length), rune_b = next_rune(b, &end_b, &length);
    bool letter_a = is_letter(rune_a), letter_b = is_letter(rune_b);

    if (letter_a && letter_b) {
        return compare_i64(rune_a, rune_b);
    }
    if (letter_a || letter_b) {
        return letter_b ? -1 : 1;
    }
    bool inside = false;

    for (size_t i = at; (rune_a == '0' || rune_b == '0') && i > 0 && is_digit((unsigned char)a.p[i - 1]); i--) {
        inside |= a.p[i - 1] != '0'; /* zeros in the middle of a number count */
    }
    end_a = end_b = at;
    int64_t number_a = take_number(a, &end_a, inside), number_b = take_number(b, &end_b, inside);

    if (number_a != number_b) {
        return compare_i64(number_a, number_b);
    }
    return end_a != end_b ? compare_i64((int64_t)end_a, (int64_t)end_b) : compare_i64(rune_a, rune_b);
}

/* go-yaml's order of keys: letters by code point after anything else, numbers by their value. */
static int natural_order(const void *left, const void *right)
{
    struct str a = *(const struct str *)left, b = *(const struct str *)right;

    for (size_t at = 0, length_a, length_b; at < a.n && at < b.n;) {
        size_t next_a = at, next_b = at;

        if (next_rune(a, &next_a, &length_a) != next_rune(b, &next_b, &length_b)) {
            return natural_order_at(a, b, at);
        }
        at = next_a;
    }
    return compare_i64((int64_t)a.n, (int64_t)b.n);
}

static void write_value(struct writer *writer, const struct value *value, bool in_mapping);

static void write_object(struct writer *writer, const struct value *object)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str *keys = value_sorted_keys(arena, object);
    int outer = writer->indent;

    qsort(keys, value_count(object), sizeof(*keys), natural_order);
    writer->indent = outer < 0 ? 0 : outer + 2;
    for (size_t i = 0; i < value_count(object); i++) {
        struct analysis can = analyse(keys[i]);
        bool simple = !can.multiline && keys[i].n <= SIMPLE_KEY_MAX;

        write_indent(writer);
        if (!simple) {
            write_indicator(writer, "?", true, false, true);
        }
        write_string(writer, keys[i], &can, simple);
        if (!simple) {
            write_indent(writer);
        }
        write_indicator(writer, ":", !simple, false, !simple);
        write_value(writer, value_find(object, keys[i]), true);
    }
    writer->indent = outer;
}

static void write_array(struct writer *writer, const struct value *array, bool in_mapping)
{
    int outer = writer->indent;

    if (outer < 0) {
        writer->indent = 0;
    } else if (!in_mapping || writer->indention) {
        writer->indent += 2;
    }
    for (size_t i = 0; i < array->array.len; i++) {
        write_indent(writer);
        write_indicator(writer, "-", true, false, true);
        write_value(writer, array->array.items[i], false);
    }
    writer->indent = outer;
}

static void write_value(struct writer *writer, const struct value *value, bool in_mapping)
{
    switch (value == NULL ? VALUE_NULL : value->type) {
    case VALUE_BOOL:
        write_plain(writer, value->boolean ? STR("true") : STR("false"));
        break;
    case VALUE_INT: {
        char text[24];

        write_plain(writer, (struct str){text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)value->integer)});
        break;
    }
    case VALUE_DOUBLE:
        write_double(writer, value->number);
        break;
    case VALUE_STRING: {
        struct analysis can = analyse(value->string);

        write_string(writer, value->string, &can, false);
        break;
    }
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        if (value_count(value) == 0) {
            write_indicator(writer, value->type == VALUE_ARRAY ? "[" : "{", true, true, false);
            write_indicator(writer, value->type == VALUE_ARRAY ? "]" : "}", false, false, false);
        } else if (value->type == VALUE_ARRAY) {
            write_array(writer, value, in_mapping);
        } else {
            write_object(writer, value);
        }
        break;
    case VALUE_NULL:
    default:
        write_plain(writer, STR("null"));
        break;
    }
}

void yaml_write(struct buf *out, const struct value *value)
{
    struct writer writer = {.out = out, .indent = -1, .whitespace = true, .indention = true};

    write_value(&writer, value, false);
    write_indent(&writer);
}
