#include "controller/pod_template.h"

#include "controller/controller_ref.h"
#include "schema/map_of.h"

struct core_v1_pod *pod_template_pod(struct arena *arena, const struct core_v1_pod_template_spec *template,
                                     const struct kind *owner_kind, const void *owner)
{
    const struct object *object = owner;
    struct core_v1_pod *pod = ARENA_NEW(arena, struct core_v1_pod);

    pod->metadata.generate_name = arena_printf(arena, "%.*s-", STR_ARG(object->metadata.name));
    pod->metadata.namespace = object->metadata.namespace;
    pod->metadata.labels = str_map_copy(arena, &template->metadata.labels);
    pod->metadata.annotations = str_map_copy(arena, &template->metadata.annotations);
    LIST_EACH(finalizer, &template->metadata.finalizers)
    {
        *LIST_ADD(arena, &pod->metadata.finalizers) = *finalizer;
    }
    *LIST_ADD(arena, &pod->metadata.owner_references) = controller_ref_to(arena, owner_kind, object);
    pod->spec = template->spec;
    return pod;
}

void pod_template_create(struct plan *plan, const struct core_v1_pod *pod, int batch, const struct kind *owner_kind,
                         const void *owner)
{
    plan_create(plan, &core_v1_pod_kind, pod);
    plan_last(plan)->batch = batch;
    plan_last(plan)->note = (struct plan_note){
        .kind = owner_kind,
        .about = owner,
        .done_reason = "SuccessfulCreate",
        .done_format = "Created pod: %s",
        .failed_reason = "FailedCreate",
        .failed_format = "Error creating: %s",
    };
}

void pod_template_delete(struct plan *plan, const struct core_v1_pod *pod, int batch, const struct kind *owner_kind,
                         const void *owner)
{
    plan_delete(plan, &core_v1_pod_kind, pod);
    plan_last(plan)->batch = batch;
    plan_last(plan)->note = (struct plan_note){
        .kind = owner_kind,
        .about = owner,
        .done_reason = "SuccessfulDelete",
        .done_format = "Deleted pod: %s",
        .failed_reason = "FailedDelete",
        .failed_format = "Error deleting: %s",
    };
}
