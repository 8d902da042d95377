#include "api/apiextensions_v1.h"
#include "apiserver/custom/conditions.h"
#include "apiserver/registry/kinds.h"
#include "apiserver/user.h"

/* The version that is stored joins those that ever were. */
void resource_definition_create(struct request *request, void *object)
{
    struct apiextensions_v1_custom_resource_definition *definition = object;
    struct str_list stored = {0};
    bool is_there = false;

    LIST_EACH(version, &definition->status.stored_versions) {
        *LIST_ADD(request->arena, &stored) = *version;
    }
    LIST_EACH(version, &definition->spec.versions) {
        if (!version->storage) {
            continue;
        }
        LIST_EACH(other, &stored) {
            is_there |= str_eq(*other, version->name);
        }
        if (!is_there) {
            *LIST_ADD(request->arena, &stored) = version->name;
        }
        break;
    }
    definition->status.stored_versions = stored;
}

void resource_definition_update(struct request *request, void *object, const void *old)
{
    (void)old;
    resource_definition_create(request, object);
}

/* The first delete only marks it: its objects go first, and a finalizer waits for that. */
bool resource_definition_holds(const struct object *object)
{
    return object->metadata.deletion_timestamp == NULL;
}

void resource_definition_deleting(struct arena *arena, struct object *object)
{
    struct apiextensions_v1_custom_resource_definition *definition =
        (struct apiextensions_v1_custom_resource_definition *)object;
    static const struct str finalizer = STR_INIT("customresourcecleanup.apiextensions.k8s.io");

    object->metadata.deletion_grace_period_seconds = NULL;
    if (!str_list_has(&object->metadata.finalizers, finalizer)) {
        *LIST_APPEND(arena, &object->metadata.finalizers) = finalizer;
    }
    condition_set(arena, definition, "Terminating", "True", "InstanceDeletionPending",
                  "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon");
}
