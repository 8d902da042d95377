#include "controller/garbage_plan.h"

#include "base/buf.h"
#include "schema/json.h"

bool garbage_has_finalizer(const struct object *object, const char *finalizer)
{
    LIST_EACH(have, &object->metadata.finalizers)
    {
        if (str_is(*have, finalizer)) {
            return true;
        }
    }
    return false;
}

bool garbage_is_waiting(const struct object *object)
{
    return object->metadata.deletion_timestamp != NULL && garbage_has_finalizer(object, FINALIZER_FOREGROUND);
}

const struct meta_v1_owner_reference *garbage_reference_to(const struct object *object, struct str uid)
{
    LIST_EACH(reference, &object->metadata.owner_references)
    {
        if (str_eq(reference->uid, uid)) {
            return reference;
        }
    }
    return NULL;
}

/* {"metadata":{"uid":...,"resourceVersion":...,NAME: so that the patch is of what was looked at. */
static void begin_patch(struct buf *patch, const struct object *object, const char *name)
{
    buf_printf(patch, "{\"metadata\":{\"uid\":\"%.*s\",\"resourceVersion\":\"%.*s\",\"%s\":",
               STR_ARG(object->metadata.uid), STR_ARG(object->metadata.resource_version), name);
}

static void plan_remove_finalizer(struct plan *plan, const struct garbage_item *item, const char *finalizer)
{
    OWNED(buf_done) struct buf patch = {0};
    const char *separator = "";

    begin_patch(&patch, item->object, "finalizers");
    buf_add_char(&patch, '[');
    LIST_EACH(have, &item->object->metadata.finalizers)
    {
        if (!str_is(*have, finalizer)) {
            buf_printf(&patch, "%s\"%.*s\"", separator, STR_ARG(*have));
            separator = ",";
        }
    }
    buf_printf(&patch, "]}}");
    plan_patch(plan, item->kind, item->object, arena_str(plan->arena, buf_str(&patch)));
}

/* Writes the references for which `keep` says so, by their place. */
static void plan_references(struct plan *plan, const struct kind *kind, const struct object *object, const bool *keep,
                            bool unblock)
{
    OWNED(buf_done) struct buf patch = {0};
    const char *separator = "";

    begin_patch(&patch, object, "ownerReferences");
    buf_add_char(&patch, '[');
    for (size_t i = 0; i < object->metadata.owner_references.len; i++) {
        struct meta_v1_owner_reference reference = object->metadata.owner_references.items[i];
        bool no = false;

        if (keep[i]) {
            reference.block_owner_deletion = unblock ? &no : reference.block_owner_deletion;
            buf_printf(&patch, "%s", separator);
            json_encode(&meta_v1_owner_reference_type, &reference, &patch);
            separator = ",";
        }
    }
    buf_printf(&patch, "]}}");
    plan_patch(plan, kind, object, arena_str(plan->arena, buf_str(&patch)));
}

/* The dependents stay, and forget their owner. */
static void plan_orphan(const struct garbage_item *item, struct plan *plan)
{
    LIST_EACH(dependent, &item->dependents)
    {
        size_t count = dependent->object->metadata.owner_references.len;
        bool *keep = ARENA_ARRAY(plan->arena, bool, count);

        for (size_t i = 0; i < count; i++) {
            keep[i] = !str_eq(dependent->object->metadata.owner_references.items[i].uid, item->object->metadata.uid);
        }
        plan_references(plan, dependent->kind, dependent->object, keep, false);
        plan_last(plan)->may_be_gone = true;
    }
    plan_remove_finalizer(plan, item, FINALIZER_ORPHAN);
    plan_last(plan)->may_be_gone = true;
}

static bool is_blocked(const struct garbage_item *item)
{
    LIST_EACH(dependent, &item->dependents)
    {
        const struct meta_v1_owner_reference *reference =
            garbage_reference_to(dependent->object, item->object->metadata.uid);

        if (reference != NULL && reference->block_owner_deletion != NULL && *reference->block_owner_deletion) {
            return true;
        }
    }
    return false;
}

static void plan_deletion(const struct garbage_item *item, struct plan *plan, struct str propagation)
{
    plan_delete(plan, item->kind, item->object);
    plan_last(plan)->propagation = propagation;
    plan_last(plan)->resource_version = item->object->metadata.resource_version;
}

/* Two that wait for each other would wait for ever. */
static bool has_waiting_dependent(const struct garbage_item *item)
{
    LIST_EACH(dependent, &item->dependents)
    {
        if (garbage_is_waiting(dependent->object)) {
            return true;
        }
    }
    return false;
}

static struct str own_policy(const struct object *object)
{
    return garbage_has_finalizer(object, FINALIZER_ORPHAN)       ? STR("Orphan")
           : garbage_has_finalizer(object, FINALIZER_FOREGROUND) ? STR("Foreground")
                                                                 : STR("Background");
}

static void plan_by_owners(const struct garbage_item *item, struct plan *plan)
{
    size_t count = item->object->metadata.owner_references.len;
    bool *keep = ARENA_ARRAY(plan->arena, bool, count);
    size_t there = 0, waiting = 0;

    for (size_t i = 0; i < count; i++) {
        keep[i] = item->owners[i] == OWNER_THERE;
        there += item->owners[i] == OWNER_THERE;
        waiting += item->owners[i] == OWNER_WAITING;
    }
    if (there == count) {
        return;
    }
    if (there > 0) {
        plan_references(plan, item->kind, item->object, keep, false);
    } else if (waiting > 0 && item->dependents.len > 0) {
        if (has_waiting_dependent(item)) {
            for (size_t i = 0; i < count; i++) {
                keep[i] = true;
            }
            plan_references(plan, item->kind, item->object, keep, true);
            plan_deletion(item, plan, STR("Foreground"));
            plan_last(plan)->resource_version = (struct str){0}; /* the patch before it made a new one */
        } else {
            plan_deletion(item, plan, STR("Foreground"));
        }
    } else {
        plan_deletion(item, plan, own_policy(item->object));
    }
}

void garbage_plan(const struct garbage_item *item, struct plan *plan)
{
    if (item->object->metadata.deletion_timestamp == NULL) {
        plan_by_owners(item, plan);
    } else if (garbage_has_finalizer(item->object, FINALIZER_ORPHAN)) {
        plan_orphan(item, plan);
    } else if (garbage_is_waiting(item->object) && !is_blocked(item)) {
        plan_remove_finalizer(plan, item, FINALIZER_FOREGROUND);
        plan_last(plan)->may_be_gone = true;
    }
}
