#include "kubelet/container_config.h"

#include "base/env.h"
#include "kubelet/amounts.h"
#include "kubelet/expansion.h"
#include "kubelet/runtime_fetch.h"
#include "kubelet/security_config.h"
#include "schema/map_of.h"

#include <stdlib.h>

struct str container_log_name(struct arena *arena, struct str container, int32_t restart_count)
{
    return arena_printf(arena, "%.*s/%d.log", STR_ARG(container), restart_count);
}

static void add_pod_labels(struct arena *arena, const struct core_v1_pod *pod, struct str_map *labels)
{
    str_map_set(arena, labels, LABEL_POD_NAME, pod->metadata.name);
    str_map_set(arena, labels, LABEL_POD_NAMESPACE, pod->metadata.namespace);
    str_map_set(arena, labels, LABEL_POD_UID, pod->metadata.uid);
}

static int32_t protocol_of(struct str protocol)
{
    return str_is(protocol, "UDP")    ? CRI_V1_PROTOCOL_UDP
           : str_is(protocol, "SCTP") ? CRI_V1_PROTOCOL_SCTP
                                      : CRI_V1_PROTOCOL_TCP;
}

static void add_ports(struct arena *arena, const struct core_v1_container *container,
                      struct cri_v1_pod_sandbox_config *config)
{
    LIST_EACH (port, &container->ports) {
        *LIST_ADD(arena, &config->port_mappings) = (struct cri_v1_port_mapping){
            .protocol = protocol_of(port->protocol),
            .container_port = port->container_port,
            .host_port = port->host_port,
            .host_ip = port->host_ip,
        };
    }
}

struct status *sandbox_config_make(struct arena *arena, const struct sandbox_facts *facts,
                                   struct cri_v1_pod_sandbox_config **ret)
{
    const struct core_v1_pod *pod = facts->pod;
    struct cri_v1_pod_sandbox_config *config = ARENA_NEW(arena, struct cri_v1_pod_sandbox_config);

    config->metadata = ARENA_NEW(arena, struct cri_v1_pod_sandbox_metadata);
    *config->metadata = (struct cri_v1_pod_sandbox_metadata){
        .name = pod->metadata.name,
        .uid = pod->metadata.uid,
        .namespace = pod->metadata.namespace,
        .attempt = facts->attempt,
    };
    config->hostname = facts->hostname;
    config->log_directory = facts->log_directory;
    config->dns_config = ARENA_NEW(arena, struct cri_v1_dns_config);
    *config->dns_config = (struct cri_v1_dns_config){
        .servers = facts->dns_servers, .searches = facts->dns_searches, .options = facts->dns_options};
    config->labels = str_map_copy(arena, &pod->metadata.labels);
    add_pod_labels(arena, pod, &config->labels);
    config->annotations = pod->metadata.annotations;
    if (!pod->spec.host_network) {
        LIST_EACH (container, &pod->spec.init_containers) {
            if (container_is_sidecar(container)) {
                add_ports(arena, container, config);
            }
        }
        LIST_EACH (container, &pod->spec.containers) {
            add_ports(arena, container, config);
        }
    }
    TRY(sandbox_security_make(arena, facts, config));
    *ret = config;
    return NULL;
}

static int64_t request_or_limit(const struct core_v1_container *container)
{
    int64_t request = amount_milli(&container->resources.requests, STR("cpu"));

    return amount_has(&container->resources.requests, STR("cpu")) || request > 0
               ? request
               : amount_milli(&container->resources.limits, STR("cpu"));
}

struct cri_v1_linux_container_resources *container_resources(struct arena *arena, const struct container_facts *facts)
{
    const struct core_v1_container *container = facts->container;
    struct cri_v1_linux_container_resources *resources = ARENA_NEW(arena, struct cri_v1_linux_container_resources);
    int64_t limit = amount_milli(&container->resources.limits, STR("cpu"));

    resources->cpu_shares = qos_cpu_shares(request_or_limit(container));
    if (facts->cpu_cfs_quota) {
        resources->cpu_period = facts->cpu_cfs_quota_period / ENV_US;
        resources->cpu_quota = qos_cpu_quota(limit, resources->cpu_period);
    }
    resources->memory_limit_in_bytes = amount_value(&container->resources.limits, STR("memory"));
    resources->oom_score_adj = qos_oom_score_adjust(
        pod_qos(facts->pod), facts->pod->spec.priority != NULL && *facts->pod->spec.priority >= 2000001000,
        amount_value(&container->resources.requests, STR("memory")), facts->memory_capacity);
    return resources;
}

static struct str_list expand_all(struct arena *arena, const struct str_list *texts, struct env_vars *env)
{
    struct str_list expanded = {0};

    LIST_EACH (text, texts) {
        *LIST_ADD(arena, &expanded) = expand(arena, *text, env_vars_lookup, env, NULL);
    }
    return expanded;
}

static void annotate(struct arena *arena, const struct container_facts *facts, struct str_map *annotations)
{
    const struct core_v1_pod *pod = facts->pod;

    str_map_set(arena, annotations, ANNOTATION_HASH,
                arena_printf(arena, "%llx", (unsigned long long)container_hash(facts->container)));
    str_map_set(arena, annotations, ANNOTATION_RESTART_COUNT, arena_printf(arena, "%d", facts->restart_count));
    str_map_set(arena, annotations, ANNOTATION_MESSAGE_PATH, facts->container->termination_message_path);
    str_map_set(arena, annotations, ANNOTATION_MESSAGE_POLICY, facts->container->termination_message_policy);
    if (pod->spec.termination_grace_period_seconds != NULL) {
        str_map_set(arena, annotations, ANNOTATION_GRACE,
                    arena_printf(arena, "%lld", (long long)*pod->spec.termination_grace_period_seconds));
    }
}

static int compare_names(const void *a, const void *b)
{
    return str_cmp(((const struct cri_v1_key_value *)a)->key, ((const struct cri_v1_key_value *)b)->key);
}

static void add_env(struct arena *arena, const struct env_vars *env, struct cri_v1_container_config *config)
{
    LIST_EACH (var, env) {
        *LIST_ADD(arena, &config->envs) = (struct cri_v1_key_value){.key = var->key, .value = var->value};
    }
    if (config->envs.len > 1) {
        qsort(config->envs.items, config->envs.len, sizeof(*config->envs.items), compare_names);
    }
}

static int32_t signal_of(const struct core_v1_container *container)
{
    static const struct {
        const char *name;
        int32_t signal;
    } signals[] = {
        {"SIGABRT", CRI_V1_SIGNAL_SIGNAL_SIGABRT}, {"SIGHUP", CRI_V1_SIGNAL_SIGNAL_SIGHUP},
        {"SIGINT", CRI_V1_SIGNAL_SIGNAL_SIGINT},   {"SIGKILL", CRI_V1_SIGNAL_SIGNAL_SIGKILL},
        {"SIGQUIT", CRI_V1_SIGNAL_SIGNAL_SIGQUIT}, {"SIGTERM", CRI_V1_SIGNAL_SIGNAL_SIGTERM},
        {"SIGUSR1", CRI_V1_SIGNAL_SIGNAL_SIGUSR1}, {"SIGUSR2", CRI_V1_SIGNAL_SIGNAL_SIGUSR2},
        {"SIGWINCH", CRI_V1_SIGNAL_SIGNAL_SIGWINCH},
    };

    if (container->lifecycle != NULL && container->lifecycle->stop_signal != NULL) {
        for (size_t i = 0; i < COUNT_OF(signals); i++) {
            if (str_is(*container->lifecycle->stop_signal, signals[i].name)) {
                return signals[i].signal;
            }
        }
    }
    return CRI_V1_SIGNAL_SIGNAL_RUNTIME_DEFAULT;
}

struct status *container_config_make(struct arena *arena, const struct container_facts *facts,
                                     struct cri_v1_container_config **ret)
{
    const struct core_v1_container *container = facts->container;
    struct cri_v1_container_config *config = ARENA_NEW(arena, struct cri_v1_container_config);

    config->metadata = ARENA_NEW(arena, struct cri_v1_container_metadata);
    *config->metadata = (struct cri_v1_container_metadata){.name = container->name,
                                                           .attempt = (uint32_t)facts->restart_count};
    config->image = ARENA_NEW(arena, struct cri_v1_image_spec);
    *config->image =
        (struct cri_v1_image_spec){.image = facts->image, .user_specified_image = container->image};
    config->command = expand_all(arena, &container->command, facts->env);
    config->args = expand_all(arena, &container->args, facts->env);
    config->working_dir = container->working_dir;
    add_env(arena, facts->env, config);
    add_pod_labels(arena, facts->pod, &config->labels);
    str_map_set(arena, &config->labels, LABEL_CONTAINER_NAME, container->name);
    annotate(arena, facts, &config->annotations);
    config->log_path = container_log_name(arena, container->name, facts->restart_count);
    config->stdin = container->stdin;
    config->stdin_once = container->stdin_once;
    config->tty = container->tty;
    config->stop_signal = signal_of(container);
    LIST_EACH (mount, &facts->mounts) {
        *LIST_ADD(arena, &config->mounts) = (struct cri_v1_mount){
            .container_path = mount->container_path,
            .host_path = mount->host_path,
            .readonly = mount->read_only,
            .recursive_read_only = mount->is_recursive_read_only,
            .propagation = mount->propagation,
        };
    }
    config->linux_ = ARENA_NEW(arena, struct cri_v1_linux_container_config);
    config->linux_->resources = container_resources(arena, facts);
    *ret = config;
    return container_security_make(arena, facts, &config->linux_->security_context);
}
