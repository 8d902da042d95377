#include "apiserver/custom/serving.h"

#include "api/custom_kind.h"
#include "apiserver/registry/storage.h"
#include "apiserver/registry/strategy.h"
#include "base/mem.h"
#include "schema/copy.h"
#include "schema/object.h"

#include <stdlib.h>

/* What one state of a definition is served as. Requests may still hold one that is retired, so it stays until the server
 * ends; a definition's spec seldom changes. */
struct served {
    struct arena *arena; /* holds all below */
    const struct apiextensions_v1_custom_resource_definition *definition;
    struct resource *resources;
    size_t count;
    const struct resource *stored;
    struct watch_cache *cache;
    bool is_retired;
};

struct serving {
    struct apiserver *server;
    VEC(struct served *) items;
};

struct serving *serving_new(struct apiserver *server)
{
    struct serving *serving = MEM_NEW(struct serving);

    serving->server = server;
    return serving;
}

static struct served *find(const struct serving *serving, struct str name)
{
    for (size_t i = 0; i < serving->items.len; i++) {
        struct served *served = serving->items.items[i];

        if (!served->is_retired && str_eq(served->definition->metadata.name, name)) {
            return served;
        }
    }
    return NULL;
}

static void retire(struct serving *serving, struct served *served)
{
    for (size_t i = 0; i < served->count; i++) {
        if (served->resources[i].kind->verbs != 0) {
            resources_remove(&serving->server->resources, &served->resources[i]);
        }
    }
    served->is_retired = true;
    watch_cache_stop(served->cache);
}

/* The kinds first: what is stored must be known before the others. */
static void fill_resources(struct served *served)
{
    const struct apiextensions_v1_custom_resource_definition *definition = served->definition;
    struct arena *arena = served->arena;
    struct str prefix = arena_printf(arena, "/registry/%.*s/%.*s/", STR_ARG(definition->spec.group),
                                     STR_ARG(definition->spec.names.plural));
    const struct kind *stored = NULL;

    served->resources = ARENA_ARRAY(arena, struct resource, definition->spec.versions.len);
    LIST_EACH(version, &definition->spec.versions) {
        struct custom_kind *custom = custom_kind_new(arena, definition, version);
        struct resource *resource = &served->resources[served->count++];

        *resource = (struct resource){.kind = &custom->kind, .prefix = prefix, .strategy = strategy_of(&custom->kind)};
        if (version->storage) {
            stored = &custom->kind;
            served->stored = resource;
        } else {
            resource->form = (uint32_t)served->count;
        }
        if (!version->served) {
            custom->kind.verbs = 0; /* known, for the store, but not served */
        }
    }
    for (size_t i = 0; i < served->count; i++) {
        served->resources[i].stored = stored;
    }
}

void serving_set(struct serving *serving, const struct apiextensions_v1_custom_resource_definition *definition)
{
    struct served *old = find(serving, definition->metadata.name);
    struct apiserver *server = serving->server;

    if (old != NULL && str_eq(old->definition->metadata.uid, definition->metadata.uid) &&
        schema_equal(&apiextensions_v1_custom_resource_definition_spec_type, &old->definition->spec, &definition->spec) &&
        schema_equal(&apiextensions_v1_custom_resource_definition_names_type, &old->definition->status.accepted_names,
                     &definition->status.accepted_names)) {
        return;
    }
    struct served *served = MEM_NEW(struct served);

    served->arena = arena_new();
    served->definition = schema_copy(served->arena, &apiextensions_v1_custom_resource_definition_type, definition);
    fill_resources(served);
    served->cache = watch_cache_new(
        server->store, &(struct watch_cache_options){.prefix = served->stored->prefix,
                                                     .decode = storage_cache_decode,
                                                     .arg = (void *)(uintptr_t)served->stored->kind});
    if (old != NULL) {
        retire(serving, old);
    }
    for (size_t i = 0; i < served->count; i++) {
        served->resources[i].cache = served->cache;
        if (served->resources[i].kind->verbs != 0) {
            resources_add(&server->resources, &served->resources[i]);
        }
    }
    *VEC_ADD(&serving->items) = served;
}

void serving_drop(struct serving *serving, struct str name)
{
    struct served *served = find(serving, name);

    if (served != NULL) {
        retire(serving, served);
    }
}

void serving_keep_only(struct serving *serving, const struct str_list *names)
{
    for (size_t i = 0; i < serving->items.len; i++) {
        struct served *served = serving->items.items[i];

        if (!served->is_retired && !str_list_has(names, served->definition->metadata.name)) {
            retire(serving, served);
        }
    }
}

const struct resource *serving_stored(const struct serving *serving, struct str name)
{
    const struct served *served = find(serving, name);

    return served == NULL ? NULL : served->stored;
}

void serving_stop(struct serving *serving)
{
    for (size_t i = 0; i < serving->items.len; i++) {
        if (!serving->items.items[i]->is_retired) {
            watch_cache_stop(serving->items.items[i]->cache);
        }
    }
}

void serving_free(struct serving *serving)
{
    if (serving == NULL) {
        return;
    }
    for (size_t i = 0; i < serving->items.len; i++) {
        struct served *served = serving->items.items[i];

        watch_cache_free(served->cache);
        arena_free(served->arena);
        free(served);
    }
    free(serving->items.items);
    free(serving);
}
