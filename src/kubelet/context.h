/* What the kubelet's modules share. For this folder only. */
#ifndef KUBELET_CONTEXT_H
#define KUBELET_CONTEXT_H

#include "api/core_v1.h"
#include "base/task.h"
#include "client/event_recorder.h"
#include "client/informer.h"
#include "kubelet/backoff.h"
#include "kubelet/kubelet.h"
#include "kubelet/pod_view.h"
#include "kubelet/prober.h"

struct kubelet {
    struct kubelet_options options;
    struct arena *arena; /* for what lives as long as the kubelet */
    struct client *client; /* NULL: without an API server */
    struct cri *cri;
    struct host *host;
    struct prober *prober;
    struct event_recorder *recorder; /* NULL without a client */
    struct host_facts facts;
    struct str node_name, node_ip;
    struct str runtime_name, runtime_version;
    struct quantity_map capacity, allocatable;
    int64_t started_at; /* env_mono */

    /* Of the last look at the runtime (runtime_health.c). */
    bool is_runtime_ready, is_network_ready;
    struct str runtime_problem, network_problem; /* owned: free() */

    struct pod_source *source;
    struct static_pods *static_pods;
    struct mirror_pods *mirrors;
    struct pod_workers *workers;
    struct status_manager *statuses;
    struct probe_manager *probes;
    struct image_manager *images;
    struct object_cache *objects;
    struct token_manager *tokens;
    struct pleg *pleg;
    struct node_agent *node;
    struct eviction_manager *evictions;
    struct image_collector *image_collector;
    struct housekeeping *housekeeping;
    struct informer *services; /* NULL without a client */
    struct backoff crash_backoff;
    struct task_group tasks;
    bool is_stopping;
};

/* A pod as it came from a source, shared and immutable. */
struct pod_ref {
    int refs;
    const struct core_v1_pod *pod;
    struct cached *cached; /* of the informer, or */
    struct arena *arena;   /* of its own */
};

struct pod_ref *pod_ref_of_cached(struct cached *cached); /* takes a reference of its own */
struct pod_ref *pod_ref_of_arena(struct arena *arena, const struct core_v1_pod *pod); /* takes the arena */
struct pod_ref *pod_ref(struct pod_ref *pod);
void pod_unref(struct pod_ref *pod);
/* For OWNED(pod_unrefp). */
void pod_unrefp(struct pod_ref **pod);

/* Events about a pod, one of its containers, and the node. `type`: "Normal" or "Warning". */
void pod_event(struct kubelet *kubelet, const struct core_v1_pod *pod, const char *type, const char *reason,
               const char *format, ...) PRINTF_LIKE(5, 6);
void container_event(struct kubelet *kubelet, const struct core_v1_pod *pod, enum plan_kind kind, struct str name,
                     const char *type, const char *reason, const char *format, ...) PRINTF_LIKE(7, 8);
void node_event(struct kubelet *kubelet, const char *type, const char *reason, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Paths, NUL-terminated in the arena. */
const char *pod_directory(struct kubelet *kubelet, struct arena *arena, struct str uid);
const char *pod_log_directory(struct kubelet *kubelet, struct arena *arena, const struct core_v1_pod *pod);

/* Emits a span about the pod. */
void kubelet_trace_pod(const struct core_v1_pod *pod, int step, int outcome, int64_t start, const char *format, ...)
    PRINTF_LIKE(5, 6);

#endif
