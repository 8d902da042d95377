#include "kubelet/object_cache.h"

#include "base/env.h"
#include "base/mem.h"
#include "kubelet/pod_workers.h"
#include "schema/copy.h"

#include <stdlib.h>

enum { SYNC_WAIT_SECONDS = 10 };

/* One watched object. */
struct watched {
    struct object_cache *cache;
    const struct kind *kind;
    struct arena *arena;
    struct str namespace, name;
    struct informer *informer;
    struct map users; /* UIDs of pods */
};

struct object_cache {
    struct kubelet *kubelet;
    struct map watched; /* by "KIND/NAMESPACE/NAME" */
};

struct object_cache *object_cache_new(struct kubelet *kubelet)
{
    struct object_cache *cache = MEM_NEW(struct object_cache);

    cache->kubelet = kubelet;
    return cache;
}

static void watched_free(struct watched *watched)
{
    informer_free(watched->informer);
    map_done(&watched->users);
    arena_free(watched->arena);
    free(watched);
}

void object_cache_free(struct object_cache *cache)
{
    size_t at = 0;

    if (cache == NULL) {
        return;
    }
    for (struct map_entry *e; (e = map_next(&cache->watched, &at)) != NULL;) {
        watched_free(e->value);
    }
    map_done(&cache->watched);
    free(cache);
}

static void changed(void *arg, const void *old, const void *new)
{
    struct watched *watched = arg;
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&watched->users, &at)) != NULL;) {
        pod_workers_wake(watched->cache->kubelet->workers, e->key);
    }
}

static struct watched *watch(struct object_cache *cache, const struct kind *kind, struct str key, struct str namespace,
                             struct str name)
{
    struct watched *watched = map_find(&cache->watched, key);

    if (watched != NULL) {
        return watched;
    }
    struct arena *arena = arena_new();

    watched = MEM_NEW(struct watched);
    *watched = (struct watched){.cache = cache,
                                .kind = kind,
                                .arena = arena,
                                .namespace = arena_str(arena, namespace),
                                .name = arena_str(arena, name)};
    struct client_list_options selectors = {.field_selector =
                                                arena_printf(arena, "metadata.name=%.*s", STR_ARG(name))};

    watched->informer = informer_new(cache->kubelet->client, kind, watched->namespace, &selectors);
    informer_on_change(watched->informer, changed, watched);
    informer_start(watched->informer);
    map_set(&cache->watched, key, watched);
    return watched;
}

/* Waits for the first list, but not for ever: the API server may be away, or forbid it. */
static bool wait_synced(struct informer *informer)
{
    int64_t deadline = env_mono() + SYNC_WAIT_SECONDS * ENV_SECOND;

    for (int64_t step = ENV_MS; !informer_is_synced(informer) && env_mono() < deadline;
         step = MIN(step * 2, ENV_SECOND)) {
        if (!task_sleep(step)) {
            return false;
        }
    }
    return informer_is_synced(informer);
}

static struct status *find(struct object_cache *cache, const struct kind *kind, struct str uid, struct str namespace,
                           struct str name, struct arena *arena, const void **ret)
{
    if (cache->kubelet->client == NULL) {
        return status_new(STATUS_NOT_FOUND, "%.*s \"%.*s\" not found", STR_ARG(kind->singular), STR_ARG(name));
    }
    struct str key = arena_printf(arena, "%.*s/%.*s/%.*s", STR_ARG(kind->kind), STR_ARG(namespace), STR_ARG(name));
    struct watched *watched = watch(cache, kind, key, namespace, name);

    map_set(&watched->users, uid, cache);
    if (!informer_is_synced(watched->informer) && !wait_synced(watched->informer)) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "failed to sync %.*s cache: timed out waiting for the condition",
                          STR_ARG(kind->singular));
    }
    /* The watch may have been ended meanwhile. */
    watched = map_find(&cache->watched, key);
    const void *object = watched == NULL ? NULL : informer_find(watched->informer, namespace, name);

    if (object == NULL) {
        return status_new(STATUS_NOT_FOUND, "%.*s \"%.*s\" not found", STR_ARG(kind->singular), STR_ARG(name));
    }
    *ret = schema_copy(arena, kind->type, object);
    return NULL;
}

struct status *object_cache_secret(struct object_cache *cache, struct str uid, struct str namespace, struct str name,
                                   struct arena *arena, const struct core_v1_secret **ret)
{
    return find(cache, &core_v1_secret_kind, uid, namespace, name, arena, (const void **)ret);
}

struct status *object_cache_config_map(struct object_cache *cache, struct str uid, struct str namespace,
                                       struct str name, struct arena *arena, const struct core_v1_config_map **ret)
{
    return find(cache, &core_v1_config_map_kind, uid, namespace, name, arena, (const void **)ret);
}

void object_cache_forget(struct object_cache *cache, struct str uid)
{
    struct map unused = {0};
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&cache->watched, &at)) != NULL;) {
        struct watched *watched = e->value;

        map_remove(&watched->users, uid);
        if (watched->users.count == 0) {
            map_set(&unused, e->key, watched);
            map_remove(&cache->watched, e->key);
        }
    }
    at = 0;
    for (struct map_entry *e; (e = map_next(&unused, &at)) != NULL;) {
        watched_free(e->value);
    }
    map_done(&unused);
}
