#include "base/flags.h"

#include "test.h"

struct options {
    struct str name;
    struct flag_strings modes, headers;
    bool on, quick;
    int64_t port, wait;
};

static const struct flag table[] = {
    FLAG(STRING, struct options, name, "name", 'n', "a name"),
    FLAG(STRINGS, struct options, modes, "mode", 0, "modes"),
    FLAG(ARRAY, struct options, headers, "header", 'H', "headers"),
    FLAG(BOOL, struct options, on, "on", 'o', "switch"),
    FLAG(BOOL, struct options, quick, "quick", 'q', "switch"),
    FLAG(INT, struct options, port, "port", 'p', "port"),
    FLAG(DURATION, struct options, wait, "wait", 0, "how long"),
    FLAG_IGNORE("old"),
    {"dry-run", 0, FLAG_TYPE_STRING, offsetof(struct options, name), NULL, "unchanged"},
};

static struct status *parse(struct options *options, struct flags_result *result, struct arena *arena,
                            const char *line)
{
    char *args[20];
    size_t count = 0;
    struct str rest = str_of(line), item;

    while (str_next(&rest, ' ', &item)) {
        args[count++] = arena_cstr(arena, item);
    }
    struct flag_table tables[] = {{table, COUNT_OF(table), options}};

    return flags_parse(tables, 1, args, count, true, arena, result);
}

TEST("base/flags/all forms of flags")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct options options = {.on = true};
    struct flags_result result;

    CHECK_OK(parse(&options, &result, arena,
                   "--name=a x --mode=RBAC,Node --mode ABAC -H a,b -H c -q --on=false -p80 --wait 1m30s --old y -- -z"));
    CHECK_STR(options.name, "a");
    CHECK_INT(options.modes.len, 3);
    CHECK_STR(options.modes.items[2], "ABAC");
    CHECK_INT(options.headers.len, 2);
    CHECK_STR(options.headers.items[0], "a,b");
    CHECK(!options.on && options.quick);
    CHECK_INT(options.port, 80);
    CHECK_INT(options.wait, 90000000000);
    CHECK_INT(result.positional.len, 2);
    CHECK_STR(result.positional.items[1], "-z");
    CHECK_INT(result.after_dashes, 1);
    CHECK(flags_seen(&result, "old") && !flags_seen(&result, "dry-run"));
    CHECK_OK(parse(&options, &result, arena, "--dry-run -oqn= --help"));
    CHECK_STR(options.name, "=");
    CHECK(result.wants_help);
}

TEST("base/flags/errors are pflag's")
{
    static const struct {
        const char *line, *error;
    } rows[] = {
        {"--nope", "unknown flag: --nope"},
        {"-x", "unknown shorthand flag: 'x' in -x"},
        {"-ox", "unknown shorthand flag: 'x' in -ox"},
        {"--port", "flag needs an argument: --port"},
        {"-p", "flag needs an argument: 'p' in -p"},
        {"--=x", "bad flag syntax: --=x"},
        {"--port=a", "invalid argument \"a\" for \"-p, --port\" flag: strconv.ParseInt: parsing \"a\": invalid syntax"},
        {"--on=a", "invalid argument \"a\" for \"-o, --on\" flag: strconv.ParseBool: parsing \"a\": invalid syntax"},
        {"--wait=a", "invalid argument \"a\" for \"--wait\" flag: time: invalid duration \"a\""},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct options options = {0};
        struct flags_result result;

        CHECK_ERROR(parse(&options, &result, arena, rows[i].line), rows[i].error);
    }
}

TEST("base/flags/durations")
{
    static const struct {
        const char *text;
        int64_t value;
        const char *formatted;
    } rows[] = {
        {"1h15m30.918s", 4530918000000, "1h15m30.918s"}, {"300ms", 300000000, "300ms"}, {"1.5h", 5400000000000, "1h30m0s"},
        {"-5s", -5000000000, "-5s"},                     {"0", 0, "0s"},                {"2us", 2000, "2\xc2\xb5s"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();
    int64_t value = 1;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK(duration_parse(str_of(rows[i].text), &value));
        CHECK_INT(value, rows[i].value);
        CHECK_STR(duration_format(arena, value), rows[i].formatted);
    }
    CHECK(!duration_parse(STR("5"), &value) && !duration_parse(STR(""), &value) && !duration_parse(STR("1s5"), &value) &&
          !duration_parse(STR("s"), &value) && !duration_parse(STR("-"), &value));
}
