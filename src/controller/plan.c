#include "controller/plan.h"

#include "schema/object.h"

#include <stdarg.h>

struct plan_action *plan_last(struct plan *plan)
{
    return &plan->items[plan->len - 1];
}

static struct plan_action *add(struct plan *plan, enum plan_verb verb, const struct kind *kind, const void *object)
{
    const struct object *meta = object;
    struct plan_action *action = LIST_ADD(plan->arena, plan);

    action->verb = verb;
    action->kind = kind;
    action->object = object;
    action->namespace = meta->metadata.namespace;
    action->name = meta->metadata.name;
    return action;
}

void plan_create(struct plan *plan, const struct kind *kind, const void *object)
{
    add(plan, PLAN_CREATE, kind, object);
}

struct plan_action *plan_update(struct plan *plan, const struct kind *kind, const void *object)
{
    LIST_EACH(action, plan)
    {
        if (action->verb == PLAN_UPDATE && action->object == object) {
            return action;
        }
    }
    return add(plan, PLAN_UPDATE, kind, object);
}

void plan_update_status(struct plan *plan, const struct kind *kind, const void *object)
{
    add(plan, PLAN_UPDATE_STATUS, kind, object)->regardless = true;
}

void plan_patch(struct plan *plan, const struct kind *kind, const void *object, struct str merge_patch)
{
    add(plan, PLAN_PATCH, kind, object)->patch = merge_patch;
}

void plan_delete(struct plan *plan, const struct kind *kind, const void *object)
{
    add(plan, PLAN_DELETE, kind, object)->uid = ((const struct object *)object)->metadata.uid;
}

void plan_delete_all(struct plan *plan, const struct kind *kind, struct str namespace)
{
    *LIST_ADD(plan->arena, plan) = (struct plan_action){.verb = PLAN_DELETE, .kind = kind, .namespace = namespace};
}

void plan_event(struct plan *plan, const struct kind *kind, const void *object, const char *type, const char *reason,
                const char *format, ...)
{
    struct plan_action *action = add(plan, PLAN_EVENT, kind, object);
    va_list args;

    action->event_type = type;
    action->event_reason = reason;
    va_start(args, format);
    action->event_message = arena_vprintf(plan->arena, format, args);
    va_end(args);
}

static struct plan_span span_of(struct plan *plan, enum trace_step step, const struct kind *kind, const void *about,
                                const char *format, va_list args)
{
    return (struct plan_span){
        .step = step, .kind = kind, .about = about, .detail = arena_vprintf(plan->arena, format, args)};
}

void plan_trace(struct plan *plan, enum trace_step step, const struct kind *kind, const void *about,
                const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(plan, PLAN_TRACE, kind, about)->span = span_of(plan, step, kind, about, format, args);
    va_end(args);
}

void plan_span(struct plan *plan, struct plan_action *action, enum trace_step step, const struct kind *kind,
               const void *about, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    action->span = span_of(plan, step, kind, about, format, args);
    va_end(args);
}

void plan_requeue_after(struct plan *plan, int64_t delay)
{
    if (plan->requeue_after == 0 || delay < plan->requeue_after) {
        plan->requeue_after = delay;
    }
}
