#include "apiserver/registry/strategy.h"

#include "apiserver/registry/kinds.h"

#include <string.h>

#define GEN STRATEGY_GENERATION
#define PUT STRATEGY_CREATE_ON_UPDATE
#define VERSION STRATEGY_NEEDS_VERSION
#define RETURNS STRATEGY_RETURNS_DELETED

#define CORE ""
#define APPS "apps"
#define ADMISSION "admissionregistration.k8s.io"
#define STORAGE "storage.k8s.io"
#define RESOURCE "resource.k8s.io"
#define NETWORKING "networking.k8s.io"
#define RBAC "rbac.authorization.k8s.io"
#define FLOW "flowcontrol.apiserver.k8s.io"

static const struct strategy strategies[] = {
    {.group = CORE, .kind = "Pod", .flags = GEN | RETURNS | STRATEGY_GRACEFUL, .create = pod_create,
     .update = pod_update, .update_subresource = pod_update_subresource},
    {.group = CORE, .kind = "Namespace", .flags = RETURNS, .create = namespace_create, .update = namespace_update,
     .update_subresource = namespace_update_subresource, .holds = namespace_holds,
     .deleting = namespace_deleting},
    {.group = CORE, .kind = "Service", .flags = PUT | RETURNS, .create = service_create, .update = service_update,
     .allocate = service_allocate, .finish = service_finish},
    {.group = CORE, .kind = "Node", .flags = STRATEGY_KEEPS_STATUS},
    {.group = CORE, .kind = "PersistentVolume", .flags = RETURNS, .create = persistent_volume_create},
    {.group = CORE, .kind = "PersistentVolumeClaim", .flags = RETURNS, .create = persistent_volume_claim_create},
    {.group = CORE, .kind = "PodTemplate", .flags = GEN | RETURNS},
    {.group = CORE, .kind = "ReplicationController", .flags = GEN | STRATEGY_ORPHANS},
    {.group = CORE, .kind = "Secret", .flags = 0, .update = secret_update},
    {.group = CORE, .kind = "ServiceAccount", .flags = RETURNS},
    {.group = CORE, .kind = "ResourceQuota", .flags = RETURNS},
    {.group = CORE, .kind = "LimitRange", .flags = PUT},
    {.group = CORE, .kind = "Endpoints", .flags = PUT},
    {.group = CORE, .kind = "Event", .flags = PUT | STRATEGY_NO_COLLECTION},
    {.group = "events.k8s.io", .kind = "Event", .flags = PUT | STRATEGY_NO_COLLECTION},
    {.group = APPS, .kind = "Deployment", .flags = GEN | STRATEGY_STATUS_KEEPS_LABELS},
    {.group = APPS, .kind = "ReplicaSet", .flags = GEN},
    {.group = APPS, .kind = "StatefulSet", .flags = GEN},
    {.group = APPS, .kind = "DaemonSet", .flags = GEN, .create = daemon_set_create, .update = daemon_set_update},
    {.group = "batch", .kind = "Job", .flags = GEN | STRATEGY_ORPHANS, .create = job_create, .update = job_update,
     .allocate = job_label},
    {.group = "batch", .kind = "CronJob", .flags = GEN},
    {.group = "autoscaling", .kind = "HorizontalPodAutoscaler", .flags = GEN},
    {.group = "policy", .kind = "PodDisruptionBudget", .flags = GEN | VERSION},
    {.group = "coordination.k8s.io", .kind = "Lease", .flags = PUT | VERSION | STRATEGY_VOLATILE},
    {.group = "discovery.k8s.io", .kind = "EndpointSlice", .flags = GEN | STRATEGY_GENERATION_LABELS,
     .create = endpoint_slice_create, .update = endpoint_slice_update},
    {.group = "scheduling.k8s.io", .kind = "PriorityClass", .flags = GEN | STRATEGY_GENERATION_FIXED},
    {.group = "certificates.k8s.io", .kind = "CertificateSigningRequest",
     .create = signing_request_create, .update = signing_request_update,
     .update_subresource = signing_request_update_subresource},
    {.group = "certificates.k8s.io", .kind = "PodCertificateRequest", .flags = VERSION},
    {.group = "certificates.k8s.io", .kind = "ClusterTrustBundle", .flags = 0},
    {.group = NETWORKING, .kind = "Ingress", .flags = GEN},
    {.group = NETWORKING, .kind = "IngressClass", .flags = GEN},
    {.group = NETWORKING, .kind = "NetworkPolicy", .flags = GEN},
    {.group = RBAC, .kind = "Role", .flags = PUT},
    {.group = RBAC, .kind = "RoleBinding", .flags = PUT},
    {.group = RBAC, .kind = "ClusterRole", .flags = PUT},
    {.group = RBAC, .kind = "ClusterRoleBinding", .flags = PUT},
    {.group = FLOW, .kind = "FlowSchema", .flags = GEN | STRATEGY_STATUS_KEEPS_META},
    {.group = FLOW, .kind = "PriorityLevelConfiguration", .flags = GEN | STRATEGY_STATUS_KEEPS_META},
    {.group = ADMISSION, .kind = "ValidatingWebhookConfiguration", .flags = GEN},
    {.group = ADMISSION, .kind = "MutatingWebhookConfiguration", .flags = GEN},
    {.group = ADMISSION, .kind = "ValidatingAdmissionPolicy", .flags = GEN | VERSION},
    {.group = ADMISSION, .kind = "ValidatingAdmissionPolicyBinding", .flags = GEN | VERSION},
    {.group = ADMISSION, .kind = "MutatingAdmissionPolicy", .flags = GEN | VERSION},
    {.group = ADMISSION, .kind = "MutatingAdmissionPolicyBinding", .flags = GEN | VERSION},
    {.group = STORAGE, .kind = "StorageClass", .flags = RETURNS},
    {.group = STORAGE, .kind = "VolumeAttachment", .flags = RETURNS | VERSION | STRATEGY_STATUS_KEEPS_META},
    {.group = STORAGE, .kind = "CSINode", .flags = RETURNS | VERSION},
    {.group = STORAGE, .kind = "CSIDriver", .flags = RETURNS | VERSION | GEN | STRATEGY_GENERATION_LATE},
    {.group = STORAGE, .kind = "CSIStorageCapacity", .flags = RETURNS},
    {.group = STORAGE, .kind = "VolumeAttributesClass", .flags = RETURNS},
    {.group = RESOURCE, .kind = "DeviceClass", .flags = GEN | RETURNS},
    {.group = RESOURCE, .kind = "DeviceTaintRule", .flags = GEN | RETURNS | STRATEGY_STATUS_KEEPS_META},
    {.group = RESOURCE, .kind = "ResourceSlice", .flags = GEN | RETURNS},
    {.group = RESOURCE, .kind = "ResourceClaim", .flags = RETURNS | STRATEGY_STATUS_KEEPS_META},
    {.group = RESOURCE, .kind = "ResourceClaimTemplate", .flags = RETURNS},
    {.group = "storagemigration.k8s.io", .kind = "StorageVersionMigration", .flags = VERSION | STRATEGY_STATUS_KEEPS_META},
    {.group = "apiextensions.k8s.io", .kind = "CustomResourceDefinition", .flags = GEN | VERSION,
     .create = resource_definition_create, .update = resource_definition_update,
     .holds = resource_definition_holds,
     .deleting = resource_definition_deleting},
    {.group = "apiregistration.k8s.io", .kind = "APIService", .flags = VERSION},
};

const struct strategy *strategy_of(const struct kind *kind)
{
    static const struct strategy plain = {.group = "", .kind = ""};
    static const struct strategy custom = {
        .group = "", .kind = "", .flags = GEN | VERSION | STRATEGY_STATUS_KEEPS_META};

    if (kind->custom != NULL) {
        return &custom;
    }
    for (size_t i = 0; i < COUNT_OF(strategies); i++) {
        if (str_is(kind->group, strategies[i].group) && str_is(kind->kind, strategies[i].kind)) {
            return &strategies[i];
        }
    }
    return &plain;
}

void *object_field(const struct kind *kind, void *object, struct str name)
{
    const struct type_member *member = type_member(kind->type, name);

    return member == NULL ? NULL : (char *)object + member->offset;
}

void object_field_take(const struct kind *kind, void *object, const void *from, struct str name)
{
    const struct type_member *member = type_member(kind->type, name);

    if (member != NULL) {
        memcpy((char *)object + member->offset, (const char *)from + member->offset, field_size(member->field));
    }
}

void object_field_clear(const struct kind *kind, void *object, struct str name)
{
    const struct type_member *member = type_member(kind->type, name);

    if (member != NULL) {
        memset((char *)object + member->offset, 0, field_size(member->field));
    }
}
