#include "base/flags.h"

#include "base/buf.h"
#include "base/duration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const struct flag_table *tables;
    size_t table_count;
    char *const *args;
    size_t arg_count, at;
    struct arena *arena;
    struct flags_result *result;
};

static bool is_bool(const struct flag *flag)
{
    return flag->type == FLAG_TYPE_BOOL || flag->type == FLAG_TYPE_IGNORED_BOOL;
}

static const struct flag *flag_find(const struct reader *in, struct str name, char shorthand, void **ret_options)
{
    for (size_t t = 0; t < in->table_count; t++) {
        for (size_t i = 0; i < in->tables[t].count; i++) {
            const struct flag *flag = &in->tables[t].flags[i];

            if (shorthand != 0 ? flag->shorthand == shorthand : str_is(name, flag->name)) {
                *ret_options = in->tables[t].options;
                return flag;
            }
        }
    }
    return NULL;
}

static bool parse_bool(struct str text, bool *ret)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False"};

    for (size_t i = 0; i < COUNT_OF(yes); i++) {
        if (str_is(text, yes[i]) || str_is(text, no[i])) {
            *ret = str_is(text, yes[i]);
            return true;
        }
    }
    return false;
}

static bool parse_float(struct str text, struct arena *arena, double *ret)
{
    char *end;
    char *copy = arena_cstr(arena, text);
    double value = strtod(copy, &end);

    if (text.n == 0 || *end != 0) {
        return false;
    }
    *ret = value;
    return true;
}

static void strings_add(struct reader *in, struct flag_strings *strings, struct str value, bool split)
{
    if (!strings->is_set) {
        *strings = (struct flag_strings){.is_set = true};
    }
    if (!split) {
        *LIST_ADD(in->arena, strings) = value;
        return;
    }
    struct str rest = value, item;

    while (value.n != 0 && str_next(&rest, ',', &item)) {
        *LIST_ADD(in->arena, strings) = item;
    }
}

static struct status *invalid(const struct flag *flag, struct str value, const char *function)
{
    struct str quoted = flag->shorthand != 0 ? (struct str){&flag->shorthand, 1} : (struct str){0};

    return status_new(STATUS_BAD_REQUEST,
                      "invalid argument \"%.*s\" for \"%s%.*s%s--%s\" flag: %s%s%.*s%s", STR_ARG(value),
                      quoted.n ? "-" : "", STR_ARG(quoted), quoted.n ? ", " : "", flag->name, function,
                      flag->type == FLAG_TYPE_DURATION ? " \"" : ": parsing \"", STR_ARG(value),
                      flag->type == FLAG_TYPE_DURATION ? "\"" : "\": invalid syntax");
}

static struct status *flag_set(struct reader *in, const struct flag *flag, void *options, struct str value)
{
    void *place = (char *)options + flag->offset;

    *LIST_ADD(in->arena, &in->result->seen) = str_of(flag->name);
    switch (flag->type) {
    case FLAG_TYPE_STRING:
        *(struct str *)place = value;
        break;
    case FLAG_TYPE_STRINGS:
    case FLAG_TYPE_ARRAY:
        strings_add(in, place, value, flag->type == FLAG_TYPE_STRINGS);
        break;
    case FLAG_TYPE_BOOL:
        if (!parse_bool(value, place)) {
            return invalid(flag, value, "strconv.ParseBool");
        }
        break;
    case FLAG_TYPE_INT:
        if (!str_to_i64(value, place)) {
            return invalid(flag, value, "strconv.ParseInt");
        }
        break;
    case FLAG_TYPE_FLOAT:
        if (!parse_float(value, in->arena, place)) {
            return invalid(flag, value, "strconv.ParseFloat");
        }
        break;
    case FLAG_TYPE_DURATION:
        if (!duration_parse(value, place)) {
            return invalid(flag, value, "time: invalid duration");
        }
        break;
    case FLAG_TYPE_IGNORED_BOOL: {
        bool ignored;

        if (!parse_bool(value, &ignored)) {
            return invalid(flag, value, "strconv.ParseBool");
        }
        break;
    }
    case FLAG_TYPE_IGNORED:
        break;
    }
    return NULL;
}

static struct status *parse_long(struct reader *in, struct str arg)
{
    struct str name, value;
    bool has_value = str_cut(str_from(arg, 2), '=', &name, &value);

    if (name.n == 0 || name.p[0] == '-') {
        return status_new(STATUS_BAD_REQUEST, "bad flag syntax: %.*s", STR_ARG(arg));
    }
    void *options;
    const struct flag *flag = flag_find(in, name, 0, &options);

    if (flag == NULL && str_is(name, "help")) {
        in->result->wants_help = true;
        return NULL;
    }
    if (flag == NULL) {
        return status_new(STATUS_BAD_REQUEST, "unknown flag: --%.*s", STR_ARG(name));
    }
    if (!has_value && is_bool(flag)) {
        value = STR("true");
    } else if (!has_value && flag->bare != NULL) {
        value = str_of(flag->bare);
    } else if (!has_value && in->at < in->arg_count) {
        value = str_of(in->args[in->at++]);
    } else if (!has_value) {
        return status_new(STATUS_BAD_REQUEST, "flag needs an argument: --%.*s", STR_ARG(name));
    }
    return flag_set(in, flag, options, value);
}

/* -abc, -n=5, -n5, -n 5 */
static struct status *parse_short(struct reader *in, struct str arg)
{
    for (size_t i = 1; i < arg.n; i++) {
        void *options;
        const struct flag *flag = flag_find(in, (struct str){0}, arg.p[i], &options);
        struct str rest = str_from(arg, i + 1), value;

        if (flag == NULL && arg.p[i] == 'h') {
            in->result->wants_help = true;
            return NULL;
        }
        if (flag == NULL) {
            return status_new(STATUS_BAD_REQUEST, "unknown shorthand flag: '%c' in %.*s", arg.p[i], STR_ARG(arg));
        }
        if (rest.n > 1 && rest.p[0] == '=') {
            return flag_set(in, flag, options, str_from(rest, 1));
        }
        if (is_bool(flag) || flag->bare != NULL) {
            TRY(flag_set(in, flag, options, is_bool(flag) ? STR("true") : str_of(flag->bare)));
            continue;
        }
        if (rest.n != 0) {
            value = rest;
        } else if (in->at < in->arg_count) {
            value = str_of(in->args[in->at++]);
        } else {
            return status_new(STATUS_BAD_REQUEST, "flag needs an argument: '%c' in %.*s", arg.p[i], STR_ARG(arg));
        }
        return flag_set(in, flag, options, value);
    }
    return NULL;
}

struct status *flags_parse(const struct flag_table *tables, size_t table_count, char *const *args, size_t arg_count,
                           bool interspersed, struct arena *arena, struct flags_result *ret)
{
    struct reader in = {tables, table_count, args, arg_count, 0, arena, ret};

    *ret = (struct flags_result){.after_dashes = SIZE_MAX};
    while (in.at < arg_count) {
        struct str arg = str_of(args[in.at++]);

        if (str_is(arg, "--")) {
            ret->after_dashes = ret->positional.len;
            break;
        }
        if (arg.n < 2 || arg.p[0] != '-') {
            *LIST_ADD(arena, &ret->positional) = arg;
            if (!interspersed) {
                break;
            }
            continue;
        }
        TRY(arg.p[1] == '-' ? parse_long(&in, arg) : parse_short(&in, arg));
    }
    while (in.at < arg_count) {
        *LIST_ADD(arena, &ret->positional) = str_of(args[in.at++]);
    }
    return NULL;
}

bool flags_seen(const struct flags_result *result, const char *name)
{
    LIST_EACH(seen, &result->seen) {
        if (str_is(*seen, name)) {
            return true;
        }
    }
    return false;
}

struct str flags_usage(const struct flag_table *table, struct arena *arena)
{
    static const char *const types[] = {"string", "strings", "stringArray", "", "int", "float", "duration", "string",
                                        ""};
    OWNED(buf_done) struct buf out = {0};
    size_t width = 0;

    for (size_t i = 0; i < table->count; i++) {
        width = MAX(width, strlen(table->flags[i].name) + strlen(types[table->flags[i].type]) + 1);
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct flag *flag = &table->flags[i];
        size_t start;

        if (flag->help == NULL) {
            continue;
        }
        if (flag->shorthand != 0) {
            buf_printf(&out, "  -%c, --", flag->shorthand);
        } else {
            buf_printf(&out, "      --");
        }
        start = out.n;
        buf_printf(&out, "%s%s%s", flag->name, is_bool(flag) ? "" : " ", types[flag->type]);
        buf_printf(&out, "%*s%s\n", (int)(width + 3 - (out.n - start)), "", flag->help);
    }
    return arena_str(arena, buf_str(&out));
}
