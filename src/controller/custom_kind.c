#include "controller/custom_kind.h"

#include "schema/meta_v1.h"

static struct str served_version(const struct apiextensions_v1_custom_resource_definition *definition)
{
    LIST_EACH(version, &definition->spec.versions)
    {
        if (version->served) {
            return version->name;
        }
    }
    return (struct str){0};
}

/* A type without a package travels as JSON: custom resources have no other form. */
static const struct type *as_json(struct arena *arena, const struct type *type)
{
    struct type *copy = ARENA_NEW(arena, struct type);

    *copy = *type;
    copy->package = NULL;
    return copy;
}

struct kind *custom_kind_of(struct arena *arena, const struct apiextensions_v1_custom_resource_definition *definition)
{
    struct str version = served_version(definition);
    struct kind *kind = ARENA_NEW(arena, struct kind), *list = ARENA_NEW(arena, struct kind);

    if (version.n == 0) {
        return NULL;
    }
    *kind = (struct kind){
        .group = arena_str(arena, definition->spec.group),
        .version = arena_str(arena, version),
        .kind = arena_str(arena, definition->spec.names.kind),
        .api_version = arena_printf(arena, "%.*s/%.*s", STR_ARG(definition->spec.group), STR_ARG(version)),
        .plural = arena_str(arena, definition->spec.names.plural),
        .verbs = VERB_GET | VERB_LIST | VERB_WATCH | VERB_PATCH | VERB_DELETE | VERB_DELETECOLLECTION,
        .namespaced = str_is(definition->spec.scope, "Namespaced"),
        .type = as_json(arena, &meta_v1_partial_object_metadata_type),
        .list = list,
    };
    *list = (struct kind){
        .group = kind->group,
        .version = kind->version,
        .kind = arena_printf(arena, "%.*sList", STR_ARG(kind->kind)),
        .api_version = kind->api_version,
        .type = as_json(arena, &meta_v1_partial_object_metadata_list_type),
        .item = kind,
    };
    return kind;
}

bool custom_kind_is_established(const struct apiextensions_v1_custom_resource_definition *definition)
{
    LIST_EACH(condition, &definition->status.conditions)
    {
        if (str_is(condition->type, "Established")) {
            return str_is(condition->status, "True");
        }
    }
    return false;
}
