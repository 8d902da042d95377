#include "schema/int_or_string.h"

struct int_or_string int_or_string_of(int32_t number)
{
    return (struct int_or_string){.number = number};
}

struct int_or_string int_or_string_text(struct str text)
{
    return (struct int_or_string){.is_string = true, .text = text};
}

struct str int_or_string_format(struct arena *arena, const struct int_or_string *value)
{
    return value->is_string ? value->text : arena_printf(arena, "%d", (int)value->number);
}

bool int_or_string_scaled(const struct int_or_string *value, int32_t total, bool round_up, int32_t *ret)
{
    int64_t percent;

    if (!value->is_string) {
        *ret = value->number;
        return true;
    }
    if (!str_has_suffix(value->text, STR("%")) ||
        !str_to_i64(str_sub(value->text, 0, value->text.n - 1), &percent) || percent > INT32_MAX ||
        percent < INT32_MIN) {
        return false;
    }
    int64_t product = percent * total, share = product / 100, rest = product % 100;

    share += round_up ? rest > 0 : -(rest < 0);
    *ret = share > INT32_MAX ? INT32_MAX : share < INT32_MIN ? INT32_MIN : (int32_t)share;
    return true;
}

bool int_or_string_equal(const struct int_or_string *a, const struct int_or_string *b)
{
    return a->is_string == b->is_string && (a->is_string ? str_eq(a->text, b->text) : a->number == b->number);
}
