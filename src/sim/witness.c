#include "sim/witness.h"

#include "api/core_v1.h"
#include "base/env.h"
#include "base/map.h"
#include "base/mem.h"
#include "sim/sim.h"

#include <stdlib.h>

#define PAUSE_MAX (500 * ENV_MS)

enum { RELIST_OF = 3 }; /* one in so many watches that end is followed by a list */

/* What the witness is still to be told. */
struct due {
    int64_t revision;
    enum client_event_type type;
    struct str key; /* of the watch's own making: NAMESPACE/NAME */
    char *key_bytes;
};

struct witness {
    struct sim *sim;
    struct history *history;
    const char *name;
    const struct kind *kind;
    const char *node;
    struct client *client;
    VEC(struct due) due;
    size_t due_at;   /* the first that has not come */
    struct map view; /* key -> revision, as of all that has come */
    int64_t revision;
    struct task_group tasks;
};

static const char *const type_names[] = {
    [CLIENT_ADDED] = "ADDED", [CLIENT_MODIFIED] = "MODIFIED", [CLIENT_DELETED] = "DELETED", [CLIENT_BOOKMARK] = "BOOKMARK"};

static bool wants(const struct witness *witness, const struct history_object *object)
{
    return object != NULL && object->kind == witness->kind &&
           (witness->node == NULL ||
            str_is(((const struct core_v1_pod *)(const void *)object->object)->spec.node_name, witness->node));
}

static struct str key_of(struct arena *arena, const struct object *object)
{
    return arena_printf(arena, "%.*s/%.*s", STR_ARG(object->metadata.namespace), STR_ARG(object->metadata.name));
}

static void note(void *arg, const struct history_object *old, const struct history_object *new, int64_t revision)
{
    struct witness *witness = arg;
    bool was = wants(witness, old), is = wants(witness, new);

    if (!was && !is) {
        return;
    }
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct due *due = VEC_ADD(&witness->due);
    char *key = mem_strdup(arena_cstr(arena, key_of(arena, (is ? new : old)->object)));

    *due = (struct due){.revision = revision,
                        .type = !is ? CLIENT_DELETED : was ? CLIENT_MODIFIED : CLIENT_ADDED,
                        .key = str_of(key),
                        .key_bytes = key};
}

/* What has come, or is part of a list that has. */
static void take_due(struct witness *witness)
{
    struct due *due = &witness->due.items[witness->due_at++];

    if (due->type == CLIENT_DELETED) {
        map_remove(&witness->view, due->key);
    } else {
        map_set(&witness->view, due->key, (void *)(uintptr_t)due->revision);
    }
    free(due->key_bytes);
    if (witness->due_at == witness->due.len) {
        witness->due_at = witness->due.len = 0;
    }
}

size_t witness_missing(const struct witness *witness)
{
    return witness->due.len - witness->due_at;
}

static const struct due *first_due(const struct witness *witness)
{
    return witness_missing(witness) > 0 ? &witness->due.items[witness->due_at] : NULL;
}

static bool wait_history(struct witness *witness, int64_t revision)
{
    while (history_revision(witness->history) < revision) {
        if (!task_sleep(ENV_MS)) {
            return false;
        }
    }
    return true;
}

static void compare_list(struct witness *witness, const struct object_list *list, int64_t revision)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const char *items = list->items.items;

    for (size_t i = 0; i < list->items.len; i++) {
        const struct object *object = (const void *)(items + i * witness->kind->type->size);
        struct str key = key_of(arena, object);
        uint64_t should = (uint64_t)(uintptr_t)map_find(&witness->view, key), is;

        if (!str_to_u64(object->metadata.resource_version, &is) || is != should) {
            sim_blame(witness->sim, "%s: the list at revision %lld has %.*s of revision %.*s, not of %llu", witness->name,
                      (long long)revision, STR_ARG(key), STR_ARG(object->metadata.resource_version),
                      (unsigned long long)should);
        }
    }
    if (list->items.len != witness->view.count) {
        sim_blame(witness->sim, "%s: the list at revision %lld has %zu objects, not %zu", witness->name,
                  (long long)revision, list->items.len, witness->view.count);
    }
}

static struct str selector_of(const struct witness *witness, struct arena *arena)
{
    return witness->node != NULL ? arena_printf(arena, "spec.nodeName=%s", witness->node) : (struct str){0};
}

static struct status *list_once(struct witness *witness)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct client_list_options options = {.field_selector = selector_of(witness, arena)};
    struct object_list *list;
    int64_t revision;

    TRY(client_list(witness->client, witness->kind, STR(""), &options, arena, (void **)&list));
    if (!str_to_i64(list->metadata.resource_version, &revision) || revision < witness->revision) {
        sim_blame(witness->sim, "%s: a list at revision %.*s came after %lld", witness->name,
                  STR_ARG(list->metadata.resource_version), (long long)witness->revision);
        return NULL;
    }
    if (!wait_history(witness, revision)) {
        return status_new(STATUS_CANCELLED, "cancelled");
    }
    while (first_due(witness) != NULL && first_due(witness)->revision <= revision) {
        take_due(witness);
    }
    compare_list(witness, list, revision);
    witness->revision = revision;
    return NULL;
}

static void judge_bookmark(struct witness *witness, int64_t revision)
{
    const struct due *due = first_due(witness);

    if (due != NULL && due->revision <= revision) {
        sim_blame(witness->sim, "%s: a bookmark at revision %lld came before %s %.*s of %lld", witness->name,
                  (long long)revision, type_names[due->type], STR_ARG(due->key), (long long)due->revision);
    }
}

static void judge_change(struct witness *witness, enum client_event_type type, struct str key, int64_t revision)
{
    const struct due *due = first_due(witness);

    if (due == NULL || due->revision != revision || due->type != type || !str_eq(due->key, key)) {
        sim_blame(witness->sim, "%s: told of %s %.*s of revision %lld instead of %s %.*s of %lld", witness->name,
                  type_names[type], STR_ARG(key), (long long)revision, due != NULL ? type_names[due->type] : "nothing",
                  STR_ARG(due != NULL ? due->key : (struct str){0}), due != NULL ? (long long)due->revision : 0LL);
        return;
    }
    take_due(witness);
}

static bool take_event(struct witness *witness, const struct client_event *event)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct object *object = event->object;
    int64_t revision;

    if (!str_to_i64(object->metadata.resource_version, &revision) || !wait_history(witness, revision)) {
        return false;
    }
    if (event->type == CLIENT_BOOKMARK) {
        judge_bookmark(witness, revision);
    } else {
        judge_change(witness, event->type, key_of(arena, object), revision);
    }
    witness->revision = revision;
    return true;
}

static struct status *watch_once(struct witness *witness)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct client_list_options options = {
        .field_selector = selector_of(witness, arena),
        .resource_version = arena_printf(arena, "%lld", (long long)witness->revision),
        .timeout_seconds = 1 + (int64_t)env_random_below(120),
    };
    struct client_watch *watch;
    struct client_event event;
    struct status *status;

    TRY(client_watch_open(witness->client, witness->kind, STR(""), &options, &watch));
    while ((status = client_watch_next(watch, TASK_FOREVER, &event)) == NULL) {
        bool goes_on = take_event(witness, &event);

        arena_free(event.arena);
        if (!goes_on || witness->sim->verdict.is_bad) {
            break;
        }
    }
    client_watch_close(watch);
    return status;
}

static void witness_run(void *arg)
{
    struct witness *witness = arg;
    bool must_list = true;

    while (!task_is_cancelled() && !witness->sim->verdict.is_bad) {
        struct status *status = must_list ? list_once(witness) : watch_once(witness);

        must_list = must_list ? status != NULL
                              : env_random_below(RELIST_OF) == 0 || !status_is(status, STATUS_SERVICE_UNAVAILABLE);
        status_free(status);
        task_sleep((int64_t)env_random_below(PAUSE_MAX));
    }
}

struct witness *witness_new(struct sim *sim, struct history *history, const char *name, const struct kind *kind,
                            const char *node)
{
    struct witness *witness = MEM_NEW(struct witness);

    *witness = (struct witness){.sim = sim, .history = history, .name = name, .kind = kind, .node = node};
    witness->client = sim_client(sim, name);
    history_on_change(history, note, witness);
    task_group_init(&witness->tasks);
    task_group_spawn(&witness->tasks, name, witness_run, witness);
    return witness;
}

void witness_free(struct witness *witness)
{
    task_group_cancel(&witness->tasks);
    while (witness_missing(witness) > 0) {
        take_due(witness);
    }
    free(witness->due.items);
    map_done(&witness->view);
    client_free(witness->client);
    free(witness);
}
