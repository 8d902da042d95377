#include "test.h"

#include "api/pod_amounts.h"
#include "apiserver/admission/limit_rules.h"
#include "api/quota_usage.h"
#include "schema/json.h"
#include "schema/map_of.h"

static void *decode(struct arena *arena, const struct type *type, const char *text)
{
    void *object = arena_alloc(arena, type->size);

    CHECK_OK(json_decode(arena, type, str_of(text), object, NULL));
    return object;
}

static struct core_v1_pod *pod_of(struct arena *arena, const char *spec)
{
    return decode(arena, &core_v1_pod_type, arena_printf(arena, "{\"metadata\":{\"name\":\"a\"},\"spec\":%s}", spec).p);
}

static struct core_v1_limit_range *range_of(struct arena *arena, const char *item)
{
    return decode(arena, &core_v1_limit_range_type, arena_printf(arena, "{\"spec\":{\"limits\":[%s]}}", item).p);
}

TEST("apiserver/limits/a pod's amounts")
{
    static const struct {
        const char *spec, *requests;
    } rows[] = {
        {"{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}},{\"resources\":{\"requests\":{\"cpu\":"
         "\"500m\"}}}]}",
         "cpu=1500m"},
        /* init containers run before the others: the greater counts */
        {"{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],\"initContainers\":[{\"resources\":{"
         "\"requests\":"
         "{\"cpu\":\"2\",\"memory\":\"1Gi\"}}}]}",
         "cpu=2,memory=1Gi"},
        /* sidecars stay, and are there while later ones run */
        {"{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],\"initContainers\":[{\"restartPolicy\":"
         "\"Always\","
         "\"resources\":{\"requests\":{\"cpu\":\"2\"}}},{\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}",
         "cpu=5"},
        {"{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],\"overhead\":{\"cpu\":\"100m\",\"memory\":"
         "\"1Mi\"}}",
         "cpu=1100m,memory=1Mi"},
        {"{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],\"resources\":{\"requests\":{\"cpu\":\"4\"}}"
         "}",
         "cpu=4"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct quantity_map requests = pod_requests(arena, &pod_of(arena, rows[i].spec)->spec);

        CHECK_STR(quota_text(arena, &requests), rows[i].requests);
    }
}

TEST("apiserver/limits/amounts are filled in, and noted")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_pod *pod =
        pod_of(arena, "{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\"}}}],"
                      "\"initContainers\":[{\"name\":\"i\"}]}");

    limit_range_fill(arena,
                     range_of(arena, "{\"type\":\"Container\",\"default\":{\"cpu\":\"300m\",\"memory\":\"128Mi\"},"
                                     "\"defaultRequest\":{\"cpu\":\"100m\"}}"),
                     pod);
    CHECK_STR(str_map_get(&pod->metadata.annotations, STR("kubernetes.io/limit-ranger")),
              "LimitRanger plugin set: cpu request for container c; memory limit for container c; "
              "cpu request for init container i; cpu, memory limit for init container i");
    CHECK_STR(quota_text(arena, &pod->spec.containers.items[0].resources.limits), "cpu=1,memory=128Mi");
}

TEST("apiserver/limits/bounds and what is said of those who cross them")
{
    static const struct {
        const char *item, *resources, *wrong;
    } rows[] = {
        {"{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"}}", "{\"limits\":{\"cpu\":\"1000m\"}}", ""},
        {"{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"}}", "{\"limits\":{\"cpu\":\"2\"}}",
         "maximum cpu usage per Container is 1, but limit is 2"},
        {"{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"}}", "{}",
         "maximum cpu usage per Container is 1.  No limit is specified"},
        {"{\"type\":\"Pod\",\"min\":{\"memory\":\"1Gi\"}}", "{\"requests\":{\"memory\":\"1Mi\"}}",
         "minimum memory usage per Pod is 1Gi, but request is 1Mi"},
        {"{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"},\"min\":{\"memory\":\"1Gi\"}}", "{}",
         "[minimum memory usage per Container is 1Gi.  No request is specified, "
         "maximum cpu usage per Container is 1.  No limit is specified]"},
        {"{\"type\":\"Container\",\"maxLimitRequestRatio\":{\"cpu\":\"1500m\"}}",
         "{\"requests\":{\"cpu\":\"1\"},\"limits\":{\"cpu\":\"2\"}}",
         "cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct core_v1_pod *pod = pod_of(
            arena, arena_printf(arena, "{\"containers\":[{\"name\":\"c\",\"resources\":%s}]}", rows[i].resources).p);

        CHECK_STR(limit_range_check_pod(arena, range_of(arena, rows[i].item), pod), rows[i].wrong);
    }
}

TEST("apiserver/limits/what objects cost")
{
    static const struct {
        const struct kind *kind;
        const char *object, *usage;
    } rows[] = {
        {&core_v1_pod_kind,
         "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\",\"example.com/"
         "gpu\":\"2\"},\"limits\":{"
         "\"memory\":\"1Gi\"}}}]}}",
         "count/pods=1,cpu=1,limits.memory=1Gi,pods=1,requests.cpu=1,requests.example.com/gpu=2"},
        {&core_v1_service_kind, "{\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":1},{\"port\":2}]}}",
         "count/services=1,services=1,services.loadbalancers=0,services.nodeports=2"},
        {&core_v1_persistent_volume_claim_kind,
         "{\"spec\":{\"storageClassName\":\"f\",\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}",
         "count/persistentvolumeclaims=1,f.storageclass.storage.k8s.io/persistentvolumeclaims=1,"
         "f.storageclass.storage.k8s.io/requests.storage=1Gi,persistentvolumeclaims=1,requests.storage=1Gi"},
        {&core_v1_config_map_kind, "{}", "configmaps=1,count/configmaps=1"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct quantity_map usage =
            quota_usage(arena, rows[i].kind, decode(arena, rows[i].kind->type, rows[i].object));

        CHECK_STR(quota_text(arena, &usage), rows[i].usage);
        LIST_EACH(entry, &usage) {
            CHECK(quota_name_concerns(rows[i].kind, entry->key));
        }
    }
    CHECK(!quota_name_concerns(&core_v1_config_map_kind, STR("pods")));
    CHECK(!quota_name_concerns(&core_v1_config_map_kind, STR("count/configmaps.example.com")));
}

TEST("apiserver/limits/scopes and what a quota makes pods say")
{
    static const struct {
        const char *quota, *spec;
        bool matches;
    } rows[] = {
        {"{\"scopes\":[\"BestEffort\"]}", "{\"containers\":[{}]}", true},
        {"{\"scopes\":[\"NotBestEffort\"]}", "{\"containers\":[{}]}", false},
        {"{\"scopes\":[\"Terminating\",\"BestEffort\"]}", "{\"containers\":[{}]}", false},
        {"{\"scopes\":[\"Terminating\"]}", "{\"containers\":[{}],\"activeDeadlineSeconds\":5}", true},
        {"{\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":\"PriorityClass\",\"operator\":\"In\",\"values\":["
         "\"x\"]}]}}",
         "{\"containers\":[{}],\"priorityClassName\":\"x\"}", true},
        {"{\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":\"PriorityClass\",\"operator\":\"DoesNotExist\"}]}}",
         "{\"containers\":[{}],\"priorityClassName\":\"x\"}", false},
        {"{\"scopes\":[\"CrossNamespacePodAffinity\"]}",
         "{\"containers\":[{}],\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
         "\"namespaces\":[\"b\"],\"topologyKey\":\"k\"}]}}}",
         true},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct core_v1_resource_quota_spec *quota =
            decode(arena, &core_v1_resource_quota_spec_type, rows[i].quota);

        CHECK_INT(quota_scopes_match(quota, &core_v1_pod_kind, pod_of(arena, rows[i].spec)), rows[i].matches);
        CHECK(!quota_scopes_match(quota, &core_v1_config_map_kind, NULL));
    }
    struct str items[] = {STR("limits.memory"), STR("pods"), STR("requests.cpu")};
    struct str_list names = {items, 3};

    CHECK_STR(
        quota_constraints(arena, &names, &core_v1_pod_kind,
                          pod_of(arena, "{\"containers\":[{\"name\":\"c\"},{\"name\":\"b\",\"resources\":{\"limits\":{"
                                        "\"memory\":\"1\"}}}]}")),
        "must specify limits.memory for: c; requests.cpu for: b,c");
}
