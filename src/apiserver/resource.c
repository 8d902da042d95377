#include "apiserver/resource.h"

#include "api/custom_kind.h"
#include "api/kinds.h"
#include "apiserver/registry/strategy.h"
#include "base/mem.h"

#include <stdlib.h>

/* Resources whose folder in the store is not simply their plural. */
static const struct {
    const char *group, *plural, *folder;
} folders[] = {
    {"", "replicationcontrollers", "controllers"},
    {"", "endpoints", "services/endpoints"},
    {"", "services", "services/specs"},
    {"", "nodes", "minions"},
    {"networking.k8s.io", "ingresses", "ingress"},
    {"apiextensions.k8s.io", "customresourcedefinitions", "apiextensions.k8s.io/customresourcedefinitions"},
    {"apiregistration.k8s.io", "apiservices", "apiregistration.k8s.io/apiservices"},
};

/* Versions that lie in the store as another. */
static const struct {
    const char *group, *version, *plural, *stored_group, *stored_version, *stored_kind;
} stored_as[] = {
    {"autoscaling", "v1", "horizontalpodautoscalers", "autoscaling", "v2", "HorizontalPodAutoscaler"},
    {"events.k8s.io", "v1", "events", "", "v1", "Event"},
};

static const struct kind *stored_kind(const struct kind *kind)
{
    for (size_t i = 0; i < COUNT_OF(stored_as); i++) {
        if (str_is(kind->group, stored_as[i].group) && str_is(kind->version, stored_as[i].version) &&
            str_is(kind->plural, stored_as[i].plural)) {
            return kind_find(str_of(stored_as[i].stored_group), str_of(stored_as[i].stored_version),
                             str_of(stored_as[i].stored_kind));
        }
    }
    return kind;
}

/* Objects are kept when they can be listed or, at least, got and created; reviews and bindings can only be created. */
static bool is_kept(const struct kind *kind)
{
    return (kind->verbs & VERB_WATCH) != 0;
}

static struct str prefix_of(const struct kind *kind)
{
    struct str folder = kind->plural;
    OWNED(buf_done) struct buf text = {0};

    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        if (str_is(kind->group, folders[i].group) && str_is(kind->plural, folders[i].plural)) {
            folder = str_of(folders[i].folder);
        }
    }
    buf_printf(&text, "/registry/%.*s/", STR_ARG(folder));
    return str_of(mem_strdup(buf_cstr(&text)));
}

static struct str full_name(struct buf *text, struct str group, struct str version, struct str plural)
{
    buf_clear(text);
    buf_printf(text, "%.*s/%.*s/%.*s", STR_ARG(group), STR_ARG(version), STR_ARG(plural));
    return buf_str(text);
}

void resources_init(struct resources *resources)
{
    OWNED(buf_done) struct buf name = {0};

    *resources = (struct resources){.items = mem_zalloc_array(kinds_all_count, sizeof(struct resource))};
    for (size_t i = 0; i < kinds_all_count; i++) {
        const struct kind *kind = kinds_all[i];

        if (kind->plural.n == 0 || kind->verbs == 0 || kind->type->package->rank == 0) {
            continue;
        }
        struct resource *resource = &resources->items[resources->len++];

        *resource = (struct resource){.kind = kind, .stored = stored_kind(kind)};
        resource->form = resource->stored != kind;
        resource->strategy = strategy_of(kind);
        if (is_kept(kind)) {
            resource->prefix = prefix_of(resource->stored);
        }
        map_set(&resources->by_name, full_name(&name, kind->group, kind->version, kind->plural), resource);
    }
}

void resources_done(struct resources *resources)
{
    for (size_t i = 0; i < resources->len; i++) {
        free((char *)resources->items[i].prefix.p);
    }
    map_done(&resources->by_name);
    free(resources->custom.items);
    free(resources->items);
    *resources = (struct resources){0};
}

const struct resource *resources_find(const struct resources *resources, struct str group, struct str version,
                                      struct str plural)
{
    OWNED(buf_done) struct buf name = {0};

    return map_find(&resources->by_name, full_name(&name, group, version, plural));
}

size_t resources_count(const struct resources *resources)
{
    return resources->len + resources->custom.len;
}

const struct resource *resources_at(const struct resources *resources, size_t i)
{
    return i < resources->len ? &resources->items[i] : resources->custom.items[i - resources->len];
}

/* Groups by name, versions by stock's order of preference. */
static int discovery_cmp(const struct kind *a, const struct kind *b)
{
    int order = str_cmp(a->group, b->group);

    order = order != 0 ? order : custom_version_cmp(a->version, b->version);
    return order != 0 ? order : str_cmp(a->plural, b->plural);
}

void resources_add(struct resources *resources, const struct resource *resource)
{
    const struct kind *kind = resource->kind;
    OWNED(buf_done) struct buf name = {0};
    size_t at;

    *VEC_ADD(&resources->custom) = resource;
    for (at = resources->custom.len - 1; at > 0; at--) {
        if (discovery_cmp(resources->custom.items[at - 1]->kind, kind) <= 0) {
            break;
        }
        resources->custom.items[at] = resources->custom.items[at - 1];
    }
    resources->custom.items[at] = resource;
    map_set(&resources->by_name, full_name(&name, kind->group, kind->version, kind->plural),
            (void *)(uintptr_t)resource);
}

void resources_remove(struct resources *resources, const struct resource *resource)
{
    const struct kind *kind = resource->kind;
    OWNED(buf_done) struct buf name = {0};
    size_t len = 0;

    for (size_t i = 0; i < resources->custom.len; i++) {
        if (resources->custom.items[i] != resource) {
            resources->custom.items[len++] = resources->custom.items[i];
        }
    }
    resources->custom.len = len;
    map_remove(&resources->by_name, full_name(&name, kind->group, kind->version, kind->plural));
}

bool resources_group_is_custom(const struct resources *resources, struct str group)
{
    for (size_t i = 0; i < resources->len; i++) {
        if (str_eq(resources->items[i].kind->group, group)) {
            return false;
        }
    }
    return true;
}

bool resources_have_version(const struct resources *resources, struct str group, struct str version)
{
    for (size_t i = 0; i < resources_count(resources); i++) {
        const struct kind *kind = resources_at(resources, i)->kind;

        if (str_eq(kind->group, group) && str_eq(kind->version, version)) {
            return true;
        }
    }
    return false;
}

struct str resource_key(struct arena *arena, const struct resource *resource, struct str namespace, struct str name)
{
    return resource->kind->namespaced ? arena_printf(arena, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name))
                                      : arena_str(arena, name);
}

bool resource_is_stored(const struct resource *resource)
{
    return resource->prefix.n != 0;
}
