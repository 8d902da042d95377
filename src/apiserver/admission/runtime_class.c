/* A pod with a runtime class takes over what the class costs and where it can run. */
#include "api/core_v1.h"
#include "api/node_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

/* Everything the class lends must outlive the walk: single objects come in the request's arena. */
static struct status *find_class(const struct admission_request *admission, const struct core_v1_pod_spec *spec,
                                 const struct node_v1_runtime_class **ret)
{
    const void *object;

    *ret = NULL;
    if (spec->runtime_class_name == NULL) {
        return NULL;
    }
    struct status *status = admission_find(admission, "node.k8s.io", "v1", "runtimeclasses", (struct str){0},
                                           *spec->runtime_class_name, &object);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return admission_forbidden(admission, "pod rejected: RuntimeClass \"%.*s\" not found",
                                   STR_ARG(*spec->runtime_class_name));
    }
    TRY(status);
    *ret = object;
    return NULL;
}

static bool same_amounts(const struct quantity_map *a, const struct quantity_map *b)
{
    if (a->len != b->len) {
        return false;
    }
    LIST_EACH(entry, a) {
        const struct quantity *other = quantity_map_get(b, entry->key);

        if (other == NULL || quantity_cmp(entry->value, *other) != 0) {
            return false;
        }
    }
    return true;
}

static struct status *set_overhead(const struct admission_request *admission, struct core_v1_pod_spec *spec,
                                   const struct node_v1_overhead *overhead)
{
    if (overhead == NULL) {
        return NULL;
    }
    if (spec->overhead.len != 0 && !same_amounts(&spec->overhead, &overhead->pod_fixed)) {
        return admission_forbidden(admission,
                                   "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    spec->overhead = overhead->pod_fixed;
    return NULL;
}

static bool has_toleration(const struct core_v1_pod_spec *spec, const struct core_v1_toleration *wanted)
{
    LIST_EACH(toleration, &spec->tolerations) {
        if (schema_equal(&core_v1_toleration_type, toleration, wanted)) {
            return true;
        }
    }
    return false;
}

static struct status *set_scheduling(const struct admission_request *admission, struct core_v1_pod_spec *spec,
                                     const struct node_v1_scheduling *scheduling)
{
    struct arena *arena = admission->request->arena;

    if (scheduling == NULL) {
        return NULL;
    }
    LIST_EACH(entry, &scheduling->node_selector) {
        struct str own = str_map_get(&spec->node_selector, entry->key);

        if (own.p != NULL && !str_eq(own, entry->value)) {
            return admission_forbidden(admission,
                                       "conflict: runtimeClass.scheduling.nodeSelector[%.*s] = %.*s; "
                                       "pod.spec.nodeSelector[%.*s] = %.*s",
                                       STR_ARG(entry->key), STR_ARG(entry->value), STR_ARG(entry->key), STR_ARG(own));
        }
    }
    LIST_EACH(entry, &scheduling->node_selector) {
        str_map_set(arena, &spec->node_selector, entry->key, entry->value);
    }
    LIST_EACH(toleration, &scheduling->tolerations) {
        if (!has_toleration(spec, toleration)) {
            *LIST_APPEND(arena, &spec->tolerations) = *toleration;
        }
    }
    return NULL;
}

static struct status *mutate(struct admission_request *admission)
{
    struct core_v1_pod_spec *spec = &((struct core_v1_pod *)admission->object)->spec;
    const struct node_v1_runtime_class *class;

    if (!admission_is_about(admission, &core_v1_pod_kind)) {
        return NULL;
    }
    TRY(find_class(admission, spec, &class));
    if (class == NULL) {
        return NULL;
    }
    TRY(set_overhead(admission, spec, class->overhead));
    return set_scheduling(admission, spec, class->scheduling);
}

static struct status *validate(struct admission_request *admission)
{
    const struct core_v1_pod_spec *spec = &((const struct core_v1_pod *)admission->object)->spec;
    const struct node_v1_runtime_class *class;

    if (!admission_is_about(admission, &core_v1_pod_kind)) {
        return NULL;
    }
    TRY(find_class(admission, spec, &class));
    if (spec->overhead.len != 0 && (class == NULL || class->overhead == NULL)) {
        return admission_forbidden(
            admission, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
    }
    return NULL;
}

const struct admission_plugin runtime_class_plugin = {
    .name = "RuntimeClass",
    .operations = ADMIT_CREATE,
    .mutate = mutate,
    .validate = validate,
};
