#include "controller/namespace_content.h"

#include "api/apiextensions_v1.h"
#include "api/kinds.h"
#include "controller/custom_kind.h"
#include "schema/object.h"
#include "schema/value.h"

#define METADATA_ONLY \
    STR("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json")

struct resources {
    const struct kind **items;
    size_t len;
};

static bool is_new(const struct resources *resources, const struct kind *kind)
{
    LIST_EACH(other, resources)
    {
        if (str_eq((*other)->group, kind->group) && str_eq((*other)->plural, kind->plural)) {
            return false;
        }
    }
    return true;
}

static void add_built_in(struct arena *arena, struct resources *resources)
{
    unsigned needed = VERB_LIST | VERB_DELETECOLLECTION;

    for (size_t i = 0; i < kinds_all_count; i++) {
        const struct kind *kind = kinds_all[i];

        if (kind->namespaced && kind->plural.n > 0 && (kind->verbs & needed) == needed && is_new(resources, kind)) {
            *LIST_ADD(arena, resources) = kind;
        }
    }
}

static struct status *add_custom(struct client *client, struct arena *arena, struct resources *resources)
{
    struct apiextensions_v1_custom_resource_definition_list *list;

    TRY(client_list(client, &apiextensions_v1_custom_resource_definition_kind, STR(""), NULL, arena, (void **)&list));
    LIST_EACH(definition, &list->items)
    {
        struct kind *kind = custom_kind_of(arena, definition);

        if (kind != NULL && kind->namespaced) {
            *LIST_ADD(arena, resources) = kind;
        }
    }
    return NULL;
}

static void count_finalizer(struct arena *arena, struct namespace_content *content, struct str name)
{
    LIST_EACH(known, &content->finalizers)
    {
        if (str_eq(known->name, name)) {
            known->count++;
            return;
        }
    }
    *LIST_ADD(arena, &content->finalizers) = (struct namespace_finalizer){name, 1};
}

static struct status *count(struct client *client, const struct kind *kind, struct str namespace, struct arena *arena,
                            struct namespace_content *ret)
{
    struct str body;
    struct value *list;
    struct status *status =
        client_get_raw(client, client_path(arena, kind, namespace, STR(""), STR("")), METADATA_ONLY, arena, &body);

    if (status != NULL) {
        /* What is not served, such as a custom resource whose definition has just gone, holds nothing. */
        return status_free_if(&status, STATUS_NOT_FOUND) || status_free_if(&status, STATUS_METHOD_NOT_ALLOWED)
                   ? NULL
                   : status;
    }
    TRY(value_read_json(arena, body, &list, NULL));
    const struct value *items = value_find(list, STR("items"));

    VALUE_EACH_ITEM(item, items)
    {
        VALUE_EACH_ITEM(finalizer, value_find_path(*item, "metadata.finalizers"))
        {
            count_finalizer(arena, ret, value_str(*finalizer));
        }
    }
    if (value_count(items) > 0) {
        *LIST_ADD(arena, ret) = (struct namespace_remainder){kind, (int64_t)value_count(items)};
    }
    return NULL;
}

struct status *namespace_content_list(struct client *client, struct str namespace, struct arena *arena,
                                      struct namespace_content *ret)
{
    struct resources resources = {0};

    *ret = (struct namespace_content){0};
    add_built_in(arena, &resources);
    TRY(add_custom(client, arena, &resources));
    LIST_EACH(kind, &resources)
    {
        TRY(count(client, *kind, namespace, arena, ret));
    }
    return NULL;
}
