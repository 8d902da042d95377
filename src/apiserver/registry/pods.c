#include "apiserver/registry/kinds.h"

#include "api/core_v1.h"
#include "api/pod_qos.h"
#include "schema/copy.h"
#include "schema/timestamp.h"

#include <string.h>

/* A pod that waits for gates says so, from the beginning. */
static void show_gates(struct request *request, struct core_v1_pod *pod)
{
    if (pod->spec.scheduling_gates.len == 0) {
        return;
    }
    LIST_EACH(condition, &pod->status.conditions) {
        if (str_is(condition->type, "PodScheduled")) {
            return;
        }
    }
    struct core_v1_pod_condition *condition = LIST_ADD(request->arena, &pod->status.conditions);

    condition->type = STR("PodScheduled");
    condition->status = STR("False");
    condition->reason = STR("SchedulingGated");
    condition->message = STR("Scheduling is blocked due to non-empty scheduling gates");
}

/* The pod spec of a pod, or of any template; NULL when the kind has none. */
static struct core_v1_pod_spec *pod_spec_of(const struct kind *kind, void *object)
{
    static const char *const paths[][6] = {{"spec"},
                                           {"template", "spec"},
                                           {"spec", "template", "spec"},
                                           {"spec", "jobTemplate", "spec", "template", "spec"}};

    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        const struct type *type = kind->type;
        char *place = object;

        for (const char *const *name = paths[i]; *name != NULL && type != NULL; name++) {
            const struct type_member *member = type_member(type, str_of(*name));
            bool is_struct = member != NULL && member->field->kind == TYPE_STRUCT &&
                             (member->field->shape == SHAPE_PLAIN || member->field->shape == SHAPE_POINTER);

            type = is_struct ? member->field->type : NULL;
            place = is_struct ? place + member->offset : place;
            if (is_struct && member->field->shape == SHAPE_POINTER) {
                place = *(void **)(void *)place;
                type = place == NULL ? NULL : type;
            }
        }
        if (type == &core_v1_pod_spec_type) {
            return (void *)place;
        }
    }
    return NULL;
}

static void drop_stop_signal(struct core_v1_lifecycle **lifecycle)
{
    if (*lifecycle == NULL || (*lifecycle)->stop_signal == NULL) {
        return;
    }
    (*lifecycle)->stop_signal = NULL;
    if ((*lifecycle)->post_start == NULL && (*lifecycle)->pre_stop == NULL) {
        *lifecycle = NULL;
    }
}

void pod_spec_drop_disabled(const struct kind *kind, void *object)
{
    struct core_v1_pod_spec *spec = pod_spec_of(kind, object);

    if (spec == NULL) {
        return;
    }
    LIST_EACH(container, &spec->init_containers) {
        drop_stop_signal(&container->lifecycle);
    }
    LIST_EACH(container, &spec->containers) {
        drop_stop_signal(&container->lifecycle);
    }
    LIST_EACH(container, &spec->ephemeral_containers) {
        drop_stop_signal(&container->ephemeral_container_common.lifecycle);
    }
}

void pod_create(struct request *request, void *object)
{
    struct core_v1_pod *pod = object;

    memset(&pod->status, 0, sizeof pod->status);
    pod->status.phase = CORE_V1_POD_PENDING;
    pod->status.qos_class = pod_qos_class(&pod->spec);
    show_gates(request, pod);
}

void pod_update(struct request *request, void *object, const void *old)
{
    struct core_v1_pod *pod = object;

    pod->status = ((const struct core_v1_pod *)old)->status;
}

/* pods/resize takes nothing but the containers' resources and resize policies. */
static void take_resources(struct arena *arena, struct core_v1_pod *pod, const struct core_v1_pod *old)
{
    const struct core_v1_pod *asked = schema_copy_shallow(arena, &core_v1_pod_type, pod);
    struct core_v1_pod *result = schema_copy_shallow(arena, &core_v1_pod_type, old);

    LIST_EACH(container, &result->spec.containers) {
        LIST_EACH(from, &asked->spec.containers) {
            if (str_eq(from->name, container->name)) {
                container->resources = from->resources;
                container->resize_policy = from->resize_policy;
            }
        }
    }
    LIST_EACH(container, &result->spec.init_containers) {
        LIST_EACH(from, &asked->spec.init_containers) {
            if (str_eq(from->name, container->name)) {
                container->resources = from->resources;
                container->resize_policy = from->resize_policy;
            }
        }
    }
    result->spec.resources = asked->spec.resources;
    result->metadata = asked->metadata;
    result->metadata.labels = old->metadata.labels;
    result->metadata.annotations = old->metadata.annotations;
    result->metadata.owner_references.items = old->metadata.owner_references.items;
    result->metadata.owner_references.len = old->metadata.owner_references.len;
    *pod = *result;
}

void pod_update_subresource(struct request *request, struct str subresource, void *object, const void *old)
{
    struct core_v1_pod *pod = object;
    const struct core_v1_pod *before = old;

    if (str_is(subresource, "status")) {
        pod->metadata.owner_references.items = before->metadata.owner_references.items;
        pod->metadata.owner_references.len = before->metadata.owner_references.len;
        if (pod->status.qos_class.n == 0) {
            pod->status.qos_class = before->status.qos_class;
        }
    } else if (str_is(subresource, "ephemeralcontainers")) {
        __typeof__(pod->spec.ephemeral_containers) wanted = pod->spec.ephemeral_containers;
        struct meta_v1_object_meta meta = pod->metadata;

        *pod = *before;
        pod->metadata = meta;
        pod->spec.ephemeral_containers = wanted;
    } else if (str_is(subresource, "resize")) {
        take_resources(request->arena, pod, before);
    }
}
