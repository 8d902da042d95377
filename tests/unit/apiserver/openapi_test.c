#include "test.h"

#include "apiserver/openapi/document.h"

#include "base/file.h"
#include "schema/protobuf.h"
#include "schema/value.h"

#include <string.h>

static struct value *comparable(struct arena *arena, const struct value *value, bool is_map);

/* The elements as members of an object, so that their order does not count. */
static struct value *unordered(struct arena *arena, const struct value *array)
{
    struct value *set = value_object(arena);

    VALUE_EACH_ITEM(item, array) {
        struct value *element = comparable(arena, *item, false);

        value_set(arena, set, value_json(arena, element), element);
    }
    return set;
}

/* Without descriptions, which are our own; names of schemas and properties may be "description" too (`is_map`). */
static struct value *comparable(struct arena *arena, const struct value *value, bool is_map)
{
    if (value_is(value, VALUE_ARRAY)) {
        struct value *array = value_array(arena);

        VALUE_EACH_ITEM(item, value) {
            value_add(arena, array, comparable(arena, *item, false));
        }
        return array;
    }
    if (!value_is(value, VALUE_OBJECT)) {
        return value_copy(arena, value);
    }
    struct value *object = value_object(arena);

    VALUE_EACH_MEMBER(member, value) {
        bool holds_names = !is_map && (str_is(member->key, "properties") || str_is(member->key, "schemas"));
        bool is_set = str_is(member->key, "parameters") || str_is(member->key, "required");

        if (!is_map && str_is(member->key, "description")) {
            continue;
        }
        value_set(arena, object, member->key,
                  !is_map && is_set && value_is(member->value, VALUE_ARRAY)
                      ? unordered(arena, member->value)
                      : comparable(arena, member->value, holds_names));
    }
    return object;
}

/* Tells the first place where they differ. */
static void check_same(const struct value *got, const struct value *wanted, const char *path)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    if (value_equal(got, wanted)) {
        return;
    }
    if (!value_is(got, VALUE_OBJECT) || !value_is(wanted, VALUE_OBJECT)) {
        test_fail(__FILE__, __LINE__, "%s: got %.*s, wanted %.*s", path, STR_ARG(value_json(arena, got)),
                  STR_ARG(value_json(arena, wanted)));
    }
    VALUE_EACH_MEMBER(member, wanted) {
        struct str inner = arena_printf(arena, "%s/%.*s", path, STR_ARG(member->key));

        check_same(value_find(got, member->key), member->value, inner.p);
    }
    VALUE_EACH_MEMBER(member, got) {
        if (value_find(wanted, member->key) == NULL) {
            test_fail(__FILE__, __LINE__, "%s/%.*s is too much", path, STR_ARG(member->key));
        }
    }
}

static struct value *read(struct arena *arena, struct str text)
{
    struct value *value;

    CHECK_OK(value_read_json(arena, text, &value, NULL));
    return comparable(arena, value, false);
}

TEST("apiserver/openapi/documents of version 3 are stock's but for descriptions")
{
    static const struct {
        const char *group, *file;
    } rows[] = {{"apps", "apis_apps_v1"},
                {"apiextensions.k8s.io", "apis_apiextensions.k8s.io_v1"},
                {"flowcontrol.apiserver.k8s.io", "apis_flowcontrol.apiserver.k8s.io_v1"},
                {"policy", "apis_policy_v1"},
                {"authorization.k8s.io", "apis_authorization.k8s.io_v1"}};
    struct resources resources;

    resources_init(&resources);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        OWNED(buf_done) struct buf out = {0};
        struct str text;

        CHECK_OK(file_read(arena, arena_printf(arena, "tests/golden/openapi/%s.json", rows[i].file).p, 1 << 20, &text));
        openapi_document(&resources, str_of(rows[i].group), STR("v1"), &out);
        struct value *got = read(arena, buf_str(&out)), *wanted = read(arena, text);

        check_same(value_find(got, STR("paths")), value_find(wanted, STR("paths")), rows[i].file);
        check_same(value_find(got, STR("components")), value_find(wanted, STR("components")), rows[i].file);
    }
    resources_done(&resources);
}

TEST("apiserver/openapi/the document of version 2 has everything, and refers to nothing that it hasn't")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf out = {0};
    struct resources resources;
    struct value *document;

    resources_init(&resources);
    openapi_document_v2(&resources, &out);
    resources_done(&resources);
    CHECK_OK(value_read_json(arena, buf_str(&out), &document, NULL));
    struct value *definitions = value_find(document, STR("definitions"));

    CHECK(value_find(definitions, STR("io.k8s.api.core.v1.ConfigMap")) != NULL);
    CHECK(value_find(value_find(document, STR("paths")), STR("/api/v1/namespaces/{namespace}/configmaps")) != NULL);
    size_t refs = 0;

    for (struct str rest = buf_str(&out);;) {
        struct str mark = STR("\"#/definitions/");
        size_t at = str_find(rest, mark);

        if (at == SIZE_MAX) {
            break;
        }
        rest = str_from(rest, at + mark.n);
        struct str name = str_sub(rest, 0, str_index(rest, '"'));

        if (value_find(definitions, name) == NULL) {
            test_fail(__FILE__, __LINE__, "no definition of %.*s", STR_ARG(name));
        }
        refs++;
    }
    CHECK(refs > 1000);
}

/* Takes the next field off a message whose fields are all texts and messages, as far as this test looks. */
static bool take_field(struct str *message, uint32_t *ret_number, struct str *ret_bytes)
{
    uint64_t key, size;

    if (message->n == 0) {
        return false;
    }
    CHECK(protobuf_take_varint(message, &key));
    CHECK_INT(key & 7, 2);
    CHECK(protobuf_take_varint(message, &size));
    CHECK(size <= message->n);
    *ret_number = (uint32_t)(key >> 3);
    *ret_bytes = str_sub(*message, 0, size);
    *message = str_from(*message, size);
    return true;
}

static struct str field_of(struct str message, uint32_t number)
{
    struct str bytes;

    for (uint32_t at; take_field(&message, &at, &bytes);) {
        if (at == number) {
            return bytes;
        }
    }
    return (struct str){0};
}

TEST("apiserver/openapi/version 2 in protobuf holds the kinds that old clients look for")
{
    OWNED(buf_done) struct buf out = {0};
    struct resources resources;
    size_t count = 0;
    struct str named;
    bool found = false;

    resources_init(&resources);
    openapi_document_v2_protobuf(&resources, &out);
    resources_done(&resources);
    CHECK_STR(field_of(buf_str(&out), 1), "2.0");
    CHECK_STR(field_of(field_of(buf_str(&out), 2), 1), "Kubernetes");
    for (struct str definitions = field_of(buf_str(&out), 9); definitions.n != 0; count++) {
        uint32_t number;

        CHECK(take_field(&definitions, &number, &named));
        CHECK_INT(number, 1);
        if (str_is(field_of(named, 1), "io.k8s.api.core.v1.ConfigMap")) {
            struct str extension = field_of(field_of(named, 2), 31);

            CHECK_STR(field_of(extension, 1), "x-kubernetes-group-version-kind");
            CHECK_STR(field_of(field_of(extension, 2), 2),
                      "[{\"group\":\"\",\"kind\":\"ConfigMap\",\"version\":\"v1\"}]");
            found = true;
        }
    }
    CHECK(found);
    CHECK(count > 500);
}
