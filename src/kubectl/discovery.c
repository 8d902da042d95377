#include "kubectl/discovery.h"

#include "api/apidiscovery_v2.h"
#include "api/kinds.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/trace.h"
#include "schema/json.h"

#include <ctype.h>

#define ACCEPT_AGGREGATED                                                                                           \
    STR("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;" \
        "v=v2beta1;as=APIGroupDiscoveryList,application/json")

struct discovery {
    struct kind_list all, preferred;
};

static struct str lower(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    for (size_t i = 0; i < text.n; i++) {
        copy[i] = (char)tolower((unsigned char)copy[i]);
    }
    return (struct str){copy, text.n};
}

static const struct kind *kind_of(struct kubectl *k, struct str group, struct str version,
                                  const struct apidiscovery_v2_api_resource_discovery *resource)
{
    struct kind *kind = ARENA_NEW(k->arena, struct kind);
    const struct kind *known;

    kind->group = group;
    kind->version = version;
    if (resource->response_kind != NULL) {
        kind->kind = resource->response_kind->kind;
    }
    kind->api_version = group.n == 0 ? version
                                     : arena_printf(k->arena, "%.*s/%.*s", STR_ARG(group), STR_ARG(version));
    kind->plural = resource->resource;
    kind->singular = resource->singular_resource.n > 0 ? resource->singular_resource : lower(k->arena, kind->kind);
    kind->short_names = resource->short_names;
    kind->categories = resource->categories;
    kind->namespaced = str_is(resource->scope, "Namespaced");
    LIST_EACH(verb, &resource->verbs)
    {
        kind->verbs |= verb_of(*verb);
    }
    known = kind_find(group, version, kind->kind);
    if (known != NULL) {
        kind->type = known->type;
        kind->has_status = known->has_status;
        kind->subresources = known->subresources;
        kind->subresource_count = known->subresource_count;
    }
    return kind;
}

static bool has_resource(const struct kind_list *list, struct str group, struct str plural)
{
    LIST_EACH(kind, list)
    {
        if (str_eq((*kind)->group, group) && str_eq((*kind)->plural, plural)) {
            return true;
        }
    }
    return false;
}

static struct status *read_groups(struct kubectl *k, struct str path, struct discovery *discovery)
{
    struct apidiscovery_v2_api_group_discovery_list list = {0};
    struct str body;

    TRY(api_get_text(k, path, ACCEPT_AGGREGATED, &body));
    TRY(json_decode(k->arena, &apidiscovery_v2_api_group_discovery_list_type, body, &list, NULL));
    if (!str_is(list.type_meta.kind, "APIGroupDiscoveryList")) {
        return error_local("the server at %.*s does not offer aggregated discovery (it answered a %.*s)",
                           STR_ARG(k->config.server), STR_ARG(list.type_meta.kind));
    }
    LIST_EACH(group, &list.items)
    {
        LIST_EACH(version, &group->versions)
        {
            LIST_EACH(resource, &version->resources)
            {
                const struct kind *kind = kind_of(k, group->metadata.name, version->version, resource);

                *LIST_ADD(k->arena, &discovery->all) = kind;
                if (!has_resource(&discovery->preferred, kind->group, kind->plural)) {
                    *LIST_ADD(k->arena, &discovery->preferred) = kind;
                }
            }
        }
    }
    return NULL;
}

static struct status *discover(struct kubectl *k)
{
    if (k->discovery != NULL) {
        return NULL;
    }
    int64_t start = trace_now();
    struct discovery *discovery = ARENA_NEW(k->arena, struct discovery);
    struct status *status = read_groups(k, STR("/api"), discovery);

    if (status == NULL) {
        status = read_groups(k, STR("/apis"), discovery);
    }
    trace_step(k, TRACE_API_NEGOTIATION, start, status, "%zu resources of the server", discovery->all.len);
    TRY(status);
    k->discovery = discovery;
    return NULL;
}

struct status *discovery_all(struct kubectl *k, struct kind_list *ret)
{
    TRY(discover(k));
    *ret = k->discovery->all;
    return NULL;
}

struct status *discovery_preferred(struct kubectl *k, struct kind_list *ret)
{
    TRY(discover(k));
    *ret = k->discovery->preferred;
    return NULL;
}

static bool goes_by(const struct kind *kind, struct str name)
{
    return str_eq(kind->plural, name) || str_eq(kind->singular, name);
}

/* "RESOURCE.VERSION.GROUP", then "RESOURCE.GROUP" where GROUP may be the beginning of one, then short names. */
static const struct kind *find(const struct discovery *discovery, struct str word)
{
    struct str resource, rest, version, group;
    bool has_group = str_cut(word, '.', &resource, &rest);

    if (has_group && str_cut(rest, '.', &version, &group)) {
        LIST_EACH(kind, &discovery->all)
        {
            if (goes_by(*kind, resource) && str_eq((*kind)->version, version) && str_eq((*kind)->group, group)) {
                return *kind;
            }
        }
    }
    LIST_EACH(kind, &discovery->preferred)
    {
        if (goes_by(*kind, resource) && (!has_group || str_has_prefix((*kind)->group, rest))) {
            return *kind;
        }
    }
    LIST_EACH(kind, &discovery->preferred)
    {
        LIST_EACH(short_name, &(*kind)->short_names)
        {
            if (str_eq(*short_name, resource) && (!has_group || str_has_prefix((*kind)->group, rest))) {
                return *kind;
            }
        }
    }
    return NULL;
}

struct status *discovery_find(struct kubectl *k, struct str word, const struct kind **ret)
{
    TRY(discover(k));
    *ret = find(k->discovery, lower(k->arena, word));
    return *ret != NULL ? NULL
                        : error_local("the server doesn't have a resource type \"%.*s\"", STR_ARG(word));
}

struct status *discovery_find_kind(struct kubectl *k, struct str api_version, struct str kind, const struct kind **ret)
{
    TRY(discover(k));
    *ret = NULL;
    LIST_EACH(candidate, &k->discovery->all)
    {
        if (str_eq((*candidate)->api_version, api_version) && str_eq((*candidate)->kind, kind)) {
            *ret = *candidate;
            break;
        }
    }
    return NULL;
}

struct status *discovery_category(struct kubectl *k, struct str category, struct kind_list *ret)
{
    TRY(discover(k));
    *ret = (struct kind_list){0};
    LIST_EACH(kind, &k->discovery->preferred)
    {
        LIST_EACH(each, &(*kind)->categories)
        {
            if (str_eq(*each, category)) {
                *LIST_ADD(k->arena, ret) = *kind;
            }
        }
    }
    return NULL;
}

struct str kind_label(struct arena *arena, const struct kind *kind)
{
    return kind->group.n == 0 ? kind->singular
                              : arena_printf(arena, "%.*s.%.*s", STR_ARG(kind->singular), STR_ARG(kind->group));
}

struct str kind_resource(struct arena *arena, const struct kind *kind)
{
    return kind->group.n == 0 ? kind->plural
                              : arena_printf(arena, "%.*s.%.*s", STR_ARG(kind->plural), STR_ARG(kind->group));
}
