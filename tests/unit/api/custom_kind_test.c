/* Kinds made of definitions: what pruning, defaults and validation do to their objects. */
#include "test.h"

#include "api/custom_columns.h"
#include "api/custom_kind.h"
#include "schema/json.h"
#include "schema/object.h"

static const struct kind *kind_of(struct arena *arena, const char *schema, const char *more)
{
    struct apiextensions_v1_custom_resource_definition *definition =
        ARENA_NEW(arena, struct apiextensions_v1_custom_resource_definition);
    struct str text = arena_printf(arena,
                                   "{\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\",\"versions\":[{\"name\":"
                                   "\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":%s}%s}]},"
                                   "\"status\":{\"acceptedNames\":{\"plural\":\"widgets\",\"kind\":\"Widget\","
                                   "\"listKind\":\"WidgetList\"}}}",
                                   schema, more);

    CHECK_OK(json_decode(arena, &apiextensions_v1_custom_resource_definition_type, text, definition, NULL));
    return &custom_kind_new(arena, definition, &definition->spec.versions.items[0])->kind;
}

static void *object_of(struct arena *arena, const struct kind *kind, const char *text, struct json_problems *problems)
{
    void *object = arena_alloc(arena, kind->type->size);

    CHECK_OK(json_decode(arena, kind->type, str_of(text), object, problems));
    custom_object_prune(arena, kind, object, problems);
    custom_object_default(arena, kind, object);
    return object;
}

static struct str text_of(struct arena *arena, const struct kind *kind, const void *object)
{
    return value_json(arena, custom_object_tree(arena, kind, object));
}

#define SPEC(properties) \
    "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{" properties "}}}}"

TEST("api/custom_kind/prunes what the schema does not know")
{
    struct arena *arena = arena_new();
    const struct kind *kind = kind_of(arena,
                                      SPEC("\"a\":{\"type\":\"string\"},\"free\":{\"type\":\"object\","
                                           "\"x-kubernetes-preserve-unknown-fields\":true}"),
                                      "");
    struct json_problems problems = {0};
    void *object = object_of(arena, kind,
                             "{\"metadata\":{\"name\":\"x\"},\"other\":1,\"spec\":{\"a\":\"1\",\"b\":2,\"free\":{\"z\":[1]},"
                             "\"a\":\"2\"}}",
                             &problems);

    CHECK_STR(text_of(arena, kind, object),
              "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"a\":\"2\",\"free\":{\"z\":[1]}}}");
    CHECK_INT(problems.len, 3);
    CHECK_STR(problems.items[0], "unknown field \"other\"");
    CHECK_STR(problems.items[1], "duplicate field \"spec.a\"");
    CHECK_STR(problems.items[2], "unknown field \"spec.b\"");
    arena_free(arena);
}

TEST("api/custom_kind/keeps everything where the root preserves")
{
    struct arena *arena = arena_new();
    const struct kind *kind =
        kind_of(arena, "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}",
                ",\"subresources\":{\"status\":{}}");
    void *object = object_of(arena, kind, "{\"metadata\":{\"name\":\"x\"},\"z\":[null],\"spec\":{\"a\":1.5}}", NULL);

    CHECK_STR(text_of(arena, kind, object), "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"a\":1.5},\"z\":[null]}");
    CHECK(kind->has_status);
    CHECK(kind_subresource(kind, STR("status")) != NULL);
    arena_free(arena);
}

TEST("api/custom_kind/defaults and nulls")
{
    struct arena *arena = arena_new();
    const struct kind *kind = kind_of(arena,
                                      SPEC("\"a\":{\"type\":\"string\",\"default\":\"d\"},\"n\":{\"type\":\"string\","
                                           "\"nullable\":true},\"c\":{\"type\":\"string\"}"),
                                      "");
    void *object = object_of(arena, kind, "{\"metadata\":{},\"spec\":{\"a\":null,\"n\":null,\"c\":null}}", NULL);

    CHECK_STR(value_json(arena, custom_object_property(arena, kind, object, STR("spec"))),
              "{\"a\":\"d\",\"n\":null}");
    arena_free(arena);
}

TEST("api/custom_kind/what has not changed is not held against it")
{
    struct arena *arena = arena_new();
    const struct kind *kind =
        kind_of(arena, SPEC("\"a\":{\"type\":\"integer\",\"maximum\":3},\"b\":{\"type\":\"integer\"}"), "");
    void *old = object_of(arena, kind, "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"a\":5}}", NULL);
    void *new = object_of(arena, kind, "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"a\":5,\"b\":1}}", NULL);
    struct status *causes = status_new(STATUS_INVALID, "%s", "");

    custom_object_validate(kind, new, old, causes);
    CHECK_INT(causes->cause_count, 0);
    custom_object_validate(kind, new, NULL, causes);
    CHECK_INT(causes->cause_count, 1);
    CHECK_STR(causes->causes[0].message, "Invalid value: 5: spec.a in body should be less than or equal to 3");
    status_free(causes);
    arena_free(arena);
}

TEST("api/custom_kind/columns follow their paths")
{
    struct arena *arena = arena_new();
    const struct kind *kind =
        kind_of(arena, "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}",
                ",\"additionalPrinterColumns\":[{\"name\":\"Ready\",\"type\":\"string\",\"jsonPath\":"
                "\".status.conditions[?(@.type==\\\"Ready\\\")].status\"},{\"name\":\"N\",\"type\":\"integer\","
                "\"jsonPath\":\".spec['n']\"}]");
    void *object = object_of(arena, kind,
                             "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"n\":7},\"status\":{\"conditions\":[{\"type\":"
                             "\"Other\",\"status\":\"False\"},{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                             NULL);
    struct value *cells = value_array(arena);

    custom_cells(arena, kind, object, (struct timestamp){0}, cells);
    CHECK_STR(value_json(arena, cells), "[\"x\",\"True\",7]");
    arena_free(arena);
}

TEST("api/custom_kind/versions in order of preference")
{
    CHECK(custom_version_cmp(STR("v11"), STR("v2")) < 0);
    CHECK(custom_version_cmp(STR("v1"), STR("v2beta1")) < 0);
    CHECK(custom_version_cmp(STR("v1beta2"), STR("v1beta1")) < 0);
    CHECK(custom_version_cmp(STR("foo1"), STR("v1alpha1")) > 0);
    CHECK_INT(custom_version_cmp(STR("v1"), STR("v1")), 0);
}
