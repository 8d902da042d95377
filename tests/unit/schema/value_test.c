#include "test.h"

#include "schema/value.h"

#include <stdio.h>
#include <string.h>

static struct value *json(struct arena *arena, const char *text)
{
    struct value *value = NULL;

    CHECK_OK(value_read_json(arena, str_of(text), &value, NULL));
    return value;
}

static void check_json(const struct value *value, unsigned flags, const char *wanted)
{
    OWNED(buf_done) struct buf out = {0};

    value_write_json(&out, value, flags);
    CHECK_STR(buf_str(&out), wanted);
}

TEST("schema/value/JSON is read and written as Go's unstructured objects are")
{
    static const struct {
        const char *text, *kept, *sorted;
    } rows[] = {
        {"null", "null", "null"},
        {" true ", "true", "true"},
        {"9223372036854775807", "9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775808", "9223372036854776000", "9223372036854776000"},
        {"1.0", "1", "1"},
        {"1e3", "1000", "1000"},
        {"1e21", "1e+21", "1e+21"},
        {"0.000001", "0.000001", "0.000001"},
        {"0.0000001", "1e-7", "1e-7"},
        {"\"a<b>&\\u0001\"", "\"a\\u003cb\\u003e\\u0026\\u0001\"", "\"a\\u003cb\\u003e\\u0026\\u0001\""},
        {"{\"b\":1,\"a\":[1,{}, []],\"B\":{\"y\":null}}", "{\"b\":1,\"a\":[1,{},[]],\"B\":{\"y\":null}}",
         "{\"B\":{\"y\":null},\"a\":[1,{},[]],\"b\":1}"},
        {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}", "{\"a\":3,\"b\":2}"},
        {"{\"\":{\"\":1}}", "{\"\":{\"\":1}}", "{\"\":{\"\":1}}"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct value *value = json(arena, rows[i].text);

        check_json(value, 0, rows[i].kept);
        check_json(value, VALUE_JSON_SORTED, rows[i].sorted);
    }
}

TEST("schema/value/JSON errors have Go's words and depth has an end")
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "unexpected end of JSON input"},
        {"{", "unexpected end of JSON input"},
        {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
        {"[1 2]", "invalid character '2' after array element"},
        {"nul", "unexpected end of JSON input"},
        {"1 2", "invalid character '2' after top-level value"},
        {"1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *value = NULL;
    char deep[303];

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_ERROR(value_read_json(arena, str_of(rows[i].text), &value, NULL), rows[i].error);
    }
    memset(deep, '[', 101);
    memset(deep + 101, ']', 101);
    CHECK_ERROR(value_read_json(arena, (struct str){deep, 202}, &value, NULL), "exceeded max depth");
    CHECK(value == NULL);
    CHECK_OK(value_read_json(arena, (struct str){deep + 1, 200}, &value, NULL));
}

TEST("schema/value/duplicate keys are named by their path")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value_duplicates found = {0};
    struct value *value;

    CHECK_OK(value_read_json(arena, STR("{\"a\":{\"b\":[{\"c\":1,\"c\":2}],\"d\":1,\"d\":1,\"d\":1},\"a\":null}"), &value,
                             &found));
    CHECK_INT(found.len, 4);
    CHECK_STR(found.items[0], "a.b[0].c");
    CHECK_STR(found.items[1], "a.d");
    CHECK_STR(found.items[2], "a.d");
    CHECK_STR(found.items[3], "a");
    CHECK(value_is(value_find(value, STR("a")), VALUE_NULL));
}

TEST("schema/value/indented text is kubectl's")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *value = json(arena, "{\"kind\":\"List\",\"items\":[{\"a\":{},\"b\":[]},\"<x>\"],\"apiVersion\":\"v1\"}");

    check_json(value, VALUE_JSON_INDENT | VALUE_JSON_SORTED,
               "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        {\n            \"a\": {},\n"
               "            \"b\": []\n        },\n        \"\\u003cx\\u003e\"\n    ],\n    \"kind\": \"List\"\n}");
    check_json(value_find(value, STR("items")), VALUE_JSON_PLAIN, "[{\"a\":{},\"b\":[]},\"<x>\"]");
}

/* Adds, deletes and adds again, with the same done to a plain array, below and above the size that has an index. */
static void check_members(size_t count)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *object = value_object(arena);

    for (size_t i = 0; i < count; i++) {
        value_set(arena, object, arena_printf(arena, "key%zu", i), value_int(arena, (int64_t)i));
    }
    for (size_t i = 0; i < count; i++) {
        if (i % 3 != 0) {
            CHECK(value_delete(object, arena_printf(arena, "key%zu", i)));
            CHECK(!value_delete(object, arena_printf(arena, "key%zu", i)));
        }
    }
    value_set(arena, object, STR("key1"), value_int(arena, -1));
    CHECK_INT(value_count(object), (count + 2) / 3 + 1);
    size_t at = 0;

    VALUE_EACH_MEMBER(member, object)
    {
        CHECK_INT(member->value->integer, at < count ? (long long)at : -1);
        CHECK(value_find(object, member->key) == member->value);
        at += 3;
    }
    CHECK(value_find(object, STR("key2")) == NULL);
    VALUE_EACH_MEMBER(member, object)
    {
        member->value = value_null(arena);
    }
    for (size_t i = 0; i < count; i += 3) {
        CHECK(value_delete(object, arena_printf(arena, "key%zu", i)));
    }
    CHECK_INT(value_count(object), 1);
    check_json(object, 0, "{\"key1\":null}");
}

TEST("schema/value/members keep their order, small and large")
{
    check_members(5);
    check_members(13);
    check_members(20000);
}

TEST("schema/value/arrays insert and remove")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *array = value_array(arena);

    for (int i = 0; i < 5; i++) {
        value_add(arena, array, value_int(arena, i));
    }
    value_insert(arena, array, 0, value_bool(arena, true));
    value_insert(arena, array, 6, value_double(arena, 1.5));
    value_remove(array, 1);
    check_json(array, 0, "[true,1,2,3,4,1.5]");
    CHECK_INT(value_item(array, 1)->integer, 1);
    CHECK(value_item(array, 6) == NULL);
}

TEST("schema/value/looking goes through what is not there")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *value = json(arena, "{\"metadata\":{\"name\":\"a\",\"n\":1}}");

    CHECK_STR(value_str_at(value, "metadata.name"), "a");
    CHECK_STR(value_str_at(value, "metadata.n"), "");
    CHECK_STR(value_str_at(value, "metadata.name.x"), "");
    CHECK_STR(value_str_at(NULL, "a"), "");
    CHECK_INT(value_count(value_find_path(value, "metadata")), 2);
    CHECK_STR(str_of(value_type_name(value_find_path(value, "metadata.n"))), "number");
}

TEST("schema/value/copies are apart and equal")
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {"{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", true},
        {"{\"a\":1}", "{\"a\":1.0}", false},
        {"{\"a\":null}", "{}", false},
        {"{\"a\":null}", "{\"b\":null}", false},
        {"[1,2]", "[2,1]", false},
        {"[]", "{}", false},
        {"\"\"", "null", false},
        {"true", "false", false},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK(value_equal(json(arena, rows[i].a), json(arena, rows[i].b)) == rows[i].equal);
    }
    char text[] = "{\"key\":[{\"inner\":\"string\"}]}";
    struct value *value = json(arena, text);
    struct value *shallow = value_copy(arena, value), *whole = value_copy_whole(arena, value);

    CHECK(value_equal(value, shallow) && value_equal(value, whole));
    value_set(arena, value_item(value_find(value, STR("key")), 0), STR("inner"), value_null(arena));
    CHECK(!value_equal(value, shallow));
    memset(text, 'x', sizeof(text));
    check_json(whole, 0, "{\"key\":[{\"inner\":\"string\"}]}");
}
