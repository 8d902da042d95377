#include "test.h"

#include "schema/meta_v1.h"
#include "schema/patch.h"

static struct value *read(struct arena *arena, const char *text)
{
    struct value *value = NULL;

    CHECK_OK(value_read_json(arena, str_of(text), &value, NULL));
    return value;
}

TEST("schema/patch/JSON Patch applies its operations or refuses")
{
    static const struct {
        const char *document, *patch, *wanted; /* NULL: it does not apply */
    } cases[] = {
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\",\"value\":[2]}]", "{\"a\":1,\"b\":[2]}"},
        {"{\"a\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":2}]", "{\"a\":[1,2,3]}"},
        {"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":2}]", "{\"a\":[1,2]}"},
        {"{\"a\":1,\"b\":2}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"b\":2}"},
        {"{\"a\":[1,2]}", "[{\"op\":\"remove\",\"path\":\"/a/0\"}]", "{\"a\":[2]}"},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":{\"x\":null}}]", "{\"a\":{\"x\":null}}"},
        {"{\"a\":[1,2]}", "[{\"op\":\"replace\",\"path\":\"/a/1\",\"value\":3}]", "{\"a\":[1,3]}"},
        {"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]", "{\"b\":1}"},
        {"{\"a\":1}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]", "{\"a\":1,\"b\":1}"},
        {"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]", "{\"a\":1}"},
        {"{\"m~n\":{\"x/y\":1}}", "[{\"op\":\"remove\",\"path\":\"/m~0n/x~1y\"}]", "{\"m~n\":{}}"},
        {"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]", NULL},
        {"{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]", NULL},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/b\",\"value\":1}]", "{\"a\":1,\"b\":1}"},
        {"{\"a\":[1]}", "[{\"op\":\"replace\",\"path\":\"/a/3\",\"value\":1}]", NULL},
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b/c\",\"value\":1}]", NULL},
        {"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/5\",\"value\":1}]", NULL},
        {"{\"a\":1}", "[{\"op\":\"eat\",\"path\":\"/a\"}]", NULL},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct value *document = read(arena, cases[i].document), *result = NULL;
        struct status *status = patch_json(arena, document, read(arena, cases[i].patch), &result);

        CHECK_INT(status == NULL, cases[i].wanted != NULL);
        if (status != NULL) {
            CHECK(status_is(status, STATUS_INVALID));
            status_free(status);
        } else {
            CHECK_STR(value_json(arena, result), cases[i].wanted);
        }
        CHECK_STR(value_json(arena, document), cases[i].document); /* left alone */
    }
}

TEST("schema/patch/merge patches do what the RFC shows")
{
    static const char *const cases[][3] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct value *result = patch_merge(arena, read(arena, cases[i][0]), read(arena, cases[i][1]));

        CHECK_STR(value_json(arena, result), cases[i][2]);
    }
}

TEST("schema/patch/strategic patches go by merge keys and directives")
{
    static const struct {
        const char *document, *patch, *wanted;
    } cases[] = {
        {"{\"ownerReferences\":[{\"name\":\"a\",\"uid\":\"1\"}]}", "{\"ownerReferences\":[{\"name\":\"b\",\"uid\":\"2\"}]}",
         "{\"ownerReferences\":[{\"name\":\"b\",\"uid\":\"2\"},{\"name\":\"a\",\"uid\":\"1\"}]}"},
        {"{\"ownerReferences\":[{\"name\":\"a\",\"uid\":\"1\"}]}",
         "{\"ownerReferences\":[{\"controller\":true,\"uid\":\"1\"}]}",
         "{\"ownerReferences\":[{\"controller\":true,\"name\":\"a\",\"uid\":\"1\"}]}"},
        {"{\"ownerReferences\":[{\"name\":\"a\",\"uid\":\"1\"}]}",
         "{\"ownerReferences\":[{\"$patch\":\"delete\",\"uid\":\"1\"}]}", "{\"ownerReferences\":[]}"},
        {"{\"finalizers\":[\"a\",\"b\"]}", "{\"$deleteFromPrimitiveList/finalizers\":[\"a\"]}",
         "{\"finalizers\":[\"b\"]}"},
        {"{\"labels\":{\"a\":\"1\",\"b\":\"2\"}}", "{\"labels\":{\"a\":null,\"c\":\"3\"}}",
         "{\"labels\":{\"b\":\"2\",\"c\":\"3\"}}"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct value *result = NULL;

        CHECK_OK(patch_strategic(arena, &meta_v1_object_meta_type, read(arena, cases[i].document),
                                 read(arena, cases[i].patch), &result));
        CHECK_STR(value_json(arena, result), cases[i].wanted);
    }
}
