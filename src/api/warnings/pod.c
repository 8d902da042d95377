#include "api/warnings/parts.h"

#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

static const struct {
    const char *label, *why;
} old_labels[] = {
    {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
    {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
    {"failure-domain.beta.kubernetes.io/region",
     "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
    {"failure-domain.beta.kubernetes.io/zone", "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
    {"beta.kubernetes.io/instance-type", "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
};

static const char *why_old(struct str label)
{
    for (size_t i = 0; i < COUNT_OF(old_labels); i++) {
        if (str_is(label, old_labels[i].label)) {
            return old_labels[i].why;
        }
    }
    return NULL;
}

static void warn_of_placement(const struct warnings *warnings, const char *path, const struct core_v1_pod_spec *spec)
{
    LIST_EACH(entry, &spec->node_selector) {
        if (why_old(entry->key) != NULL) {
            warn(warnings, "%sspec.nodeSelector[%.*s]: %s", path, STR_ARG(entry->key), why_old(entry->key));
        }
    }
    for (size_t i = 0; i < spec->topology_spread_constraints.len; i++) {
        const struct core_v1_topology_spread_constraint *spread = &spec->topology_spread_constraints.items[i];

        if (why_old(spread->topology_key) != NULL) {
            warn(warnings, "%sspec.topologySpreadConstraints[%zu].topologyKey: %.*s is %s", path, i,
                 STR_ARG(spread->topology_key), why_old(spread->topology_key));
        }
        if (spread->label_selector == NULL) {
            warn(warnings,
                 "%sspec.topologySpreadConstraints[%zu].labelSelector: a null labelSelector results in matching "
                 "no pod",
                 path, i);
        }
    }
}

static void warn_of_annotations(const struct warnings *warnings, const char *path,
                                const struct meta_v1_object_meta *meta)
{
    LIST_EACH(entry, &meta->annotations) {
        const char *why = NULL;

        if (str_is(entry->key, "scheduler.alpha.kubernetes.io/critical-pod")) {
            why = "non-functional in v1.16+; use the \"priorityClassName\" field instead";
        } else if (str_has_prefix(entry->key, STR("seccomp.security.alpha.kubernetes.io/pod")) ||
                   str_has_prefix(entry->key, STR("container.seccomp.security.alpha.kubernetes.io/"))) {
            why = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        } else if (str_has_prefix(entry->key, STR("container.apparmor.security.beta.kubernetes.io/"))) {
            why = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
        }
        if (why != NULL) {
            warn(warnings, "%smetadata.annotations[%.*s]: %s", path, STR_ARG(entry->key), why);
        }
    }
}

static void warn_of_volumes(const struct warnings *warnings, const char *path, const struct core_v1_pod_spec *spec)
{
    for (size_t i = 0; i < spec->volumes.len; i++) {
        const struct core_v1_volume *volume = &spec->volumes.items[i];
        const struct core_v1_volume_source *source = &volume->volume_source;
        const struct {
            const void *is_set;
            const char *name, *why;
        } old[] = {
            {source->git_repo, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
            {source->scale_io, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
            {source->flocker, "flocker", "deprecated in v1.22, non-functional in v1.25+"},
            {source->storageos, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
            {source->quobyte, "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
            {source->glusterfs, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
            {source->cephfs, "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
            {source->rbd, "rbd", "deprecated in v1.28, non-functional in v1.31+"},
        };

        for (size_t k = 0; k < COUNT_OF(old); k++) {
            if (old[k].is_set != NULL) {
                warn(warnings, "%sspec.volumes[%zu].%s: %s", path, i, old[k].name, old[k].why);
            }
        }
        for (size_t k = 0; source->projected != NULL && k < source->projected->sources.len; k++) {
            if (schema_is_zero(&core_v1_volume_projection_type, &source->projected->sources.items[k])) {
                warn(warnings, "volume \"%.*s\" (Projected) has no sources provided", STR_ARG(volume->name));
            }
        }
    }
}

static void warn_of_lists(const struct warnings *warnings, const char *path, const struct core_v1_pod_spec *spec)
{
    for (size_t i = 0; i < spec->image_pull_secrets.len; i++) {
        struct str name = spec->image_pull_secrets.items[i].name;

        if (name.n == 0) {
            warn(warnings, "%sspec.imagePullSecrets[%zu].name: invalid empty name \"\"", path, i);
        }
        for (size_t k = 0; k < i && name.n != 0; k++) {
            if (str_eq(spec->image_pull_secrets.items[k].name, name)) {
                warn(warnings, "%sspec.imagePullSecrets[%zu].name: duplicate name \"%.*s\"", path, i, STR_ARG(name));
                break;
            }
        }
    }
    for (size_t i = 0; i < spec->host_aliases.len; i++) {
        struct str ip = spec->host_aliases.items[i].ip;

        for (size_t k = 0; k < i; k++) {
            if (str_eq(spec->host_aliases.items[k].ip, ip)) {
                warn(warnings, "%sspec.hostAliases[%zu].ip: duplicate ip \"%.*s\"", path, i, STR_ARG(ip));
                break;
            }
        }
    }
}

static bool is_fractional(struct quantity quantity)
{
    int64_t milli = quantity_milli(quantity);

    return milli != INT64_MAX && milli != INT64_MIN && milli % 1000 != 0;
}

static void warn_of_amounts(const struct warnings *warnings, const char *path, const struct quantity_map *amounts)
{
    LIST_EACH(entry, amounts) {
        bool is_bytes = str_is(entry->key, "memory") || str_is(entry->key, "ephemeral-storage");

        if (is_bytes && is_fractional(entry->value)) {
            warn(warnings, "%s[%.*s]: fractional byte value \"%.*s\" is invalid, must be an integer", path,
                 STR_ARG(entry->key), STR_ARG(entry->value.text));
        }
    }
}

static bool same_port(const struct core_v1_container_port *a, const struct core_v1_container_port *b)
{
    return a->container_port == b->container_port && str_eq(a->protocol, b->protocol) &&
           a->host_port == b->host_port && str_eq(a->host_ip, b->host_ip);
}

static void warn_of_ports(const struct warnings *warnings, const char *path, const struct core_v1_container *container)
{
    for (size_t i = 0; i < container->ports.len; i++) {
        const struct core_v1_container_port *port = &container->ports.items[i];

        if (port->host_ip.n != 0 && port->host_port == 0) {
            warn(warnings,
                 "%s.ports[%zu]: hostIP set without hostPort: {Name:%.*s HostPort:0 ContainerPort:%d Protocol:%.*s "
                 "HostIP:%.*s}",
                 path, i, STR_ARG(port->name), (int)port->container_port, STR_ARG(port->protocol),
                 STR_ARG(port->host_ip));
        }
        for (size_t k = 0; k < i; k++) {
            if (same_port(&container->ports.items[k], port)) {
                warn(warnings, "%s.ports[%zu]: duplicate port definition with %s.ports[%zu]", path, i, path, k);
                break;
            }
        }
    }
}

/* A later variable that builds on the earlier one hides nothing. */
static bool refers_to(struct arena *arena, struct str value, struct str name)
{
    return str_contains(value, arena_printf(arena, "$(%.*s)", STR_ARG(name)));
}

static void warn_of_container(const struct warnings *warnings, const char *path,
                              const struct core_v1_container *container)
{
    for (size_t i = 0; i < container->env.len; i++) {
        const struct core_v1_env_var *env = &container->env.items[i];

        for (size_t k = 0; k < i; k++) {
            if (str_eq(container->env.items[k].name, env->name) && !refers_to(warnings->arena, env->value, env->name)) {
                warn(warnings,
                     "%s.env[%zu]: hides previous definition of \"%.*s\", which may be dropped when using apply", path,
                     i, STR_ARG(env->name));
                break;
            }
        }
    }
    warn_of_amounts(warnings, arena_printf(warnings->arena, "%s.resources.limits", path).p,
                    &container->resources.limits);
    warn_of_amounts(warnings, arena_printf(warnings->arena, "%s.resources.requests", path).p,
                    &container->resources.requests);
    warn_of_ports(warnings, path, container);
}

void warn_of_pod_template(const struct warnings *warnings, const char *path, const struct meta_v1_object_meta *meta,
                          const struct core_v1_pod_spec *spec)
{
    struct arena *arena = warnings->arena;

    warn_of_placement(warnings, path, spec);
    warn_of_annotations(warnings, path, meta);
    warn_of_volumes(warnings, path, spec);
    warn_of_lists(warnings, path, spec);
    for (size_t i = 0; i < spec->init_containers.len; i++) {
        warn_of_container(warnings, arena_printf(arena, "%sspec.initContainers[%zu]", path, i).p,
                          &spec->init_containers.items[i]);
    }
    for (size_t i = 0; i < spec->containers.len; i++) {
        warn_of_container(warnings, arena_printf(arena, "%sspec.containers[%zu]", path, i).p,
                          &spec->containers.items[i]);
    }
    warn_of_amounts(warnings, arena_printf(arena, "%sspec.overhead", path).p, &spec->overhead);
}
