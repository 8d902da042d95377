/* Rules that the recordings don't reach, a row each: an object with one thing wrong, the field and the text. */
#include "test.h"

#include "api/core_v1.h"
#include "api/defaults.h"
#include "api/kinds.h"
#include "api/validation.h"
#include "schema/json.h"
#include "schema/object.h"

#include <stdio.h>

static void *read_object(struct arena *arena, const struct kind *kind, struct str json)
{
    struct object *object = arena_alloc(arena, kind->type->size);

    CHECK_OK(json_decode(arena, kind->type, json, object, NULL));
    if (object->metadata.name.n == 0) {
        object->metadata.name = STR("a");
    }
    object->metadata.namespace = kind->namespaced ? STR("b") : (struct str){0};
    object->metadata.resource_version = STR("1");
    api_defaults_apply(kind->type, object, arena);
    return object;
}

/* Exactly one thing is wrong. */
static void check_one(const char *name, const struct status *causes, const char *field, const char *message)
{
    if (causes->cause_count != 1 || !str_is(causes->causes[0].field, field) ||
        !str_is(causes->causes[0].message, message)) {
        for (size_t i = 0; i < causes->cause_count; i++) {
            fprintf(stderr, "  got %.*s: %.*s\n", STR_ARG(causes->causes[i].field), STR_ARG(causes->causes[i].message));
        }
        test_fail(__FILE__, __LINE__, "%s: wanted %s: %s", name, field, message);
    }
}

struct row {
    const char *api_version, *kind, *json; /* all but metadata */
    const char *field, *message;
};

static void check_rows(const struct row *rows, size_t count)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < count; i++) {
        const struct kind *kind = kind_find_api_version(str_of(rows[i].api_version), str_of(rows[i].kind));
        OWNED(status_freep) struct status *causes = status_new(STATUS_INVALID, "%s", "");

        CHECK(kind != NULL);
        api_validate_create(kind, read_object(arena, kind, str_of(rows[i].json)), causes);
        check_one(rows[i].json, causes, rows[i].field, rows[i].message);
    }
}

/* Pods that differ in one part from one that is fine. */
struct pod_row {
    const char *spec;      /* members of the spec, with a comma at the end, or "" */
    const char *container; /* members of the container, with a comma before, or "" */
    const char *field, *message;
};

static void check_pods(const struct pod_row *rows, size_t count)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < count; i++) {
        struct str json = arena_printf(arena, "{\"spec\":{%s\"containers\":[{\"name\":\"c\",\"image\":\"i\"%s}]}}",
                                       rows[i].spec, rows[i].container);
        OWNED(status_freep) struct status *causes = status_new(STATUS_INVALID, "%s", "");

        api_validate_create(&core_v1_pod_kind, read_object(arena, &core_v1_pod_kind, json), causes);
        check_one(json.p, causes, rows[i].field, rows[i].message);
    }
}

TEST("api/validation/containers of pods")
{
    static const struct pod_row rows[] = {
        {"", ",\"imagePullPolicy\":\"Sometimes\"", "spec.containers[0].imagePullPolicy",
         "Unsupported value: \"Sometimes\": supported values: \"Always\", \"IfNotPresent\", \"Never\""},
        {"", ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/x\"}]", "spec.containers[0].volumeMounts[0].name",
         "Not found: \"v\""},
        {"\"volumes\":[{\"name\":\"v\"}],", ",\"volumeMounts\":[{\"name\":\"v\"}]",
         "spec.containers[0].volumeMounts[0].mountPath", "Required value"},
        {"\"volumes\":[{\"name\":\"v\"}],",
         ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/x\"},{\"name\":\"v\",\"mountPath\":\"/x\"}]",
         "spec.containers[0].volumeMounts[1].mountPath", "Invalid value: \"/x\": must be unique"},
        {"\"volumes\":[{\"name\":\"v\"}],",
         ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/x\",\"subPath\":\"/abs\"}]",
         "spec.containers[0].volumeMounts[0].subPath", "Invalid value: \"/abs\": must be a relative path"},
        {"\"volumes\":[{\"name\":\"v\"}],",
         ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/x\",\"mountPropagation\":\"Bidirectional\"}]",
         "spec.containers[0].volumeMounts[0].mountPropagation",
         "Forbidden: Bidirectional mount propagation is available only to privileged containers"},
        {"\"volumes\":[{\"name\":\"v\"}],", ",\"volumeDevices\":[{\"name\":\"v\",\"devicePath\":\"/dev/x\"}]",
         "spec.containers[0].volumeDevices[0].name",
         "Invalid value: \"v\": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"},
        {"", ",\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.labels\"}}}]",
         "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath",
         "Unsupported value: \"metadata.labels\": supported values: \"metadata.name\", \"metadata.namespace\", "
         "\"metadata.uid\", \"spec.nodeName\", \"spec.serviceAccountName\", \"status.hostIP\", \"status.hostIPs\", "
         "\"status.podIP\", \"status.podIPs\""},
        {"",
         ",\"env\":[{\"name\":\"A\",\"value\":\"x\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"k\"}}}]",
         "spec.containers[0].env[0].valueFrom", "Invalid value: \"\": may not be specified when `value` is not empty"},
        {"", ",\"env\":[{\"name\":\"A\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"s\"}}}]",
         "spec.containers[0].env[0].valueFrom.configMapKeyRef.key", "Required value"},
        {"", ",\"resources\":{\"requests\":{\"cpu\":\"2\"},\"limits\":{\"cpu\":\"1\"}}",
         "spec.containers[0].resources.requests", "Invalid value: \"2\": must be less than or equal to cpu limit of 1"},
        {"", ",\"livenessProbe\":{\"tcpSocket\":{\"port\":80},\"successThreshold\":2}",
         "spec.containers[0].livenessProbe.successThreshold", "Invalid value: 2: must be 1"},
        {"", ",\"readinessProbe\":{\"exec\":{\"command\":[\"x\"]},\"periodSeconds\":-1}",
         "spec.containers[0].readinessProbe.periodSeconds", "Invalid value: -1: must be greater than or equal to 0"},
        {"", ",\"startupProbe\":{\"httpGet\":{\"port\":0}}", "spec.containers[0].startupProbe.httpGet.port",
         "Invalid value: 0: must be between 1 and 65535, inclusive"},
        {"", ",\"startupProbe\":{}", "spec.containers[0].startupProbe", "Required value: must specify a handler type"},
        {"\"initContainers\":[{\"name\":\"i\",\"image\":\"i\",\"lifecycle\":{}}],", "",
         "spec.initContainers[0].lifecycle",
         "Forbidden: may not be set for init containers without restartPolicy=Always"},
    };

    check_pods(rows, COUNT_OF(rows));
}

TEST("api/validation/where pods run")
{
    static const struct pod_row rows[] = {
        {"\"tolerations\":[{\"operator\":\"Equal\"}],", "", "spec.tolerations[0].operator",
         "Invalid value: \"Equal\": operator must be Exists when `key` is empty, which means \"match all values and "
         "all "
         "keys\""},
        {"\"tolerations\":[{\"key\":\"k\",\"effect\":\"NoSchedule\",\"tolerationSeconds\":1}],", "",
         "spec.tolerations[0].effect",
         "Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"},
        {"\"tolerations\":[{\"key\":\"k\",\"effect\":\"Never\"}],", "", "spec.tolerations[0].effect",
         "Unsupported value: \"Never\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""},
        {"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[]}"
         "}},",
         "", "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
         "Required value: must have at least one node selector term"},
        {"\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{}]}},", "",
         "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
         "Required value: can not be empty"},
        {"\"affinity\":{\"podAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":101,"
         "\"podAffinityTerm\":{\"topologyKey\":\"z\"}}]}},",
         "", "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
         "Invalid value: 101: must be in the range 1-100"},
        {"\"topologySpreadConstraints\":[{\"maxSkew\":0,\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]"
         ",",
         "", "spec.topologySpreadConstraints[0].maxSkew", "Invalid value: 0: must be greater than 0"},
        {"\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"X\"}],", "",
         "spec.topologySpreadConstraints[0].whenUnsatisfiable",
         "Unsupported value: \"X\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\""},
        {"\"schedulingGates\":[{\"name\":\"a\"},{\"name\":\"a\"}],", "", "spec.schedulingGates[1]",
         "Duplicate value: \"a\""},
        {"\"hostUsers\":false,\"hostPID\":true,", "", "spec.hostPID", "Forbidden: when `hostUsers` is false"},
        {"\"securityContext\":{\"sysctls\":[{\"name\":\"a\"},{\"name\":\"a\"}]},", "",
         "spec.securityContext.sysctls[1].name", "Duplicate value: \"a\""},
        {"\"securityContext\":{\"seccompProfile\":{\"type\":\"Localhost\"}},", "",
         "spec.securityContext.seccompProfile.localhostProfile",
         "Required value: must be set when seccomp type is Localhost"},
    };

    check_pods(rows, COUNT_OF(rows));
}

TEST("api/validation/volumes of pods")
{
    static const struct pod_row rows[] = {
        {"\"volumes\":[{\"name\":\"v\",\"emptyDir\":{},\"hostPath\":{\"path\":\"/x\"}}],", "",
         "spec.volumes[0].hostPath", "Forbidden: may not specify more than 1 volume type"},
        {"\"volumes\":[{\"name\":\"v\"},{\"name\":\"v\"}],", "", "spec.volumes[1].name", "Duplicate value: \"v\""},
        {"\"volumes\":[{\"name\":\"v\",\"gitRepo\":{}}],", "", "spec.volumes[0].gitRepo.repository", "Required value"},
        {"\"volumes\":[{\"name\":\"v\",\"image\":{}}],", "", "spec.volumes[0].image.reference", "Required value"},
        {"\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"c\",\"items\":[{\"key\":\"k\",\"path\":\"..x\"}]}}],",
         "", "spec.volumes[0].configMap.items[0].path", "Invalid value: \"..x\": must not start with '..'"},
        {"\"volumes\":[{\"name\":\"v\",\"ephemeral\":{}}],", "", "spec.volumes[0].ephemeral.volumeClaimTemplate",
         "Required value"},
        {"\"volumes\":[{\"name\":\"v\",\"downwardAPI\":{\"items\":[{\"path\":\"p\",\"resourceFieldRef\":{\"resource\":"
         "\"limits.cpu\"}}]}}],",
         "", "spec.volumes[0].downwardAPI.resourceFieldRef.containerName", "Required value"},
    };

    check_pods(rows, COUNT_OF(rows));
}

TEST("api/validation/kinds of the cluster")
{
    static const struct row rows[] = {
        {"v1", "Node", "{\"spec\":{\"taints\":[{\"key\":\"k\"}]}}", "spec.taints[0].effect", "Required value"},
        {"v1", "Node",
         "{\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"},{\"key\":\"k\",\"effect\":"
         "\"NoExecute\"}]}}",
         "spec.taints[1]",
         "Duplicate value: {\"Key\":\"k\",\"Value\":\"\",\"Effect\":\"NoExecute\",\"TimeAdded\":null}"},
        {"v1", "Node", "{\"spec\":{\"podCIDRs\":[\"10.0.0.0/24\",\"10.0.1.0/24\"]}}", "spec.podCIDRs",
         "Invalid value: [\"10.0.0.0/24\",\"10.0.1.0/24\"]: may specify no more than one CIDR for each IP family"},
        {"v1", "PersistentVolume",
         "{\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\"]}}", "spec",
         "Required value: must specify a volume type"},
        {"v1", "PersistentVolume",
         "{\"spec\":{\"capacity\":{\"storage\":\"0\"},\"accessModes\":[\"ReadWriteOnce\"],\"hostPath\":{\"path\":\"/"
         "x\"}}}",
         "spec.capacity[storage]", "Invalid value: \"0\": must be greater than zero"},
        {"v1", "PersistentVolumeClaim",
         "{\"spec\":{\"accessModes\":[\"ReadWriteOncePod\",\"ReadOnlyMany\"],\"resources\":{\"requests\":{\"storage\":"
         "\"1\"}}}}",
         "spec.accessModes", "Forbidden: may not use ReadWriteOncePod with other access modes"},
        {"coordination.k8s.io/v1", "Lease", "{\"spec\":{\"leaseDurationSeconds\":0}}", "spec.leaseDurationSeconds",
         "Invalid value: 0: must be greater than 0"},
        {"policy/v1", "PodDisruptionBudget", "{\"spec\":{\"maxUnavailable\":\"120%\"}}", "spec.maxUnavailable",
         "Invalid value: \"120%\": must not be greater than 100%"},
        {"rbac.authorization.k8s.io/v1", "Role", "{\"rules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/x\"]}]}",
         "rules[0].nonResourceURLs", "Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs"},
        {"rbac.authorization.k8s.io/v1", "ClusterRole", "{\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}",
         "rules[0].verbs", "Required value: verbs must contain at least one value"},
        {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
         "{\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"r\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":"
         "\"s\"}]}",
         "subjects[0].namespace", "Required value"},
        {"v1", "ReplicationController", "{\"spec\":{\"selector\":{\"a\":\"b\"}}}", "spec.template", "Required value"},
        {"v1", "ResourceQuota", "{\"spec\":{\"scopes\":[\"BestEffort\",\"NotBestEffort\"]}}", "spec.scopes",
         "Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes"},
        {"v1", "ResourceQuota", "{\"spec\":{\"hard\":{\"storage\":\"1\"}}}", "spec.hard[storage]",
         "Invalid value: \"storage\": must be a standard resource for quota"},
        {"storage.k8s.io/v1", "CSINode", "{\"spec\":{\"drivers\":[{\"name\":\"d\"}]}}", "spec.drivers[0].nodeID",
         "Required value"},
        {"resource.k8s.io/v1", "ResourceClaim",
         "{\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{}}]}}}",
         "spec.devices.requests[0].exactly.deviceClassName", "Required value"},
    };

    check_rows(rows, COUNT_OF(rows));
}

TEST("api/validation/admission policies, certificates and runtime classes")
{
    static const char match[] = "{\"spec\":{\"policyName\":\"p\",\"paramRef\":{\"name\":\"n\"},"
                                "\"validationActions\":[\"Deny\"]}}";
    static const struct row rows[] = {
        {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", match,
         "spec.paramRef.parameterNotFoundAction", "Required value"},
        {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
         "{\"spec\":{\"policyName\":\"p\",\"validationActions\":[\"Deny\",\"Deny\"]}}", "spec.validationActions[1]",
         "Duplicate value: \"Deny\""},
        {"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding", "{\"spec\":{\"policyName\":\"\"}}",
         "spec.policyName", "Required value"},
        {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy",
         "{\"spec\":{\"validations\":[{\"expression\":\"true\"}]}}", "spec.matchConstraints", "Required value"},
        {"certificates.k8s.io/v1", "CertificateSigningRequest",
         "{\"spec\":{\"request\":\"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0=\",\"signerName\":\"nodomain\","
         "\"usages\":[\"client auth\"]}}",
         "spec.signerName",
         "Invalid value: \"nodomain\": must be a fully qualified domain and path of the form 'example.com/signer-name'"},
        {"certificates.k8s.io/v1", "CertificateSigningRequest",
         "{\"spec\":{\"request\":\"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0=\",\"signerName\":\"a.b/c\","
         "\"usages\":[\"client auth\"],\"expirationSeconds\":599}}",
         "spec.expirationSeconds",
         "Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"},
        {"v1", "Service",
         "{\"spec\":{\"clusterIP\":\"10.0.0.1\",\"clusterIPs\":[\"10.0.0.1\"],\"ipFamilies\":[\"IPv6\"],"
         "\"ports\":[{\"port\":80}]}}",
         "spec.clusterIPs[0]", "Invalid value: \"10.0.0.1\": expected an IPv6 value as indicated by `ipFamilies[0]`"},
    };

    check_rows(rows, COUNT_OF(rows));
}

TEST("api/validation/Deployments, DaemonSets and Jobs")
{
#define TEMPLATE                                                                                                       \
    "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}" \
    "]}}"
#define SELECTOR "\"selector\":{\"matchLabels\":{\"a\":\"b\"}},"
    static const struct row rows[] = {
        {"apps/v1", "Deployment",
         "{\"spec\":{" SELECTOR "\"strategy\":{\"rollingUpdate\":{\"maxSurge\":0,\"maxUnavailable\":0}}," TEMPLATE "}}",
         "spec.strategy.rollingUpdate.maxUnavailable", "Invalid value: 0: may not be 0 when `maxSurge` is 0"},
        {"apps/v1", "Deployment",
         "{\"spec\":{" SELECTOR "\"strategy\":{\"rollingUpdate\":{\"maxUnavailable\":\"101%\"}}," TEMPLATE "}}",
         "spec.strategy.rollingUpdate.maxUnavailable", "Invalid value: \"101%\": must not be greater than 100%"},
        {"apps/v1", "Deployment", "{\"spec\":{" SELECTOR "\"strategy\":{\"type\":\"Blue\"}," TEMPLATE "}}",
         "spec.strategy.type", "Unsupported value: \"Blue\": supported values: \"Recreate\", \"RollingUpdate\""},
        {"apps/v1", "DaemonSet",
         "{\"spec\":{" SELECTOR "\"updateStrategy\":{\"rollingUpdate\":{\"maxSurge\":1,\"maxUnavailable\":1}}," TEMPLATE
         "}}",
         "spec.updateStrategy.rollingUpdate.maxSurge",
         "Invalid value: 1: may not be set when maxUnavailable is non-zero"},
        {"batch/v1", "Job", "{\"spec\":{\"manualSelector\":true," SELECTOR TEMPLATE "}}",
         "spec.template.spec.restartPolicy", "Required value: valid values: \"OnFailure\", \"Never\""},
    };

    check_rows(rows, COUNT_OF(rows));
}

static void check_pod_change(const char *before, const char *after, const char *field, const char *message)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(status_freep) struct status *causes = status_new(STATUS_INVALID, "%s", "");

    api_validate_update(&core_v1_pod_kind, read_object(arena, &core_v1_pod_kind, str_of(after)),
                        read_object(arena, &core_v1_pod_kind, str_of(before)), causes);
    if (field == NULL) {
        CHECK_INT(causes->cause_count, 0);
    } else {
        check_one(after, causes, field, message);
    }
}

TEST("api/validation/what may change in a pod that exists")
{
#define POD(more) "{\"spec\":{" more "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"
    check_pod_change(POD(""),
                     "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"j\",\"imagePullPolicy\":\"Always\"}]}}",
                     NULL, NULL);
    check_pod_change(POD(""), POD("\"activeDeadlineSeconds\":5,"), NULL, NULL);
    check_pod_change(POD("\"activeDeadlineSeconds\":5,"), POD("\"activeDeadlineSeconds\":6,"),
                     "spec.activeDeadlineSeconds", "Invalid value: 6: must be less than or equal to previous value");
    check_pod_change(POD("\"activeDeadlineSeconds\":5,"), POD(""), "spec.activeDeadlineSeconds",
                     "Invalid value: null: must not update from a positive integer to nil value");
    check_pod_change(POD(""), POD("\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}],"), NULL, NULL);
    check_pod_change(POD("\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}],"), POD(""), "spec.tolerations",
                     "Forbidden: existing toleration can not be modified except its tolerationSeconds");
    check_pod_change(POD("\"schedulingGates\":[{\"name\":\"g\"}],"), POD(""), NULL, NULL);
    check_pod_change(POD(""), POD("\"schedulingGates\":[{\"name\":\"g\"}],"), "spec.schedulingGates[0]",
                     "Forbidden: only deletion is allowed, but found new scheduling gate 'g'");
    check_pod_change(POD(""),
                     "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"},{\"name\":\"d\",\"image\":\"i\"}]}}",
                     "spec.containers", "Forbidden: pod updates may not add or remove containers");
    check_pod_change(POD("\"hostname\":\"x\","), POD("\"hostname\":\"y\","), "spec",
                     "Forbidden: pod updates may not change fields other than "
                     "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
                     "`spec.tolerations` (only additions to existing tolerations),"
                     "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
                     "@@ -64,7 +64,7 @@\n"
                     "   \"SELinuxChangePolicy\": null\n"
                     "  },\n"
                     "  \"ImagePullSecrets\": null,\n"
                     "- \"Hostname\": \"x\",\n"
                     "+ \"Hostname\": \"y\",\n"
                     "  \"Subdomain\": \"\",\n"
                     "  \"Affinity\": null,\n"
                     "  \"SchedulerName\": \"default-scheduler\",\n");
}
