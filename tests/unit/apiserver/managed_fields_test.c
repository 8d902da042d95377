#include "test.h"

#include "api/core_v1.h"
#include "apiserver/registry/managed_fields.h"
#include "base/env.h"
#include "base/virtual_env.h"
#include "schema/copy.h"
#include "schema/json.h"

static struct object *config_map(struct arena *arena, const char *text)
{
    struct object *object = arena_alloc(arena, core_v1_config_map_type.size);

    CHECK_OK(json_decode(arena, &core_v1_config_map_type, str_of(text), object, NULL));
    return object;
}

static struct managed_write write_of(struct arena *arena, const char *manager)
{
    return (struct managed_write){.arena = arena, .kind = &core_v1_config_map_kind, .manager = str_of(manager)};
}

/* "manager/operation:fields" of each entry. */
static struct str owners(struct arena *arena, const struct object *object)
{
    OWNED(buf_done) struct buf text = {0};

    LIST_EACH(entry, &object->metadata.managed_fields) {
        buf_printf(&text, "%s%.*s/%.*s:%.*s", text.n == 0 ? "" : " ", STR_ARG(entry->manager), STR_ARG(entry->operation),
                   STR_ARG(entry->fields_v1->json));
        CHECK(entry->time != NULL && entry->time->is_set);
        CHECK_STR(entry->api_version, "v1");
    }
    return arena_str(arena, buf_str(&text));
}

static struct status *apply(struct arena *arena, const char *manager, const struct object *live, const char *text,
                            bool force, struct object **ret)
{
    struct managed_write write = write_of(arena, manager);
    struct value *configuration = NULL, *tree = NULL;

    CHECK_OK(value_read_json(arena, str_of(text), &configuration, NULL));
    TRY(managed_fields_apply(&write, live, configuration, force, &tree));
    *ret = config_map(arena, value_json(arena, tree).p);
    return NULL;
}

TEST("apiserver/managed_fields/updates own what they change, and others lose it")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct env *env = virtual_env_new(1), *before = env_enter(env);
    struct managed_write a = write_of(arena, "a"), b = write_of(arena, "b");
    struct object *first = config_map(arena, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"x\":\"1\",\"y\":\"2\"}}");

    managed_fields_update(&a, NULL, first);
    CHECK_STR(owners(arena, first), "a/Update:{\"f:data\":{\".\":{},\"f:x\":{},\"f:y\":{}}}");
    struct object *second = config_map(arena, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"x\":\"1\",\"y\":\"3\"}}");

    managed_fields_update(&b, first, second);
    CHECK_STR(owners(arena, second), "a/Update:{\"f:data\":{\".\":{},\"f:x\":{}}} b/Update:{\"f:data\":{\"f:y\":{}}}");
    struct object *same = config_map(arena, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"x\":\"1\",\"y\":\"3\"}}");

    managed_fields_update(&a, second, same);
    CHECK(schema_equal(&core_v1_config_map_type, second, same));
    env_enter(before);
    virtual_env_free(env);
}

TEST("apiserver/managed_fields/an apply takes back what it no longer says, and conflicts are told")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct env *env = virtual_env_new(1), *before = env_enter(env);
    struct object *first = NULL, *second = NULL, *third = NULL;

    CHECK_OK(apply(arena, "a", NULL, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"x\":\"1\",\"y\":\"2\"}}", false, &first));
    CHECK_STR(owners(arena, first), "a/Apply:{\"f:data\":{\"f:x\":{},\"f:y\":{}}}");
    CHECK_ERROR(apply(arena, "b", first, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"x\":\"9\"}}", false, &second),
                "Apply failed with 1 conflict: conflict with \"a\": .data.x");
    CHECK_OK(apply(arena, "b", first, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"x\":\"9\"}}", true, &second));
    CHECK_STR(owners(arena, second), "a/Apply:{\"f:data\":{\"f:y\":{}}} b/Apply:{\"f:data\":{\"f:x\":{}}}");
    CHECK_OK(apply(arena, "a", second, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"z\":\"3\"}}", false, &third));
    const struct core_v1_config_map *map = (const struct core_v1_config_map *)third;

    CHECK_INT(map->data.len, 2); /* y is gone, x is b's */
    CHECK_STR(map->data.items[0].key, "x");
    CHECK_STR(map->data.items[1].key, "z");
    env_enter(before);
    virtual_env_free(env);
}
