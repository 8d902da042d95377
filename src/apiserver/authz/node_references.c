#include "apiserver/authz/node.h"

#include "api/core_v1.h"

static bool env_refers(const struct core_v1_env_var *env, enum node_reference what, struct str name)
{
    const struct core_v1_env_var_source *from = env->value_from;

    if (from == NULL) {
        return false;
    }
    return (what == NODE_SECRET && from->secret_key_ref != NULL && str_eq(from->secret_key_ref->local_object_reference.name, name)) ||
           (what == NODE_CONFIG_MAP && from->config_map_key_ref != NULL && str_eq(from->config_map_key_ref->local_object_reference.name, name));
}

static bool env_from_refers(const struct core_v1_env_from_source *from, enum node_reference what, struct str name)
{
    return (what == NODE_SECRET && from->secret_ref != NULL && str_eq(from->secret_ref->local_object_reference.name, name)) ||
           (what == NODE_CONFIG_MAP && from->config_map_ref != NULL && str_eq(from->config_map_ref->local_object_reference.name, name));
}

static bool container_refers(const struct core_v1_container *container, enum node_reference what, struct str name)
{
    LIST_EACH(env, &container->env) {
        if (env_refers(env, what, name)) {
            return true;
        }
    }
    LIST_EACH(from, &container->env_from) {
        if (env_from_refers(from, what, name)) {
            return true;
        }
    }
    return false;
}

static bool debug_container_refers(const struct core_v1_ephemeral_container *container, enum node_reference what,
                                   struct str name)
{
    LIST_EACH(env, &container->ephemeral_container_common.env) {
        if (env_refers(env, what, name)) {
            return true;
        }
    }
    LIST_EACH(from, &container->ephemeral_container_common.env_from) {
        if (env_from_refers(from, what, name)) {
            return true;
        }
    }
    return false;
}

static bool projected_refers(const struct core_v1_projected_volume_source *projected, enum node_reference what,
                             struct str name)
{
    LIST_EACH(source, &projected->sources) {
        if ((what == NODE_SECRET && source->secret != NULL && str_eq(source->secret->local_object_reference.name, name)) ||
            (what == NODE_CONFIG_MAP && source->config_map != NULL && str_eq(source->config_map->local_object_reference.name, name))) {
            return true;
        }
    }
    return false;
}

static bool is_local(const struct core_v1_local_object_reference *reference, struct str name)
{
    return reference != NULL && str_eq(reference->name, name);
}

/* Secrets of the volume plugins that carry them in the pod. */
static bool plugin_refers(const struct core_v1_volume_source *volume, struct str name)
{
    return (volume->cephfs != NULL && is_local(volume->cephfs->secret_ref, name)) ||
           (volume->flex_volume != NULL && is_local(volume->flex_volume->secret_ref, name)) ||
           (volume->rbd != NULL && is_local(volume->rbd->secret_ref, name)) ||
           (volume->scale_io != NULL && is_local(volume->scale_io->secret_ref, name)) ||
           (volume->iscsi != NULL && is_local(volume->iscsi->secret_ref, name)) ||
           (volume->storageos != NULL && is_local(volume->storageos->secret_ref, name)) ||
           (volume->csi != NULL && is_local(volume->csi->node_publish_secret_ref, name)) ||
           (volume->azure_file != NULL && str_eq(volume->azure_file->secret_name, name));
}

static bool volume_refers(const struct core_v1_pod *pod, const struct core_v1_volume *volume, enum node_reference what,
                          struct str name)
{
    switch (what) {
    case NODE_SECRET:
        return (volume->volume_source.secret != NULL && str_eq(volume->volume_source.secret->secret_name, name)) || plugin_refers(&volume->volume_source, name) ||
               (volume->volume_source.projected != NULL && projected_refers(volume->volume_source.projected, what, name));
    case NODE_CONFIG_MAP:
        return (volume->volume_source.config_map != NULL && str_eq(volume->volume_source.config_map->local_object_reference.name, name)) ||
               (volume->volume_source.projected != NULL && projected_refers(volume->volume_source.projected, what, name));
    case NODE_CLAIM:
        if (volume->volume_source.ephemeral != NULL) {
            /* the claim made for it is called POD-VOLUME */
            struct str pod_name = pod->metadata.name;

            return name.n == pod_name.n + 1 + volume->name.n && str_has_prefix(name, pod_name) &&
                   name.p[pod_name.n] == '-' && str_has_suffix(name, volume->name);
        }
        return volume->volume_source.persistent_volume_claim != NULL && str_eq(volume->volume_source.persistent_volume_claim->claim_name, name);
    case NODE_SERVICE_ACCOUNT:
    case NODE_RESOURCE_CLAIM:
        break;
    }
    return false;
}

static bool claim_status_refers(const struct core_v1_pod *pod, struct str name)
{
    LIST_EACH(claim, &pod->spec.resource_claims) {
        if (claim->resource_claim_name != NULL && str_eq(*claim->resource_claim_name, name)) {
            return true;
        }
    }
    LIST_EACH(claim, &pod->status.resource_claim_statuses) {
        if (claim->resource_claim_name != NULL && str_eq(*claim->resource_claim_name, name)) {
            return true;
        }
    }
    return false;
}

bool node_pod_refers(const struct core_v1_pod *pod, enum node_reference what, struct str name)
{
    const struct core_v1_pod_spec *spec = &pod->spec;

    if (what == NODE_SERVICE_ACCOUNT) {
        return str_eq(spec->service_account_name, name);
    }
    if (what == NODE_RESOURCE_CLAIM) {
        return claim_status_refers(pod, name);
    }
    LIST_EACH(secret, &spec->image_pull_secrets) {
        if (what == NODE_SECRET && str_eq(secret->name, name)) {
            return true;
        }
    }
    LIST_EACH(container, &spec->init_containers) {
        if (container_refers(container, what, name)) {
            return true;
        }
    }
    LIST_EACH(container, &spec->containers) {
        if (container_refers(container, what, name)) {
            return true;
        }
    }
    LIST_EACH(container, &spec->ephemeral_containers) {
        if (debug_container_refers(container, what, name)) {
            return true;
        }
    }
    LIST_EACH(volume, &spec->volumes) {
        if (volume_refers(pod, volume, what, name)) {
            return true;
        }
    }
    return false;
}
