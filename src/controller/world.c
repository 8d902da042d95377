#include "controller/world.h"

const void *world_find(const struct world *world, const struct kind *kind, struct str key)
{
    return world->reader->find(world->source, kind, key, world->arena);
}

const void *world_find_in(const struct world *world, const struct kind *kind, struct str namespace, struct str name)
{
    return world_find(world, kind, world_key(world->arena, namespace, name));
}

static struct object_pointers list(const struct world *world, const struct kind *kind, enum world_index index,
                                   struct str key)
{
    return world->reader->list(world->source, kind, index, key, world->arena);
}

struct object_pointers world_all(const struct world *world, const struct kind *kind)
{
    return list(world, kind, WORLD_ALL, STR(""));
}

struct object_pointers world_in_namespace(const struct world *world, const struct kind *kind, struct str namespace)
{
    return list(world, kind, WORLD_BY_NAMESPACE, namespace);
}

struct object_pointers world_owned(const struct world *world, const struct kind *kind, struct str uid)
{
    return list(world, kind, WORLD_BY_CONTROLLER, uid);
}

struct object_pointers world_claimable(const struct world *world, const struct kind *kind, struct str uid,
                                       struct str namespace)
{
    struct object_pointers owned = world_owned(world, kind, uid);
    struct object_pointers orphans = list(world, kind, WORLD_ORPHANS, namespace);
    struct object_pointers both = {ARENA_ARRAY(world->arena, const void *, owned.len + orphans.len), 0};

    for (size_t i = 0; i < owned.len; i++) {
        both.items[both.len++] = owned.items[i];
    }
    for (size_t i = 0; i < orphans.len; i++) {
        both.items[both.len++] = orphans.items[i];
    }
    return both;
}

struct str world_key(struct arena *arena, struct str namespace, struct str name)
{
    return namespace.n == 0 ? name : arena_printf(arena, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
}
