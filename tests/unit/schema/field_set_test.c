#include "test.h"

#include "schema/field_set.h"
#include "schema/meta_v1.h"

static struct value *read(struct arena *arena, const char *text)
{
    struct value *value = NULL;

    CHECK_OK(value_read_json(arena, str_of(text), &value, NULL));
    return value;
}

static const struct field_set *set_of(struct arena *arena, const char *text)
{
    const struct field_set *set = NULL;

    CHECK_OK(field_set_read(arena, str_of(text), &set));
    return set;
}

static void check_set(const struct field_set *set, const char *wanted)
{
    OWNED(buf_done) struct buf text = {0};

    field_set_write(set, &text);
    CHECK_STR(buf_str(&text), wanted);
}

TEST("schema/field_set/sets are read, combined and written")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct field_set *a = set_of(arena, "{\"f:m\":{\"f:l\":{\".\":{},\"f:a\":{}}},\"f:s\":{}}");
    const struct field_set *b = set_of(arena, "{\"f:m\":{\"f:l\":{\"f:a\":{},\"f:b\":{}}},\"f:t\":{}}");

    check_set(field_set_union(arena, a, b),
              "{\"f:m\":{\"f:l\":{\".\":{},\"f:a\":{},\"f:b\":{}}},\"f:s\":{},\"f:t\":{}}");
    check_set(field_set_difference(arena, a, b), "{\"f:m\":{\"f:l\":{}},\"f:s\":{}}");
    check_set(field_set_intersection(arena, a, b), "{\"f:m\":{\"f:l\":{\"f:a\":{}}}}");
    check_set(field_set_without(arena, b, a), "{\"f:t\":{}}");
    check_set(NULL, "{}");
    CHECK(field_set_equal(a, set_of(arena, "{\"f:s\":{},\"f:m\":{\"f:l\":{\"f:a\":{},\".\":{}}}}")));
    CHECK(!field_set_equal(a, b));
    CHECK(field_set_is_empty(field_set_difference(arena, a, a)));
}

TEST("schema/field_set/keys have one text, and paths are those people read")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct field_set *set = set_of(
        arena, "{\"f:ports\":{\"k:{\\\"protocol\\\":\\\"TCP\\\", \\\"port\\\":80}\":{\".\":{},\"f:name\":{}}},\"f:set\":{\"v:\\\"x\\\"\":{}}}");
    struct field_paths paths = field_set_paths(arena, set);

    CHECK_INT(paths.len, 3);
    CHECK_STR(paths.items[0], ".ports[port=80,protocol=\"TCP\"]");
    CHECK_STR(paths.items[1], ".ports[port=80,protocol=\"TCP\"].name");
    CHECK_STR(paths.items[2], ".set[=\"x\"]");
    const struct field_set *bad = NULL;

    CHECK_ERROR(field_set_read(arena, STR("{\"x\":{}}"), &bad), "path element");
    CHECK_ERROR(field_set_read(arena, STR("[]"), &bad), "objects");
}

TEST("schema/field_set/changes are added, modified and removed fields")
{
    static const struct {
        const char *from, *to, *added, *modified, *removed;
    } cases[] = {
        {"{}", "{\"labels\":{\"a\":\"1\"}}", "{\"f:labels\":{\".\":{},\"f:a\":{}}}", "{}", "{}"},
        {"{\"labels\":{\"a\":\"1\"}}", "{\"labels\":{\"a\":\"2\",\"b\":\"3\"}}", "{\"f:labels\":{\"f:b\":{}}}",
         "{\"f:labels\":{\"f:a\":{}}}", "{}"},
        {"{\"labels\":{\"a\":\"1\",\"b\":\"2\"}}", "{\"labels\":{\"a\":\"1\"}}", "{}", "{}", "{\"f:labels\":{\"f:b\":{}}}"},
        {"{\"finalizers\":[\"x\"]}", "{\"finalizers\":[\"x\",\"y\"]}", "{\"f:finalizers\":{\"v:\\\"y\\\"\":{}}}", "{}", "{}"},
        {"{\"ownerReferences\":[{\"uid\":\"1\",\"name\":\"a\"}]}", "{\"ownerReferences\":[{\"uid\":\"1\",\"name\":\"b\"}]}",
         "{}", "{\"f:ownerReferences\":{\"k:{\\\"uid\\\":\\\"1\\\"}\":{}}}", "{}"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct field_changes changes =
            field_compare(arena, &meta_v1_object_meta_type, read(arena, cases[i].from), read(arena, cases[i].to));

        check_set(changes.added, cases[i].added);
        check_set(changes.modified, cases[i].modified);
        check_set(changes.removed, cases[i].removed);
    }
}

TEST("schema/field_set/a configuration is laid over an object, and fields are taken away")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct type *type = &meta_v1_object_meta_type;
    struct value *live = read(arena, "{\"finalizers\":[\"a\",\"b\",\"c\"],\"labels\":{\"x\":\"1\",\"y\":\"2\"},\"name\":\"n\"}");
    struct value *wanted = read(arena, "{\"finalizers\":[\"c\",\"d\",\"a\"],\"labels\":{\"y\":\"3\",\"z\":\"4\"}}");
    struct value *merged = field_merge(arena, type, live, wanted);

    CHECK_STR(value_json(arena, merged),
              "{\"finalizers\":[\"b\",\"c\",\"d\",\"a\"],\"labels\":{\"x\":\"1\",\"y\":\"3\",\"z\":\"4\"},\"name\":\"n\"}");
    merged = field_remove(arena, type, merged,
                          set_of(arena, "{\"f:finalizers\":{\"v:\\\"d\\\"\":{}},\"f:labels\":{\"f:x\":{}}}"));
    CHECK_STR(value_json(arena, merged),
              "{\"finalizers\":[\"b\",\"c\",\"a\"],\"labels\":{\"y\":\"3\",\"z\":\"4\"},\"name\":\"n\"}");
    struct str unknown = {0};

    field_set_of_value(arena, type, read(arena, "{\"labels\":{\"a\":\"b\"},\"bogus\":1}"), &unknown);
    CHECK_STR(unknown, ".bogus");
}
