/* The number behind a pod's priority class, and only one class that is the default. */
#include "api/core_v1.h"
#include "api/scheduling_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"

#define GROUP "scheduling.k8s.io", "v1", "priorityclasses"

/* What the pod gets. */
struct priority {
    struct str class;
    int32_t value;
    struct str preemption;
};

static struct priority priority_of(struct arena *arena, const struct scheduling_v1_priority_class *class)
{
    struct str preemption = class->preemption_policy != NULL ? *class->preemption_policy : STR("PreemptLowerPriority");

    return (struct priority){arena_str(arena, class->metadata.name), class->value, arena_str(arena, preemption)};
}

/* Of several defaults (an earlier version allowed them) the lowest counts. */
static struct status *find_default(const struct admission_request *admission, struct priority *ret, bool *ret_found)
{
    OWNED(admission_walk_done) struct admission_walk walk = {0};
    const void *object;

    *ret = (struct priority){.preemption = STR("PreemptLowerPriority")};
    *ret_found = false;
    TRY(admission_walk_begin(&walk, admission, GROUP, (struct str){0}));
    for (;;) {
        TRY(admission_walk_next(&walk, &object));
        const struct scheduling_v1_priority_class *class = object;

        if (class == NULL) {
            return NULL;
        }
        if (class->global_default && (!*ret_found || class->value < ret->value)) {
            *ret = priority_of(admission->request->arena, class);
            *ret_found = true;
        }
    }
}

static struct status *find_named(const struct admission_request *admission, struct str name, struct priority *ret)
{
    const void *object;
    struct status *status = admission_find(admission, GROUP, (struct str){0}, name, &object);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return admission_forbidden(admission, "no PriorityClass with name %.*s was found", STR_ARG(name));
    }
    TRY(status);
    *ret = priority_of(admission->request->arena, object);
    return NULL;
}

static struct status *set(const struct admission_request *admission, const struct priority *priority,
                          struct core_v1_pod_spec *spec)
{
    struct arena *arena = admission->request->arena;

    if (spec->priority != NULL && *spec->priority != priority->value) {
        return admission_forbidden(admission,
                                   "the integer value of priority (%d) must not be provided in pod spec; priority "
                                   "admission controller computed %d from the given PriorityClass name",
                                   (int)*spec->priority, (int)priority->value);
    }
    if (spec->preemption_policy != NULL && !str_eq(*spec->preemption_policy, priority->preemption)) {
        return admission_forbidden(admission,
                                   "the string value of PreemptionPolicy (%.*s) must not be provided in pod spec; "
                                   "priority admission controller computed %.*s from the given PriorityClass name",
                                   STR_ARG(*spec->preemption_policy), STR_ARG(priority->preemption));
    }
    spec->priority_class_name = priority->class;
    spec->priority = ARENA_NEW(arena, int32_t);
    *spec->priority = priority->value;
    spec->preemption_policy = ARENA_NEW(arena, struct str);
    *spec->preemption_policy = priority->preemption;
    return NULL;
}

static struct status *mutate_pod(struct admission_request *admission)
{
    struct core_v1_pod_spec *spec = &((struct core_v1_pod *)admission->object)->spec;
    struct priority priority;
    bool found;

    if (admission->operation == ADMIT_UPDATE) {
        /* clients that don't know the fields don't mean to clear them */
        const struct core_v1_pod_spec *old = &((const struct core_v1_pod *)admission->old_object)->spec;

        spec->priority = spec->priority == NULL ? old->priority : spec->priority;
        spec->preemption_policy =
            spec->preemption_policy == NULL ? old->preemption_policy : spec->preemption_policy;
        return NULL;
    }
    if (spec->priority_class_name.n == 0) {
        TRY(find_default(admission, &priority, &found));
    } else {
        TRY(find_named(admission, spec->priority_class_name, &priority));
    }
    return set(admission, &priority, spec);
}

static struct status *mutate(struct admission_request *admission)
{
    return admission_is_about(admission, &core_v1_pod_kind) ? mutate_pod(admission) : NULL;
}

static struct status *validate(struct admission_request *admission)
{
    const struct scheduling_v1_priority_class *class = admission->object;
    struct priority other;
    bool found;

    if (!admission_is_about(admission, &scheduling_v1_priority_class_kind) || !class->global_default) {
        return NULL;
    }
    TRY(find_default(admission, &other, &found));
    if (found && !str_eq(other.class, class->metadata.name)) {
        return admission_forbidden(admission,
                                   "PriorityClass %.*s is already marked as default. Only one default can exist",
                                   STR_ARG(other.class));
    }
    return NULL;
}

const struct admission_plugin priority_plugin = {
    .name = "Priority",
    .operations = ADMIT_CREATE | ADMIT_UPDATE,
    .mutate = mutate,
    .validate = validate,
};
