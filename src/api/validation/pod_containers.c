#include "api/validation/pod.h"

static void check_ports(struct status *to, const struct path *at, const struct core_v1_container *container)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    OWNED(seen_done) struct seen names = {0};

    LIST_EACH(port, &container->ports) {
        const struct path *one = ITEM(at, INDEX_OF(port, &container->ports));

        if (port->name.n != 0 && check_name(to, AT(one, "name"), port->name, name_is_port_name)) {
            if (seen_before(&names, port->name)) {
                check_duplicate(to, AT(one, "name"), port->name);
            }
        }
        if (port->container_port == 0) {
            check_required(to, AT(one, "containerPort"), "%s", "");
        } else if (!name_is_port_number(port->container_port, NULL)) {
            check_invalid_int(to, AT(one, "containerPort"), port->container_port,
                              "must be between 1 and 65535, inclusive");
        }
        if (port->host_port != 0 && !name_is_port_number(port->host_port, NULL)) {
            check_invalid_int(to, AT(one, "hostPort"), port->host_port, "must be between 1 and 65535, inclusive");
        }
        if (check_present(to, AT(one, "protocol"), port->protocol)) {
            check_one_of(to, AT(one, "protocol"), port->protocol, protocols);
        }
    }
}

/* No two containers may want the same port of the host. */
static void check_host_ports(struct status *to, const struct path *at, const struct core_v1_container *containers,
                             size_t len)
{
    OWNED(seen_done) struct seen taken = {0};

    for (size_t i = 0; i < len; i++) {
        const struct path *ports = AT(ITEM(at, i), "ports");

        LIST_EACH(port, &containers[i].ports) {
            if (port->host_port == 0) {
                continue;
            }
            struct str text = arena_printf(to->arena, "%.*s/%.*s/%d", STR_ARG(port->protocol), STR_ARG(port->host_ip),
                                           port->host_port);

            if (seen_before(&taken, text)) {
                check_duplicate(to, AT(ITEM(ports, INDEX_OF(port, &containers[i].ports)), "hostPort"), text);
            }
        }
    }
}

static void check_config_map_key(struct status *to, const struct path *at, struct str name, struct str key)
{
    check_present(to, AT(at, "name"), name);
    if (check_present(to, AT(at, "key"), key)) {
        check_name(to, AT(at, "key"), key, name_is_config_map_key);
    }
}

static void check_value_from(struct status *to, const struct path *at, const struct core_v1_env_var *var)
{
    static const char *const fields[] = {"metadata.name",  "metadata.namespace",      "metadata.uid",
                                         "spec.nodeName",  "spec.serviceAccountName", "status.hostIP",
                                         "status.hostIPs", "status.podIP",            "status.podIPs", NULL};
    const struct core_v1_env_var_source *from = var->value_from;
    int count = 0;

    if (from->field_ref != NULL && ++count) {
        check_field_ref(to, AT(at, "fieldRef"), from->field_ref, fields);
    }
    if (from->resource_field_ref != NULL && ++count) {
        check_resource_field_ref(to, AT(at, "resourceFieldRef"), from->resource_field_ref, false);
    }
    if (from->config_map_key_ref != NULL && ++count) {
        check_config_map_key(to, AT(at, "configMapKeyRef"), from->config_map_key_ref->local_object_reference.name,
                             from->config_map_key_ref->key);
    }
    if (from->secret_key_ref != NULL && ++count) {
        check_config_map_key(to, AT(at, "secretKeyRef"), from->secret_key_ref->local_object_reference.name,
                             from->secret_key_ref->key);
    }
    if (from->file_key_ref != NULL && ++count) {
        check_present(to, AT(AT(at, "fileKeyRef"), "key"), from->file_key_ref->key);
        check_present(to, AT(AT(at, "fileKeyRef"), "volumeName"), from->file_key_ref->volume_name);
        check_present(to, AT(AT(at, "fileKeyRef"), "path"), from->file_key_ref->path);
    }
    if (count == 0) {
        check_invalid_str(to, at, STR(""),
                          "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
                          "`fileKeyRef`");
    } else if (var->value.n != 0) {
        check_invalid_str(to, at, STR(""), "may not be specified when `value` is not empty");
    } else if (count > 1) {
        check_invalid_str(to, at, STR(""), "may not have more than one field specified at a time");
    }
}

static void check_env(struct status *to, const struct path *at, const struct core_v1_container *container)
{
    LIST_EACH(var, &container->env) {
        const struct path *one = ITEM(AT(at, "env"), INDEX_OF(var, &container->env));

        if (check_present(to, AT(one, "name"), var->name)) {
            check_name(to, AT(one, "name"), var->name, name_is_relaxed_env_var);
        }
        if (var->value_from != NULL) {
            check_value_from(to, AT(one, "valueFrom"), var);
        }
    }
    LIST_EACH(from, &container->env_from) {
        const struct path *one = ITEM(AT(at, "envFrom"), INDEX_OF(from, &container->env_from));

        if (from->prefix.n != 0) {
            check_name(to, AT(one, "prefix"), from->prefix, name_is_relaxed_env_var);
        }
        if (from->config_map_ref != NULL) {
            check_present(to, AT(AT(one, "configMapRef"), "name"), from->config_map_ref->local_object_reference.name);
        }
        if (from->secret_ref != NULL) {
            check_present(to, AT(AT(one, "secretRef"), "name"), from->secret_ref->local_object_reference.name);
        }
        if (from->config_map_ref == NULL && from->secret_ref == NULL) {
            check_invalid_str(to, AT(at, "envFrom"), STR(""), "must specify one of: `configMapRef` or `secretRef`");
        } else if (from->config_map_ref != NULL && from->secret_ref != NULL) {
            check_invalid_str(to, AT(at, "envFrom"), STR(""), "may not have more than one field specified at a time");
        }
    }
}

static void check_propagation(struct status *to, const struct path *at, struct str propagation,
                              const struct core_v1_container *container)
{
    static const char *const modes[] = {"Bidirectional", "HostToContainer", "None", NULL};
    const struct core_v1_security_context *context = container->security_context;

    if (check_one_of(to, at, propagation, modes) && str_is(propagation, "Bidirectional") &&
        (context == NULL || context->privileged == NULL || !*context->privileged)) {
        check_forbidden(to, at, "Bidirectional mount propagation is available only to privileged containers");
    }
}

/* What the mounts and the devices of one container are called, and where they are. */
struct placed {
    struct seen mounts, mount_paths, devices, device_paths;
};

static void placed_done(struct placed *placed)
{
    seen_done(&placed->mounts);
    seen_done(&placed->mount_paths);
    seen_done(&placed->devices);
    seen_done(&placed->device_paths);
}

static void check_mount(struct status *to, const struct path *at, const struct core_v1_volume_mount *mount,
                        const struct core_v1_container *container, const struct pod_names *names,
                        struct placed *placed)
{
    check_present(to, AT(at, "name"), mount->name);
    if (!seen_has(&names->volumes, mount->name)) {
        check_not_found(to, AT(at, "name"), mount->name, "%s", "");
    }
    check_present(to, AT(at, "mountPath"), mount->mount_path);
    if (seen_before(&placed->mount_paths, mount->mount_path)) {
        check_invalid_str(to, AT(at, "mountPath"), mount->mount_path, "must be unique");
    }
    seen_before(&placed->mounts, mount->name);
    if (seen_has(&placed->devices, mount->name)) {
        check_invalid_str(to, AT(at, "name"), mount->name, "must not already exist in volumeDevices");
    }
    if (seen_has(&placed->device_paths, mount->mount_path)) {
        check_invalid_str(to, AT(at, "mountPath"), mount->mount_path,
                          "must not already exist as a path in volumeDevices");
    }
    if (mount->sub_path.n != 0) {
        check_local_path(to, AT(at, "subPath"), mount->sub_path, false);
    }
    if (mount->sub_path_expr.n != 0) {
        if (mount->sub_path.n != 0) {
            check_invalid_str(to, AT(at, "subPathExpr"), mount->sub_path_expr,
                              "subPathExpr and subPath are mutually exclusive");
        }
        check_local_path(to, AT(at, "subPathExpr"), mount->sub_path_expr, false);
    }
    if (mount->mount_propagation != NULL) {
        check_propagation(to, AT(at, "mountPropagation"), *mount->mount_propagation, container);
    }
}

static void check_devices(struct status *to, const struct path *at, const struct core_v1_container *container,
                          const struct pod_names *names, const struct placed *placed)
{
    OWNED(seen_done) struct seen paths = {0};

    LIST_EACH(device, &container->volume_devices) {
        const struct path *one = ITEM(at, INDEX_OF(device, &container->volume_devices));

        check_present(to, AT(one, "name"), device->name);
        if (!seen_has(&names->volumes, device->name)) {
            check_not_found(to, AT(one, "name"), device->name, "%s", "");
        } else if (!seen_has(&names->block_volumes, device->name)) {
            check_invalid_str(to, AT(one, "name"), device->name,
                              "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
        }
        check_present(to, AT(one, "devicePath"), device->device_path);
        if (seen_before(&paths, device->device_path)) {
            check_invalid_str(to, AT(one, "devicePath"), device->device_path, "must be unique");
        }
        if (seen_has(&placed->mounts, device->name)) {
            check_invalid_str(to, AT(one, "name"), device->name, "must not already exist in volumeMounts");
        }
        if (seen_has(&placed->mount_paths, device->device_path)) {
            check_invalid_str(to, AT(one, "devicePath"), device->device_path,
                              "must not already exist as a path in volumeMounts");
        }
    }
}

static void check_storage(struct status *to, const struct path *at, const struct core_v1_container *container,
                          const struct pod_names *names)
{
    OWNED(placed_done) struct placed placed = {0};

    LIST_EACH(device, &container->volume_devices) {
        seen_before(&placed.devices, device->name);
        seen_before(&placed.device_paths, device->device_path);
    }
    LIST_EACH(mount, &container->volume_mounts) {
        check_mount(to, ITEM(AT(at, "volumeMounts"), INDEX_OF(mount, &container->volume_mounts)), mount, container,
                    names, &placed);
    }
    check_devices(to, AT(at, "volumeDevices"), container, names, &placed);
}

static void check_resize_policy(struct status *to, const struct path *at, const struct core_v1_container *container,
                                struct str restart_policy)
{
    static const char *const resources[] = {"cpu", "memory", NULL};
    static const char *const policies[] = {"NotRequired", "RestartContainer", NULL};

    LIST_EACH(policy, &container->resize_policy) {
        const struct path *one = ITEM(at, INDEX_OF(policy, &container->resize_policy));

        if (check_present(to, one, policy->resource_name)) {
            check_one_of(to, one, policy->resource_name, resources);
        }
        if (check_present(to, one, policy->restart_policy)) {
            check_one_of(to, one, policy->restart_policy, policies);
        }
        if (str_is(restart_policy, "Never") && str_is(policy->restart_policy, "RestartContainer")) {
            check_invalid_str(to, AT(one, "restartPolicy"), policy->restart_policy,
                              "must be 'NotRequired' when `restartPolicy` is 'Never'");
        }
    }
}

/* What holds for containers of all three kinds. */
static void check_container(struct status *to, const struct path *at, const struct core_v1_container *container,
                            const struct core_v1_pod_spec *spec, const struct pod_names *names)
{
    static const char *const pull_policies[] = {"Always", "IfNotPresent", "Never", NULL};
    static const char *const message_policies[] = {"File", "FallbackToLogsOnError", NULL};

    if (check_present(to, AT(at, "name"), container->name)) {
        check_name(to, AT(at, "name"), container->name, name_is_dns1123_label);
    }
    check_present(to, AT(at, "image"), container->image);
    if (check_present(to, AT(at, "terminationMessagePolicy"), container->termination_message_policy)) {
        check_one_of(to, AT(at, "terminationMessagePolicy"), container->termination_message_policy, message_policies);
    }
    check_ports(to, AT(at, "ports"), container);
    check_env(to, at, container);
    check_storage(to, at, container, names);
    if (check_present(to, AT(at, "imagePullPolicy"), container->image_pull_policy)) {
        check_one_of(to, AT(at, "imagePullPolicy"), container->image_pull_policy, pull_policies);
    }
    check_resources(to, AT(at, "resources"), &container->resources, names);
    check_resize_policy(to, AT(at, "resizePolicy"), container, spec->restart_policy);
    check_container_security(to, AT(at, "securityContext"), container->security_context,
                             spec->host_users == NULL || *spec->host_users);
}

static int64_t grace_of(const struct core_v1_pod_spec *spec)
{
    return spec->termination_grace_period_seconds == NULL ? 0 : *spec->termination_grace_period_seconds;
}

static void take_name(struct status *to, const struct path *at, struct str name, struct seen *names)
{
    if (seen_before(names, name)) {
        check_duplicate(to, AT(at, "name"), name);
    }
}

static void check_restart_policy(struct status *to, const struct path *at, const struct core_v1_container *container)
{
    static const char *const policies[] = {"Always", "OnFailure", "Never", NULL};

    if (container->restart_policy == NULL) {
        if (container->restart_policy_rules.len != 0) {
            check_required(to, AT(at, "restartPolicy"), "must specify restartPolicy when restart rules are used");
        }
        return;
    }
    check_one_of(to, AT(at, "restartPolicy"), *container->restart_policy, policies);
}

static void check_main_containers(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                                  const struct pod_names *names, struct seen *taken)
{
    if (spec->containers.len == 0) {
        check_required(to, at, "%s", "");
        return;
    }
    LIST_EACH(container, &spec->containers) {
        const struct path *one = ITEM(at, INDEX_OF(container, &spec->containers));

        check_container(to, one, container, spec, names);
        take_name(to, one, container->name, taken);
        check_lifecycle(to, AT(one, "lifecycle"), container->lifecycle, grace_of(spec));
        check_probes(to, one, container);
        check_restart_policy(to, one, container);
    }
    check_host_ports(to, at, spec->containers.items, spec->containers.len);
}

/* Init containers run to their end, except sidecars, which restart always. */
static void check_init_containers(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                                  const struct pod_names *names, struct seen *taken)
{
    static const char *const message = "may not be set for init containers without restartPolicy=Always";

    LIST_EACH(container, &spec->init_containers) {
        const struct path *one = ITEM(at, INDEX_OF(container, &spec->init_containers));
        bool is_sidecar = container->restart_policy != NULL && str_is(*container->restart_policy, "Always");

        check_container(to, one, container, spec, names);
        check_restart_policy(to, one, container);
        take_name(to, one, container->name, taken);
        check_host_ports(to, at, container, 1);
        if (is_sidecar) {
            check_lifecycle(to, AT(one, "lifecycle"), container->lifecycle, grace_of(spec));
            check_probes(to, one, container);
            continue;
        }
        if (container->lifecycle != NULL) {
            check_forbidden(to, AT(one, "lifecycle"), "%s", message);
        }
        if (container->liveness_probe != NULL) {
            check_forbidden(to, AT(one, "livenessProbe"), "%s", message);
        }
        if (container->readiness_probe != NULL) {
            check_forbidden(to, AT(one, "readinessProbe"), "%s", message);
        }
        if (container->startup_probe != NULL) {
            check_forbidden(to, AT(one, "startupProbe"), "%s", message);
        }
    }
}

/* They only come with an update; what keeps a container running is not for them. */
static void check_ephemeral_containers(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                                       const struct pod_names *names, struct seen *taken)
{
    static const char *const message = "cannot be set for an Ephemeral Container";

    LIST_EACH(ephemeral, &spec->ephemeral_containers) {
        const struct path *one = ITEM(at, INDEX_OF(ephemeral, &spec->ephemeral_containers));
        /* The same members in the same order, by the descriptions. */
        const struct core_v1_container *container = (const void *)&ephemeral->ephemeral_container_common;

        check_container(to, one, container, spec, names);
        take_name(to, one, container->name, taken);
        if (ephemeral->target_container_name.n != 0 && !pod_has_container(spec, ephemeral->target_container_name)) {
            check_not_found(to, AT(one, "targetContainerName"), ephemeral->target_container_name, "%s", "");
        }
        const struct {
            const char *field;
            bool is_set;
        } refused[] = {
            {"ports", container->ports.items != NULL},
            {"livenessProbe", container->liveness_probe != NULL},
            {"readinessProbe", container->readiness_probe != NULL},
            {"startupProbe", container->startup_probe != NULL},
            {"lifecycle", container->lifecycle != NULL},
            {"resources", container->resources.limits.len + container->resources.requests.len != 0},
        };

        for (size_t i = 0; i < COUNT_OF(refused); i++) {
            if (refused[i].is_set) {
                check_forbidden(to, AT(one, refused[i].field), "%s", message);
            }
        }
    }
}

_Static_assert(sizeof(struct core_v1_container) == sizeof(struct core_v1_ephemeral_container_common),
               "ephemeral containers are checked as containers");

void check_containers(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                      const struct pod_names *names)
{
    OWNED(seen_done) struct seen taken = {0};

    check_main_containers(to, AT(at, "containers"), spec, names, &taken);
    check_init_containers(to, AT(at, "initContainers"), spec, names, &taken);
    check_ephemeral_containers(to, AT(at, "ephemeralContainers"), spec, names, &taken);
}
