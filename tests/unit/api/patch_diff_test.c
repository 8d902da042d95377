/* The patches of `kubectl apply`, and that the server makes of them what was wanted. */
#include "test.h"

#include "api/apps_v1.h"
#include "schema/patch.h"

static struct value *read(struct arena *arena, const char *json)
{
    struct value *value;

    CHECK_OK(value_read_json(arena, str_of(json), &value, NULL));
    return value;
}

/* Checks the patch, and what applying it gives. */
static void check(const char *original, const char *modified, const char *current, const char *patch,
                  const char *result)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *made, *applied;

    CHECK_OK(patch_strategic_three_way(arena, &apps_v1_deployment_type, original != NULL ? read(arena, original) : NULL,
                                       read(arena, modified), read(arena, current), &made));
    test_check_str(__FILE__, __LINE__, value_json(arena, made), value_json(arena, read(arena, patch)));
    CHECK_OK(patch_strategic(arena, &apps_v1_deployment_type, read(arena, current), made, &applied));
    test_check_str(__FILE__, __LINE__, value_json(arena, applied), value_json(arena, read(arena, result)));
}

#define POD(containers) "{\"spec\":{\"template\":{\"spec\":{\"containers\":[" containers "]}}}}"

TEST("schema/patch/three ways: what others set stays, and nothing to do is an empty patch")
{
    check("{\"spec\":{\"replicas\":1}}", "{\"spec\":{\"replicas\":1}}",
          "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"paused\":true,\"replicas\":1}}", "{}",
          "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"paused\":true,\"replicas\":1}}");
    check("{\"spec\":{\"replicas\":1,\"paused\":true}}", "{\"spec\":{\"replicas\":2}}",
          "{\"spec\":{\"minReadySeconds\":3,\"paused\":true,\"replicas\":1}}",
          "{\"spec\":{\"replicas\":2,\"paused\":null}}", "{\"spec\":{\"minReadySeconds\":3,\"replicas\":2}}");
}

TEST("schema/patch/three ways: lists are merged by their key")
{
    check(POD("{\"name\":\"a\",\"image\":\"1\"},{\"name\":\"b\",\"image\":\"1\"}"),
          POD("{\"name\":\"a\",\"image\":\"2\"},{\"name\":\"c\",\"image\":\"1\"}"),
          POD("{\"name\":\"a\",\"image\":\"1\",\"imagePullPolicy\":\"Always\"},{\"name\":\"b\",\"image\":\"1\"},"
              "{\"name\":\"injected\",\"image\":\"x\"}"),
          "{\"spec\":{\"template\":{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"a\"},{\"name\":\"c\"}],"
          "\"containers\":[{\"image\":\"2\",\"name\":\"a\"},{\"name\":\"c\",\"image\":\"1\"},"
          "{\"$patch\":\"delete\",\"name\":\"b\"}]}}}}",
          POD("{\"name\":\"a\",\"image\":\"2\",\"imagePullPolicy\":\"Always\"},{\"name\":\"c\",\"image\":\"1\"},"
              "{\"name\":\"injected\",\"image\":\"x\"}"));
    check(NULL, POD("{\"name\":\"b\"},{\"name\":\"a\"}"), POD("{\"name\":\"a\"},{\"name\":\"b\"}"),
          "{\"spec\":{\"template\":{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"b\"},{\"name\":\"a\"}]}}}}",
          POD("{\"name\":\"b\"},{\"name\":\"a\"}"));
}

TEST("schema/patch/three ways: lists of words, structs with one form at a time")
{
    check("{\"metadata\":{\"finalizers\":[\"x\",\"y\"]}}", "{\"metadata\":{\"finalizers\":[\"y\",\"z\"]}}",
          "{\"metadata\":{\"finalizers\":[\"x\",\"y\",\"other\"]}}",
          "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"x\"],"
          "\"$setElementOrder/finalizers\":[\"y\",\"z\"],\"finalizers\":[\"z\"]}}",
          "{\"metadata\":{\"finalizers\":[\"y\",\"z\",\"other\"]}}");
    check(NULL, "{\"spec\":{\"strategy\":{\"type\":\"Recreate\"}}}",
          "{\"spec\":{\"strategy\":{\"rollingUpdate\":{\"maxSurge\":1},\"type\":\"RollingUpdate\"}}}",
          "{\"spec\":{\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\"}}}",
          "{\"spec\":{\"strategy\":{\"type\":\"Recreate\"}}}");
}

TEST("schema/patch/three ways: an element without its key is refused")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *made;

    CHECK_ERROR(patch_strategic_three_way(arena, &apps_v1_deployment_type, NULL, read(arena, POD("{\"image\":\"a\"}")),
                                          read(arena, POD("{\"name\":\"a\"}")), &made),
                "map: {\"image\":\"a\"} does not contain declared merge key: name");
}
