#include "client/informer.h"

#include "base/planted.h"
#include "schema/object.h"
#include "base/env.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "schema/copy.h"
#include "schema/type.h"

#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST (10 * ENV_MS)
#define BACKOFF_MAX (30 * ENV_SECOND)

/* A watch ends after one to two of these, so that no dead connection is believed in for long; client-go's. */
#define WATCH_SECONDS INT64_C(300)

enum { INDEXES_MAX = 4, HANDLERS_MAX = 32 };

/* The objects under one key of an index, in the order they came. */
struct bucket {
    VEC(struct cached *) members;
};

struct handler {
    informer_handler *fn;
    void *arg;
};

struct informer {
    struct client *client;
    const struct kind *kind;
    struct arena *arena; /* namespace and selectors */
    struct str namespace;
    struct client_list_options selectors;
    struct handler handlers[HANDLERS_MAX];
    size_t handler_count;
    informer_index_fn *index_fns[INDEXES_MAX];
    struct map indexes[INDEXES_MAX]; /* index key -> bucket */
    int index_count;
    struct map objects; /* key -> cached */
    char revision[32];  /* the newest resourceVersion seen */
    uint64_t revision_number;
    bool is_synced;
    struct cond changed; /* synced, or a newer revision */
    struct task_group tasks;
};

struct cached *cached_ref(struct cached *cached)
{
    cached->refs++;
    return cached;
}

void cached_unref(struct cached *cached)
{
    if (cached != NULL && --cached->refs == 0) {
        arena_free(cached->arena);
    }
}

struct informer *informer_new(struct client *client, const struct kind *kind, struct str namespace,
                              const struct client_list_options *selectors)
{
    struct informer *informer = MEM_NEW(struct informer);

    informer->client = client;
    informer->kind = kind;
    informer->arena = arena_new();
    informer->namespace = arena_str(informer->arena, namespace);
    if (selectors != NULL) {
        informer->selectors.label_selector = arena_str(informer->arena, selectors->label_selector);
        informer->selectors.field_selector = arena_str(informer->arena, selectors->field_selector);
    }
    cond_init(&informer->changed);
    task_group_init(&informer->tasks);
    return informer;
}

void informer_on_change(struct informer *informer, informer_handler *handler, void *arg)
{
    if (informer->handler_count == HANDLERS_MAX) {
        mem_die("too many handlers on an informer");
    }
    informer->handlers[informer->handler_count++] = (struct handler){handler, arg};
}

int informer_add_index(struct informer *informer, informer_index_fn *fn)
{
    for (int i = 0; i < informer->index_count; i++) {
        if (informer->index_fns[i] == fn) {
            return i;
        }
    }
    if (informer->index_count == INDEXES_MAX) {
        mem_die("too many indexes on an informer");
    }
    informer->index_fns[informer->index_count] = fn;
    return informer->index_count++;
}

static void index_add(struct map *index, struct str key, struct cached *cached)
{
    struct bucket *bucket = map_find(index, key);

    if (bucket == NULL) {
        bucket = MEM_NEW(struct bucket);
        map_set(index, key, bucket);
    }
    *VEC_ADD(&bucket->members) = cached;
}

static void index_remove(struct map *index, struct str key, struct cached *cached)
{
    struct bucket *bucket = map_find(index, key);

    for (size_t i = 0; bucket != NULL && i < bucket->members.len; i++) {
        if (bucket->members.items[i] == cached) {
            VEC_REMOVE(&bucket->members, i);
            break;
        }
    }
    if (bucket != NULL && bucket->members.len == 0) {
        map_remove(index, key);
        free(bucket->members.items);
        free(bucket);
    }
}

static void indexes_update(struct informer *informer, struct cached *cached, void (*update)(struct map *, struct str,
                                                                                             struct cached *))
{
    for (int i = 0; i < informer->index_count; i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str_list keys = {0};

        informer->index_fns[i](cached->object, arena, &keys);
        LIST_EACH(key, &keys)
        {
            update(&informer->indexes[i], *key, cached);
        }
    }
}

static struct str key_of(struct arena *arena, const void *object)
{
    const struct meta_v1_object_meta *metadata = &((const struct object *)object)->metadata;

    if (metadata->namespace.n == 0) {
        return arena_str(arena, metadata->name);
    }
    return arena_printf(arena, "%.*s/%.*s", STR_ARG(metadata->namespace), STR_ARG(metadata->name));
}

static void tell(struct informer *informer, const void *old, const void *new)
{
    for (size_t i = 0; i < informer->handler_count; i++) {
        informer->handlers[i].fn(informer->handlers[i].arg, old, new);
    }
}

/* Puts an object (taking its arena) in the place of the one with the same key, and tells. */
static void store_put(struct informer *informer, struct arena *arena, void *object)
{
    struct cached *cached = ARENA_NEW(arena, struct cached);

    *cached = (struct cached){.refs = 1, .arena = arena, .object = object, .key = key_of(arena, object)};
    struct cached *old = map_set(&informer->objects, cached->key, cached);

    if (old != NULL) {
        indexes_update(informer, old, index_remove);
    }
    indexes_update(informer, cached, index_add);
    tell(informer, old ? old->object : NULL, object);
    cached_unref(old);
}

static void store_remove(struct informer *informer, struct str key)
{
    struct cached *old = map_remove(&informer->objects, key);

    if (old != NULL) {
        indexes_update(informer, old, index_remove);
        tell(informer, old->object, NULL);
        cached_unref(old);
    }
}

static void saw_revision(struct informer *informer, struct str revision)
{
    uint64_t number;

    if (revision.n == 0 || revision.n >= sizeof(informer->revision)) {
        return;
    }
    memcpy(informer->revision, revision.p, revision.n);
    informer->revision[revision.n] = '\0';
    if (str_to_u64(revision, &number) && number > informer->revision_number) {
        informer->revision_number = number;
    }
    cond_broadcast(&informer->changed);
}

/* Takes in a whole list: what is new or changed is put, what is missing from it removed. */
static void replace_all(struct informer *informer, const struct object_list *list)
{
    struct map fresh = {0};
    OWNED(arena_freep) struct arena *arena = arena_new();
    const char *items = list->items.items;

    for (size_t i = 0; i < list->items.len; i++) {
        const struct object *object = (const void *)(items + i * informer->kind->type->size);
        struct str key = key_of(arena, object);
        struct cached *known = map_find(&informer->objects, key);

        map_set(&fresh, key, (void *)(uintptr_t)object);
        if (known != NULL && str_eq(((struct object *)known->object)->metadata.resource_version,
                                    object->metadata.resource_version)) {
            continue;
        }
        struct arena *own = arena_new();

        store_put(informer, own, schema_copy(own, informer->kind->type, object));
    }
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&informer->objects, &at)) != NULL;) {
        if (map_find(&fresh, entry->key) == NULL && !planted(INFORMER_KEEPS_THE_DEAD)) {
            store_remove(informer, arena_str(arena, entry->key));
        }
    }
    map_done(&fresh);
}

static struct status *list_once(struct informer *informer)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct object_list *list;

    TRY(client_list(informer->client, informer->kind, informer->namespace, &informer->selectors, arena,
                    (void **)&list));
    replace_all(informer, list);
    informer->is_synced = true;
    saw_revision(informer, list->metadata.resource_version);
    return NULL;
}

static void take_event(struct informer *informer, struct client_event *event)
{
    struct object *object = event->object;
    /* Borrowed from the object, which handlers and unref may let go: copied by saw_revision before that. */
    struct str revision = object->metadata.resource_version;
    char text[32];
    size_t size = revision.n < sizeof(text) ? revision.n : 0;

    memcpy(text, revision.p, size);
    if (event->type == CLIENT_ADDED || event->type == CLIENT_MODIFIED) {
        store_put(informer, event->arena, object);
    } else {
        if (event->type == CLIENT_DELETED) {
            store_remove(informer, key_of(event->arena, object));
        }
        arena_free(event->arena);
    }
    saw_revision(informer, (struct str){text, size});
}

/* Follows changes until the watch ends; `*ret_events` counts what came. */
static struct status *watch_once(struct informer *informer, size_t *ret_events)
{
    struct client_list_options options = informer->selectors;
    struct client_watch *watch;
    struct client_event event;
    struct status *status;

    options.resource_version = str_of(informer->revision);
    options.timeout_seconds = WATCH_SECONDS + (int64_t)env_random_below(WATCH_SECONDS);
    TRY(client_watch_open(informer->client, informer->kind, informer->namespace, &options, &watch));
    while ((status = client_watch_next(watch, TASK_FOREVER, &event)) == NULL) {
        ++*ret_events;
        take_event(informer, &event);
    }
    client_watch_close(watch);
    return status;
}

static void informer_run(void *arg)
{
    struct informer *informer = arg;
    int64_t delay = BACKOFF_FIRST;
    bool must_list = true;

    while (!task_is_cancelled()) {
        size_t events = 0;
        struct status *status = must_list ? list_once(informer) : watch_once(informer, &events);

        if (status == NULL) {
            must_list = false;
            delay = BACKOFF_FIRST;
            continue;
        }
        if (!must_list && status_is(status, STATUS_SERVICE_UNAVAILABLE) && events > 0) {
            delay = BACKOFF_FIRST; /* a watch that worked has ended: go on where it was */
        }
        must_list = must_list || status_is(status, STATUS_EXPIRED) || status_is(status, STATUS_GONE);
        if (!status_is(status, STATUS_CANCELLED) && !status_is(status, STATUS_SERVICE_UNAVAILABLE)) {
            log_debug("watching %.*s: %.*s", STR_ARG(informer->kind->plural), STR_ARG(status->message));
        }
        status_free(status);
        /* Jitter, so that clients of a restarted server do not come all at once. */
        task_sleep(delay + (int64_t)env_random_below((uint64_t)delay));
        delay = MIN(delay * 2, BACKOFF_MAX);
    }
}

void informer_start(struct informer *informer)
{
    task_group_spawn(&informer->tasks, "informer", informer_run, informer);
}

void informer_free(struct informer *informer)
{
    if (informer == NULL) {
        return;
    }
    if (!task_group_empty(&informer->tasks)) {
        task_group_cancel(&informer->tasks);
    }
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&informer->objects, &at)) != NULL;) {
        indexes_update(informer, entry->value, index_remove);
        cached_unref(entry->value);
    }
    map_done(&informer->objects);
    for (int i = 0; i < informer->index_count; i++) {
        map_done(&informer->indexes[i]);
    }
    arena_free(informer->arena);
    free(informer);
}

bool informer_is_synced(const struct informer *informer)
{
    return informer->is_synced;
}

bool informer_wait_synced(struct informer *informer)
{
    while (!informer->is_synced) {
        if (!cond_wait(&informer->changed, TASK_FOREVER)) {
            return false;
        }
    }
    return true;
}

bool informer_wait_revision(struct informer *informer, struct str revision, int64_t deadline)
{
    uint64_t number;

    if (!str_to_u64(revision, &number)) {
        return true;
    }
    while (informer->revision_number < number) {
        if (!cond_wait(&informer->changed, deadline)) {
            return false;
        }
    }
    return true;
}

bool informer_wait_deleting(struct informer *informer, struct str key, struct str uid, int64_t deadline)
{
    for (;;) {
        const struct object *object = informer_find_key(informer, key);

        if (object == NULL || !str_eq(object->metadata.uid, uid) || object->metadata.deletion_timestamp != NULL) {
            return true;
        }
        if (!cond_wait(&informer->changed, deadline)) {
            return false;
        }
    }
}

struct cached *informer_ref(const struct informer *informer, struct str key)
{
    struct cached *cached = map_find(&informer->objects, key);

    return cached != NULL ? cached_ref(cached) : NULL;
}

const void *informer_find_key(const struct informer *informer, struct str key)
{
    const struct cached *cached = map_find(&informer->objects, key);

    return cached != NULL ? cached->object : NULL;
}

const void *informer_find(const struct informer *informer, struct str namespace, struct str name)
{
    if (namespace.n == 0) {
        return informer_find_key(informer, name);
    }
    OWNED(arena_freep) struct arena *arena = arena_new();

    return informer_find_key(informer, arena_printf(arena, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name)));
}

static int by_key(const void *a, const void *b)
{
    return str_cmp((*(struct cached *const *)a)->key, (*(struct cached *const *)b)->key);
}

/* Sorts cached objects in place and turns them into pointers to the objects. */
static struct object_pointers sorted(struct arena *arena, struct cached **list, size_t len)
{
    struct object_pointers ret = {ARENA_ARRAY(arena, const void *, len), len};

    if (len > 1) {
        qsort(list, len, sizeof(*list), by_key);
    }
    for (size_t i = 0; i < len; i++) {
        ret.items[i] = list[i]->object;
    }
    return ret;
}

struct object_pointers informer_all(const struct informer *informer, struct arena *arena)
{
    struct cached **list = ARENA_ARRAY(arena, struct cached *, informer->objects.count);
    size_t len = 0, at = 0;

    for (struct map_entry *entry; (entry = map_next(&informer->objects, &at)) != NULL;) {
        list[len++] = entry->value;
    }
    return sorted(arena, list, len);
}

struct object_pointers informer_find_by(const struct informer *informer, int index, struct str key,
                                        struct arena *arena)
{
    const struct bucket *bucket = map_find(&informer->indexes[index], key);

    if (bucket == NULL) {
        return (struct object_pointers){0};
    }
    struct cached **list = ARENA_ARRAY(arena, struct cached *, bucket->members.len);

    memcpy(list, bucket->members.items, bucket->members.len * sizeof(*list));
    return sorted(arena, list, bucket->members.len);
}

size_t informer_count(const struct informer *informer)
{
    return informer->objects.count;
}

void informer_index_by_controller(const void *object, struct arena *arena, struct str_list *ret)
{
    LIST_EACH(reference, &((const struct object *)object)->metadata.owner_references)
    {
        if (reference->controller != NULL && *reference->controller) {
            *LIST_ADD(arena, ret) = reference->uid;
        }
    }
}

void informer_index_by_namespace(const void *object, struct arena *arena, struct str_list *ret)
{
    *LIST_ADD(arena, ret) = ((const struct object *)object)->metadata.namespace;
}
