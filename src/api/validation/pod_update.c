/* What may change in a pod that exists: little, since it runs already. */
#include "api/pod_qos.h"
#include "api/validation/kinds.h"
#include "api/validation/pod.h"
#include "base/buf.h"
#include "schema/copy.h"
#include "schema/map_of.h"

#include <limits.h>

#define UPDATABLE_FIELDS                                                                                               \
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "       \
    "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it "    \
    "was previously negative)"

static void check_deadline(struct status *to, const struct path *at, const int64_t *now, const int64_t *before)
{
    if (now == NULL) {
        if (before != NULL) {
            check_invalid_json(to, at, STR("null"), "must not update from a positive integer to nil value");
        }
    } else if (*now < 0 || *now > INT32_MAX) {
        check_invalid_int(to, at, *now, "must be between 0 and 2147483647, inclusive");
    } else if (before != NULL && *before < *now) {
        check_invalid_int(to, at, *now, "must be less than or equal to previous value");
    }
}

/* All of a toleration but for how long it lasts. */
static struct str toleration_key(struct arena *arena, const struct core_v1_toleration *toleration)
{
    return arena_printf(arena, "%.*s|%.*s|%.*s|%.*s", STR_ARG(toleration->effect), STR_ARG(toleration->operator),
                        STR_ARG(toleration->key), STR_ARG(toleration->value));
}

/* The old ones stay, but for how long they last. */
static void check_only_added(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                             const struct core_v1_pod_spec *old)
{
    OWNED(seen_done) struct seen seen = {0};

    LIST_EACH(now, &spec->tolerations) {
        seen_before(&seen, toleration_key(to->arena, now));
    }
    LIST_EACH(before, &old->tolerations) {
        if (!seen_has(&seen, toleration_key(to->arena, before))) {
            check_forbidden(to, at, "existing toleration can not be modified except its tolerationSeconds");
            return;
        }
    }
    check_tolerations(to, at, spec);
}

static void check_only_removed(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                               const struct core_v1_pod_spec *old)
{
    OWNED(seen_done) struct seen known = {0};

    LIST_EACH(gate, &old->scheduling_gates) {
        seen_before(&known, gate->name);
    }
    LIST_EACH(gate, &spec->scheduling_gates) {
        if (!seen_has(&known, gate->name)) {
            check_forbidden(to, ITEM(at, INDEX_OF(gate, &spec->scheduling_gates)),
                            "only deletion is allowed, but found new scheduling gate '%.*s'", STR_ARG(gate->name));
        }
    }
}

static bool check_same_count(struct status *to, const struct path *at, size_t now, size_t before)
{
    if (now != before) {
        check_forbidden(to, at, "pod updates may not add or remove containers");
    }
    return now == before;
}

static bool check_images(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                         const struct core_v1_pod_spec *old)
{
    if (!check_same_count(to, AT(at, "containers"), spec->containers.len, old->containers.len)) {
        return false;
    }
    LIST_EACH(container, &spec->containers) {
        check_present(to, AT(ITEM(AT(at, "containers"), INDEX_OF(container, &spec->containers)), "image"),
                      container->image);
    }
    if (!check_same_count(to, AT(at, "initContainers"), spec->init_containers.len, old->init_containers.len)) {
        return false;
    }
    LIST_EACH(container, &spec->init_containers) {
        check_present(to, AT(ITEM(AT(at, "initContainers"), INDEX_OF(container, &spec->init_containers)), "image"),
                      container->image);
    }
    return true;
}

/* The new spec with all that may change set back. */
static struct core_v1_pod_spec *set_back(struct arena *arena, const struct core_v1_pod_spec *spec,
                                         const struct core_v1_pod_spec *old)
{
    struct core_v1_pod_spec *same = schema_copy_shallow(arena, &core_v1_pod_spec_type, spec);

    for (size_t i = 0; i < same->containers.len; i++) {
        same->containers.items[i].image = old->containers.items[i].image;
    }
    for (size_t i = 0; i < same->init_containers.len; i++) {
        same->init_containers.items[i].image = old->init_containers.items[i].image;
    }
    same->active_deadline_seconds = old->active_deadline_seconds;
    same->tolerations = old->tolerations;
    same->scheduling_gates = old->scheduling_gates;
    if (old->scheduling_gates.len != 0) { /* not scheduled yet: where it may run can be narrowed */
        same->node_selector = old->node_selector;
        same->affinity = old->affinity;
    }
    if (old->termination_grace_period_seconds != NULL && *old->termination_grace_period_seconds < 0 &&
        same->termination_grace_period_seconds != NULL && *same->termination_grace_period_seconds == 1) {
        same->termination_grace_period_seconds = old->termination_grace_period_seconds;
    }
    return same;
}

void validate_pod_update(struct status *to, const void *object, const void *old_object)
{
    const struct core_v1_pod_spec *spec = &((const struct core_v1_pod *)object)->spec;
    const struct core_v1_pod_spec *old = &((const struct core_v1_pod *)old_object)->spec;
    const struct path *at = AT(NULL, "spec");

    if (!check_images(to, at, spec, old)) {
        return;
    }
    check_deadline(to, AT(at, "activeDeadlineSeconds"), spec->active_deadline_seconds, old->active_deadline_seconds);
    check_only_added(to, AT(at, "tolerations"), spec, old);
    check_only_removed(to, AT(at, "schedulingGates"), spec, old);
    if (to->cause_count != 0) {
        return;
    }
    const struct core_v1_pod_spec *same = set_back(to->arena, spec, old);

    if (!schema_equal(&core_v1_pod_spec_type, same, old)) {
        struct str diff = dump_diff(to->arena, &core_v1_pod_spec_type, old, same);

        check_forbidden(to, at, "pod updates may not change fields other than " UPDATABLE_FIELDS "\n%.*s",
                        STR_ARG(diff));
    }
}

static void check_statuses(struct status *to, const struct path *at, const struct core_v1_pod_status *status)
{
    OWNED(seen_done) struct seen types = {0};

    LIST_EACH(condition, &status->conditions) {
        const struct path *one = ITEM(AT(at, "conditions"), INDEX_OF(condition, &status->conditions));

        if (seen_before(&types, condition->type)) {
            check_duplicate(to, AT(one, "type"), condition->type);
        }
    }
}

void validate_pod_status(struct status *to, const void *object, const void *old_object)
{
    const struct core_v1_pod *pod = object, *old = old_object;

    if (!str_eq(pod->spec.node_name, old->spec.node_name)) {
        check_forbidden(to, AT(AT(NULL, "spec"), "nodeName"), "may not be changed directly");
    }
    check_statuses(to, AT(NULL, "status"), &pod->status);
}

void validate_pod_ephemeral(struct status *to, const void *object, const void *old_object)
{
    const struct core_v1_pod_spec *spec = &((const struct core_v1_pod *)object)->spec;
    const struct core_v1_pod_spec *old = &((const struct core_v1_pod *)old_object)->spec;
    const struct path *at = AT(AT(NULL, "spec"), "ephemeralContainers");

    check_pod_spec(to, AT(NULL, "spec"), spec);
    LIST_EACH(before, &old->ephemeral_containers) {
        struct str name = before->ephemeral_container_common.name;
        bool is_there = false;

        LIST_EACH(now, &spec->ephemeral_containers) {
            if (!str_eq(now->ephemeral_container_common.name, name)) {
                continue;
            }
            is_there = true;
            if (!schema_equal(&core_v1_ephemeral_container_type, now, before)) {
                check_forbidden(to, at, "existing ephemeral containers \"%.*s\" may not be changed\n%.*s",
                                STR_ARG(name),
                                STR_ARG(dump_diff(to->arena, &core_v1_ephemeral_container_type, before, now)));
            }
        }
        if (!is_there) {
            check_forbidden(to, at, "existing ephemeral containers \"%.*s\" may not be removed\n", STR_ARG(name));
        }
    }
}

static bool is_mutable(struct str resource)
{
    return str_is(resource, "cpu") || str_is(resource, "memory");
}

/* The amounts that can change are those of before, the rest stays. */
static void keep_amounts(struct arena *arena, struct quantity_map *map, const struct quantity_map *old)
{
    struct quantity_map same = {0};

    LIST_EACH(amount, map) {
        if (!is_mutable(amount->key)) {
            *LIST_ADD(arena, &same) = *amount;
        }
    }
    LIST_EACH(amount, old) {
        if (is_mutable(amount->key)) {
            quantity_map_set(arena, &same, amount->key, amount->value);
        }
    }
    *map = same;
}

/* The new spec with what a resize may change set back. */
static struct core_v1_pod_spec *unsize(struct arena *arena, const struct core_v1_pod_spec *spec,
                                       const struct core_v1_pod_spec *old)
{
    struct core_v1_pod_spec *same = schema_copy_shallow(arena, &core_v1_pod_spec_type, spec);

    for (size_t i = 0; i < same->containers.len && i < old->containers.len; i++) {
        struct core_v1_resource_requirements *now = &same->containers.items[i].resources;

        keep_amounts(arena, &now->limits, &old->containers.items[i].resources.limits);
        keep_amounts(arena, &now->requests, &old->containers.items[i].resources.requests);
        same->containers.items[i].resize_policy = old->containers.items[i].resize_policy;
    }
    for (size_t i = 0; i < same->init_containers.len && i < old->init_containers.len; i++) {
        struct core_v1_container *container = &same->init_containers.items[i];

        if (container->restart_policy != NULL && str_is(*container->restart_policy, "Always")) {
            keep_amounts(arena, &container->resources.limits, &old->init_containers.items[i].resources.limits);
            keep_amounts(arena, &container->resources.requests, &old->init_containers.items[i].resources.requests);
        }
    }
    return same;
}

static bool is_windows(const struct core_v1_pod_spec *spec)
{
    return spec->os != NULL && str_is(spec->os->name, "windows");
}

void validate_pod_resize(struct status *to, const void *object, const void *old_object)
{
    const struct core_v1_pod *pod = object, *old = old_object;
    struct str now = pod_qos_class(&pod->spec), before = pod_qos_class(&old->spec);

    check_pod_spec(to, AT(NULL, "spec"), &pod->spec);
    if (!str_eq(now, before)) {
        check_invalid_str(to, AT(NULL, "spec"), before, "Pod QOS Class may not change as a result of resizing");
    }
    if (is_windows(&old->spec)) {
        check_forbidden(to, KEY(NULL, STR("")), "windows pods cannot be resized");
    }
    if (!schema_equal(&core_v1_pod_spec_type, unsize(to->arena, &pod->spec, &old->spec), &old->spec)) {
        check_forbidden(to, AT(NULL, "spec"), "only cpu and memory resources are mutable");
    }
}
