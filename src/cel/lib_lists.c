/* Lists, sets and optional values. */
#include "cel/cel_parts.h"

#define FN(name) static struct cel_val name(struct cel_run *run UNUSED, const struct cel_val *args UNUSED, size_t count UNUSED)
#define FAIL(...) cel_error(run->arena, __VA_ARGS__)

FN(is_sorted)
{
    int order;

    for (size_t i = 1; i < cel_size(args[0]); i++) {
        if (!cel_compare(cel_item(args[0], i - 1), cel_item(args[0], i), &order)) {
            return FAIL("no such overload");
        }
        if (order > 0) {
            return cel_val_bool(false);
        }
    }
    return cel_val_bool(true);
}

static struct cel_val extreme(struct cel_run *run, struct cel_val list, int sign, const char *word)
{
    size_t count = cel_size(list);
    int order;

    if (count == 0) {
        return FAIL("%s called on empty list", word);
    }
    struct cel_val best = cel_item(list, 0);
    for (size_t i = 1; i < count; i++) {
        struct cel_val item = cel_item(list, i);

        if (!cel_compare(item, best, &order)) {
            return FAIL("no such overload");
        }
        best = order * sign > 0 ? item : best;
    }
    return best;
}
FN(min) { return extreme(run, args[0], -1, "min"); }
FN(max) { return extreme(run, args[0], 1, "max"); }

FN(sum)
{
    const struct cel_function *add = cel_function_find(STR("_+_"));
    struct cel_val total = cel_val_int(0);

    for (size_t i = 0; i < cel_size(args[0]); i++) {
        struct cel_val pair[2] = {total, cel_item(args[0], i)};
        bool found = i == 0;

        total = i == 0 ? pair[1] : total;
        for (size_t k = 0; i > 0 && k < add->len && !found; k++) {
            const struct cel_overload *row = &add->items[k];

            if (row->args[0]->kind == (enum cel_kind)pair[0].kind && row->args[1]->kind == (enum cel_kind)pair[1].kind) {
                total = row->call(run, pair, 2);
                found = true;
            }
        }
        if (!found) {
            return cel_no_overload(run, STR("_+_"), pair, 2);
        }
        if (total.kind == CEL_ERROR) {
            return total;
        }
    }
    return total;
}

FN(index_of)
{
    for (size_t i = 0; i < cel_size(args[0]); i++) {
        if (cel_val_equal(cel_item(args[0], i), args[1])) {
            return cel_val_int((int64_t)i);
        }
    }
    return cel_val_int(-1);
}
FN(last_index_of)
{
    for (size_t i = cel_size(args[0]); i-- > 0;) {
        if (cel_val_equal(cel_item(args[0], i), args[1])) {
            return cel_val_int((int64_t)i);
        }
    }
    return cel_val_int(-1);
}

static bool holds(struct cel_val list, struct cel_val item)
{
    for (size_t i = 0; i < cel_size(list); i++) {
        if (cel_val_equal(cel_item(list, i), item)) {
            return true;
        }
    }
    return false;
}
static bool holds_all(struct cel_val list, struct cel_val other)
{
    for (size_t i = 0; i < cel_size(other); i++) {
        if (!holds(list, cel_item(other, i))) {
            return false;
        }
    }
    return true;
}
FN(set_contains) { return cel_val_bool(holds_all(args[0], args[1])); }
FN(set_equivalent) { return cel_val_bool(holds_all(args[0], args[1]) && holds_all(args[1], args[0])); }
FN(set_intersects)
{
    for (size_t i = 0; i < cel_size(args[0]); i++) {
        if (holds(args[1], cel_item(args[0], i))) {
            return cel_val_bool(true);
        }
    }
    return cel_val_bool(false);
}

CEL_ROWS(cel_list_rows) = {
    {"list(int) -> isSorted(): bool", is_sorted}, {"list(uint) -> isSorted(): bool", is_sorted}, {"list(double) -> isSorted(): bool", is_sorted},
    {"list(bool) -> isSorted(): bool", is_sorted}, {"list(string) -> isSorted(): bool", is_sorted}, {"list(bytes) -> isSorted(): bool", is_sorted},
    {"list(timestamp) -> isSorted(): bool", is_sorted}, {"list(duration) -> isSorted(): bool", is_sorted},
#define EACH(name, fn)                                                                                                     \
    {"list(int) -> " name "(): int", fn}, {"list(uint) -> " name "(): uint", fn}, {"list(double) -> " name "(): double", fn}, \
        {"list(duration) -> " name "(): duration", fn}
#define EACH_ORDERED(name, fn)                                                                                             \
    EACH(name, fn), {"list(bool) -> " name "(): bool", fn}, {"list(string) -> " name "(): string", fn},                     \
        {"list(bytes) -> " name "(): bytes", fn}, {"list(timestamp) -> " name "(): timestamp", fn}
    EACH("sum", sum), EACH_ORDERED("min", min), EACH_ORDERED("max", max), {"list(A) -> indexOf(A): int", index_of},
    {"list(A) -> lastIndexOf(A): int", last_index_of}, {"sets.contains(list(A), list(A)): bool", set_contains},
    {"sets.equivalent(list(A), list(A)): bool", set_equivalent}, {"sets.intersects(list(A), list(A)): bool", set_intersects},
    {NULL, NULL},
};

FN(optional_of) { return cel_val_optional(run->arena, &args[0]); }
FN(optional_none) { return cel_val_optional(run->arena, NULL); }
FN(optional_non_zero) { return cel_val_optional(run->arena, cel_is_zero(args[0]) ? NULL : &args[0]); }
FN(has_value) { return cel_val_bool(args[0].data != NULL); }
FN(value) { return args[0].data != NULL ? *(const struct cel_val *)args[0].data : FAIL("optional.none() dereference"); }
/* Only reached with an empty optional: the other way is taken before the argument is looked at. */
FN(other) { return args[1]; }

CEL_ROWS(cel_optional_rows) = {
    {"optional.of(A): optional(A)", optional_of}, {"optional.none(): optional(A)", optional_none},
    {"optional.ofNonZeroValue(A): optional(A)", optional_non_zero}, {"optional(A) -> hasValue(): bool", has_value},
    {"optional(A) -> value(): A", value}, {"optional(A) -> orValue(A): A", other}, {"optional(A) -> or(optional(A)): optional(A)", other},
    {NULL, NULL},
};
