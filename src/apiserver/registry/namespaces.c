#include "apiserver/registry/kinds.h"

#include "api/core_v1.h"
#include "apiserver/user.h"
#include "schema/map_of.h"

static const struct str finalizer = STR_INIT("kubernetes");

void namespace_create(struct request *request, void *object)
{
    struct core_v1_namespace *namespace = object;
    struct str_map *labels = &namespace->metadata.labels;

    namespace->status.phase = CORE_V1_NAMESPACE_ACTIVE;
    if (!str_list_has(&namespace->spec.finalizers, finalizer)) {
        str_list_add(request->arena, &namespace->spec.finalizers, finalizer);
    }
    *labels = str_map_copy(request->arena, labels);
    str_map_set(request->arena, labels, STR("kubernetes.io/metadata.name"), namespace->metadata.name);
}

void namespace_update(struct request *request, void *object, const void *old)
{
    struct core_v1_namespace *namespace = object;
    const struct core_v1_namespace *before = old;
    struct str_map *labels = &namespace->metadata.labels;

    namespace->spec.finalizers = before->spec.finalizers;
    namespace->status = before->status;
    *labels = str_map_copy(request->arena, labels);
    str_map_set(request->arena, labels, STR("kubernetes.io/metadata.name"), namespace->metadata.name);
}

/* /finalize changes spec.finalizers, /status the status. */
void namespace_update_subresource(struct request *request, struct str subresource, void *object, const void *old)
{
    struct core_v1_namespace *namespace = object;
    const struct core_v1_namespace *before = old;

    if (str_is(subresource, "finalize")) {
        namespace->status = before->status;
    }
}

bool namespace_holds(const struct object *object)
{
    return ((const struct core_v1_namespace *)object)->spec.finalizers.len != 0;
}

void namespace_deleting(struct arena *arena, struct object *object)
{
    (void)arena;
    ((struct core_v1_namespace *)object)->status.phase = CORE_V1_NAMESPACE_TERMINATING;
    object->metadata.deletion_grace_period_seconds = NULL;
}
