#include "kubelet/kubelet.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubelet/context.h"
#include "kubelet/eviction_manager.h"
#include "kubelet/image_collector.h"
#include "kubelet/housekeeping.h"
#include "kubelet/image_manager.h"
#include "kubelet/log_rotation.h"
#include "kubelet/mirror_pods.h"
#include "kubelet/node_agent.h"
#include "kubelet/node_status.h"
#include "kubelet/object_cache.h"
#include "kubelet/pleg.h"
#include "kubelet/pod_cgroups.h"
#include "kubelet/pod_source.h"
#include "kubelet/pod_workers.h"
#include "kubelet/probes.h"
#include "kubelet/runtime_health.h"
#include "kubelet/static_pods.h"
#include "kubelet/status_manager.h"
#include "kubelet/volumes/tokens.h"

#include <stdlib.h>

/* Stock: 10 s, doubling to five minutes. */
static void set_up_backoff(struct kubelet *kubelet)
{
    kubelet->crash_backoff = (struct backoff){.initial = 10 * ENV_SECOND, .max = 300 * ENV_SECOND};
}

struct kubelet *kubelet_new(const struct kubelet_options *options, struct client *client, struct cri *cri,
                            struct host *host)
{
    struct kubelet *kubelet = MEM_NEW(struct kubelet);

    kubelet->arena = arena_new();
    kubelet->options = *options;
    kubelet->client = client;
    kubelet->cri = cri;
    kubelet->host = host;
    kubelet->prober = net_prober();
    task_group_init(&kubelet->tasks);
    set_up_backoff(kubelet);
    if (kubelet->options.eviction.len == 0) {
        eviction_default_thresholds(kubelet->arena, &kubelet->options.eviction);
    }
    return kubelet;
}

static struct str lower(struct arena *arena, struct str name)
{
    char *text = arena_cstr(arena, name);

    for (size_t i = 0; i < name.n; i++) {
        text[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
    }
    return (struct str){text, name.n};
}

/* Figures of the machine, and what follows from them. */
static struct status *take_facts(struct kubelet *kubelet)
{
    struct host_fs_usage fs = {0};

    TRY(host_facts(kubelet->host, kubelet->arena, &kubelet->facts));
    TRY(host_make_directory(kubelet->host, arena_cstr(kubelet->arena, kubelet->options.root_dir), 0750));
    TRY(host_fs_usage(kubelet->host, arena_cstr(kubelet->arena, kubelet->options.root_dir), &fs));
    kubelet->node_name = lower(kubelet->arena, kubelet->options.node_name.n > 0 ? kubelet->options.node_name
                                                                                 : kubelet->facts.hostname);
    kubelet->node_ip = kubelet->options.node_ip.n > 0 ? kubelet->options.node_ip : kubelet->facts.address;
    node_amounts_make(kubelet->arena, &kubelet->facts, &fs, &kubelet->options, &kubelet->capacity,
                      &kubelet->allocatable);
    return NULL;
}

static struct status *make_places(struct kubelet *kubelet)
{
    struct arena *arena = kubelet->arena;
    const struct kubelet_options *options = &kubelet->options;

    TRY(host_make_directory(kubelet->host, arena_printf(arena, "%.*s/pods", STR_ARG(options->root_dir)).p, 0750));
    TRY(host_make_directory(kubelet->host, arena_cstr(arena, options->pod_logs_dir), 0755));
    if (options->container_logs_dir.n > 0) {
        TRY(host_make_directory(kubelet->host, arena_cstr(arena, options->container_logs_dir), 0755));
    }
    return node_cgroups_make(kubelet);
}

static void make_parts(struct kubelet *kubelet)
{
    if (kubelet->client != NULL) {
        kubelet->recorder = event_recorder_new(kubelet->client, STR("kubelet"), kubelet->node_name);
        kubelet->services = informer_new(kubelet->client, &core_v1_service_kind, STR(""), NULL);
    }
    kubelet->housekeeping = housekeeping_new(kubelet);
    kubelet->statuses = status_manager_new(kubelet);
    kubelet->probes = probe_manager_new(kubelet);
    kubelet->images = image_manager_new(kubelet);
    kubelet->objects = object_cache_new(kubelet);
    kubelet->tokens = token_manager_new(kubelet);
    kubelet->workers = pod_workers_new(kubelet);
    kubelet->source = pod_source_new(kubelet);
    kubelet->static_pods = static_pods_new(kubelet);
    kubelet->mirrors = mirror_pods_new(kubelet);
    kubelet->pleg = pleg_new(kubelet);
    kubelet->node = node_agent_new(kubelet);
    kubelet->image_collector = image_collector_new(kubelet);
    kubelet->evictions = eviction_manager_new(kubelet);
}

struct status *kubelet_start(struct kubelet *kubelet)
{
    kubelet->started_at = env_mono();
    TRY(take_facts(kubelet));
    TRY(make_places(kubelet));
    TRY(runtime_health_wait(kubelet));
    make_parts(kubelet);
    runtime_health_start(kubelet);
    status_manager_start(kubelet->statuses);
    node_agent_start(kubelet->node);
    if (kubelet->services != NULL) {
        informer_start(kubelet->services);
    }
    pleg_start(kubelet->pleg);
    housekeeping_start(kubelet->housekeeping);
    image_collector_start(kubelet->image_collector);
    eviction_manager_start(kubelet->evictions);
    log_rotation_start(kubelet);
    static_pods_start(kubelet->static_pods);
    pod_source_start(kubelet->source);
    return NULL;
}

void kubelet_stop(struct kubelet *kubelet)
{
    kubelet->is_stopping = true;
    task_group_cancel(&kubelet->tasks);
}

void kubelet_free(struct kubelet *kubelet)
{
    if (kubelet == NULL) {
        return;
    }
    pod_source_free(kubelet->source);
    static_pods_free(kubelet->static_pods);
    mirror_pods_free(kubelet->mirrors);
    if (kubelet->services != NULL) {
        informer_free(kubelet->services);
    }
    node_agent_free(kubelet->node);
    object_cache_free(kubelet->objects);
    pod_workers_free(kubelet->workers);
    probe_manager_free(kubelet->probes);
    status_manager_free(kubelet->statuses);
    image_manager_free(kubelet->images);
    token_manager_free(kubelet->tokens);
    pleg_free(kubelet->pleg);
    image_collector_free(kubelet->image_collector);
    eviction_manager_free(kubelet->evictions);
    housekeeping_free(kubelet->housekeeping);
    if (kubelet->recorder != NULL) {
        event_recorder_free(kubelet->recorder);
    }
    backoff_done(&kubelet->crash_backoff);
    free((void *)(uintptr_t)kubelet->runtime_problem.p);
    free((void *)(uintptr_t)kubelet->network_problem.p);
    arena_free(kubelet->arena);
    free(kubelet);
}
