#include "test.h"

#include "kubelet/pod_admission.h"
#include "schema/json.h"

static const struct core_v1_pod *pod_of(struct arena *arena, const char *spec)
{
    struct core_v1_pod *pod = ARENA_NEW(arena, struct core_v1_pod);

    CHECK_OK(json_decode(arena, &core_v1_pod_type, arena_printf(arena, "{\"spec\":{%s}}", spec), pod, NULL));
    return pod;
}

#define REQUESTS(list) "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{" list "}}}]"
#define PORT(port) "\"containers\":[{\"name\":\"c\",\"ports\":[{\"containerPort\":1," port "}]}]"
#define AFFINITY(term)                                                                                         \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[" \
    "{" term "}]}}}"

TEST("kubelet/pod_admission/let in what fits and reject what does not, in stock's words")
{
    static const struct {
        const char *spec, *reason, *message; /* reason empty: let in */
    } rows[] = {
        {REQUESTS("\"cpu\":\"1\""), "", ""},
        {REQUESTS("\"cpu\":\"2\""), "OutOfcpu",
         "Node didn't have enough resource: cpu, requested: 2000, used: 1000, capacity: 2500"},
        {REQUESTS("\"memory\":\"2Gi\""), "OutOfmemory",
         "Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824"},
        {"\"nodeSelector\":{\"zone\":\"a\"}", "", ""},
        {"\"nodeSelector\":{\"zone\":\"b\"}", "NodeAffinity",
         "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"},
        {AFFINITY("\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\",\"c\"]}]"), "", ""},
        {AFFINITY("\"matchExpressions\":[{\"key\":\"cores\",\"operator\":\"Gt\",\"values\":[\"7\"]}]"), "", ""},
        {AFFINITY("\"matchExpressions\":[{\"key\":\"cores\",\"operator\":\"Gt\",\"values\":[\"8\"]}]"), "NodeAffinity",
         "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"},
        {AFFINITY("\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]}]"), "", ""},
        {AFFINITY(""), "NodeAffinity",
         "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"},
        {PORT("\"hostPort\":80"), "NodePorts",
         "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"},
        {PORT("\"hostPort\":80,\"protocol\":\"UDP\""), "", ""},
        {PORT("\"hostPort\":81"), "", ""},
        {"\"tolerations\":[]", "", ""},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_node node = {0};
    const struct core_v1_pod *other =
        pod_of(arena, "\"containers\":[{\"name\":\"o\",\"ports\":[{\"hostPort\":80}],\"resources\":{\"requests\":"
                      "{\"cpu\":\"1\"}}}]");
    struct quantity_map allocatable = {0};

    CHECK_OK(json_decode(arena, &core_v1_node_type,
                         STR("{\"metadata\":{\"name\":\"n\",\"labels\":{\"cores\":\"8\",\"zone\":\"a\"}},\"status\":"
                             "{\"allocatable\":{\"cpu\":\"2500m\",\"memory\":\"1Gi\",\"pods\":\"2\"}}}"),
                         &node, NULL));
    allocatable = node.status.allocatable;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pod_admission_facts facts = {.pod = pod_of(arena, rows[i].spec),
                                            .others = {&other, 1},
                                            .allocatable = &allocatable,
                                            .node = &node};
        struct pod_rejection rejection = {STR(""), STR("")};

        CHECK_INT(pod_admission_decide(arena, &facts, &rejection), rows[i].reason[0] == '\0');
        CHECK_STR(rejection.reason, rows[i].reason);
        CHECK_STR(rejection.message, rows[i].message);
    }
}

static void check_with(struct arena *arena, const char *spec, const char *taint, bool has_disk_pressure,
                       size_t other_count, const char *reason)
{
    const struct core_v1_pod *others[2] = {pod_of(arena, "\"containers\":[]"), pod_of(arena, "\"containers\":[]")};
    struct core_v1_node node = {0};
    struct pod_admission_facts facts = {.pod = pod_of(arena, spec),
                                        .others = {others, other_count},
                                        .allocatable = &node.status.allocatable,
                                        .node = &node,
                                        .pressure = {[EVICTION_DISK_PRESSURE] = has_disk_pressure}};
    struct pod_rejection rejection = {STR(""), STR("")};

    CHECK_OK(json_decode(
        arena, &core_v1_node_type,
        arena_printf(arena, "{\"spec\":{\"taints\":[%s]},\"status\":{\"allocatable\":{\"pods\":\"2\"}}}", taint), &node,
        NULL));
    CHECK_INT(pod_admission_decide(arena, &facts, &rejection), reason[0] == '\0');
    CHECK_STR(rejection.reason, reason);
}

TEST("kubelet/pod_admission/heed NoExecute taints, pressure and the number of pods")
{
    static const char evil[] = "{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}";
    static const char mild[] = "{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}";
    OWNED(arena_freep) struct arena *arena = arena_new();

    check_with(arena, "\"containers\":[]", "", false, 1, "");
    check_with(arena, "\"containers\":[]", "", false, 2, "OutOfpods");
    check_with(arena, "\"containers\":[]", evil, false, 0, "TaintToleration");
    check_with(arena, "\"containers\":[]", mild, false, 0, "");
    check_with(arena, "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]", evil, false, 0, "");
    check_with(arena, "\"tolerations\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}]", evil, false, 0, "");
    check_with(arena, "\"tolerations\":[{\"key\":\"k\",\"value\":\"w\"}]", evil, false, 0, "TaintToleration");
    check_with(arena, "\"containers\":[]", "", true, 0, "Evicted");
    check_with(arena, "\"priority\":2000001000", "", true, 0, "");
}
