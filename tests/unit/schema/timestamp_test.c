#include "schema/timestamp.h"

#include "tests/test.h"

TEST("schema/timestamp/a text is read, or Go's words say why not")
{
    static const struct {
        const char *text;
        bool micro;
        const char *error; /* NULL: none */
    } rows[] = {
        {"2026-11-30T12:00:00Z", false, NULL},
        {"2026-11-30T12:00:00.5+01:00", false, NULL},
        {"2001-02-03T04:05:06.000001Z", true, NULL},
        {"2001-02-03T04:05:06.123456-07:00", true, NULL},
        {"bad", false, "parsing time \"bad\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"bad\" as \"2006\""},
        {"2001-02-03T04:05:06.1Z", true,
         "parsing time \"2001-02-03T04:05:06.1Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \".1Z\" as "
         "\".000000\""},
        {"2001-02-03T04:05:06.1234567Z", true,
         "parsing time \"2001-02-03T04:05:06.1234567Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"7Z\" "
         "as \"Z07:00\""},
        {"2001-02-03T04:05:06.123+01:00", true,
         "parsing time \"2001-02-03T04:05:06.123+01:00\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
         "\".123+01:00\" as \".000000\""},
        {"2001-02-30T00:00:00Z", false, "parsing time \"2001-02-30T00:00:00Z\": day out of range"},
        {"2001-13-03T00:00:00Z", false, "parsing time \"2001-13-03T00:00:00Z\": month out of range"},
        {"2001-02-03T00:00:00Zx", false, "parsing time \"2001-02-03T00:00:00Zx\": extra text: \"x\""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str text = str_of(rows[i].text), problem = timestamp_problem(arena, text, rows[i].micro);
        struct timestamp time;

        CHECK((rows[i].micro ? timestamp_parse_micro(text, &time) : timestamp_parse(text, &time)) ==
              (rows[i].error == NULL));
        CHECK_STR(problem, rows[i].error != NULL ? rows[i].error : "");
    }
}

TEST("schema/timestamp/text and numbers of a time agree")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct timestamp time;

    CHECK(timestamp_parse(STR("2000-03-01T00:00:00+01:00"), &time));
    CHECK_INT(time.seconds, 951865200);
    CHECK_STR(timestamp_format(arena, time), "2000-02-29T23:00:00Z");
    CHECK(timestamp_parse(STR("0001-01-01T00:00:00Z"), &time));
    CHECK_INT(time.seconds, TIMESTAMP_GO_ZERO);
    CHECK(timestamp_parse_micro(STR("1969-12-31T23:59:59.999999Z"), &time));
    CHECK_STR(timestamp_format_micro(arena, time), "1969-12-31T23:59:59.999999Z");
    CHECK_STR(timestamp_format_micro(arena, timestamp_of_nanos(timestamp_nanos(time))), "1969-12-31T23:59:59.999999Z");
}
