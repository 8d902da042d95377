#include "controller/engine.h"

#include "base/env.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/planted.h"
#include "base/task.h"
#include "client/work_queue.h"
#include "controller/carry_out.h"
#include "controller/controller_ref.h"
#include "controller/watched.h"
#include "schema/object.h"
#include "schema/type.h"

#include <stdlib.h>
#include <string.h>

enum { WORKERS = 5, CONTROLLERS_MAX = 48 };

/* After this long a write that the informers have not shown is given up on (stock: ExpectationsTimeout). */
#define SEEN_WITHIN (300 * ENV_SECOND)

/* One controller at work. */
struct runner {
    struct engine *engine;
    const struct controller *controller;
    struct client *client; /* of its account */
    struct work_queue *queue;
    struct event_recorder *recorder;
    struct map after; /* key -> struct aftermath of its last plan */
};

struct extra_workers {
    const char *name;
    task_fn *work;
    void *arg;
    int count;
};

struct engine {
    struct client *client; /* that reads */
    struct accounts *accounts;
    const struct controller_settings *settings;
    struct arena *arena; /* subscriptions */
    struct watched_kinds *kinds;
    struct runner *runners[CONTROLLERS_MAX];
    size_t runner_count;
    VEC(struct extra_workers) extra;
    struct task_group tasks;
};

/* A handler's argument: which map function of which runner. */
struct subscription {
    struct runner *runner;
    const struct kind *kind;
    controller_map_fn *map;
};

struct engine *engine_new(struct client *client, struct accounts *accounts, const struct controller_settings *settings)
{
    struct engine *engine = MEM_NEW(struct engine);

    engine->client = client;
    engine->accounts = accounts;
    engine->settings = settings;
    engine->arena = arena_new();
    engine->kinds = watched_kinds_new(client);
    task_group_init(&engine->tasks);
    return engine;
}

/* The object itself when it is of the reconciled kind, else its controller. */
static void map_default(const struct subscription *subscription, const struct object *object, struct arena *arena,
                        struct str_list *ret)
{
    const struct kind *kind = subscription->runner->controller->kind;

    if (subscription->kind == kind) {
        *LIST_ADD(arena, ret) = world_key(arena, object->metadata.namespace, object->metadata.name);
        return;
    }
    const struct meta_v1_owner_reference *owner = controller_ref_find(&object->metadata);

    if (owner != NULL && str_eq(owner->kind, kind->kind)) {
        *LIST_ADD(arena, ret) =
            world_key(arena, kind->namespaced ? object->metadata.namespace : STR(""), owner->name);
    }
}

/* The flight recorder's step of an object that is new or has changed. */
static void record_observed(const struct subscription *subscription, const struct object *old,
                            const struct object *new)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct controller *controller = subscription->runner->controller;

    if (controller->observed == 0 || subscription->kind != controller->kind || new == NULL ||
        (old != NULL && old->metadata.generation == new->metadata.generation)) {
        return;
    }
    trace_emit(&(struct trace_span){
        .step = controller->observed,
        .start = env_wall(),
        .end = env_wall(),
        .uid = new->metadata.uid,
        .object = arena_printf(arena, "%.*s/%.*s/%.*s", STR_ARG(controller->kind->plural),
                               STR_ARG(new->metadata.namespace), STR_ARG(new->metadata.name)),
        .detail = arena_printf(arena, "generation %lld", (long long)new->metadata.generation),
    });
}

static void subscription_tell(void *arg, const void *old, const void *new)
{
    struct subscription *subscription = arg;
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct world_view view = {.kinds = subscription->runner->engine->kinds};
    struct world world = {.settings = subscription->runner->engine->settings,
                          .reader = &watched_reader,
                          .source = &view,
                          .now = env_wall(),
                          .arena = arena};
    struct str_list keys = {0};

    record_observed(subscription, old, new);
    world.gone = new == NULL;
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
    struct subscription *subscription = ARENA_NEW(runner->engine->arena, struct subscription);

    *subscription = (struct subscription){runner, kind, map};
    informer_on_change(watched_kinds_get(runner->engine->kinds, kind), subscription_tell, subscription);
}

void engine_add(struct engine *engine, const struct controller *controller)
{
    struct runner *runner = MEM_NEW(struct runner);

    if (engine->runner_count == CONTROLLERS_MAX) {
        mem_die("too many controllers");
    }
    *runner = (struct runner){.engine = engine, .controller = controller, .queue = work_queue_new()};
    runner->client = accounts_client(engine->accounts, controller->account);
    runner->recorder = event_recorder_new(runner->client, str_of(controller->name), STR(""));
    engine->runners[engine->runner_count++] = runner;
    subscribe(runner, controller->kind, controller->map);
    for (size_t i = 0; i < COUNT_OF(controller->watches) && controller->watches[i].kind != NULL; i++) {
        subscribe(runner, controller->watches[i].kind, controller->watches[i].map);
    }
}

struct watched_kinds *engine_kinds(struct engine *engine)
{
    return engine->kinds;
}

void engine_add_workers(struct engine *engine, const char *name, void (*work)(void *arg), void *arg, int count)
{
    *VEC_ADD(&engine->extra) = (struct extra_workers){name, work, arg, count};
}

/* Parks until the informers show everything that the key's last plan wrote. */
static void wait_seen(struct runner *runner, const struct aftermath *after)
{
    int64_t deadline = env_mono() + SEEN_WITHIN;

    if (planted(ENGINE_FORGETS_WRITES)) {
        return;
    }
    LIST_EACH(written, &after->written)
    {
        struct informer *informer = watched_kinds_find(runner->engine->kinds, written->kind);

        if (informer == NULL) {
            continue;
        }
        if (written->uid.n > 0) {
            informer_wait_deleting(informer, written->key, written->uid, deadline);
        } else {
            informer_wait_revision(informer, written->revision, deadline);
        }
    }
}

/* A write whose outcome is unknown may have happened: parks until the informers are as new as the server is now. */
static struct status *find_out(struct runner *runner, const struct aftermath *after)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    LIST_EACH(kind, &after->unsure)
    {
        struct informer *informer = watched_kinds_find(runner->engine->kinds, *kind);
        struct object_list *list;

        if (informer != NULL) {
            TRY(client_list(runner->engine->client, *kind, STR(""), &(struct client_list_options){.limit = 1}, arena,
                            (void **)&list));
            informer_wait_revision(informer, list->metadata.resource_version, env_mono() + SEEN_WITHIN);
        }
    }
    return NULL;
}

/* Decides, and carries out what was decided. The status is the caller's. */
static struct status *pass(struct runner *runner, struct str key, const struct aftermath *before,
                           struct aftermath *after)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct world_view view = {.kinds = runner->engine->kinds, .remember = true};
    struct world world = {.settings = runner->engine->settings,
                          .reader = &watched_reader,
                          .source = &view,
                          .now = env_wall(),
                          .arena = arena};
    struct plan plan = {.arena = arena};

    if (before != NULL) {
        world.failure = before->failure;
        world.failed_verb = before->failed_verb;
    }
    if (before != NULL) {
        memcpy(world.memory, before->memory, sizeof(world.memory));
    }
    if (runner->controller->gather != NULL) {
        void *gathered = NULL;

        TRY(runner->controller->gather(runner->client, &world, key, &gathered));
        world.gathered = gathered;
        view.seen.len = 0; /* looked at before the parks: not borrowed any more */
        world.now = env_wall();
    }
    TRY(runner->controller->plan(&world, key, &plan));
    memcpy(after->memory, plan.memory, sizeof(after->memory));
    if (plan.requeue_after > 0) {
        work_queue_add_after(runner->queue, key, plan.requeue_after);
    }
    if (plan.len == 0) {
        return NULL;
    }
    world_view_hold(&view, arena); /* the plan borrows from what was read, and carrying it out parks */
    carry_out(runner->client, runner->recorder, &plan, after);
    world_view_release(&view);
    return after->failure != NULL ? status_copy(after->failure) : NULL;
}

static bool is_worth_keeping(const struct aftermath *after)
{
    bool remembers = false;

    for (size_t i = 0; i < PLAN_MEMORY; i++) {
        remembers = remembers || after->memory[i] != 0;
    }
    return remembers || after->written.len > 0 || after->failure != NULL;
}

static void work_on(struct runner *runner, struct str key)
{
    struct aftermath *before = map_remove(&runner->after, key);
    struct aftermath *after = aftermath_new();

    if (before != NULL) {
        wait_seen(runner, before);
    }
    struct status *failure = before != NULL ? find_out(runner, before) : NULL;

    if (failure == NULL) {
        failure = pass(runner, key, before, after);
        aftermath_free(before);
    } else {
        aftermath_free(after);
        after = before; /* still to be found out */
    }
    if (runner->controller->serial) {
        wait_seen(runner, after);
    }
    if (is_worth_keeping(after)) {
        map_set(&runner->after, key, after);
    } else {
        aftermath_free(after);
    }
    if (failure == NULL) {
        work_queue_forget(runner->queue, key);
        work_queue_done(runner->queue, key);
        return;
    }
    if (!status_is(failure, STATUS_CONFLICT) && !status_is(failure, STATUS_CANCELLED)) {
        log_info("%s: %.*s: %.*s", runner->controller->name, STR_ARG(key), STR_ARG(failure->message));
    }
    if (status_is(failure, STATUS_UNAUTHORIZED)) {
        accounts_refused(runner->engine->accounts, runner->controller->account);
    }
    status_free(failure);
    work_queue_retry(runner->queue, key);
}

/* Parks until the informers of all that the controller reads are complete; false when cancelled. */
static bool wait_synced(struct runner *runner)
{
    const struct controller *controller = runner->controller;

    if (!informer_wait_synced(watched_kinds_find(runner->engine->kinds, controller->kind))) {
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(controller->watches) && controller->watches[i].kind != NULL; i++) {
        if (!informer_wait_synced(watched_kinds_find(runner->engine->kinds, controller->watches[i].kind))) {
            return false;
        }
    }
    return true;
}

static void runner_work(void *arg)
{
    struct runner *runner = arg;

    if (!wait_synced(runner) || !accounts_wait(runner->engine->accounts, runner->controller->account)) {
        return;
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
    watched_kinds_start(engine->kinds);
    for (size_t i = 0; i < engine->runner_count; i++) {
        const struct controller *controller = engine->runners[i]->controller;
        int workers = controller->serial ? 1 : controller->workers;

        for (int n = 0; n < (workers > 0 ? workers : WORKERS); n++) {
            task_group_spawn(&engine->tasks, controller->name, runner_work, engine->runners[i]);
        }
    }
    for (size_t i = 0; i < engine->extra.len; i++) {
        const struct extra_workers *extra = &engine->extra.items[i];

        for (int n = 0; n < extra->count; n++) {
            task_group_spawn(&engine->tasks, extra->name, extra->work, extra->arg);
        }
    }
    while (!task_is_cancelled()) {
        task_park(TASK_FOREVER);
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
    watched_kinds_free(engine->kinds);
    for (size_t i = 0; i < engine->runner_count; i++) {
        runner_free(engine->runners[i]);
    }
    free(engine->extra.items);
    arena_free(engine->arena);
    free(engine);
}
