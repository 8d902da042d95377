#include "apiserver/discovery/documents.h"

#include "api/apiextensions_v1.h"
#include "base/base64.h"
#include "net/crypto.h"

#include <stdlib.h>

/* The kinds of one group and version (an empty version: of all versions), by plural. */
struct kinds {
    const struct resource **items;
    size_t len;
};

static int by_plural(const void *a, const void *b)
{
    const struct resource *const *x = a, *const *y = b;

    return str_cmp((*x)->kind->plural, (*y)->kind->plural);
}

static struct kinds kinds_of(struct arena *arena, const struct resources *resources, struct str group,
                             struct str version)
{
    struct kinds kinds = {0};

    for (size_t i = 0; i < resources_count(resources); i++) {
        const struct kind *kind = resources_at(resources, i)->kind;

        if (str_eq(kind->group, group) && str_eq(kind->version, version)) {
            *LIST_ADD(arena, &kinds) = resources_at(resources, i);
        }
    }
    if (kinds.len != 0) {
        qsort(kinds.items, kinds.len, sizeof(*kinds.items), by_plural);
    }
    return kinds;
}

/* In the order of discovery, which prefers the first version. */
static struct str_list versions_of(struct arena *arena, const struct resources *resources, struct str group)
{
    struct str_list versions = {0};

    for (size_t i = 0; i < resources_count(resources); i++) {
        const struct kind *kind = resources_at(resources, i)->kind;
        bool is_new = str_eq(kind->group, group);

        for (size_t k = 0; k < versions.len && is_new; k++) {
            is_new = !str_eq(versions.items[k], kind->version);
        }
        if (is_new) {
            *LIST_ADD(arena, &versions) = kind->version;
        }
    }
    return versions;
}

static struct str_list groups_of(struct arena *arena, const struct resources *resources)
{
    struct str_list groups = {0};

    for (size_t i = 0; i < resources_count(resources); i++) {
        struct str group = resources_at(resources, i)->kind->group;
        bool is_new = group.n != 0;

        for (size_t k = 0; k < groups.len && is_new; k++) {
            is_new = !str_eq(groups.items[k], group);
        }
        if (is_new) {
            *LIST_ADD(arena, &groups) = group;
        }
    }
    return groups;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Never nil: a resource that takes no verb shows an empty list. */
static struct str_list verbs_of(struct arena *arena, unsigned verbs)
{
    struct str_list list = {.items = ARENA_ARRAY(arena, struct str, 8)};

    for (unsigned verb = 1; verb <= VERB_DELETECOLLECTION; verb <<= 1) {
        if ((verbs & verb) != 0) {
            list.items[list.len++] = verb_name((enum verb)verb);
        }
    }
    qsort(list.items, list.len, sizeof(struct str), by_text);
    return list;
}

/* Stock names the verbs of custom resources in an order of their own. */
static struct str_list verbs_of_kind(struct arena *arena, const struct kind *kind)
{
    static const struct str verbs[] = {STR_INIT("delete"), STR_INIT("deletecollection"), STR_INIT("get"),
                                       STR_INIT("list"),   STR_INIT("patch"),            STR_INIT("create"),
                                       STR_INIT("update"), STR_INIT("watch")};

    return kind->custom == NULL ? verbs_of(arena, kind->verbs)
                                : (struct str_list){.items = (struct str *)(uintptr_t)verbs, .len = COUNT_OF(verbs)};
}

static struct str group_version(struct arena *arena, struct str group, struct str version)
{
    return group.n == 0 ? version : arena_printf(arena, "%.*s/%.*s", STR_ARG(group), STR_ARG(version));
}

/* Tells a client when the stored form of a resource has changed: eight bytes of a digest over what it is.
 * Definitions of custom resources still go by the version they were first stored in. */
static struct str storage_version_hash(struct arena *arena, const struct kind *stored)
{
    unsigned char digest[SHA256_BYTES];
    struct str version = stored == &apiextensions_v1_custom_resource_definition_kind ? STR("v1beta1") : stored->version;

    crypto_sha256(
        arena_printf(arena, "%.*s/%.*s/%.*s", STR_ARG(stored->group), STR_ARG(version), STR_ARG(stored->kind)), digest);
    return base64_encode(arena, (struct str){(const char *)digest, 8});
}

struct meta_v1_api_versions *discovery_versions(struct arena *arena, struct str address)
{
    struct meta_v1_api_versions *versions = ARENA_NEW(arena, struct meta_v1_api_versions);

    *LIST_ADD(arena, &versions->versions) = STR("v1");
    *LIST_ADD(arena, &versions->server_address_by_client_cidrs) =
        (struct meta_v1_server_address_by_client_cidr){.client_cidr = STR("0.0.0.0/0"), .server_address = address};
    return versions;
}

static struct meta_v1_api_group group_of(struct arena *arena, const struct resources *resources, struct str name)
{
    struct str_list versions = versions_of(arena, resources, name);
    struct meta_v1_api_group group = {.name = name};

    LIST_EACH(version, &versions) {
        *LIST_ADD(arena, &group.versions) = (struct meta_v1_group_version_for_discovery){
            .group_version = group_version(arena, name, *version), .version = *version};
    }
    if (group.versions.len != 0) {
        group.preferred_version = group.versions.items[0];
    }
    return group;
}

struct meta_v1_api_group_list *discovery_groups(struct arena *arena, const struct resources *resources)
{
    struct meta_v1_api_group_list *list = ARENA_NEW(arena, struct meta_v1_api_group_list);
    struct str_list groups = groups_of(arena, resources);

    LIST_EACH(group, &groups) {
        *LIST_ADD(arena, &list->groups) = group_of(arena, resources, *group);
    }
    return list;
}

struct meta_v1_api_group *discovery_group(struct arena *arena, const struct resources *resources, struct str group)
{
    struct meta_v1_api_group *found = ARENA_NEW(arena, struct meta_v1_api_group);

    *found = group_of(arena, resources, group);
    return found->versions.len == 0 ? NULL : found;
}

static struct meta_v1_api_resource resource_of(struct arena *arena, const struct resource *resource)
{
    const struct kind *kind = resource->kind;

    return (struct meta_v1_api_resource){
        .name = kind->plural,
        .singular_name = kind->singular,
        .namespaced = kind->namespaced,
        .kind = kind->kind,
        .verbs = verbs_of_kind(arena, kind),
        .short_names = kind->short_names,
        .categories = kind->categories,
        .storage_version_hash =
            resource_is_stored(resource) ? storage_version_hash(arena, resource->stored) : (struct str){0},
    };
}

/* Subresources by name. */
static const struct subresource **subresources_of(struct arena *arena, const struct kind *kind)
{
    const struct subresource **sorted = ARENA_ARRAY(arena, const struct subresource *, kind->subresource_count);

    for (size_t i = 0; i < kind->subresource_count; i++) {
        size_t at = i;

        for (; at > 0 && str_cmp(sorted[at - 1]->name, kind->subresources[i].name) > 0; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = &kind->subresources[i];
    }
    return sorted;
}

static struct meta_v1_api_resource subresource_of(struct arena *arena, const struct kind *kind,
                                                  const struct subresource *sub)
{
    return (struct meta_v1_api_resource){
        .name = arena_printf(arena, "%.*s/%.*s", STR_ARG(kind->plural), STR_ARG(sub->name)),
        .namespaced = kind->namespaced,
        .group = sub->group,
        .version = sub->version,
        .kind = sub->kind,
        .verbs = verbs_of(arena, sub->verbs),
    };
}

struct meta_v1_api_resource_list *discovery_resources(struct arena *arena, const struct resources *resources,
                                                      struct str group, struct str version)
{
    struct kinds kinds = kinds_of(arena, resources, group, version);
    struct meta_v1_api_resource_list *list = ARENA_NEW(arena, struct meta_v1_api_resource_list);

    list->group_version = group_version(arena, group, version);
    LIST_EACH(resource, &kinds) {
        const struct kind *kind = (*resource)->kind;
        const struct subresource **subs = subresources_of(arena, kind);

        *LIST_ADD(arena, &list->resources) = resource_of(arena, *resource);
        for (size_t i = 0; i < kind->subresource_count; i++) {
            *LIST_ADD(arena, &list->resources) = subresource_of(arena, kind, subs[i]);
        }
    }
    return list->resources.len == 0 ? NULL : list;
}

static struct meta_v1_group_version_kind *response_kind(struct arena *arena, struct str group, struct str version,
                                                        struct str kind)
{
    struct meta_v1_group_version_kind *response = ARENA_NEW(arena, struct meta_v1_group_version_kind);

    *response = (struct meta_v1_group_version_kind){.group = group, .version = version, .kind = kind};
    return response;
}

static struct apidiscovery_v2_api_resource_discovery resource_discovery(struct arena *arena, const struct kind *kind)
{
    const struct subresource **subs = subresources_of(arena, kind);
    struct apidiscovery_v2_api_resource_discovery resource = {
        .resource = kind->plural,
        .response_kind = response_kind(arena, STR(""), STR(""), kind->kind),
        .scope = kind->namespaced ? STR("Namespaced") : STR("Cluster"),
        .singular_resource = kind->singular,
        .verbs = verbs_of_kind(arena, kind),
        .short_names = kind->short_names,
        .categories = kind->categories,
    };

    for (size_t i = 0; i < kind->subresource_count; i++) {
        *LIST_ADD(arena, &resource.subresources) = (struct apidiscovery_v2_api_subresource_discovery){
            .subresource = subs[i]->name,
            .response_kind = response_kind(arena, subs[i]->group, subs[i]->version, subs[i]->kind),
            .verbs = verbs_of(arena, subs[i]->verbs),
        };
    }
    return resource;
}

static struct apidiscovery_v2_api_group_discovery group_discovery(struct arena *arena,
                                                                  const struct resources *resources, struct str name)
{
    struct apidiscovery_v2_api_group_discovery group = {.metadata.name = name};
    struct str_list versions = versions_of(arena, resources, name);

    LIST_EACH(name_of_version, &versions) {
        struct kinds kinds = kinds_of(arena, resources, name, *name_of_version);
        struct apidiscovery_v2_api_version_discovery *version = LIST_ADD(arena, &group.versions);

        version->version = *name_of_version;
        version->freshness = STR("Current");
        LIST_EACH(resource, &kinds) {
            *LIST_ADD(arena, &version->resources) = resource_discovery(arena, (*resource)->kind);
        }
    }
    return group;
}

struct apidiscovery_v2_api_group_discovery_list *discovery_aggregated(struct arena *arena,
                                                                      const struct resources *resources, bool of_core)
{
    struct apidiscovery_v2_api_group_discovery_list *list =
        ARENA_NEW(arena, struct apidiscovery_v2_api_group_discovery_list);
    struct str_list groups = of_core ? (struct str_list){.items = &(struct str){0}, .len = 1}
                                     : groups_of(arena, resources);

    LIST_EACH(group, &groups) {
        *LIST_ADD(arena, &list->items) = group_discovery(arena, resources, *group);
    }
    return list;
}
