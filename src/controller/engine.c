#include "controller/engine.h"

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/task.h"
#include "controller/carry_out.h"
#include "controller/controller_ref.h"
#include "schema/type.h"

#include <stdlib.h>

enum { WORKERS = 5, CONTROLLERS_MAX = 32, INFORMERS_MAX = 64 };

/* After this long a write that the informers have not shown is given up on (stock: ExpectationsTimeout). */
#define SEEN_WITHIN (300 * ENV_SECOND)

struct watched {
    struct informer *informer;
    const struct kind *kind;
    int by_controller, by_namespace; /* numbers of the indexes */
};

/* One controller at work. */
struct runner {
    struct engine *engine;
    const struct controller *controller;
    struct work_queue *queue;
    struct event_recorder *recorder;
    struct map after; /* key -> struct aftermath of its last plan */
};

struct engine {
    struct client *client;
    struct watched watched[INFORMERS_MAX];
    size_t watched_count;
    struct runner *runners[CONTROLLERS_MAX];
    size_t runner_count;
    struct task_group tasks;
};

/* A handler's argument: which map function of which runner. */
struct subscription {
    struct runner *runner;
    const struct kind *kind;
    controller_map_fn *map;
};

struct engine *engine_new(struct client *client)
{
    struct engine *engine = MEM_NEW(struct engine);

    engine->client = client;
    task_group_init(&engine->tasks);
    return engine;
}

static struct watched *watched_find(const struct engine *engine, const struct kind *kind)
{
    for (size_t i = 0; i < engine->watched_count; i++) {
        if (engine->watched[i].kind == kind) {
            return (struct watched *)(uintptr_t)&engine->watched[i];
        }
    }
    return NULL;
}

static struct watched *watched_get(struct engine *engine, const struct kind *kind)
{
    struct watched *watched = watched_find(engine, kind);

    if (watched != NULL) {
        return watched;
    }
    if (engine->watched_count == INFORMERS_MAX) {
        mem_die("too many kinds are watched");
    }
    watched = &engine->watched[engine->watched_count++];
    watched->kind = kind;
    watched->informer = informer_new(engine->client, kind, STR(""), NULL);
    watched->by_controller = informer_add_index(watched->informer, informer_index_by_controller);
    watched->by_namespace = informer_add_index(watched->informer, informer_index_by_namespace);
    return watched;
}

static struct str key_of(struct arena *arena, const struct object *object)
{
    if (object->metadata.namespace.n == 0) {
        return object->metadata.name;
    }
    return arena_printf(arena, "%.*s/%.*s", STR_ARG(object->metadata.namespace), STR_ARG(object->metadata.name));
}

/* The object itself when it is of the reconciled kind, else its controller. */
static void map_default(const struct subscription *subscription, const struct object *object, struct arena *arena,
                        struct str_list *ret)
{
    const struct kind *kind = subscription->runner->controller->kind;

    if (subscription->kind == kind) {
        *LIST_ADD(arena, ret) = key_of(arena, object);
        return;
    }
    const struct meta_v1_owner_reference *owner = controller_ref_find(&object->metadata);

    if (owner != NULL && str_eq(owner->kind, kind->kind)) {
        *LIST_ADD(arena, ret) =
            kind->namespaced
                ? arena_printf(arena, "%.*s/%.*s", STR_ARG(object->metadata.namespace), STR_ARG(owner->name))
                : owner->name;
    }
}

static void subscription_tell(void *arg, const void *old, const void *new)
{
    struct subscription *subscription = arg;
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct world world = {.engine = subscription->runner->engine, .now = env_wall(), .arena = arena};
    struct str_list keys = {0};
    const void *objects[] = {old, new}; /* the old one too: an owner that changed must hear of it */

    for (size_t i = 0; i < COUNT_OF(objects); i++) {
        if (objects[i] == NULL) {
            continue;
        }
        if (subscription->map != NULL) {
            subscription->map(&world, objects[i], &keys);
        } else {
            map_default(subscription, objects[i], arena, &keys);
        }
    }
    LIST_EACH(key, &keys)
    {
        work_queue_add(subscription->runner->queue, *key);
    }
}

static void subscribe(struct runner *runner, const struct kind *kind, controller_map_fn *map)
{
    struct subscription *subscription = MEM_NEW(struct subscription);

    *subscription = (struct subscription){runner, kind, map};
    informer_on_change(watched_get(runner->engine, kind)->informer, subscription_tell, subscription);
}

void engine_add(struct engine *engine, const struct controller *controller)
{
    struct runner *runner = MEM_NEW(struct runner);

    if (engine->runner_count == CONTROLLERS_MAX) {
        mem_die("too many controllers");
    }
    *runner = (struct runner){.engine = engine, .controller = controller, .queue = work_queue_new()};
    runner->recorder = event_recorder_new(engine->client, str_of(controller->name), STR(""));
    engine->runners[engine->runner_count++] = runner;
    subscribe(runner, controller->kind, NULL);
    for (size_t i = 0; i < COUNT_OF(controller->watches) && controller->watches[i].kind != NULL; i++) {
        subscribe(runner, controller->watches[i].kind, controller->watches[i].map);
    }
}

/* Parks until the informers show everything that the key's last plan wrote. */
static void wait_seen(struct runner *runner, const struct aftermath *after)
{
    int64_t deadline = env_mono() + SEEN_WITHIN;

    LIST_EACH(written, &after->written)
    {
        struct watched *watched = watched_find(runner->engine, written->kind);

        if (watched == NULL) {
            continue;
        }
        if (written->uid.n > 0) {
            informer_wait_deleting(watched->informer, written->key, written->uid, deadline);
        } else {
            informer_wait_revision(watched->informer, written->revision, deadline);
        }
    }
}

static void work_on(struct runner *runner, struct str key)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct aftermath *before = map_remove(&runner->after, key);

    if (before != NULL) {
        wait_seen(runner, before);
    }
    struct world world = {.engine = runner->engine, .now = env_wall(), .arena = arena};

    if (before != NULL) {
        world.failure = before->failure;
        world.failed_verb = before->failed_verb;
    }
    struct plan plan = {.arena = arena};
    struct aftermath *after = aftermath_new();
    struct status *failure = runner->controller->plan(&world, key, &plan);

    if (failure == NULL) {
        carry_out(runner->engine->client, runner->recorder, &plan, after);
        failure = status_copy(after->failure);
    }
    aftermath_free(before);
    map_set(&runner->after, key, after);
    if (plan.requeue_after > 0) {
        work_queue_add_after(runner->queue, key, plan.requeue_after);
    }
    if (failure == NULL) {
        if (after->written.len == 0) {
            aftermath_free(map_remove(&runner->after, key));
        }
        work_queue_forget(runner->queue, key);
        work_queue_done(runner->queue, key);
        return;
    }
    if (!status_is(failure, STATUS_CONFLICT) && !status_is(failure, STATUS_CANCELLED)) {
        log_info("%s: %.*s: %.*s", runner->controller->name, STR_ARG(key), STR_ARG(failure->message));
    }
    status_free(failure);
    work_queue_retry(runner->queue, key);
}

static void runner_work(void *arg)
{
    struct runner *runner = arg;

    for (size_t i = 0; i < runner->engine->watched_count; i++) {
        if (!informer_wait_synced(runner->engine->watched[i].informer)) {
            return;
        }
    }
    for (;;) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str key;

        if (!work_queue_get(runner->queue, arena, &key)) {
            return;
        }
        work_on(runner, key);
    }
}

void engine_run(struct engine *engine)
{
    for (size_t i = 0; i < engine->watched_count; i++) {
        informer_start(engine->watched[i].informer);
    }
    for (size_t i = 0; i < engine->runner_count; i++) {
        int workers = engine->runners[i]->controller->workers;

        for (int n = 0; n < (workers > 0 ? workers : WORKERS); n++) {
            task_group_spawn(&engine->tasks, engine->runners[i]->controller->name, runner_work, engine->runners[i]);
        }
    }
    while (task_park(TASK_FOREVER) || !task_is_cancelled()) {
    }
    task_group_cancel(&engine->tasks);
}

static void runner_free(struct runner *runner)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&runner->after, &at)) != NULL;) {
        aftermath_free(entry->value);
    }
    map_done(&runner->after);
    work_queue_free(runner->queue);
    event_recorder_free(runner->recorder);
    free(runner);
}

void engine_free(struct engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (size_t i = 0; i < engine->watched_count; i++) {
        informer_free(engine->watched[i].informer);
    }
    for (size_t i = 0; i < engine->runner_count; i++) {
        runner_free(engine->runners[i]);
    }
    free(engine);
}

struct informer *engine_informer(const struct engine *engine, const struct kind *kind)
{
    const struct watched *watched = watched_find(engine, kind);

    return watched != NULL ? watched->informer : NULL;
}

/* A decider that reads a kind nobody watches is a programmer's error. */
static const struct watched *watched_must(const struct world *world, const struct kind *kind)
{
    const struct watched *watched = watched_find(world->engine, kind);

    if (watched == NULL) {
        mem_die("a controller reads a kind that it does not watch");
    }
    return watched;
}

struct object_pointers world_owned(const struct world *world, const struct kind *kind, struct str uid)
{
    const struct watched *watched = watched_must(world, kind);

    return informer_find_by(watched->informer, watched->by_controller, uid, world->arena);
}

struct object_pointers world_in_namespace(const struct world *world, const struct kind *kind, struct str namespace)
{
    const struct watched *watched = watched_must(world, kind);

    return informer_find_by(watched->informer, watched->by_namespace, namespace, world->arena);
}

struct object_pointers world_all(const struct world *world, const struct kind *kind)
{
    return informer_all(watched_must(world, kind)->informer, world->arena);
}

const void *world_find(const struct world *world, const struct kind *kind, struct str key)
{
    return informer_find_key(watched_must(world, kind)->informer, key);
}
