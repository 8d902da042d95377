#include "kubelet/pod_source.h"

#include "base/env.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "kubelet/housekeeping.h"
#include "kubelet/mirror_pods.h"
#include "kubelet/pod_workers.h"
#include "kubelet/static_pods.h"
#include "schema/copy.h"

#include <stdlib.h>

struct pod_source {
    struct kubelet *kubelet;
    struct informer *informer; /* NULL without a client */
    struct map pods;           /* by UID: the newest that watch or list has shown, as struct pod_ref */
    bool has_synced;
};

/* Which of two versions of an object is newer; what is no number is taken for newer. */
static bool is_newer(const struct core_v1_pod *pod, const struct core_v1_pod *known)
{
    uint64_t a, b;

    return !str_to_u64(pod->metadata.resource_version, &a) || !str_to_u64(known->metadata.resource_version, &b) ||
           a > b;
}

/* Takes the reference. */
static void take(struct pod_source *source, struct pod_ref *pod)
{
    struct str uid = pod->pod->metadata.uid;
    struct pod_ref *known = map_find(&source->pods, uid);

    if (known != NULL && !is_newer(pod->pod, known->pod)) {
        pod_unref(pod);
        return;
    }
    map_set(&source->pods, uid, pod);
    if (pod_is_mirror(pod->pod)) {
        mirror_pods_update(source->kubelet->mirrors, pod);
    } else {
        pod_workers_update(source->kubelet->workers, pod);
    }
    pod_unref(known);
}

static void drop(struct pod_source *source, struct str uid)
{
    struct pod_ref *known = map_remove(&source->pods, uid);

    if (known != NULL && pod_is_mirror(known->pod)) {
        mirror_pods_remove(source->kubelet->mirrors, uid);
    } else if (known != NULL) {
        pod_workers_remove(source->kubelet->workers, uid);
    }
    pod_unref(known);
}

static void on_change(void *arg, const void *old, const void *new)
{
    struct pod_source *source = arg;
    const struct core_v1_pod *before = old, *now = new;
    OWNED(arena_freep) struct arena *arena = arena_new();

    if (before != NULL && (now == NULL || !str_eq(before->metadata.uid, now->metadata.uid))) {
        drop(source, before->metadata.uid);
    }
    if (now != NULL) {
        struct str key = arena_printf(arena, "%.*s/%.*s", STR_ARG(now->metadata.namespace),
                                      STR_ARG(now->metadata.name));
        struct cached *cached = informer_ref(source->informer, key);

        if (cached != NULL && cached->object == new) {
            take(source, pod_ref_of_cached(cached));
        } else {
            struct arena *own = arena_new();

            take(source, pod_ref_of_arena(own, schema_copy(own, &core_v1_pod_type, now)));
        }
        cached_unref(cached);
    }
}

struct pod_source *pod_source_new(struct kubelet *kubelet)
{
    struct pod_source *source = MEM_NEW(struct pod_source);

    source->kubelet = kubelet;
    if (kubelet->client != NULL) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct client_list_options selectors = {
            .field_selector = arena_printf(arena, "spec.nodeName=%.*s", STR_ARG(kubelet->node_name))};

        source->informer = informer_new(kubelet->client, &core_v1_pod_kind, STR(""), &selectors);
        informer_on_change(source->informer, on_change, source);
    }
    return source;
}

void pod_source_free(struct pod_source *source)
{
    size_t at = 0;

    if (source == NULL) {
        return;
    }
    if (source->informer != NULL) {
        informer_free(source->informer);
    }
    for (struct map_entry *e; (e = map_next(&source->pods, &at)) != NULL;) {
        pod_unref(e->value);
    }
    map_done(&source->pods);
    free(source);
}

static bool list_has(const struct core_v1_pod_list *list, struct str uid)
{
    LIST_EACH (pod, &list->items) {
        if (str_eq(pod->metadata.uid, uid)) {
            return true;
        }
    }
    return false;
}

/* Hands over what the list has and the watch has not shown, and drops what it has not any more. A pod newer than the
 * list itself is left alone. */
static size_t compare(struct pod_source *source, const struct core_v1_pod_list *list)
{
    uint64_t listed_at, seen_at;
    size_t differences = 0, at = 0;

    LIST_EACH (pod, &list->items) {
        const struct pod_ref *known = map_find(&source->pods, pod->metadata.uid);

        if (known == NULL || is_newer(pod, known->pod)) {
            struct arena *own = arena_new();

            differences++;
            take(source, pod_ref_of_arena(own, schema_copy(own, &core_v1_pod_type, pod)));
        }
    }
    if (!str_to_u64(list->metadata.resource_version, &listed_at)) {
        return differences;
    }
    for (struct map_entry *e; (e = map_next(&source->pods, &at)) != NULL;) {
        const struct pod_ref *known = e->value;

        if (!list_has(list, e->key) && str_to_u64(known->pod->metadata.resource_version, &seen_at) &&
            seen_at < listed_at) {
            differences++;
            drop(source, known->pod->metadata.uid);
        }
    }
    return differences;
}

/* A watch can be quietly wrong: a proxy that swallows events, a server with a fault. */
static struct status *list_and_compare(struct pod_source *source)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubelet *kubelet = source->kubelet;
    struct client_list_options options = {
        .field_selector = arena_printf(arena, "spec.nodeName=%.*s", STR_ARG(kubelet->node_name))};
    void *list;

    TRY(client_list(kubelet->client, &core_v1_pod_kind, STR(""), &options, arena, &list));
    size_t differences = compare(source, list);

    if (differences > 0) {
        log_info("%zu pods differ between the list of this node's pods and what the watch has shown", differences);
    }
    return NULL;
}

static void source_task(void *arg)
{
    struct pod_source *source = arg;
    struct kubelet *kubelet = source->kubelet;

    if (!informer_wait_synced(source->informer)) {
        return;
    }
    source->has_synced = true;
    housekeeping_wake(kubelet->housekeeping);
    while (task_sleep(kubelet->options.full_list_period)) {
        struct status *error = list_and_compare(source);

        if (error != NULL && !status_is(error, STATUS_CANCELLED)) {
            log_debug("listing this node's pods: %.*s", STR_ARG(error->message));
        }
        status_free(error);
    }
}

void pod_source_start(struct pod_source *source)
{
    if (source->informer == NULL) {
        source->has_synced = true;
        return;
    }
    informer_start(source->informer);
    task_group_spawn(&source->kubelet->tasks, "pod-source", source_task, source);
}

bool pod_source_is_synced(const struct pod_source *source)
{
    return source->has_synced && static_pods_is_synced(source->kubelet->static_pods);
}
