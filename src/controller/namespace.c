/* A namespace that is being deleted: its content goes, pods before all else, then it is let go itself. */
#include "controller/controllers.h"

#include "api/core_v1.h"
#include "base/buf.h"
#include "base/env.h"
#include "controller/namespace_content.h"
#include "schema/copy.h"

#include <stdlib.h>

#define FINALIZER "kubernetes"
#define LOOK_AGAIN (2 * ENV_SECOND)

static bool has_finalizer(const struct core_v1_namespace *namespace)
{
    LIST_EACH(finalizer, &namespace->spec.finalizers)
    {
        if (str_is(*finalizer, FINALIZER)) {
            return true;
        }
    }
    return false;
}

static bool is_ending(const struct core_v1_namespace *namespace)
{
    return namespace != NULL && namespace->metadata.deletion_timestamp != NULL && has_finalizer(namespace);
}

static struct status *gather(struct client *client, const struct world *world, struct str key, void **ret)
{
    if (!is_ending(world_find(world, &core_v1_namespace_kind, key))) {
        return NULL;
    }
    struct namespace_content *content = ARENA_NEW(world->arena, struct namespace_content);

    TRY(namespace_content_list(client, key, world->arena, content));
    *ret = content;
    return NULL;
}

static void set_condition(const struct world *world, struct core_v1_namespace *namespace, const char *type,
                          bool holds, const char *reason, struct str message)
{
    struct core_v1_namespace_condition wanted = {
        .type = str_of(type),
        .status = holds ? STR("True") : STR("False"),
        .reason = str_of(reason),
        .message = message,
        .last_transition_time = {.seconds = world->now / ENV_SECOND, .is_set = true},
    };

    LIST_EACH(condition, &namespace->status.conditions)
    {
        if (str_is(condition->type, type)) {
            if (str_eq(condition->status, wanted.status)) {
                wanted.last_transition_time = condition->last_transition_time;
            }
            *condition = wanted;
            return;
        }
    }
    *LIST_ADD(world->arena, &namespace->status.conditions) = wanted;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The parts as a sorted list with commas. */
static struct str joined(struct arena *arena, struct str_list *parts)
{
    OWNED(buf_done) struct buf out = {0};

    if (parts->len > 1) {
        qsort(parts->items, parts->len, sizeof(*parts->items), by_text);
    }
    LIST_EACH(part, parts)
    {
        buf_printf(&out, "%s%.*s", part == parts->items ? "" : ", ", STR_ARG(*part));
    }
    return arena_str(arena, buf_str(&out));
}

static struct str remaining_text(struct arena *arena, const struct namespace_content *content)
{
    struct str_list parts = {0};

    LIST_EACH(remainder, content)
    {
        *LIST_ADD(arena, &parts) =
            arena_printf(arena, "%.*s.%.*s has %lld resource instances", STR_ARG(remainder->kind->plural),
                         STR_ARG(remainder->kind->group), (long long)remainder->count);
    }
    return arena_printf(arena, "Some resources are remaining: %.*s", STR_ARG(joined(arena, &parts)));
}

static struct str finalizers_text(struct arena *arena, const struct namespace_content *content)
{
    struct str_list parts = {0};

    LIST_EACH(finalizer, &content->finalizers)
    {
        *LIST_ADD(arena, &parts) = arena_printf(arena, "%.*s in %lld resource instances", STR_ARG(finalizer->name),
                                                (long long)finalizer->count);
    }
    return arena_printf(arena, "Some content in the namespace has finalizers remaining: %.*s",
                        STR_ARG(joined(arena, &parts)));
}

static void plan_conditions(const struct world *world, struct plan *plan, const struct core_v1_namespace *namespace,
                            const struct namespace_content *content)
{
    struct core_v1_namespace *changed = schema_copy(plan->arena, &core_v1_namespace_type, namespace);

    set_condition(world, changed, "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                  STR("All resources successfully discovered"));
    set_condition(world, changed, "NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
                  STR("All legacy kube types successfully parsed"));
    set_condition(world, changed, "NamespaceDeletionContentFailure", false, "ContentDeleted",
                  STR("All content successfully deleted, may be waiting on finalization"));
    if (content->len > 0) {
        set_condition(world, changed, "NamespaceContentRemaining", true, "SomeResourcesRemain",
                      remaining_text(plan->arena, content));
    } else {
        set_condition(world, changed, "NamespaceContentRemaining", false, "ContentRemoved",
                      STR("All content successfully removed"));
    }
    if (content->finalizers.len > 0) {
        set_condition(world, changed, "NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
                      finalizers_text(plan->arena, content));
    } else {
        set_condition(world, changed, "NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
                      STR("All content-preserving finalizers finished"));
    }
    if (!schema_equal(&core_v1_namespace_status_type, &changed->status, &namespace->status)) {
        plan_update_status(plan, &core_v1_namespace_kind, changed);
    }
}

static void plan_finalize(struct plan *plan, const struct core_v1_namespace *namespace)
{
    struct core_v1_namespace *changed = schema_copy(plan->arena, &core_v1_namespace_type, namespace);

    changed->spec.finalizers = (struct str_list){0};
    LIST_EACH(finalizer, &namespace->spec.finalizers)
    {
        if (!str_is(*finalizer, FINALIZER)) {
            *LIST_ADD(plan->arena, &changed->spec.finalizers) = *finalizer;
        }
    }
    plan_update(plan, &core_v1_namespace_kind, changed)->subresource = STR("finalize");
}

static void plan_deletions(struct plan *plan, struct str namespace, const struct namespace_content *content)
{
    bool has_pods = false;

    LIST_EACH(remainder, content)
    {
        has_pods = has_pods || remainder->kind == &core_v1_pod_kind;
    }
    LIST_EACH(remainder, content)
    {
        /* What a pod needs to end well stays until it has (KEP-5080). */
        if (!has_pods || remainder->kind == &core_v1_pod_kind) {
            plan_delete_all(plan, remainder->kind, namespace);
            plan_last(plan)->propagation = STR("Background");
        }
    }
}

static struct status *namespace_plan(const struct world *world, struct str key, struct plan *plan)
{
    const struct core_v1_namespace *namespace = world_find(world, &core_v1_namespace_kind, key);
    const struct namespace_content *content = world->gathered;

    if (!is_ending(namespace) || content == NULL) {
        return NULL;
    }
    if (content->len == 0) {
        plan_finalize(plan, namespace);
        return NULL;
    }
    plan_deletions(plan, key, content);
    plan_conditions(world, plan, namespace, content);
    plan_requeue_after(plan, LOOK_AGAIN);
    return NULL;
}

/* Pods take longest to end. */
static void map_pod(const struct world *world, const void *object, struct str_list *ret)
{
    const struct core_v1_pod *pod = object;

    if (is_ending(world_find(world, &core_v1_namespace_kind, pod->metadata.namespace))) {
        *LIST_ADD(world->arena, ret) = pod->metadata.namespace;
    }
}

const struct controller namespace_controller = {
    .name = "namespace-controller",
    .account = "namespace-controller",
    .kind = &core_v1_namespace_kind,
    .watches = {{&core_v1_pod_kind, map_pod}},
    .gather = gather,
    .plan = namespace_plan,
};
