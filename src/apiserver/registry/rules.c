#include "apiserver/registry/rules.h"

#include "api/defaults.h"
#include "apiserver/errors.h"
#include "schema/names.h"

void rules_default(struct arena *arena, const struct kind *kind, void *object)
{
    api_defaults_apply(kind->type, object, arena);
}

static struct status *finish(const struct resource *resource, struct status *errors, const struct object *object)
{
    return error_invalid_finish(errors, resource->kind->group, resource->kind->kind, object->metadata.name);
}

struct status *rules_validate_create(struct arena *arena, const struct resource *resource, const struct object *object)
{
    struct status *errors = error_invalid_start();
    const struct meta_v1_object_meta *meta = &object->metadata;
    struct name_errors wrong = {0};

    if (meta->name.n == 0) {
        error_required(errors, STR("metadata.name"), "name or generateName is required");
    } else if (!name_is_path_segment(meta->name, &wrong)) {
        error_invalid_value(errors, STR("metadata.name"), arena_printf(arena, "\"%.*s\"", STR_ARG(meta->name)), "%.*s",
                            STR_ARG(name_errors_join(arena, &wrong, ",")));
    }
    return finish(resource, errors, object);
}

struct status *rules_validate_update(struct arena *arena, const struct resource *resource, struct str subresource,
                                     const struct object *object, const struct object *old)
{
    struct status *errors = error_invalid_start();

    if (!str_eq(object->metadata.name, old->metadata.name)) {
        error_invalid_value(errors, STR("metadata.name"),
                            arena_printf(arena, "\"%.*s\"", STR_ARG(object->metadata.name)), "field is immutable");
    }
    if (!str_eq(object->metadata.namespace, old->metadata.namespace)) {
        error_invalid_value(errors, STR("metadata.namespace"),
                            arena_printf(arena, "\"%.*s\"", STR_ARG(object->metadata.namespace)), "field is immutable");
    }
    if (!str_eq(object->metadata.uid, old->metadata.uid)) {
        error_invalid_value(errors, STR("metadata.uid"), arena_printf(arena, "\"%.*s\"", STR_ARG(object->metadata.uid)),
                            "field is immutable");
    }
    return finish(resource, errors, old);
}
