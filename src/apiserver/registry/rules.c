#include "apiserver/registry/rules.h"

#include "api/core_v1.h"
#include "api/custom_kind.h"
#include "api/defaults.h"
#include "api/validation.h"
#include "apiserver/errors.h"
#include "apiserver/registry/kinds.h"

void rules_default(struct arena *arena, const struct kind *kind, void *object)
{
    if (kind == &core_v1_secret_kind) {
        secret_fold(arena, object);
    }
    if (kind->custom != NULL) {
        custom_object_default(arena, kind, object);
    }
    api_defaults_apply(kind->type, object, arena);
}

static struct status *finish(const struct resource *resource, struct status *errors, const struct object *object)
{
    /* events of both groups are the older one's in errors */
    struct str group = str_is(resource->kind->kind, "Event") ? (struct str){0} : resource->kind->group;

    return error_invalid_finish(errors, group, resource->kind->kind, object->metadata.name);
}

struct status *rules_validate_create(struct arena *arena, const struct resource *resource, const struct object *object)
{
    struct status *errors = error_invalid_start();

    (void)arena;
    api_validate_create(resource->kind, object, errors);
    if (resource->kind->custom != NULL) {
        custom_object_validate(resource->kind, object, NULL, errors);
    }
    return finish(resource, errors, object);
}

struct status *rules_validate_update(struct arena *arena, const struct resource *resource, struct str subresource,
                                     const struct object *object, const struct object *old)
{
    struct status *errors = error_invalid_start();

    (void)arena;
    if (subresource.n != 0) {
        api_validate_update_subresource(resource->kind, subresource, object, old, errors);
    } else {
        api_validate_update(resource->kind, object, old, errors);
    }
    if (resource->kind->custom != NULL) {
        custom_object_validate(resource->kind, object, old, errors);
    }
    return finish(resource, errors, old);
}
