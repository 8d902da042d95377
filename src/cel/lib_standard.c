/* Operators, conversions, and the functions of the language itself. */
#include "cel/cel_parts.h"
#include "base/base64.h"
#include "schema/json_lexer.h"
#include "schema/regex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FN(name) static struct cel_val name(struct cel_run *run UNUSED, const struct cel_val *args UNUSED, size_t count UNUSED)
#define FAIL(...) cel_error(run->arena, __VA_ARGS__)

FN(equal) { return cel_val_bool(cel_val_equal(args[0], args[1])); }
FN(not_equal) { return cel_val_bool(!cel_val_equal(args[0], args[1])); }
FN(not) { return cel_val_bool(!args[0].boolean); }

#define ORDER(name, sign_, text)                                               \
    FN(name)                                                                   \
    {                                                                          \
        int order;                                                             \
        if (cel_compare(args[0], args[1], &order)) {                           \
            return cel_val_bool(order sign_ 0);                                \
        }                                                                      \
        return args[0].kind == CEL_DOUBLE || args[1].kind == CEL_DOUBLE        \
                   ? cel_val_bool(false)                                       \
                   : cel_no_overload(run, STR(text), args, 2);                 \
    }
ORDER(less, <, "_<_")
ORDER(less_equal, <=, "_<=_")
ORDER(greater, >, "_>_")
ORDER(greater_equal, >=, "_>=_")

FN(in_list)
{
    for (size_t i = 0; i < cel_size(args[1]); i++) {
        if (cel_val_equal(args[0], cel_item(args[1], i))) {
            return cel_val_bool(true);
        }
    }
    return cel_val_bool(false);
}

FN(in_map)
{
    struct cel_val found;

    return cel_val_bool(cel_find(run, args[1], args[0], &found));
}

#define INTEGER(name, operation, field, make, word)                                     \
    FN(name)                                                                            \
    {                                                                                   \
        __typeof__(cel_val_null().field) out;                                           \
        return operation(args[0].field, args[1].field, &out) ? FAIL(word " overflow") : make(out); \
    }
INTEGER(add_int, __builtin_add_overflow, integer, cel_val_int, "integer")
INTEGER(sub_int, __builtin_sub_overflow, integer, cel_val_int, "integer")
INTEGER(mul_int, __builtin_mul_overflow, integer, cel_val_int, "integer")
INTEGER(add_uint, __builtin_add_overflow, uinteger, cel_val_uint, "unsigned integer")
INTEGER(sub_uint, __builtin_sub_overflow, uinteger, cel_val_uint, "unsigned integer")
INTEGER(mul_uint, __builtin_mul_overflow, uinteger, cel_val_uint, "unsigned integer")
INTEGER(add_duration, __builtin_add_overflow, integer, cel_val_duration, "integer")
INTEGER(sub_duration, __builtin_sub_overflow, integer, cel_val_duration, "integer")

FN(div_int)
{
    if (args[1].integer == 0) {
        return FAIL("division by zero");
    }
    return args[0].integer == INT64_MIN && args[1].integer == -1 ? FAIL("integer overflow") : cel_val_int(args[0].integer / args[1].integer);
}
FN(mod_int)
{
    if (args[1].integer == 0) {
        return FAIL("modulus by zero");
    }
    return args[0].integer == INT64_MIN && args[1].integer == -1 ? FAIL("integer overflow") : cel_val_int(args[0].integer % args[1].integer);
}
FN(div_uint) { return args[1].uinteger == 0 ? FAIL("division by zero") : cel_val_uint(args[0].uinteger / args[1].uinteger); }
FN(mod_uint) { return args[1].uinteger == 0 ? FAIL("modulus by zero") : cel_val_uint(args[0].uinteger % args[1].uinteger); }
FN(negate_int) { return args[0].integer == INT64_MIN ? FAIL("integer overflow") : cel_val_int(-args[0].integer); }
FN(negate_double) { return cel_val_double(-args[0].number); }
FN(add_double) { return cel_val_double(args[0].number + args[1].number); }
FN(sub_double) { return cel_val_double(args[0].number - args[1].number); }
FN(mul_double) { return cel_val_double(args[0].number * args[1].number); }
FN(div_double)
{
    double x = args[0].number, y = args[1].number;

    if (y == 0) {
        return cel_val_double(x == 0 || isnan(x) ? NAN : signbit(x) == signbit(y) ? INFINITY : -INFINITY);
    }
    return cel_val_double(x / y);
}

/* Bounds what + may make: nothing larger than a few requests is of use. */
#define LONGEST_TEXT ((size_t)16 << 20)
#define LONGEST_LIST ((size_t)4 << 20)
FN(add_text)
{
    if (args[0].string.n + args[1].string.n > LONGEST_TEXT) {
        return FAIL("string is too long");
    }
    struct str both = arena_printf(run->arena, "%.*s%.*s", STR_ARG(args[0].string), STR_ARG(args[1].string));
    return args[0].kind == CEL_BYTES ? cel_val_bytes(both) : cel_val_string(both);
}

static struct cel_val add_map_list(struct cel_run *run, struct cel_val a, struct cel_val b)
{
    struct cel_items *items = cel_items_new(run->arena, cel_size(a) + cel_size(b));

    for (size_t i = 0; i < cel_size(a); i++) {
        cel_items_add(run->arena, items, cel_item(a, i));
    }
    for (size_t i = 0; i < cel_size(b); i++) {
        struct cel_val item = cel_item(b, i);
        size_t k = 0, known = items->len;

        for (; k < known; k++) {
            bool same = a.type->is_set && cel_val_equal(items->items[k], item);

            if (a.type->is_map_list && items->items[k].kind == CEL_MAP && item.kind == CEL_MAP) {
                same = true;
                for (size_t key = 0; same && key < a.type->keys.len; key++) {
                    struct cel_val x = cel_val_null(), y = cel_val_null(), name = cel_val_string(a.type->keys.items[key]);

                    cel_find(run, items->items[k], name, &x);
                    cel_find(run, item, name, &y);
                    same = cel_val_equal(x, y);
                }
            }
            if (same) {
                items->items[k] = item;
                break;
            }
        }
        if (k == known) {
            cel_items_add(run->arena, items, item);
        }
    }
    return cel_val_items(items);
}

FN(add_list)
{
    size_t a = cel_size(args[0]), b = cel_size(args[1]);

    if (args[0].form == FORM_JSON && args[0].type != NULL && (args[0].type->is_set || args[0].type->is_map_list)) {
        return add_map_list(run, args[0], args[1]);
    }
    if (a == 0 || b == 0) {
        return args[a == 0 ? 1 : 0];
    }
    if (a + b > LONGEST_LIST) {
        return FAIL("list is too long");
    }
    struct cel_rope *rope = ARENA_NEW(run->arena, struct cel_rope);
    *rope = (struct cel_rope){args[0], args[1], a + b};
    return (struct cel_val){.kind = CEL_LIST, .form = FORM_ROPE, .data = rope};
}

FN(size) { return cel_val_int((int64_t)cel_size(args[0])); }
FN(contains) { return cel_val_bool(str_contains(args[0].string, args[1].string)); }
FN(starts_with) { return cel_val_bool(str_has_prefix(args[0].string, args[1].string)); }
FN(ends_with) { return cel_val_bool(str_has_suffix(args[0].string, args[1].string)); }

FN(matches)
{
    struct regex *regex;
    struct status *status = regex_new(args[1].string, &regex);

    if (status != NULL) {
        struct cel_val error = FAIL("%.*s", STR_ARG(status->message));

        status_free(status);
        return error;
    }
    bool found = regex_matches(regex, args[0].string);
    regex_free(regex);
    return cel_val_bool(found);
}

FN(map_insert)
{
    struct cel_entries *entries = (struct cel_entries *)(uintptr_t)args[0].data; /* the accumulator of this fold alone */

    return cel_entries_add(run->arena, entries, args[1], args[2]) ? args[0]
                                                                 : FAIL("insert failed: key %.*s already exists", STR_ARG(cel_text(run->arena, args[1])));
}

FN(map_merge)
{
    struct cel_items *keys = cel_keys(run->arena, args[1]);
    struct cel_entries *entries = (struct cel_entries *)(uintptr_t)args[0].data;
    struct cel_val value;

    for (size_t i = 0; i < keys->len; i++) {
        if (cel_find(run, args[1], keys->items[i], &value) && !cel_entries_add(run->arena, entries, keys->items[i], value)) {
            return FAIL("insert failed: key %.*s already exists", STR_ARG(cel_text(run->arena, keys->items[i])));
        }
    }
    return args[0];
}

FN(same) { return args[0]; }
FN(type_of)
{
    return cel_val_type(cel_type_of(args[0]));
}

CEL_ROWS(cel_standard_rows) = {
    {"_&&_(bool, bool): bool", NULL}, {"_||_(bool, bool): bool", NULL}, {"_?_:_(bool, A, A): A", NULL},
    {"@not_strictly_false(bool): bool", NULL}, {"_[_](list(A), int): A", NULL}, {"_[_](map(A, B), A): B", NULL},
    {"_[_](optional(list(A)), int): optional(A)", NULL}, {"_[_](optional(map(A, B)), A): optional(B)", NULL},
    {"_[?_](list(A), int): optional(A)", NULL}, {"_[?_](map(A, B), A): optional(B)", NULL},
    {"_[?_](optional(list(A)), int): optional(A)", NULL}, {"_[?_](optional(map(A, B)), A): optional(B)", NULL},
    {"!_(bool): bool", not}, {"_==_(A, A): bool", equal}, {"_!=_(A, A): bool", not_equal},
#define ORDERS(type) {"_<_(" type "): bool", less}, {"_<=_(" type "): bool", less_equal}, {"_>_(" type "): bool", greater}, {"_>=_(" type "): bool", greater_equal}
    ORDERS("bool, bool"), ORDERS("int, int"), ORDERS("int, uint"), ORDERS("int, double"), ORDERS("uint, uint"), ORDERS("uint, int"),
    ORDERS("uint, double"), ORDERS("double, double"), ORDERS("double, int"), ORDERS("double, uint"), ORDERS("string, string"),
    ORDERS("bytes, bytes"), ORDERS("timestamp, timestamp"), ORDERS("duration, duration"),
    {"@in(A, list(A)): bool", in_list}, {"@in(A, map(A, B)): bool", in_map},
    {"_+_(int, int): int", add_int}, {"_-_(int, int): int", sub_int}, {"_*_(int, int): int", mul_int},
    {"_/_(int, int): int", div_int}, {"_%_(int, int): int", mod_int}, {"_+_(uint, uint): uint", add_uint},
    {"_-_(uint, uint): uint", sub_uint}, {"_*_(uint, uint): uint", mul_uint}, {"_/_(uint, uint): uint", div_uint},
    {"_%_(uint, uint): uint", mod_uint}, {"_+_(double, double): double", add_double}, {"_-_(double, double): double", sub_double},
    {"_*_(double, double): double", mul_double}, {"_/_(double, double): double", div_double}, {"-_(int): int", negate_int},
    {"-_(double): double", negate_double}, {"_+_(string, string): string", add_text}, {"_+_(bytes, bytes): bytes", add_text},
    {"_+_(list(A), list(A)): list(A)", add_list}, {"_+_(duration, duration): duration", add_duration},
    {"_-_(duration, duration): duration", sub_duration},
    {"size(string): int", size}, {"size(bytes): int", size}, {"size(list(A)): int", size}, {"size(map(A, B)): int", size},
    {"string -> size(): int", size}, {"bytes -> size(): int", size}, {"list(A) -> size(): int", size}, {"map(A, B) -> size(): int", size},
    {"string -> contains(string): bool", contains}, {"string -> startsWith(string): bool", starts_with},
    {"string -> endsWith(string): bool", ends_with}, {"string -> matches(string): bool", matches}, {"matches(string, string): bool", matches},
    {"cel.@mapInsert(map(A, B), A, B): map(A, B)", map_insert}, {"cel.@mapInsert(map(A, B), map(A, B)): map(A, B)", map_merge},
    {"dyn(A): dyn", same}, {"type(A): type(A)", type_of}, {NULL, NULL},
};

static struct cel_val to_int(struct cel_run *run, double number)
{
    return isnan(number) || number <= -9223372036854775808.0 || number >= 9223372036854775808.0 ? FAIL("integer overflow")
                                                                                               : cel_val_int((int64_t)number);
}
FN(int_of_uint) { return args[0].uinteger > INT64_MAX ? FAIL("integer overflow") : cel_val_int(args[0].integer); }
FN(int_of_double) { return to_int(run, args[0].number); }
FN(int_of_string)
{
    int64_t out;

    return str_to_i64(args[0].string, &out) ? cel_val_int(out)
                                            : FAIL("strconv.ParseInt: parsing \"%.*s\": invalid syntax", STR_ARG(args[0].string));
}
FN(int_of_timestamp) { return cel_val_int(args[0].seconds); }
FN(uint_of_int) { return args[0].integer < 0 ? FAIL("unsigned integer overflow") : cel_val_uint(args[0].uinteger); }
FN(uint_of_double)
{
    return !(args[0].number >= 0 && args[0].number < 18446744073709551616.0) ? FAIL("unsigned integer overflow")
                                                                            : cel_val_uint((uint64_t)args[0].number);
}
FN(uint_of_string)
{
    uint64_t out;

    return str_to_u64(args[0].string, &out) ? cel_val_uint(out)
                                            : FAIL("strconv.ParseUint: parsing \"%.*s\": invalid syntax", STR_ARG(args[0].string));
}
FN(double_of_int) { return cel_val_double((double)args[0].integer); }
FN(double_of_uint) { return cel_val_double((double)args[0].uinteger); }
FN(double_of_string)
{
    char *end, *text = arena_cstr(run->arena, args[0].string);
    double number = strtod(text, &end);

    return *end != '\0' || end == text ? FAIL("strconv.ParseFloat: parsing \"%s\": invalid syntax", text) : cel_val_double(number);
}
FN(to_string) { return cel_val_string(cel_text(run->arena, args[0])); }
FN(string_of_bytes)
{
    for (size_t i = 0; i < args[0].string.n;) {
        unsigned length = utf8_decode(args[0].string, i, NULL);

        if (length == 0) {
            return FAIL("invalid UTF-8 in bytes, cannot convert to string");
        }
        i += length;
    }
    return cel_val_string(args[0].string);
}
FN(to_bytes) { return cel_val_bytes(args[0].string); }
FN(bool_of_string)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"}, *const no[] = {"0", "f", "F", "FALSE", "false", "False"};

    for (size_t i = 0; i < COUNT_OF(yes); i++) {
        if (str_is(args[0].string, yes[i]) || str_is(args[0].string, no[i])) {
            return cel_val_bool(str_is(args[0].string, yes[i]));
        }
    }
    return FAIL("strconv.ParseBool: parsing \"%.*s\": invalid syntax", STR_ARG(args[0].string));
}

CEL_ROWS(cel_convert_rows) = {
    {"int(int): int", same}, {"int(uint): int", int_of_uint}, {"int(double): int", int_of_double}, {"int(string): int", int_of_string},
    {"int(timestamp): int", int_of_timestamp}, {"uint(uint): uint", same}, {"uint(int): uint", uint_of_int},
    {"uint(double): uint", uint_of_double}, {"uint(string): uint", uint_of_string}, {"double(double): double", same},
    {"double(int): double", double_of_int}, {"double(uint): double", double_of_uint}, {"double(string): double", double_of_string},
    {"string(string): string", same}, {"string(bool): string", to_string}, {"string(int): string", to_string},
    {"string(uint): string", to_string}, {"string(double): string", to_string}, {"string(bytes): string", string_of_bytes},
    {"string(timestamp): string", to_string}, {"string(duration): string", to_string}, {"bytes(bytes): bytes", same},
    {"bytes(string): bytes", to_bytes}, {"bool(bool): bool", same}, {"bool(string): bool", bool_of_string}, {NULL, NULL},
};
