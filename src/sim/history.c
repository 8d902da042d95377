#include "sim/history.h"

#include "apiserver/registry/storage.h"
#include "apiserver/server.h"
#include "base/env.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "sim/describe.h"
#include "sim/sim.h"

#include <stdlib.h>

enum { FOLLOWERS_MAX = 8 };

struct history {
    struct sim *sim;
    struct map objects; /* key -> struct history_object */
    struct {
        history_fn *fn;
        void *arg;
    } followers[FOLLOWERS_MAX];
    size_t follower_count;
    int64_t revision;
    struct store_watch *watch; /* NULL while no server runs */
    struct store *store;
    uint64_t digest;
    size_t changes;
};

struct history *history_new(struct sim *sim)
{
    struct history *history = MEM_NEW(struct history);

    history->sim = sim;
    return history;
}

static void object_free(struct history_object *object)
{
    if (object != NULL) {
        arena_free(object->arena);
    }
}

void history_free(struct history *history)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&history->objects, &at)) != NULL;) {
        object_free(entry->value);
    }
    map_done(&history->objects);
    free(history);
}

void history_on_change(struct history *history, history_fn *fn, void *arg)
{
    if (history->follower_count == FOLLOWERS_MAX) {
        mem_die("too many follow the history");
    }
    history->followers[history->follower_count].fn = fn;
    history->followers[history->follower_count++].arg = arg;
}

int64_t history_revision(const struct history *history)
{
    return history->revision;
}

bool history_is_current(const struct history *history)
{
    return history->watch != NULL && store_watch_revision(history->watch) == store_revision(history->store);
}

const struct history_object *history_find(const struct history *history, struct str key)
{
    return map_find(&history->objects, key);
}

const struct history_object *history_next(const struct history *history, size_t *at)
{
    struct map_entry *entry = map_next(&history->objects, at);

    return entry != NULL ? entry->value : NULL;
}

uint64_t history_digest(const struct history *history)
{
    return history->digest;
}

size_t history_changes(const struct history *history)
{
    return history->changes;
}

static const struct resource *resource_of(const struct apiserver *server, struct str key)
{
    for (size_t i = 0; i < server->resources.len; i++) {
        const struct resource *resource = &server->resources.items[i];

        if (resource_is_stored(resource) && str_has_prefix(key, resource->prefix)) {
            return resource;
        }
    }
    return NULL;
}

/* NULL when nobody serves such keys: the server's own counters and the like. */
static struct history_object *read_object(struct history *history, const struct apiserver *server, struct str key,
                                          struct str bytes, int64_t revision)
{
    const struct resource *resource = resource_of(server, key);
    void *object;

    if (resource == NULL) {
        return NULL;
    }
    struct arena *arena = arena_new();
    struct history_object *read = ARENA_NEW(arena, struct history_object);
    struct status *status = storage_decode(arena, resource->stored, arena_str(arena, bytes), revision, &object);

    if (status != NULL) {
        sim_blame(history->sim, "%.*s can't be read: %.*s", STR_ARG(key), STR_ARG(status->message));
        status_free(status);
        arena_free(arena);
        return NULL;
    }
    *read = (struct history_object){arena_str(arena, key), resource->stored, revision, object, arena};
    return read;
}

static void mix(struct history *history, struct str text, uint64_t number)
{
    history->digest = (history->digest ^ str_hash(text) ^ number) * UINT64_C(0x9e3779b97f4a7c15);
}

static void change(struct history *history, struct str key, struct history_object *new, int64_t revision)
{
    struct history_object *old = new != NULL ? map_set(&history->objects, key, new) : map_remove(&history->objects, key);

    history->changes++;
    if (log_is_on(LOG_DEBUG)) {
        OWNED(arena_freep) struct arena *arena = arena_new();

        log_debug("%lld %s %.*s %.*s", (long long)revision, new == NULL ? "-" : old == NULL ? "+" : "=", STR_ARG(key),
                  STR_ARG(new != NULL ? describe(arena, new) : (struct str){0}));
    }
    for (size_t i = 0; i < history->follower_count && (old != NULL || new != NULL); i++) {
        history->followers[i].fn(history->followers[i].arg, old, new, revision);
    }
    object_free(old);
}

/* Heartbeats may be lost. */
static bool may_be_lost(const struct history_object *object)
{
    return str_is(object->kind->kind, "Lease");
}

static void take_event(struct history *history, const struct apiserver *server, const struct store_event *event)
{
    const struct history_object *known = history_find(history, event->key);

    if (event->revision <= history->revision) {
        sim_blame(history->sim, "revision %lld of %.*s came after %lld", (long long)event->revision, STR_ARG(event->key),
                  (long long)history->revision);
    }
    if (known != NULL && event->previous_revision != known->revision && !may_be_lost(known)) {
        sim_blame(history->sim, "revision %lld of %.*s follows %lld, not %lld", (long long)event->revision,
                  STR_ARG(event->key), (long long)event->previous_revision, (long long)known->revision);
    }
    history->revision = event->revision;
    mix(history, event->key, (uint64_t)event->revision);
    if (event->type == STORE_DELETED) {
        change(history, event->key, NULL, event->revision);
        return;
    }
    mix(history, blob_str(event->value), (uint64_t)event->type);
    struct history_object *new = read_object(history, server, event->key, blob_str(event->value), event->revision);

    if (new != NULL) {
        change(history, event->key, new, event->revision);
    }
}

/* What is known and is not in the store that a server has opened, or only in an older version, has been lost. */
static struct status *blame_losses(struct history *history)
{
    size_t at = 0;

    for (const struct history_object *known; (known = history_next(history, &at)) != NULL;) {
        struct store_object found;
        struct status *status = store_get(history->store, known->key, 0, &found, NULL);

        if (status != NULL && !status_is(status, STATUS_NOT_FOUND)) {
            return status;
        }
        bool is_lost = status != NULL || found.mod_revision < known->revision;

        if (is_lost && !may_be_lost(known)) {
            sim_blame(history->sim, "%.*s of revision %lld is lost: %lld is there", STR_ARG(known->key),
                      (long long)known->revision, status != NULL ? 0LL : (long long)found.mod_revision);
        }
        status_free(status);
        store_object_done(&found);
        if (is_lost) {
            OWNED(arena_freep) struct arena *arena = arena_new();

            change(history, arena_str(arena, known->key), NULL, history->revision);
        }
    }
    return NULL;
}

static struct status *take_events(struct history *history, const struct apiserver *server, int64_t deadline,
                                  struct store_events *events)
{
    TRY(store_watch_next(history->watch, deadline, events));
    for (size_t i = 0; i < events->len; i++) {
        take_event(history, server, events->items[i]);
    }
    return NULL;
}

static struct status *follow(struct history *history, const struct apiserver *server, struct store_events *events)
{
    TRY(store_watch_start(server->store, STR("/registry/"), history->revision, &history->watch));
    while (!history_is_current(history)) { /* what came between the last server's end and this one's start */
        TRY(take_events(history, server, env_mono(), events));
    }
    TRY(blame_losses(history));
    for (;;) {
        TRY(take_events(history, server, TASK_FOREVER, events));
    }
}

void history_follow(struct history *history, struct apiserver *server)
{
    struct store_events events = {0};

    history->store = server->store;
    struct status *status = follow(history, server, &events);

    if (!status_is(status, STATUS_CANCELLED)) {
        sim_blame(history->sim, "the history can't be followed: %.*s", STR_ARG(status->message));
    }
    status_free(status);
    store_events_done(&events);
    store_watch_stop(TAKE(history->watch));
}
