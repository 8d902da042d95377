/* kubernetes.Quantity, kubernetes.Semver and kubernetes.NamedFormat. */
#include "cel/cel_parts.h"
#include "schema/names.h"
#include "schema/quantity.h"
#include "schema/timestamp.h"
#include "base/duration.h"

#include <ctype.h>

#define FN(name) static struct cel_val name(struct cel_run *run UNUSED, const struct cel_val *args UNUSED, size_t count UNUSED)
#define FAIL(...) cel_error(run->arena, __VA_ARGS__)

static struct cel_val make_quantity(struct cel_run *run, struct quantity quantity)
{
    struct quantity *kept = ARENA_NEW(run->arena, struct quantity); /* its text comes first */

    *kept = quantity;
    return cel_val_opaque(cel_type_named("kubernetes.Quantity"), kept);
}

static struct quantity quantity_of_val(struct cel_run *run, struct cel_val value)
{
    return value.kind == CEL_INT ? quantity_of(run->arena, value.integer, QUANTITY_DECIMAL_SI) : *(const struct quantity *)value.data;
}

FN(quantity)
{
    struct quantity parsed;
    struct status *status = quantity_parse(run->arena, args[0].string, &parsed);

    if (status == NULL) {
        return make_quantity(run, parsed);
    }
    struct cel_val error = FAIL("%.*s", STR_ARG(status->message));
    status_free(status);
    return error;
}
FN(is_quantity)
{
    struct quantity parsed;
    struct status *status = quantity_parse(run->arena, args[0].string, &parsed);
    bool good = status == NULL;

    status_free(status);
    return cel_val_bool(good);
}
static int compare(struct cel_run *run, const struct cel_val *args)
{
    return quantity_cmp(quantity_of_val(run, args[0]), quantity_of_val(run, args[1]));
}
FN(is_less) { return cel_val_bool(compare(run, args) < 0); }
FN(is_greater) { return cel_val_bool(compare(run, args) > 0); }
FN(compare_to)
{
    int order = compare(run, args);

    return cel_val_int(order < 0 ? -1 : order > 0);
}
FN(add) { return make_quantity(run, quantity_add(run->arena, quantity_of_val(run, args[0]), quantity_of_val(run, args[1]))); }
FN(sub) { return make_quantity(run, quantity_sub(run->arena, quantity_of_val(run, args[0]), quantity_of_val(run, args[1]))); }
FN(sign)
{
    struct quantity zero = quantity_of(run->arena, 0, QUANTITY_DECIMAL_SI);
    int order = quantity_cmp(quantity_of_val(run, args[0]), zero);

    return cel_val_int(order < 0 ? -1 : order > 0);
}
static bool whole(struct cel_run *run, struct cel_val value, int64_t *ret)
{
    struct quantity it = quantity_of_val(run, value);

    *ret = quantity_value(it);
    return quantity_cmp(quantity_of(run->arena, *ret, QUANTITY_DECIMAL_SI), it) == 0;
}
FN(is_integer)
{
    int64_t out;

    return cel_val_bool(whole(run, args[0], &out));
}
FN(as_integer)
{
    int64_t out;

    return whole(run, args[0], &out) ? cel_val_int(out) : FAIL("cannot convert value to integer");
}
FN(as_float) { return cel_val_double(quantity_double(quantity_of_val(run, args[0]))); }

struct semver {
    struct str text;
    uint64_t numbers[3];
    struct str pre; /* without the dash */
};

static bool semver_number(struct str text, uint64_t *ret)
{
    return text.n > 0 && (text.n == 1 || text.p[0] != '0') && str_to_u64(text, ret);
}

static bool identifiers(struct str text, bool numbers_checked)
{
    if (text.n == 0 || text.p[text.n - 1] == '.') {
        return false;
    }
    for (struct str rest = text, part; str_next(&rest, '.', &part);) {
        bool digits = true;

        for (size_t i = 0; i < part.n; i++) {
            digits &= isdigit((unsigned char)part.p[i]) != 0;
            if (!isalnum((unsigned char)part.p[i]) && part.p[i] != '-') {
                return false;
            }
        }
        if (part.n == 0 || (numbers_checked && digits && part.n > 1 && part.p[0] == '0')) {
            return false;
        }
    }
    return true;
}

/* Normalizing drops a v in front, adds missing parts and drops zeros in front. */
static bool parse_semver(struct arena *arena, struct str text, bool normalize, struct semver *ret)
{
    struct str core, build, pre, part, rest;
    size_t i = 0;

    if (normalize && text.n > 0 && text.p[0] == 'v') {
        text = str_from(text, 1);
    }
    bool has_build = str_cut(text, '+', &core, &build), has_pre = str_cut(core, '-', &core, &pre);
    if ((has_build && !identifiers(build, false)) || (has_pre && !identifiers(pre, true))) {
        return false;
    }
    for (rest = core; i < 4 && str_next(&rest, '.', &part); i++) {
        while (normalize && part.n > 1 && part.p[0] == '0') {
            part = str_from(part, 1);
        }
        if (i == 3 || !semver_number(part, &ret->numbers[i])) {
            return false;
        }
    }
    if (i < 3 && (!normalize || i == 0 || has_pre || has_build)) {
        return false;
    }
    ret->pre = has_pre ? pre : (struct str){0};
    ret->text = arena_printf(arena, "%llu.%llu.%llu%s%.*s", (unsigned long long)ret->numbers[0], (unsigned long long)ret->numbers[1],
                             (unsigned long long)ret->numbers[2], has_pre ? "-" : "", STR_ARG(ret->pre));
    return true;
}

static int compare_pre(struct str a, struct str b)
{
    struct str x, y;

    if (a.n == 0 || b.n == 0) {
        return (a.n == 0) - (b.n == 0);
    }
    for (;;) {
        bool more_a = str_next(&a, '.', &x), more_b = str_next(&b, '.', &y);
        uint64_t m, n;

        if (!more_a || !more_b) {
            return more_a - more_b;
        }
        bool num_a = str_to_u64(x, &m), num_b = str_to_u64(y, &n);
        int order = num_a && num_b ? (m > n) - (m < n) : num_a != num_b ? (num_a ? -1 : 1) : str_cmp(x, y);
        if (order != 0) {
            return order;
        }
    }
}

static int compare_semver(const struct cel_val *args)
{
    const struct semver *a = args[0].data, *b = args[1].data;

    for (int i = 0; i < 3; i++) {
        if (a->numbers[i] != b->numbers[i]) {
            return a->numbers[i] < b->numbers[i] ? -1 : 1;
        }
    }
    return compare_pre(a->pre, b->pre);
}

FN(semver)
{
    struct semver *made = ARENA_NEW(run->arena, struct semver);

    return parse_semver(run->arena, args[0].string, count > 1 && args[1].boolean, made)
               ? cel_val_opaque(cel_type_named("kubernetes.Semver"), made)
               : FAIL("No Major.Minor.Patch elements found");
}
FN(is_semver)
{
    struct semver made = {0};

    return cel_val_bool(parse_semver(run->arena, args[0].string, count > 1 && args[1].boolean, &made));
}
FN(semver_less) { return cel_val_bool(compare_semver(args) < 0); }
FN(semver_greater) { return cel_val_bool(compare_semver(args) > 0); }
FN(semver_compare)
{
    int order = compare_semver(args);

    return cel_val_int(order < 0 ? -1 : order > 0);
}
FN(major) { return cel_val_int((int64_t)((const struct semver *)args[0].data)->numbers[0]); }
FN(minor) { return cel_val_int((int64_t)((const struct semver *)args[0].data)->numbers[1]); }
FN(patch) { return cel_val_int((int64_t)((const struct semver *)args[0].data)->numbers[2]); }

/* A format by name: what it finds wrong with a text, one message each. */
struct format {
    struct str name; /* first: the text it is compared by */
    bool (*check)(struct str value, struct name_errors *errors);
};

static bool add_problem(struct name_errors *errors, struct str text)
{
    errors->items[errors->len++] = text;
    return false;
}

static bool check_date(struct str value, struct name_errors *errors)
{
    char text[20] = "0000-00-00T00:00:00Z";
    struct timestamp time;

    for (size_t i = 0; i < 10 && i < value.n; i++) {
        text[i] = value.p[i];
    }
    return (value.n == 10 && timestamp_parse((struct str){text, 20}, &time)) || add_problem(errors, STR("invalid date"));
}

static bool check_datetime(struct str value, struct name_errors *errors)
{
    struct timestamp time;

    return timestamp_parse(value, &time) || add_problem(errors, STR("invalid datetime"));
}

static bool check_uuid(struct str value, struct name_errors *errors)
{
    bool good = value.n == 36;

    for (size_t i = 0; i < value.n && good; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        good = dash ? value.p[i] == '-' : isxdigit((unsigned char)value.p[i]) != 0;
    }
    return good || add_problem(errors, STR("does not match the UUID format"));
}

static bool check_byte(struct str value, struct name_errors *errors)
{
    size_t padding = value.n >= 2 && value.p[value.n - 2] == '=' ? 2 : value.n >= 1 && value.p[value.n - 1] == '=' ? 1 : 0;
    bool good = value.n % 4 == 0;

    for (size_t i = 0; i + padding < value.n && good; i++) {
        good = isalnum((unsigned char)value.p[i]) || value.p[i] == '+' || value.p[i] == '/';
    }
    return good || add_problem(errors, STR("invalid base64"));
}

static bool check_prefix(struct str value, struct name_errors *errors, bool (*check)(struct str, struct name_errors *))
{
    return check(value.n > 1 && value.p[value.n - 1] == '-' ? str_sub(value, 0, value.n - 1) : value, errors);
}
static bool check_label_prefix(struct str value, struct name_errors *errors) { return check_prefix(value, errors, name_is_dns1123_label); }
static bool check_subdomain_prefix(struct str value, struct name_errors *errors)
{
    return check_prefix(value, errors, name_is_dns1123_subdomain);
}
static bool check_1035_prefix(struct str value, struct name_errors *errors) { return check_prefix(value, errors, name_is_dns1035_label); }

static const struct format formats[] = {
    {STR_INIT("dns1123Label"), name_is_dns1123_label}, {STR_INIT("dns1123Subdomain"), name_is_dns1123_subdomain},
    {STR_INIT("dns1035Label"), name_is_dns1035_label}, {STR_INIT("qualifiedName"), name_is_qualified},
    {STR_INIT("dns1123LabelPrefix"), check_label_prefix}, {STR_INIT("dns1123SubdomainPrefix"), check_subdomain_prefix},
    {STR_INIT("dns1035LabelPrefix"), check_1035_prefix}, {STR_INIT("labelValue"), name_is_label_value},
    {STR_INIT("uuid"), check_uuid}, {STR_INIT("byte"), check_byte}, {STR_INIT("date"), check_date},
    {STR_INIT("datetime"), check_datetime},
};

static const struct format *format_named(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (str_eq(formats[i].name, name)) {
            return &formats[i];
        }
    }
    return NULL;
}

FN(format_find)
{
    const struct format *found = format_named(args[0].string);
    struct cel_val value = found != NULL ? cel_val_opaque(cel_type_named("kubernetes.NamedFormat"), found) : cel_val_null();

    return cel_val_optional(run->arena, found != NULL ? &value : NULL);
}

FN(validate)
{
    const struct format *format = args[0].data;
    struct name_errors errors = {0};

    if (format->check(args[1].string, &errors)) {
        return cel_val_optional(run->arena, NULL);
    }
    struct cel_items *items = cel_items_new(run->arena, errors.len);
    for (size_t i = 0; i < errors.len; i++) {
        cel_items_add(run->arena, items, cel_val_string(errors.items[i]));
    }
    struct cel_val list = cel_val_items(items);
    return cel_val_optional(run->arena, &list);
}

#define FORMAT(i) FN(format_##i) { return cel_val_opaque(cel_type_named("kubernetes.NamedFormat"), &formats[i]); }
FORMAT(0) FORMAT(1) FORMAT(2) FORMAT(3) FORMAT(4) FORMAT(5) FORMAT(6) FORMAT(7) FORMAT(8) FORMAT(9) FORMAT(10) FORMAT(11)

CEL_ROWS(cel_quantity_rows) = {
    {"quantity(string): kubernetes.Quantity", quantity}, {"isQuantity(string): bool", is_quantity},
    {"kubernetes.Quantity -> isLessThan(kubernetes.Quantity): bool", is_less},
    {"kubernetes.Quantity -> isGreaterThan(kubernetes.Quantity): bool", is_greater},
    {"kubernetes.Quantity -> compareTo(kubernetes.Quantity): int", compare_to},
    {"kubernetes.Quantity -> add(kubernetes.Quantity): kubernetes.Quantity", add}, {"kubernetes.Quantity -> add(int): kubernetes.Quantity", add},
    {"kubernetes.Quantity -> sub(kubernetes.Quantity): kubernetes.Quantity", sub}, {"kubernetes.Quantity -> sub(int): kubernetes.Quantity", sub},
    {"kubernetes.Quantity -> sign(): int", sign}, {"kubernetes.Quantity -> isInteger(): bool", is_integer},
    {"kubernetes.Quantity -> asInteger(): int", as_integer}, {"kubernetes.Quantity -> asApproximateFloat(): double", as_float},
    {"semver(string): kubernetes.Semver", semver}, {"semver(string, bool): kubernetes.Semver", semver}, {"isSemver(string): bool", is_semver},
    {"isSemver(string, bool): bool", is_semver}, {"kubernetes.Semver -> isLessThan(kubernetes.Semver): bool", semver_less},
    {"kubernetes.Semver -> isGreaterThan(kubernetes.Semver): bool", semver_greater},
    {"kubernetes.Semver -> compareTo(kubernetes.Semver): int", semver_compare}, {"kubernetes.Semver -> major(): int", major},
    {"kubernetes.Semver -> minor(): int", minor}, {"kubernetes.Semver -> patch(): int", patch},
    {"format.dns1123Label(): kubernetes.NamedFormat", format_0},
    {"format.dns1123Subdomain(): kubernetes.NamedFormat", format_1},
    {"format.dns1035Label(): kubernetes.NamedFormat", format_2},
    {"format.qualifiedName(): kubernetes.NamedFormat", format_3},
    {"format.dns1123LabelPrefix(): kubernetes.NamedFormat", format_4},
    {"format.dns1123SubdomainPrefix(): kubernetes.NamedFormat", format_5},
    {"format.dns1035LabelPrefix(): kubernetes.NamedFormat", format_6},
    {"format.labelValue(): kubernetes.NamedFormat", format_7},
    {"format.uuid(): kubernetes.NamedFormat", format_8},
    {"format.byte(): kubernetes.NamedFormat", format_9},
    {"format.date(): kubernetes.NamedFormat", format_10},
    {"format.datetime(): kubernetes.NamedFormat", format_11},
    {"format.named(string): optional(kubernetes.NamedFormat)", format_find},
    {"kubernetes.NamedFormat -> validate(string): optional(list(string))", validate},
    {NULL, NULL},
};
