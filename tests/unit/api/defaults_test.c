/* What a stock server made of objects that said little (tests/golden/defaults.json): filling in gives the same. What
 * admission and allocation add is not in the recordings. */
#include "test.h"

#include "api/core_v1.h"
#include "api/defaults.h"
#include "api/kinds.h"
#include "base/file.h"
#include "base/limits.h"
#include "schema/json.h"
#include "schema/map_of.h"
#include "schema/value.h"

static struct value *fill(struct arena *arena, const struct value *from, int times)
{
    const struct kind *kind = kind_find_api_version(value_str_at(from, "apiVersion"), value_str_at(from, "kind"));
    OWNED(buf_done) struct buf out = {0};
    struct value *filled;

    CHECK(kind != NULL);
    void *object = arena_alloc(arena, kind->type->size);

    CHECK_OK(json_decode(arena, kind->type, value_json(arena, from), object, NULL));
    for (int i = 0; i < times; i++) {
        api_defaults_apply(kind->type, object, arena);
    }
    json_encode(kind->type, object, &out);
    CHECK_OK(value_read_json(arena, arena_str(arena, buf_str(&out)), &filled, NULL));
    value_delete(filled, STR("apiVersion"));
    value_delete(filled, STR("kind"));
    value_delete(filled, STR("metadata"));
    value_delete(filled, STR("status"));
    return filled;
}

static void check_recordings(int times)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text;
    struct value *all;

    CHECK_OK(file_read(arena, "tests/golden/defaults.json", LIMIT_REQUEST_BODY_BYTES, &text));
    CHECK_OK(value_read_json(arena, text, &all, NULL));
    CHECK(value_count(all) > 100);
    VALUE_EACH_ITEM(at, all) {
        const struct value *wanted = value_find(*at, STR("defaulted"));
        const struct value *got = fill(arena, value_find(*at, STR("object")), times);

        if (!value_equal(got, wanted)) {
            test_fail(__FILE__, __LINE__, "%.*s: got %.*s\nwanted %.*s", STR_ARG(value_str_at(*at, "name")),
                      STR_ARG(value_json(arena, got)), STR_ARG(value_json(arena, wanted)));
        }
    }
}

TEST("api/defaults/objects come out as a stock server gives them")
{
    check_recordings(1);
}

TEST("api/defaults/filling again changes nothing")
{
    check_recordings(2);
}

static struct core_v1_pod *pod_of(struct arena *arena, const char *json)
{
    struct core_v1_pod *pod = ARENA_NEW(arena, struct core_v1_pod);

    CHECK_OK(json_decode(arena, &core_v1_pod_type, str_of(json), pod, NULL));
    api_defaults_apply(&core_v1_pod_type, pod, arena);
    return pod;
}

TEST("api/defaults/whether an image is pulled depends on its tag")
{
    static const struct {
        const char *json, *policy;
    } rows[] = {
        {"{\"spec\":{\"containers\":[{\"image\":\"nginx\"}]}}", "Always"},
        {"{\"spec\":{\"containers\":[{\"image\":\"nginx:latest\"}]}}", "Always"},
        {"{\"spec\":{\"containers\":[{\"image\":\"nginx:1.27\"}]}}", "IfNotPresent"},
        {"{\"spec\":{\"containers\":[{\"image\":\"reg.example:5000/nginx\"}]}}", "Always"},
        {"{\"spec\":{\"containers\":[{\"image\":\"Not An Image\"}]}}", "IfNotPresent"},
        {"{\"spec\":{\"containers\":[{\"image\":\"nginx\",\"imagePullPolicy\":\"Never\"}]}}", "Never"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_STR(pod_of(arena, rows[i].json)->spec.containers.items[0].image_pull_policy, rows[i].policy);
    }
}

TEST("api/defaults/requests of a pod are its limits, or what its containers ask for")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_pod *pod = pod_of(arena, "{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1\"}}}]}}");

    CHECK_STR(quantity_map_get(&pod->spec.containers.items[0].resources.requests, STR("cpu"))->text, "1");
    pod = pod_of(arena, "{\"spec\":{\"resources\":{\"limits\":{\"cpu\":\"4\",\"memory\":\"1Gi\"}},\"containers\":["
                        "{\"resources\":{\"requests\":{\"cpu\":\"1\"}}},{\"resources\":{\"requests\":{\"cpu\":\"500m\"}}}],"
                        "\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}}");
    CHECK_STR(quantity_map_get(&pod->spec.resources->requests, STR("cpu"))->text, "2");
    CHECK_STR(quantity_map_get(&pod->spec.resources->requests, STR("memory"))->text, "1Gi");
    pod = pod_of(arena, "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"100u\"}}}]}}");
    CHECK_STR(quantity_map_get(&pod->spec.containers.items[0].resources.requests, STR("cpu"))->text, "1m");
}

TEST("api/defaults/ports of a pod in the host's network are the host's")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_pod *pod =
        pod_of(arena, "{\"spec\":{\"hostNetwork\":true,\"containers\":[{\"ports\":[{\"containerPort\":80}]}]}}");

    CHECK_INT(pod->spec.containers.items[0].ports.items[0].host_port, 80);
    CHECK_STR(pod->spec.containers.items[0].ports.items[0].protocol, "TCP");
}
