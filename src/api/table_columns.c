#include "api/table_columns.h"

#include "api/custom_columns.h"
#include "api/kinds.h"
#include "api/table_rows.h"
#include "schema/timestamp.h"

#define COLUMN_(name, type, format, description, priority) \
    {STR_INIT(name), STR_INIT(type), STR_INIT(format), STR_INIT(description), priority}
#define NAME COLUMN_("Name", "string", "name", "The name of the object.", 0)
#define TEXT(name, description) COLUMN_(name, "string", "", description, 0)
#define NUMBER(name, description) COLUMN_(name, "integer", "", description, 0)
#define FLAG(name, description) COLUMN_(name, "boolean", "", description, 0)
#define WIDE(name, description) COLUMN_(name, "string", "", description, 1)
#define AGE TEXT("Age", "Time since the object was created.")
#define CONTAINERS \
    WIDE("Containers", "Names of the containers in the pod template."), \
        WIDE("Images", "Images that the containers run.")
#define SELECTOR WIDE("Selector", "Which pods belong to it.")

static const struct table_column other_columns[] = {
    NAME, COLUMN_("Created At", "date", "", "When the object was created.", 0)};
static const struct table_column name_and_age_columns[] = {NAME, AGE};
static const struct table_column pod_columns[] = {
    NAME,
    TEXT("Ready", "Containers that are ready, of all."),
    TEXT("Status", "What the pod as a whole is doing."),
    TEXT("Restarts", "How often its containers were started again, and when last."),
    AGE,
    WIDE("IP", "The pod's first address."),
    WIDE("Node", "The node it is bound to."),
    WIDE("Nominated Node", "The node where it may run once others have made room."),
    WIDE("Readiness Gates", "Extra conditions for readiness that are true, of all."),
};
static const struct table_column pod_template_columns[] = {
    NAME,
    TEXT("Containers", "Names of the containers in the template."),
    TEXT("Images", "Images that the containers run."),
    TEXT("Pod Labels", "Labels that its pods get."),
};
static const struct table_column node_columns[] = {
    NAME,
    TEXT("Status", "Whether the node is ready, and open to new pods."),
    TEXT("Roles", "The roles in its labels."),
    AGE,
    TEXT("Version", "Version of its kubelet."),
    WIDE("Internal-IP", "First address inside of the cluster."),
    WIDE("External-IP", "First address outside of the cluster."),
    WIDE("OS-Image", "The operating system."),
    WIDE("Kernel-Version", "The kernel, and the machine's architecture."),
    WIDE("Container-Runtime", "The container runtime and its version."),
};
static const struct table_column event_columns[] = {
    TEXT("Last Seen", "Time since it happened last."),
    TEXT("Type", "Normal or Warning."),
    TEXT("Reason", "Why it was made, in one word."),
    TEXT("Object", "What it is about."),
    WIDE("Subobject", "The part of the object it is about."),
    WIDE("Source", "Who reported it."),
    TEXT("Message", "What happened."),
    WIDE("First Seen", "Time since it happened first."),
    WIDE("Count", "How often it happened."),
    COLUMN_("Name", "string", "name", "The name of the event.", 1),
};
static const struct table_column namespace_columns[] = {NAME, TEXT("Status", "Active, or being deleted."), AGE};
static const struct table_column secret_columns[] = {
    NAME, TEXT("Type", "What the secret is for."), TEXT("Data", "How many entries it has."), AGE};
static const struct table_column config_map_columns[] = {NAME, TEXT("Data", "How many entries it has."), AGE};
static const struct table_column component_status_columns[] = {
    NAME,
    TEXT("Status", "Whether the component is healthy."),
    TEXT("Message", "What its check says."),
    TEXT("Error", "Why its check failed."),
};
static const struct table_column resource_quota_columns[] = {
    NAME,
    TEXT("Request", "Amounts used and allowed."),
    TEXT("Limit", "Amounts of limits used and allowed."),
    AGE,
};
static const struct table_column replicas_columns[] = {
    NAME,
    NUMBER("Desired", "Pods wanted."),
    NUMBER("Current", "Pods that there are."),
    NUMBER("Ready", "Pods that are ready."),
    AGE,
    CONTAINERS,
    SELECTOR,
};
static const struct table_column deployment_columns[] = {
    NAME,
    TEXT("Ready", "Pods that are ready, of those wanted."),
    TEXT("Up-to-date", "Pods made from the present template."),
    TEXT("Available", "Pods that have been ready long enough."),
    AGE,
    CONTAINERS,
    SELECTOR,
};
static const struct table_column daemon_set_columns[] = {
    NAME,
    NUMBER("Desired", "Nodes that should run its pod."),
    NUMBER("Current", "Nodes that should and do."),
    NUMBER("Ready", "Nodes whose pod is ready."),
    NUMBER("Up-to-date", "Nodes whose pod is of the present template."),
    NUMBER("Available", "Nodes whose pod has been ready long enough."),
    TEXT("Node Selector", "Labels that its nodes must have."),
    AGE,
    CONTAINERS,
    SELECTOR,
};
static const struct table_column stateful_set_columns[] = {
    NAME, TEXT("Ready", "Pods that are ready, of those wanted."), AGE, CONTAINERS};
static const struct table_column controller_revision_columns[] = {
    NAME,
    TEXT("Controller", "Whose revision it is."),
    TEXT("Revision", "Its place among the revisions."),
    AGE,
};
static const struct table_column job_columns[] = {
    NAME,
    TEXT("Status", "How far the job has come."),
    TEXT("Completions", "Pods that succeeded, of those wanted."),
    TEXT("Duration", "How long it ran, or has been running."),
    AGE,
    CONTAINERS,
    SELECTOR,
};
static const struct table_column cron_job_columns[] = {
    NAME,
    TEXT("Schedule", "When it runs, in cron's notation."),
    TEXT("Timezone", "The time zone of the schedule."),
    FLAG("Suspend", "Whether no more jobs are started."),
    NUMBER("Active", "Jobs that are running."),
    TEXT("Last Schedule", "Time since a job was started last."),
    AGE,
    CONTAINERS,
    SELECTOR,
};
static const struct table_column hpa_columns[] = {
    NAME,
    TEXT("Reference", "What is scaled."),
    TEXT("Targets", "Metrics: current value and target."),
    TEXT("MinPods", "Fewest pods there may be."),
    TEXT("MaxPods", "Most pods there may be."),
    TEXT("Replicas", "Pods that there are."),
    AGE,
};
static const struct table_column pdb_columns[] = {
    NAME,
    TEXT("Min Available", "Pods that must stay available."),
    TEXT("Max Unavailable", "Pods that may be unavailable."),
    NUMBER("Allowed Disruptions", "Pods that may be evicted now."),
    AGE,
};
static const struct table_column scale_columns[] = {
    TEXT("Name", "The name of the object."),
    NUMBER("Desired", "Pods wanted."),
    NUMBER("Available", "Pods that there are."),
    AGE,
};
static const struct table_column service_columns[] = {
    NAME,
    TEXT("Type", "How the service is reached."),
    TEXT("Cluster-IP", "Its address inside of the cluster."),
    TEXT("External-IP", "Its addresses outside of the cluster."),
    TEXT("Port(s)", "Ports, node ports and protocols."),
    AGE,
    WIDE("Selector", "Labels of the pods behind it."),
};
static const struct table_column endpoints_columns[] = {NAME, TEXT("Endpoints", "Addresses and ports."), AGE};
static const struct table_column endpoint_slice_columns[] = {
    NAME,
    TEXT("AddressType", "What kind of addresses it has."),
    TEXT("Ports", "The endpoints' ports."),
    TEXT("Endpoints", "The endpoints' addresses."),
    AGE,
};
static const struct table_column ingress_columns[] = {
    NAME,
    TEXT("Class", "The class of controller that serves it."),
    TEXT("Hosts", "Names it serves."),
    TEXT("Address", "Where it is reached."),
    TEXT("Ports", "Ports it is reached at."),
    AGE,
};
static const struct table_column ingress_class_columns[] = {
    NAME,
    TEXT("Controller", "Who serves ingresses of this class."),
    TEXT("Parameters", "The object that configures it."),
    AGE,
};
static const struct table_column network_policy_columns[] = {
    NAME, TEXT("Pod-Selector", "Which pods it is for."), AGE};
static const struct table_column service_cidr_columns[] = {
    NAME, TEXT("CIDRs", "Ranges that services get addresses from."), AGE};
static const struct table_column ip_address_columns[] = {NAME, TEXT("ParentRef", "What has the address."), AGE};
static const struct table_column pv_columns[] = {
    NAME,
    TEXT("Capacity", "Its size."),
    TEXT("Access Modes", "How it may be mounted."),
    TEXT("Reclaim Policy", "What happens to it when it is released."),
    TEXT("Status", "Whether it is available, bound or released."),
    TEXT("Claim", "The claim it is bound to."),
    TEXT("StorageClass", "Its storage class."),
    TEXT("VolumeAttributesClass", "Its class of changeable attributes."),
    TEXT("Reason", "Why it is in this status."),
    AGE,
    WIDE("VolumeMode", "Filesystem or Block."),
};
static const struct table_column pvc_columns[] = {
    NAME,
    TEXT("Status", "Whether it is bound."),
    TEXT("Volume", "The volume it is bound to."),
    TEXT("Capacity", "Size of that volume."),
    TEXT("Access Modes", "How that volume may be mounted."),
    TEXT("StorageClass", "The storage class it asks for."),
    TEXT("VolumeAttributesClass", "The class of changeable attributes it asks for."),
    AGE,
    WIDE("VolumeMode", "Filesystem or Block."),
};
static const struct table_column storage_class_columns[] = {
    NAME,
    TEXT("Provisioner", "Who makes its volumes."),
    TEXT("ReclaimPolicy", "What happens to its volumes when they are released."),
    TEXT("VolumeBindingMode", "When volumes are made and bound."),
    TEXT("AllowVolumeExpansion", "Whether its volumes can grow."),
    AGE,
};
static const struct table_column volume_attachment_columns[] = {
    NAME,
    TEXT("Attacher", "The driver that attaches."),
    TEXT("PV", "The volume."),
    TEXT("Node", "The node."),
    FLAG("Attached", "Whether it is attached."),
    AGE,
};
static const struct table_column csi_driver_columns[] = {
    NAME,
    FLAG("AttachRequired", "Whether its volumes must be attached before they are mounted."),
    FLAG("PodInfoOnMount", "Whether it is told about the pod on mounting."),
    FLAG("StorageCapacity", "Whether the scheduler heeds its capacity."),
    TEXT("TokenRequests", "Audiences of the tokens it is given."),
    FLAG("RequiresRepublish", "Whether it is called again and again for mounted volumes."),
    TEXT("Modes", "Lifecycles of volumes it supports."),
    AGE,
};
static const struct table_column csi_node_columns[] = {NAME, NUMBER("Drivers", "Drivers on the node."), AGE};
static const struct table_column volume_attributes_class_columns[] = {
    NAME, TEXT("DriverName", "The driver it is for."), AGE};
static const struct table_column role_binding_columns[] = {
    NAME,
    TEXT("Role", "What it grants."),
    AGE,
    WIDE("Users", "Users it is granted to."),
    WIDE("Groups", "Groups it is granted to."),
    WIDE("ServiceAccounts", "Service accounts it is granted to."),
};
static const struct table_column csr_columns[] = {
    NAME,
    AGE,
    TEXT("SignerName", "Who is to sign."),
    TEXT("Requestor", "Who asked."),
    TEXT("RequestedDuration", "How long the certificate should hold."),
    TEXT("Condition", "What has become of it."),
};
static const struct table_column cluster_trust_bundle_columns[] = {NAME, TEXT("SignerName", "Whose certificates it has.")};
static const struct table_column pod_certificate_request_columns[] = {
    NAME,
    TEXT("PodName", "The pod the certificate is for."),
    TEXT("ServiceAccountName", "That pod's service account."),
    TEXT("NodeName", "That pod's node."),
    TEXT("SignerName", "Who is to sign."),
    TEXT("State", "What has become of it."),
    TEXT("UnverifiedUserAnnotations", "What the pod says for the signer."),
};
static const struct table_column lease_columns[] = {NAME, TEXT("Holder", "Who holds it."), AGE};
static const struct table_column priority_class_columns[] = {
    NAME,
    NUMBER("Value", "The priority of its pods."),
    FLAG("Global-Default", "Whether pods without a class get it."),
    AGE,
    TEXT("PreemptionPolicy", "Whether its pods may push out others."),
};
static const struct table_column runtime_class_columns[] = {
    NAME, TEXT("Handler", "The runtime's handler for its pods."), AGE};
static const struct table_column webhooks_columns[] = {NAME, NUMBER("Webhooks", "How many webhooks it has."), AGE};
static const struct table_column validating_policy_columns[] = {
    NAME,
    NUMBER("Validations", "How many rules it has."),
    TEXT("ParamKind", "The kind of its parameters."),
    AGE,
};
static const struct table_column mutating_policy_columns[] = {
    NAME,
    NUMBER("Mutations", "How many changes it makes."),
    TEXT("ParamKind", "The kind of its parameters."),
    AGE,
};
static const struct table_column policy_binding_columns[] = {
    NAME,
    TEXT("PolicyName", "The policy that is bound."),
    TEXT("ParamRef", "The policy's parameters."),
    AGE,
};
static const struct table_column flow_schema_columns[] = {
    NAME,
    TEXT("PriorityLevel", "The priority level of its requests."),
    TEXT("MatchingPrecedence", "The lower, the sooner it is tried."),
    TEXT("DistinguisherMethod", "How its requests are told apart into flows."),
    AGE,
    TEXT("MissingPL", "Whether its priority level is missing."),
};
static const struct table_column priority_level_columns[] = {
    NAME,
    TEXT("Type", "Whether it is limited."),
    TEXT("NominalConcurrencyShares", "Its share of the server's concurrency."),
    TEXT("Queues", "How many queues it has."),
    TEXT("HandSize", "Queues that each flow is dealt."),
    TEXT("QueueLengthLimit", "Requests that each queue takes."),
    AGE,
};
static const struct table_column api_service_columns[] = {
    NAME,
    TEXT("Service", "Who serves it."),
    TEXT("Available", "Whether it can be reached."),
    AGE,
};
static const struct table_column storage_version_migration_columns[] = {
    TEXT("Name", "The name of the object."),
    TEXT("Resource", "What is stored anew."),
    TEXT("Status", "How far it has come."),
};
static const struct table_column resource_claim_columns[] = {
    NAME, TEXT("State", "Whether devices are allocated and reserved."), AGE};
static const struct table_column resource_slice_columns[] = {
    NAME,
    TEXT("Node", "The node with these devices."),
    TEXT("Driver", "The driver of these devices."),
    TEXT("Pool", "The pool these devices belong to."),
    AGE,
};

/* Of any version, unless one is named. */
static const struct table_kind {
    const char *group, *kind, *version;
    const struct table_column *columns;
    size_t count;
    void (*fill)(struct cells *cells, const void *object);
} table_kinds[] = {
#define TABLE_(group, kind, version, columns, row) {group, kind, version, columns, COUNT_OF(columns), row_##row}
    TABLE_("", "Pod", NULL, pod_columns, pod),
    TABLE_("", "PodTemplate", NULL, pod_template_columns, pod_template),
    TABLE_("", "Node", NULL, node_columns, node),
    TABLE_("", "Event", NULL, event_columns, event),
    TABLE_("events.k8s.io", "Event", NULL, event_columns, events_event),
    TABLE_("", "Namespace", NULL, namespace_columns, namespace),
    TABLE_("", "Secret", NULL, secret_columns, secret),
    TABLE_("", "ServiceAccount", NULL, name_and_age_columns, service_account),
    TABLE_("", "ConfigMap", NULL, config_map_columns, config_map),
    TABLE_("", "ComponentStatus", NULL, component_status_columns, component_status),
    TABLE_("", "ResourceQuota", NULL, resource_quota_columns, resource_quota),
    TABLE_("", "ReplicationController", NULL, replicas_columns, replication_controller),
    TABLE_("", "Service", NULL, service_columns, service),
    TABLE_("", "Endpoints", NULL, endpoints_columns, endpoints),
    TABLE_("", "PersistentVolume", NULL, pv_columns, pv),
    TABLE_("", "PersistentVolumeClaim", NULL, pvc_columns, pvc),
    TABLE_("apps", "ReplicaSet", NULL, replicas_columns, replica_set),
    TABLE_("apps", "Deployment", NULL, deployment_columns, deployment),
    TABLE_("apps", "DaemonSet", NULL, daemon_set_columns, daemon_set),
    TABLE_("apps", "StatefulSet", NULL, stateful_set_columns, stateful_set),
    TABLE_("apps", "ControllerRevision", NULL, controller_revision_columns, controller_revision),
    TABLE_("batch", "Job", NULL, job_columns, job),
    TABLE_("batch", "CronJob", NULL, cron_job_columns, cron_job),
    TABLE_("autoscaling", "HorizontalPodAutoscaler", "v2", hpa_columns, hpa),
    TABLE_("autoscaling", "HorizontalPodAutoscaler", "v1", hpa_columns, hpa_v1),
    TABLE_("autoscaling", "Scale", NULL, scale_columns, scale),
    TABLE_("policy", "PodDisruptionBudget", NULL, pdb_columns, pdb),
    TABLE_("discovery.k8s.io", "EndpointSlice", NULL, endpoint_slice_columns, endpoint_slice),
    TABLE_("networking.k8s.io", "Ingress", NULL, ingress_columns, ingress),
    TABLE_("networking.k8s.io", "IngressClass", NULL, ingress_class_columns, ingress_class),
    TABLE_("networking.k8s.io", "NetworkPolicy", NULL, network_policy_columns, network_policy),
    TABLE_("networking.k8s.io", "ServiceCIDR", NULL, service_cidr_columns, service_cidr),
    TABLE_("networking.k8s.io", "IPAddress", NULL, ip_address_columns, ip_address),
    TABLE_("storage.k8s.io", "StorageClass", NULL, storage_class_columns, storage_class),
    TABLE_("storage.k8s.io", "VolumeAttachment", NULL, volume_attachment_columns, volume_attachment),
    TABLE_("storage.k8s.io", "CSIDriver", NULL, csi_driver_columns, csi_driver),
    TABLE_("storage.k8s.io", "CSINode", NULL, csi_node_columns, csi_node),
    TABLE_("storage.k8s.io", "VolumeAttributesClass", NULL, volume_attributes_class_columns, volume_attributes_class),
    TABLE_("rbac.authorization.k8s.io", "RoleBinding", NULL, role_binding_columns, role_binding),
    TABLE_("rbac.authorization.k8s.io", "ClusterRoleBinding", NULL, role_binding_columns, cluster_role_binding),
    TABLE_("certificates.k8s.io", "CertificateSigningRequest", NULL, csr_columns, csr),
    TABLE_("certificates.k8s.io", "ClusterTrustBundle", NULL, cluster_trust_bundle_columns, cluster_trust_bundle),
    TABLE_("certificates.k8s.io", "PodCertificateRequest", NULL, pod_certificate_request_columns,
           pod_certificate_request),
    TABLE_("coordination.k8s.io", "Lease", NULL, lease_columns, lease),
    TABLE_("scheduling.k8s.io", "PriorityClass", NULL, priority_class_columns, priority_class),
    TABLE_("node.k8s.io", "RuntimeClass", NULL, runtime_class_columns, runtime_class),
    TABLE_("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", NULL, webhooks_columns,
           validating_webhooks),
    TABLE_("admissionregistration.k8s.io", "MutatingWebhookConfiguration", NULL, webhooks_columns, mutating_webhooks),
    TABLE_("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", NULL, validating_policy_columns,
           validating_policy),
    TABLE_("admissionregistration.k8s.io", "MutatingAdmissionPolicy", NULL, mutating_policy_columns, mutating_policy),
    TABLE_("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", NULL, policy_binding_columns,
           validating_binding),
    TABLE_("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", NULL, policy_binding_columns,
           mutating_binding),
    TABLE_("flowcontrol.apiserver.k8s.io", "FlowSchema", NULL, flow_schema_columns, flow_schema),
    TABLE_("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", NULL, priority_level_columns, priority_level),
    TABLE_("apiregistration.k8s.io", "APIService", NULL, api_service_columns, api_service),
    TABLE_("storagemigration.k8s.io", "StorageVersionMigration", NULL, storage_version_migration_columns,
           storage_version_migration),
    TABLE_("resource.k8s.io", "ResourceClaim", NULL, resource_claim_columns, resource_claim),
    TABLE_("resource.k8s.io", "ResourceSlice", NULL, resource_slice_columns, resource_slice),
    TABLE_("resource.k8s.io", "DeviceClass", NULL, name_and_age_columns, name_and_age),
    TABLE_("resource.k8s.io", "ResourceClaimTemplate", NULL, name_and_age_columns, name_and_age),
#undef TABLE_
};

static const struct table_kind *find(const struct kind *kind)
{
    for (size_t i = 0; i < COUNT_OF(table_kinds); i++) {
        const struct table_kind *table = &table_kinds[i];

        if (str_is(kind->kind, table->kind) && str_is(kind->group, table->group) &&
            (table->version == NULL || str_is(kind->version, table->version))) {
            return table;
        }
    }
    return NULL;
}

struct table_columns table_columns(const struct kind *kind)
{
    const struct table_kind *table = find(kind);

    return table != NULL ? (struct table_columns){table->columns, table->count}
                         : (struct table_columns){other_columns, COUNT_OF(other_columns)};
}

struct table_row table_row(struct arena *arena, const struct kind *kind, const void *object, struct timestamp now)
{
    const struct table_kind *table = find(kind);
    struct table_row row = {.cells = value_array(arena)};
    struct cells cells = {arena, now, &row};

    if (kind->custom != NULL) {
        custom_cells(arena, kind, object, now, row.cells);
    } else if (table != NULL) {
        table->fill(&cells, object);
    } else {
        struct timestamp created = ((const struct object *)object)->metadata.creation_timestamp;

        cell_name(&cells, object);
        cell_str(&cells, created.is_set ? timestamp_format(arena, created) : STR("<unknown>"));
    }
    return row;
}
