#include "kubelet/eviction_manager.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubelet/amounts.h"
#include "kubelet/image_collector.h"
#include "kubelet/node_agent.h"
#include "kubelet/pod_admission.h"
#include "kubelet/pod_workers.h"
#include "kubelet/runtime_fetch.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD (10 * ENV_SECOND) /* stock's */

struct eviction_manager {
    struct kubelet *kubelet;
    struct eviction_state state;
    bool pressure[3];
};

struct eviction_manager *eviction_manager_new(struct kubelet *kubelet)
{
    struct eviction_manager *manager = MEM_NEW(struct eviction_manager);

    manager->kubelet = kubelet;
    return manager;
}

void eviction_manager_free(struct eviction_manager *manager)
{
    free(manager);
}

const bool *eviction_manager_pressure(const struct eviction_manager *manager)
{
    return manager->pressure;
}

static struct status *observe(struct kubelet *kubelet, struct eviction_observation observations[EVICTION_SIGNAL_COUNT])
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct host_usage usage;
    struct host_fs_usage node, images;

    TRY(host_usage(kubelet->host, &usage));
    TRY(host_fs_usage(kubelet->host, arena_cstr(arena, kubelet->options.root_dir), &node));
    TRY(image_fs_usage(kubelet, &images));
    memset(observations, 0, EVICTION_SIGNAL_COUNT * sizeof(*observations));
    observations[EVICTION_MEMORY_AVAILABLE] =
        (struct eviction_observation){usage.memory_available, usage.memory_capacity};
    observations[EVICTION_PID_AVAILABLE] = (struct eviction_observation){usage.pids_max - usage.pids, usage.pids_max};
    observations[EVICTION_NODEFS_AVAILABLE] = (struct eviction_observation){node.available, node.capacity};
    observations[EVICTION_NODEFS_INODES_FREE] = (struct eviction_observation){node.inodes_free, node.inodes};
    observations[EVICTION_IMAGEFS_AVAILABLE] = (struct eviction_observation){images.available, images.capacity};
    observations[EVICTION_IMAGEFS_INODES_FREE] = (struct eviction_observation){images.inodes_free, images.inodes};
    return NULL;
}

struct candidates {
    struct eviction_pod *items;
    size_t len;
};

static uint64_t value_of(const struct cri_v1_u_int64_value *value)
{
    return value == NULL ? 0 : value->value;
}

static void take_usage(struct eviction_pod *candidate, const struct core_v1_pod *pod,
                       const struct cri_v1_list_container_stats_response *containers)
{
    LIST_EACH (stats, &containers->stats) {
        if (stats->attributes == NULL ||
            !str_eq(str_map_get(&stats->attributes->labels, LABEL_POD_UID), pod->metadata.uid)) {
            continue;
        }
        if (stats->memory != NULL) {
            candidate->memory_usage += (int64_t)value_of(stats->memory->working_set_bytes);
        }
        if (stats->writable_layer != NULL) {
            candidate->disk_usage += (int64_t)value_of(stats->writable_layer->used_bytes);
        }
    }
}

static struct status *find_candidates(struct kubelet *kubelet, struct arena *arena, struct candidates *ret)
{
    struct cri_v1_list_container_stats_request request = {0};
    struct cri_v1_list_container_stats_response *containers;

    TRY(cri_list_container_stats(kubelet->cri, &request, arena, &containers));
    struct pod_refs pods = pod_workers_admitted(kubelet->workers, arena);

    LIST_EACH (pod, &pods) {
        const struct core_v1_pod *object = (*pod)->pod;
        struct eviction_pod *candidate = LIST_ADD(arena, ret);

        *candidate = (struct eviction_pod){
            .priority = object->spec.priority != NULL ? *object->spec.priority : 0,
            .is_critical = pod_is_critical(object),
            .memory_request = pod_request(object, STR("memory")),
            .disk_request = pod_request(object, STR("ephemeral-storage")),
            .owner = *pod,
        };
        take_usage(candidate, object, containers);
    }
    return NULL;
}

static struct str amount_text(struct arena *arena, enum eviction_signal signal, int64_t value)
{
    bool is_count = eviction_signal_pressure(signal) == EVICTION_PID_PRESSURE ||
                    signal == EVICTION_NODEFS_INODES_FREE || signal == EVICTION_IMAGEFS_INODES_FREE;

    return is_count ? amount_of_value(arena, value).text : amount_of_kibibytes(arena, value).text;
}

static struct str message_of(struct arena *arena, const struct eviction_decision *decision,
                             const struct eviction_pod *victim)
{
    enum eviction_signal signal = decision->threshold->signal;
    const struct core_v1_pod *pod = ((const struct pod_ref *)victim->owner)->pod;
    bool is_memory = eviction_signal_pressure(signal) == EVICTION_MEMORY_PRESSURE;
    int64_t usage = is_memory ? victim->memory_usage : victim->disk_usage;
    int64_t request = is_memory ? victim->memory_request : victim->disk_request;
    struct str threshold = amount_text(arena, signal, decision->threshold_value);
    struct str available = amount_text(arena, signal, decision->observed.available);
    struct str message =
        arena_printf(arena, "The node was low on resource: %s. Threshold quantity: %.*s, available: %.*s. ",
                     eviction_signal_resource(signal), STR_ARG(threshold), STR_ARG(available));

    if (usage > request && pod->spec.containers.len > 0) {
        struct str used = amount_of_kibibytes(arena, usage).text, asked = amount_of_kibibytes(arena, request).text;

        message = arena_printf(arena,
                               "%.*sContainer %.*s was using %.*s, request is %.*s, has larger consumption of %s. ",
                               STR_ARG(message), STR_ARG(pod->spec.containers.items[0].name), STR_ARG(used),
                               STR_ARG(asked), eviction_signal_resource(signal));
    }
    return message;
}

static bool evict_one(struct kubelet *kubelet, const struct eviction_decision *decision,
                      const struct candidates *candidates, struct arena *arena)
{
    int64_t grace = decision->threshold->grace_period > 0 ? kubelet->options.eviction_max_pod_grace_seconds : 1;

    LIST_EACH (candidate, candidates) {
        OWNED(pod_unrefp) struct pod_ref *pod = pod_ref(candidate->owner);
        struct str message = message_of(arena, decision, candidate);

        if (!candidate->is_critical &&
            pod_workers_evict(kubelet->workers, pod->pod->metadata.uid, STR("Evicted"), message, grace)) {
            pod_event(kubelet, pod->pod, "Warning", "Evicted", "%.*s", STR_ARG(message));
            log_warn("evicted pod %.*s/%.*s: %.*s", STR_ARG(pod->pod->metadata.namespace),
                     STR_ARG(pod->pod->metadata.name), STR_ARG(message));
            return true;
        }
    }
    return false;
}

static struct status *reclaim(struct eviction_manager *manager, const struct eviction_decision *decision)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet *kubelet = manager->kubelet;
    enum eviction_signal signal = decision->threshold->signal;
    struct eviction_observation observations[EVICTION_SIGNAL_COUNT];
    struct candidates candidates = {0};

    node_event(kubelet, "Warning", "EvictionThresholdMet", "Attempting to reclaim %s",
               eviction_signal_resource(signal));
    if (eviction_signal_pressure(signal) == EVICTION_DISK_PRESSURE) {
        TRY(image_collector_remove_unused(kubelet->image_collector));
        TRY(observe(kubelet, observations));
        if (observations[signal].available >= decision->threshold_value + decision->threshold->minimum_reclaim) {
            return NULL;
        }
    }
    TRY(find_candidates(kubelet, arena, &candidates));
    eviction_rank(candidates.items, candidates.len, signal);
    if (!evict_one(kubelet, decision, &candidates, arena)) {
        log_warn("no pod can be evicted for %s", eviction_signal_resource(signal));
    }
    return NULL;
}

static struct status *look(struct eviction_manager *manager)
{
    struct kubelet *kubelet = manager->kubelet;
    struct eviction_observation observations[EVICTION_SIGNAL_COUNT];
    struct eviction_decision decision;

    TRY(observe(kubelet, observations));
    eviction_decide(&kubelet->options.eviction, observations, &manager->state, env_mono() + 1,
                    kubelet->options.eviction_pressure_transition, &decision);
    memcpy(manager->pressure, decision.pressure, sizeof(manager->pressure));
    node_agent_set_pressure(kubelet->node, decision.pressure);
    return decision.threshold == NULL ? NULL : reclaim(manager, &decision);
}

static void manager_task(void *arg)
{
    struct eviction_manager *manager = arg;

    do {
        struct status *error = look(manager);

        if (error != NULL && !status_is(error, STATUS_CANCELLED)) {
            log_debug("looking at what the node has left: %.*s", STR_ARG(error->message));
        }
        status_free(error);
    } while (task_sleep(PERIOD));
}

void eviction_manager_start(struct eviction_manager *manager)
{
    task_group_spawn(&manager->kubelet->tasks, "eviction", manager_task, manager);
}
