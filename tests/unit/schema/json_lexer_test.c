#include "test.h"

#include "schema/json_lexer.h"

#include <math.h>
#include <string.h>

static void check_error(const char *text, const char *error)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct json_lexer in;

    json_begin(&in, str_of(text), arena);
    json_skip(&in, NULL);
    CHECK_ERROR(json_finish(&in), error);
}

TEST("schema/json_lexer/errors are Go's")
{
    check_error("", "unexpected end of JSON input");
    check_error("{", "unexpected end of JSON input");
    check_error("[1,", "unexpected end of JSON input");
    check_error("\"a", "unexpected end of JSON input");
    check_error("\"a\\", "unexpected end of JSON input");
    check_error("x", "invalid character 'x' looking for beginning of value");
    check_error("[1,]", "invalid character ']' looking for beginning of value");
    check_error("{\"a\":1,}", "invalid character '}' looking for beginning of object key string");
    check_error("{a:1}", "invalid character 'a' looking for beginning of object key string");
    check_error("{\"a\" 1}", "invalid character '1' after object key");
    check_error("{\"a\":1 2}", "invalid character '2' after object key:value pair");
    check_error("[1 2]", "invalid character '2' after array element");
    check_error("1 2", "invalid character '2' after top-level value");
    check_error("01", "invalid character '1' after top-level value");
    check_error("-x", "invalid character 'x' in numeric literal");
    check_error("1.x", "invalid character 'x' after decimal point in numeric literal");
    check_error("1ex", "invalid character 'x' in exponent of numeric literal");
    check_error("trux", "invalid character 'x' in literal true (expecting 'e')");
    check_error("\"\n\"", "invalid character '\\n' in string literal");
    check_error("\"\x01\"", "invalid character '\\x01' in string literal");
    check_error("\"\\q\"", "invalid character 'q' in string escape code");
    check_error("\"\\u12x4\"", "invalid character 'x' in \\u hexadecimal character escape");
    check_error("'", "invalid character '\\'' looking for beginning of value");
}

TEST("schema/json_lexer/depth is bounded")
{
    char deep[301];

    memset(deep, '[', 150);
    memset(deep + 150, ']', 150);
    deep[300] = '\0';
    check_error(deep, "exceeded max depth");
}

static struct str string_of(struct arena *arena, struct str text)
{
    struct json_lexer in;
    struct str got = {0};

    json_begin(&in, text, arena);
    json_string(&in, &got);
    CHECK_OK(json_finish(&in));
    return got;
}

TEST("schema/json_lexer/strings decode escapes, surrogates and bad UTF-8")
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    CHECK_STR(string_of(arena, STR("\"plain text that is long enough\"")), "plain text that is long enough");
    CHECK_STR(string_of(arena, STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")), "\"\\/\b\f\n\r\t");
    CHECK_STR(string_of(arena, STR("\"\\u00e9\\u20ac\\ud83d\\ude00\"")), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK_STR(string_of(arena, STR("\"\\ud83dx\"")), "\xef\xbf\xbdx");
    CHECK_STR(string_of(arena, STR("\"\\ud83d\\u0041\"")), "\xef\xbf\xbd"
                                                           "A");
    CHECK_STR(string_of(arena, STR("\"\\ude00\"")), "\xef\xbf\xbd");
    CHECK_STR(string_of(arena, STR("\"a\xff\xc3\xa9\xe2\x82\"")), "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(string_of(arena, STR("\"\\u0000\"")).n == 1);
}

TEST("schema/json_lexer/walks objects and arrays")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct json_lexer in;
    struct str key, text;
    int members = 0;

    json_begin(&in, STR(" { \"a\" : [ ] , \"b\":{ }, \"c\":[1, 2 ,{\"x\":null}] } "), arena);
    CHECK(json_peek(&in) == JSON_OBJECT && json_object_start(&in));
    while (json_object_next(&in, &key)) {
        members++;
        CHECK(json_skip(&in, &text));
        if (str_is(key, "c")) {
            CHECK_STR(text, "[1, 2 ,{\"x\":null}]");
        }
    }
    CHECK_INT(members, 3);
    CHECK_OK(json_finish(&in));
}

static void check_double(double value, const char *wanted)
{
    OWNED(buf_done) struct buf out = {0};

    json_add_double(&out, value);
    CHECK_STR(buf_str(&out), wanted);
}

TEST("schema/json_text/floats are Go's")
{
    check_double(0, "0");
    check_double(-0.0, "-0");
    check_double(1, "1");
    check_double(-1.5, "-1.5");
    check_double(0.1, "0.1");
    check_double(123456789, "123456789");
    check_double(1e20, "100000000000000000000");
    check_double(1e21, "1e+21");
    check_double(0.000001, "0.000001");
    check_double(1.5e-7, "1.5e-7");
    check_double(1e-10, "1e-10");
    check_double(5e-324, "5e-324");
    check_double(1.7976931348623157e308, "1.7976931348623157e+308");
}

TEST("schema/json_text/strings are escaped as Go's encoder does")
{
    OWNED(buf_done) struct buf out = {0};

    json_add_string(&out, STR("<a&b>\"\\\n\t\x01\xe2\x80\xa8\xff\xc3\xa9\x7f\b\f"));
    CHECK_STR(buf_str(&out), "\"\\u003ca\\u0026b\\u003e\\\"\\\\\\n\\t\\u0001\\u2028\\ufffd\xc3\xa9\x7f\\b\\f\"");
    buf_clear(&out);
    json_add_string_plain(&out, STR("<&>"));
    CHECK_STR(buf_str(&out), "\"<&>\"");
}
