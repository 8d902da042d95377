#include "test.h"

#include "apiserver/discovery/documents.h"

#include "base/file.h"
#include "schema/json.h"
#include "schema/value.h"

static struct value *tree(struct arena *arena, struct str json)
{
    struct value *value;

    CHECK_OK(value_read_json(arena, json, &value, NULL));
    return value;
}

/* What stock serves, and what we do, are the same but for kind and apiVersion, which the answer puts around. */
static void compare(const char *path, struct arena *arena, const struct type *type, const void *object)
{
    OWNED(buf_done) struct buf out = {0};
    struct str text;

    CHECK_OK(file_read(arena, path, 1 << 20, &text));
    struct value *wanted = tree(arena, text);

    value_delete(wanted, STR("kind"));
    value_delete(wanted, STR("apiVersion"));
    json_encode(type, object, &out);
    CHECK_STR(value_json(arena, tree(arena, arena_str(arena, buf_str(&out)))),
              arena_cstr(arena, value_json(arena, wanted)));
}

TEST("apiserver/discovery/aggregated documents are stock's")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct resources resources;

    resources_init(&resources);
    compare("tests/golden/discovery/api-aggregated.json", arena, &apidiscovery_v2_api_group_discovery_list_type,
            discovery_aggregated(arena, &resources, true));
    compare("tests/golden/discovery/apis-aggregated.json", arena, &apidiscovery_v2_api_group_discovery_list_type,
            discovery_aggregated(arena, &resources, false));
    resources_done(&resources);
}

TEST("apiserver/discovery/plain documents are stock's")
{
    static const struct {
        const char *group, *version;
    } rows[] = {
        {"", "v1"}, {"apps", "v1"}, {"autoscaling", "v1"}, {"autoscaling", "v2"}, {"authentication.k8s.io", "v1"}};
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct resources resources;

    resources_init(&resources);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct str path =
            arena_printf(arena, "tests/golden/discovery/resources.%s.%s.json", rows[i].group, rows[i].version);

        compare(path.p, arena, &meta_v1_api_resource_list_type,
                discovery_resources(arena, &resources, str_of(rows[i].group), str_of(rows[i].version)));
    }
    compare("tests/golden/discovery/groups.json", arena, &meta_v1_api_group_list_type,
            discovery_groups(arena, &resources));
    compare("tests/golden/discovery/group.autoscaling.json", arena, &meta_v1_api_group_type,
            discovery_group(arena, &resources, STR("autoscaling")));
    CHECK(discovery_group(arena, &resources, STR("none.example.com")) == NULL);
    CHECK(discovery_resources(arena, &resources, STR("apps"), STR("v9")) == NULL);
    resources_done(&resources);
}
