/* Rows against what stock printed for the same objects. */
#include "test.h"

#include "api/age.h"
#include "api/kinds.h"
#include "api/table_columns.h"
#include "schema/json.h"
#include "schema/timestamp.h"

static const struct {
    const char *api_version, *kind, *object, *cells;
} rows[] = {
    {"v1", "Pod",
     "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":\"Running\","
     "\"podIPs\":[{\"ip\":\"192.0.2.9\"}],\"containerStatuses\":[{\"name\":\"c\",\"ready\":true,\"restartCount\":3,"
     "\"state\":{\"running\":{}}}]}}",
     "[\"p\",\"1/1\",\"Running\",\"3\",\"<unknown>\",\"192.0.2.9\",\"<none>\",\"<none>\",\"<none>\"]"},
    {"v1", "Pod",
     "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":\"Running\","
     "\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":4,\"state\":{\"waiting\":{\"reason\":"
     "\"CrashLoopBackOff\"}},\"lastState\":{\"terminated\":{\"exitCode\":1,\"finishedAt\":\"2001-01-01T00:00:00Z\"}}}]}}",
     "[\"p\",\"0/1\",\"CrashLoopBackOff\",\"4 (90s ago)\",\"<unknown>\",\"<none>\",\"<none>\",\"<none>\",\"<none>\"]"},
    {"v1", "Pod",
     "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\"}],\"initContainers\":[{\"name\":\"i\"},"
     "{\"name\":\"s\",\"restartPolicy\":\"Always\"}]},\"status\":{\"phase\":\"Pending\",\"initContainerStatuses\":["
     "{\"name\":\"i\",\"state\":{\"terminated\":{\"exitCode\":0}}},{\"name\":\"s\",\"restartCount\":2}]}}",
     "[\"p\",\"0/2\",\"Init:1/2\",\"2\",\"<unknown>\",\"<none>\",\"<none>\",\"<none>\",\"<none>\"]"},
    {"v1", "Node",
     "{\"metadata\":{\"name\":\"n\",\"labels\":{\"kubernetes.io/role\":\"old\",\"node-role.kubernetes.io/control-plane\":"
     "\"\",\"node-role.kubernetes.io/worker\":\"\"}},\"spec\":{\"unschedulable\":true},\"status\":{\"conditions\":[{"
     "\"type\":\"Ready\",\"status\":\"True\"}],\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"192.0.2.1\"}],"
     "\"nodeInfo\":{\"kubeletVersion\":\"v1.37.0\",\"osImage\":\"OS\",\"kernelVersion\":\"K\",\"architecture\":\"a\"}}}",
     "[\"n\",\"Ready,SchedulingDisabled\",\"control-plane,old,worker\",\"<unknown>\",\"v1.37.0\",\"192.0.2.1\",\"<none>\","
     "\"OS\",\"K (a)\",\"<unknown>\"]"},
    {"v1", "Service",
     "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"type\":\"ClusterIP\",\"clusterIPs\":[\"None\"],\"selector\":{\"a\":\"b\"},"
     "\"ports\":[{\"port\":80,\"protocol\":\"TCP\"},{\"port\":53,\"protocol\":\"UDP\",\"nodePort\":30053}]}}",
     "[\"s\",\"ClusterIP\",\"None\",\"<none>\",\"80/TCP,53:30053/UDP\",\"<unknown>\",\"a=b\"]"},
    {"apps/v1", "Deployment",
     "{\"metadata\":{\"name\":\"d\",\"creationTimestamp\":\"2000-12-31T23:00:00Z\"},\"spec\":{\"replicas\":3,\"selector\":{"
     "\"matchLabels\":{\"app\":\"x\"},\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"NotIn\",\"values\":[\"f\"]}]},"
     "\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"example.com/app:1\"}]}}},\"status\":{"
     "\"readyReplicas\":2,\"updatedReplicas\":3,\"availableReplicas\":1}}",
     "[\"d\",\"2/3\",3,1,\"61m\",\"c\",\"example.com/app:1\",\"app=x,tier notin (f)\"]"},
    {"batch/v1", "Job",
     "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"completions\":3,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
     "\"image\":\"i\"}]}}},\"status\":{\"startTime\":\"2001-01-01T00:00:00Z\",\"completionTime\":\"2001-01-01T00:05:07Z\","
     "\"succeeded\":3,\"conditions\":[{\"type\":\"SuccessCriteriaMet\",\"status\":\"True\"},{\"type\":\"Complete\","
     "\"status\":\"True\"}]}}",
     "[\"j\",\"Complete\",\"3/3\",\"5m7s\",\"<unknown>\",\"c\",\"i\",\"<none>\"]"},
    {"autoscaling/v2", "HorizontalPodAutoscaler",
     "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"minReplicas\":2,\"maxReplicas\":5,\"scaleTargetRef\":{\"kind\":"
     "\"Deployment\",\"name\":\"d\"},\"metrics\":[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{"
     "\"averageUtilization\":70}}},{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"memory\",\"target\":{"
     "\"averageValue\":\"100Mi\"}}},{\"type\":\"Pods\"}]}}",
     "[\"h\",\"Deployment/d\",\"cpu: <unknown>/70%, memory: <unknown>/100Mi + 1 more...\",\"2\",5,0,\"<unknown>\"]"},
    {"networking.k8s.io/v1", "Ingress",
     "{\"metadata\":{\"name\":\"i\"},\"spec\":{\"ingressClassName\":\"nginx\",\"tls\":[{}],\"rules\":[{\"host\":"
     "\"a.example.com\"},{\"host\":\"*.example.org\"}]}}",
     "[\"i\",\"nginx\",\"a.example.com,*.example.org\",\"\",\"80, 443\",\"<unknown>\"]"},
    {"v1", "PersistentVolume",
     "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"capacity\":{\"storage\":\"5Gi\"},\"accessModes\":[\"ReadOnlyMany\","
     "\"ReadWriteOnce\"],\"persistentVolumeReclaimPolicy\":\"Delete\",\"claimRef\":{\"namespace\":\"other\",\"name\":\"c\"},"
     "\"storageClassName\":\"fast\",\"volumeMode\":\"Filesystem\"},\"status\":{\"phase\":\"Pending\"}}",
     "[\"v\",\"5Gi\",\"RWO,ROX\",\"Delete\",\"Pending\",\"other/c\",\"fast\",\"<unset>\",\"\",\"<unknown>\",\"Filesystem\"]"},
    {"rbac.authorization.k8s.io/v1", "ClusterRole",
     "{\"metadata\":{\"name\":\"r\",\"creationTimestamp\":\"2000-12-31T23:00:00Z\"}}", "[\"r\",\"2000-12-31T23:00:00Z\"]"},
};

TEST("api/table/rows are as stock prints them")
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        const struct kind *kind = kind_find_api_version(str_of(rows[i].api_version), str_of(rows[i].kind));
        void *object = arena_alloc(arena, kind->type->size);
        struct timestamp now = {978307290, 0, true}; /* 2001-01-01T00:01:30Z */

        CHECK_OK(json_decode(arena, kind->type, str_of(rows[i].object), object, NULL));
        OWNED(buf_done) struct buf cells = {0};

        value_write_json(&cells, table_row(arena, kind, object, now).cells, VALUE_JSON_PLAIN);
        CHECK_STR(buf_str(&cells), rows[i].cells);
    }
}

TEST("api/table/every kind fills its columns, even from an empty object")
{
    for (size_t i = 0; i < kinds_all_count; i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        const struct kind *kind = kinds_all[i];

        if (kind->type->flags & TYPE_OBJECT) {
            struct table_row row = table_row(arena, kind, arena_alloc(arena, kind->type->size), (struct timestamp){0});

            CHECK_INT(value_count(row.cells), table_columns(kind).len);
        }
    }
}

TEST("api/age/durations are in few units")
{
    static const struct {
        int64_t seconds;
        const char *text;
    } ages[] = {{-5, "<invalid>"}, {-1, "0s"}, {119, "119s"}, {120, "2m"}, {307, "5m7s"}, {3660, "61m"}, {10800, "3h"},
                {11100, "3h5m"}, {86400, "24h"}, {172800, "2d"}, {180000, "2d2h"}, {864000, "10d"},
                {INT64_C(86400) * 740, "2y10d"}, {INT64_C(86400) * 3000, "8y"}};

    for (size_t i = 0; i < COUNT_OF(ages); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();

        CHECK_STR(human_duration(arena, ages[i].seconds * 1000000000), ages[i].text);
    }
}
