#include "kubelet/pod_view.h"

#include "api/pod_qos.h"

#include "base/env.h"
#include "kubelet/amounts.h"
#include "schema/map_of.h"

#include <string.h>

/* Copies a field that both structs have, also lists whose types are nameless. */
#define TAKE_FIELD(to, from, field)                                                    \
    do {                                                                               \
        _Static_assert(sizeof((to)->field) == sizeof((from)->field), "the same type"); \
        memcpy(&(to)->field, &(from)->field, sizeof((to)->field));                     \
    } while (0)

static const struct core_v1_container *of_ephemeral(struct arena *arena,
                                                    const struct core_v1_ephemeral_container *ephemeral)
{
    const struct core_v1_ephemeral_container_common *from = &ephemeral->ephemeral_container_common;
    struct core_v1_container *to = ARENA_NEW(arena, struct core_v1_container);

    TAKE_FIELD(to, from, name);
    TAKE_FIELD(to, from, image);
    TAKE_FIELD(to, from, command);
    TAKE_FIELD(to, from, args);
    TAKE_FIELD(to, from, working_dir);
    TAKE_FIELD(to, from, ports);
    TAKE_FIELD(to, from, env_from);
    TAKE_FIELD(to, from, env);
    TAKE_FIELD(to, from, resources);
    TAKE_FIELD(to, from, volume_mounts);
    TAKE_FIELD(to, from, volume_devices);
    TAKE_FIELD(to, from, termination_message_path);
    TAKE_FIELD(to, from, termination_message_policy);
    TAKE_FIELD(to, from, image_pull_policy);
    TAKE_FIELD(to, from, security_context);
    TAKE_FIELD(to, from, stdin);
    TAKE_FIELD(to, from, stdin_once);
    TAKE_FIELD(to, from, tty);
    return to;
}

struct pod_containers pod_all_containers(struct arena *arena, const struct core_v1_pod *pod)
{
    struct pod_containers all = {0};
    const struct core_v1_pod_spec *spec = &pod->spec;

    for (size_t i = 0; i < spec->init_containers.len; i++) {
        *LIST_ADD(arena, &all) = (struct pod_container){PLAN_INIT, i, &spec->init_containers.items[i]};
    }
    for (size_t i = 0; i < spec->containers.len; i++) {
        *LIST_ADD(arena, &all) = (struct pod_container){PLAN_REGULAR, i, &spec->containers.items[i]};
    }
    for (size_t i = 0; i < spec->ephemeral_containers.len; i++) {
        *LIST_ADD(arena, &all) =
            (struct pod_container){PLAN_EPHEMERAL, i, of_ephemeral(arena, &spec->ephemeral_containers.items[i])};
    }
    return all;
}

const struct core_v1_container *pod_container_at(struct arena *arena, const struct core_v1_pod *pod,
                                                 enum plan_kind kind, size_t index)
{
    return kind == PLAN_INIT      ? &pod->spec.init_containers.items[index]
           : kind == PLAN_REGULAR ? &pod->spec.containers.items[index]
                                  : of_ephemeral(arena, &pod->spec.ephemeral_containers.items[index]);
}

const struct core_v1_container *pod_find_container(struct arena *arena, const struct core_v1_pod *pod,
                                                   struct str name, enum plan_kind *ret_kind)
{
    struct pod_containers all = pod_all_containers(arena, pod);

    LIST_EACH (container, &all) {
        if (str_eq(container->spec->name, name)) {
            if (ret_kind != NULL) {
                *ret_kind = container->kind;
            }
            return container->spec;
        }
    }
    return NULL;
}

bool container_is_sidecar(const struct core_v1_container *container)
{
    return container->restart_policy != NULL && str_is(*container->restart_policy, "Always");
}

uint64_t container_hash(const struct core_v1_container *container)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text = arena_printf(arena, "{\"image\":\"%.*s\",\"name\":\"%.*s\"}", STR_ARG(container->image),
                                   STR_ARG(container->name));
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < text.n; i++) {
        hash = (hash ^ (unsigned char)text.p[i]) * 16777619u;
    }
    return hash;
}

static enum restart_policy restart_of(struct str policy)
{
    return str_is(policy, "Never") ? RESTART_NEVER : str_is(policy, "OnFailure") ? RESTART_ON_FAILURE : RESTART_ALWAYS;
}

static struct plan_container plan_container_of(struct arena *arena, const struct core_v1_pod *pod,
                                               const struct core_v1_container *container, enum plan_kind kind)
{
    struct plan_container plan = {
        .name = container->name,
        .hash = container_hash(container),
        .restart = restart_of(container->restart_policy != NULL ? *container->restart_policy
                                                                : pod->spec.restart_policy),
        .has_own_restart = container->restart_policy != NULL,
        .is_sidecar = kind == PLAN_INIT && container_is_sidecar(container),
        .has_startup_probe = container->startup_probe != NULL,
        .has_liveness_probe = container->liveness_probe != NULL,
    };

    LIST_EACH (rule, &container->restart_policy_rules) {
        if (rule->exit_codes != NULL && container->restart_policy != NULL) {
            *LIST_ADD(arena, &plan.rules) = (struct plan_rule){
                .is_not_in = str_is(rule->exit_codes->operator, "NotIn"),
                .values = rule->exit_codes->values.items,
                .value_count = rule->exit_codes->values.len,
            };
        }
    }
    return plan;
}

struct plan_pod plan_pod_of(struct arena *arena, const struct core_v1_pod *pod)
{
    struct plan_pod plan = {
        .restart = restart_of(pod->spec.restart_policy),
        .is_host_network = pod->spec.host_network,
        .is_deleted = pod->metadata.deletion_timestamp != NULL,
    };
    struct pod_containers all = pod_all_containers(arena, pod);

    LIST_EACH (container, &all) {
        struct plan_containers *list = container->kind == PLAN_INIT      ? &plan.init
                                       : container->kind == PLAN_REGULAR ? &plan.regular
                                                                         : &plan.ephemeral;

        *LIST_ADD(arena, list) = plan_container_of(arena, pod, container->spec, container->kind);
    }
    return plan;
}

struct str pod_format(struct arena *arena, const struct core_v1_pod *pod)
{
    return arena_printf(arena, "%.*s_%.*s(%.*s)", STR_ARG(pod->metadata.name), STR_ARG(pod->metadata.namespace),
                        STR_ARG(pod->metadata.uid));
}

struct str container_field_path(struct arena *arena, enum plan_kind kind, struct str name)
{
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};

    return arena_printf(arena, "spec.%s{%.*s}", lists[kind], STR_ARG(name));
}

struct str annotation(const struct core_v1_pod *pod, struct str key)
{
    return str_map_get(&pod->metadata.annotations, key);
}

bool pod_is_static(const struct core_v1_pod *pod)
{
    struct str source = annotation(pod, STR("kubernetes.io/config.source"));

    /* What the API has may say what it likes of its source. */
    return source.n > 0 && pod->metadata.resource_version.n == 0 && !pod_is_mirror(pod);
}

bool pod_is_mirror(const struct core_v1_pod *pod)
{
    return str_map_has(&pod->metadata.annotations, STR("kubernetes.io/config.mirror"));
}

bool pod_is_critical(const struct core_v1_pod *pod)
{
    return pod_is_static(pod) || pod_is_mirror(pod) ||
           (pod->spec.priority != NULL && *pod->spec.priority >= 2000000000);
}

bool pod_is_terminal(const struct core_v1_pod_status *status)
{
    return str_is(status->phase, "Failed") || str_is(status->phase, "Succeeded");
}

enum qos_class pod_qos(const struct core_v1_pod *pod)
{
    struct str name = pod_qos_class(&pod->spec);

    return str_is(name, "Guaranteed") ? QOS_GUARANTEED : str_is(name, "Burstable") ? QOS_BURSTABLE : QOS_BEST_EFFORT;
}

int64_t pod_grace_seconds(const struct core_v1_pod *pod)
{
    return pod->spec.termination_grace_period_seconds != NULL ? *pod->spec.termination_grace_period_seconds : 30;
}
