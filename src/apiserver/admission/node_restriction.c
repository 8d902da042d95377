/* Keeps a kubelet to its own node and to pods on it. Asked only when --enable-admission-plugins names it. */
#include "api/coordination_v1.h"
#include "api/core_v1.h"
#include "api/storage_v1.h"
#include "apiserver/admission/node_labels.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/admission/secret_references.h"
#include "apiserver/resource.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/object.h"

/* Who asks for what. */
struct restriction {
    const struct admission_request *admission;
    struct str node;
};

#define DENY(restriction, format, ...) admission_forbidden((restriction)->admission, format, __VA_ARGS__)

static struct status *deny_operation(const struct restriction *restriction)
{
    static const char *const names[] = {
        [ADMIT_CREATE] = "CREATE", [ADMIT_UPDATE] = "UPDATE", [ADMIT_DELETE] = "DELETE", [ADMIT_CONNECT] = "CONNECT"};

    return DENY(restriction, "unexpected operation \"%s\", node \"%.*s\" can only create and delete mirror pods",
                names[restriction->admission->operation], STR_ARG(restriction->node));
}

static struct status *check_owner(const struct restriction *restriction, const struct core_v1_pod *pod)
{
    if (pod->metadata.owner_references.len == 0) {
        return NULL;
    }
    if (pod->metadata.owner_references.len > 1) {
        return DENY(restriction, "node \"%.*s\" can only create pods with a single owner reference set to itself",
                    STR_ARG(restriction->node));
    }
    const struct meta_v1_owner_reference *owner = &pod->metadata.owner_references.items[0];

    if (!str_is(owner->api_version, "v1") || !str_is(owner->kind, "Node") || !str_eq(owner->name, restriction->node)) {
        return DENY(restriction, "node \"%.*s\" can only create pods with an owner reference set to itself",
                    STR_ARG(restriction->node));
    }
    return NULL;
}

static bool uses_config_maps(const struct core_v1_pod_spec *spec)
{
    LIST_EACH(volume, &spec->volumes) {
        const struct core_v1_volume_source *source = &volume->volume_source;

        if (source->config_map != NULL) {
            return true;
        }
        for (size_t i = 0; source->projected != NULL && i < source->projected->sources.len; i++) {
            if (source->projected->sources.items[i].config_map != NULL) {
                return true;
            }
        }
    }
    LIST_EACH(container, &spec->containers) {
        LIST_EACH(env, &container->env) {
            if (env->value_from != NULL && env->value_from->config_map_key_ref != NULL) {
                return true;
            }
        }
        LIST_EACH(from, &container->env_from) {
            if (from->config_map_ref != NULL) {
                return true;
            }
        }
    }
    return false;
}

/* A mirror pod would give its node a right to all that it refers to. */
static struct status *check_references(const struct restriction *restriction, const struct core_v1_pod_spec *spec)
{
    struct secret_references secrets;

    if (spec->service_account_name.n != 0) {
        return DENY(restriction, "node \"%.*s\" can not create pods that reference a service account",
                    STR_ARG(restriction->node));
    }
    secret_references(restriction->admission->request->arena, spec, &secrets);
    if (secrets.len != 0) {
        return DENY(restriction, "node \"%.*s\" can not create pods that reference secrets",
                    STR_ARG(restriction->node));
    }
    if (uses_config_maps(spec)) {
        return DENY(restriction, "node \"%.*s\" can not create pods that reference configmaps",
                    STR_ARG(restriction->node));
    }
    LIST_EACH(volume, &spec->volumes) {
        if (volume->volume_source.persistent_volume_claim != NULL) {
            return DENY(restriction, "node \"%.*s\" can not create pods that reference persistentvolumeclaims",
                        STR_ARG(restriction->node));
        }
    }
    return NULL;
}

static struct status *check_mirror(const struct restriction *restriction, const struct core_v1_pod *pod)
{
    if (!str_map_has(&pod->metadata.annotations, STR("kubernetes.io/config.mirror"))) {
        return DENY(
            restriction,
            "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"%.*s\" can only create mirror "
            "pods",
            STR_ARG(restriction->node));
    }
    if (!str_eq(pod->spec.node_name, restriction->node)) {
        return DENY(restriction, "node \"%.*s\" can only create pods with spec.nodeName set to itself",
                    STR_ARG(restriction->node));
    }
    TRY(check_owner(restriction, pod));
    return check_references(restriction, &pod->spec);
}

/* The pod as it is now is on the node. A pod that is not there is for others to tell. */
static struct status *check_own_pod(const struct restriction *restriction, const char *what)
{
    const struct admission_request *admission = restriction->admission;
    const void *object;
    struct status *status =
        admission_find(admission, "", "v1", "pods", admission->namespace, admission->name, &object);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return NULL;
    }
    TRY(status);
    return str_eq(((const struct core_v1_pod *)object)->spec.node_name, restriction->node)
               ? NULL
               : DENY(restriction, "node \"%.*s\" can only %s pods with spec.nodeName set to itself",
                      STR_ARG(restriction->node), what);
}

static struct status *check_pod_status(const struct restriction *restriction)
{
    const struct core_v1_pod *pod = restriction->admission->object, *old = restriction->admission->old_object;

    if (restriction->admission->operation != ADMIT_UPDATE || pod == NULL || old == NULL) {
        return deny_operation(restriction);
    }
    if (!str_eq(old->spec.node_name, restriction->node)) {
        return DENY(restriction,
                    "node \"%.*s\" can only update pod status for pods with spec.nodeName set to itself",
                    STR_ARG(restriction->node));
    }
    return str_map_equal(&pod->metadata.labels, &old->metadata.labels)
               ? NULL
               : DENY(restriction, "node \"%.*s\" cannot update labels through pod status",
                      STR_ARG(restriction->node));
}

static struct status *check_pod(const struct restriction *restriction)
{
    const struct admission_request *admission = restriction->admission;

    if (str_is(admission->subresource, "status")) {
        return check_pod_status(restriction);
    }
    if (str_is(admission->subresource, "eviction")) {
        return check_own_pod(restriction, "evict");
    }
    if (admission->subresource.n != 0) {
        return DENY(restriction, "unexpected pod subresource \"%.*s\", only 'status' and 'eviction' are allowed",
                    STR_ARG(admission->subresource));
    }
    if (admission->operation == ADMIT_CREATE) {
        return check_mirror(restriction, admission->object);
    }
    return admission->operation == ADMIT_DELETE ? check_own_pod(restriction, "delete") : deny_operation(restriction);
}

static struct status *check_node_change(const struct restriction *restriction, const struct core_v1_node *node,
                                        const struct core_v1_node *old)
{
    static const struct str_map none = {0};
    struct arena *arena = restriction->admission->request->arena;
    struct str labels = node_labels_forbidden(arena, old == NULL ? &none : &old->metadata.labels,
                                              &node->metadata.labels);

    if (labels.n != 0) {
        return old == NULL ? DENY(restriction, "is not allowed to set the following labels: %.*s", STR_ARG(labels))
                           : DENY(restriction, "is not allowed to modify labels: %.*s", STR_ARG(labels));
    }
    if (old == NULL) {
        return NULL;
    }
    const struct field *taints = type_field(&core_v1_node_spec_type, STR("taints"));

    if (!schema_field_equal(taints, &node->spec.taints, &old->spec.taints)) {
        return DENY(restriction, "node \"%.*s\" is not allowed to modify taints", STR_ARG(restriction->node));
    }
    const struct field *owners = type_field(&meta_v1_object_meta_type, STR("ownerReferences"));

    return schema_field_equal(owners, &node->metadata.owner_references, &old->metadata.owner_references)
               ? NULL
               : DENY(restriction, "node \"%.*s\" is not allowed to modify ownerReferences",
                      STR_ARG(restriction->node));
}

static struct status *check_node(const struct restriction *restriction)
{
    const struct admission_request *admission = restriction->admission;
    const struct core_v1_node *node = admission->object;
    struct str name = admission->name.n != 0 || node == NULL ? admission->name : node->metadata.name;

    if (!str_eq(name, restriction->node)) {
        return DENY(restriction, "node \"%.*s\" is not allowed to modify node \"%.*s\"", STR_ARG(restriction->node),
                    STR_ARG(name));
    }
    return node == NULL || admission->operation == ADMIT_DELETE
               ? NULL
               : check_node_change(restriction, node, admission->old_object);
}

static struct status *check_lease(const struct restriction *restriction)
{
    const struct admission_request *admission = restriction->admission;
    const struct object *lease = admission->object;
    struct str name = admission->name.n != 0 || lease == NULL ? admission->name : lease->metadata.name;

    if (!str_is(admission->namespace, "kube-node-lease")) {
        return DENY(restriction, "can only access leases in the \"%s\" system namespace", "kube-node-lease");
    }
    return str_eq(name, restriction->node)
               ? NULL
               : DENY(restriction, "can only access node lease with the same name as the %s", "requesting node");
}

static struct status *check_csi_node(const struct restriction *restriction)
{
    const struct admission_request *admission = restriction->admission;
    const struct object *node = admission->object;
    struct str name = admission->name.n != 0 || node == NULL ? admission->name : node->metadata.name;

    return str_eq(name, restriction->node)
               ? NULL
               : DENY(restriction, "can only access CSINode with the same name as the %s", "requesting node");
}

static struct status *check_claim(const struct restriction *restriction)
{
    const struct admission_request *admission = restriction->admission;

    return admission->operation == ADMIT_UPDATE && str_is(admission->subresource, "status")
               ? NULL
               : DENY(restriction, "may only update PVC %s", "status");
}

static struct status *validate(struct admission_request *admission)
{
    const struct kind *kind = admission->resource->kind;
    struct restriction restriction = {.admission = admission};

    if (!user_node_name(admission->request->user, &restriction.node)) {
        return NULL;
    }
    if (kind == &core_v1_pod_kind) {
        return check_pod(&restriction);
    }
    if (kind == &core_v1_node_kind) {
        return check_node(&restriction);
    }
    if (kind == &coordination_v1_lease_kind) {
        return check_lease(&restriction);
    }
    if (kind == &storage_v1_csi_node_kind) {
        return check_csi_node(&restriction);
    }
    return kind == &core_v1_persistent_volume_claim_kind ? check_claim(&restriction) : NULL;
}

/* Before other plugins fill anything in, as in stock. */
const struct admission_plugin node_restriction_plugin = {
    .name = "NodeRestriction",
    .operations = ADMIT_CREATE | ADMIT_UPDATE | ADMIT_DELETE,
    .is_optional = true,
    .mutate = validate,
};
