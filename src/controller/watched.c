#include "controller/watched.h"

#include "base/mem.h"
#include "controller/controller_ref.h"
#include "schema/type.h"

#include <stdlib.h>

enum { KINDS_MAX = 1024 };

struct watched {
    struct informer *informer;
    const struct kind *kind;
    int by_controller, by_namespace, by_owner, orphans; /* numbers of the indexes */
};

struct watched_kinds {
    struct client *client;
    struct watched items[KINDS_MAX];
    size_t len;
    bool is_started;
};

struct watched_kinds *watched_kinds_new(struct client *client)
{
    struct watched_kinds *kinds = MEM_NEW(struct watched_kinds);

    kinds->client = client;
    return kinds;
}

static const struct watched *find(const struct watched_kinds *kinds, const struct kind *kind)
{
    for (size_t i = 0; i < kinds->len; i++) {
        if (kinds->items[i].kind == kind) {
            return &kinds->items[i];
        }
    }
    return NULL;
}

/* A decider that reads a kind nobody watches is a programmer's error. */
static const struct watched *find_must(const struct watched_kinds *kinds, const struct kind *kind)
{
    const struct watched *watched = find(kinds, kind);

    if (watched == NULL) {
        mem_die("a controller reads a kind that it does not watch");
    }
    return watched;
}

struct informer *watched_kinds_find(const struct watched_kinds *kinds, const struct kind *kind)
{
    const struct watched *watched = find(kinds, kind);

    return watched != NULL ? watched->informer : NULL;
}

static void index_orphans(const void *object, struct arena *arena, struct str_list *ret)
{
    const struct object *meta = object;

    if (controller_ref_find(&meta->metadata) == NULL) {
        *LIST_ADD(arena, ret) = meta->metadata.namespace;
    }
}

static void index_by_owner(const void *object, struct arena *arena, struct str_list *ret)
{
    LIST_EACH(reference, &((const struct object *)object)->metadata.owner_references)
    {
        *LIST_ADD(arena, ret) = reference->uid;
    }
}

struct informer *watched_kinds_get(struct watched_kinds *kinds, const struct kind *kind)
{
    struct informer *informer = watched_kinds_find(kinds, kind);

    if (informer != NULL) {
        return informer;
    }
    if (kinds->len == KINDS_MAX) {
        mem_die("too many kinds are watched");
    }
    informer = informer_new(kinds->client, kind, STR(""), NULL);
    kinds->items[kinds->len++] =
        (struct watched){.informer = informer,
                         .kind = kind,
                         .by_controller = informer_add_index(informer, informer_index_by_controller),
                         .by_namespace = informer_add_index(informer, informer_index_by_namespace),
                         .by_owner = informer_add_index(informer, index_by_owner),
                         .orphans = informer_add_index(informer, index_orphans)};
    return informer;
}

struct object_pointers watched_kinds_find_owned(const struct watched_kinds *kinds, const struct kind *kind,
                                                struct str uid, struct arena *arena)
{
    const struct watched *watched = find_must(kinds, kind);

    return informer_find_by(watched->informer, watched->by_owner, uid, arena);
}

bool watched_kinds_are_started(const struct watched_kinds *kinds)
{
    return kinds->is_started;
}

void watched_kinds_start(struct watched_kinds *kinds)
{
    kinds->is_started = true;
    for (size_t i = 0; i < kinds->len; i++) {
        informer_start(kinds->items[i].informer);
    }
}

void watched_kinds_free(struct watched_kinds *kinds)
{
    if (kinds == NULL) {
        return;
    }
    for (size_t i = 0; i < kinds->len; i++) {
        informer_free(kinds->items[i].informer);
    }
    free(kinds);
}

static void remember(struct world_view *view, struct informer *informer, const void *object, struct arena *arena)
{
    if (view->remember && object != NULL) {
        *LIST_ADD(arena, &view->seen) = (struct seen){informer, object};
    }
}

static const void *reader_find(void *source, const struct kind *kind, struct str key, struct arena *arena)
{
    struct world_view *view = source;
    struct informer *informer = find_must(view->kinds, kind)->informer;
    const void *object = informer_find_key(informer, key);

    remember(view, informer, object, arena);
    return object;
}

static struct object_pointers list(const struct watched *watched, enum world_index index, struct str key,
                                   struct arena *arena)
{
    switch (index) {
    case WORLD_ALL:
        return informer_all(watched->informer, arena);
    case WORLD_BY_NAMESPACE:
        return informer_find_by(watched->informer, watched->by_namespace, key, arena);
    case WORLD_BY_CONTROLLER:
        return informer_find_by(watched->informer, watched->by_controller, key, arena);
    case WORLD_ORPHANS:
        return informer_find_by(watched->informer, watched->orphans, key, arena);
    }
    return (struct object_pointers){0};
}

static struct object_pointers reader_list(void *source, const struct kind *kind, enum world_index index,
                                          struct str key, struct arena *arena)
{
    struct world_view *view = source;
    const struct watched *watched = find_must(view->kinds, kind);
    struct object_pointers objects = list(watched, index, key, arena);

    for (size_t i = 0; i < objects.len; i++) {
        remember(view, watched->informer, objects.items[i], arena);
    }
    return objects;
}

const struct world_reader watched_reader = {reader_find, reader_list};

void world_view_hold(struct world_view *view, struct arena *arena)
{
    LIST_EACH(seen, &view->seen)
    {
        const struct meta_v1_object_meta *metadata = &seen->object->metadata;
        struct cached *cached = informer_ref(seen->informer, world_key(arena, metadata->namespace, metadata->name));

        if (cached != NULL) {
            *LIST_ADD(arena, &view->held) = cached;
        }
    }
}

void world_view_release(struct world_view *view)
{
    LIST_EACH(cached, &view->held)
    {
        cached_unref(*cached);
    }
    view->held.len = 0;
}
