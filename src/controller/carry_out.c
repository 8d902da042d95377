#include "controller/carry_out.h"

#include "schema/object.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/task.h"
#include "schema/type.h"

#include <stdlib.h>

struct aftermath *aftermath_new(void)
{
    struct aftermath *aftermath = MEM_NEW(struct aftermath);

    aftermath->arena = arena_new();
    return aftermath;
}

void aftermath_free(struct aftermath *aftermath)
{
    if (aftermath != NULL) {
        status_free(aftermath->failure);
        arena_free(aftermath->arena);
        free(aftermath);
    }
}

/* One action being carried out, perhaps beside others of its batch. */
struct doing {
    struct client *client;
    struct event_recorder *recorder;
    const struct plan_action *action;
    struct aftermath *aftermath;
    bool is_of_batch;
    struct str revision; /* what the object has become; empty when it was not written */
    struct status *failure;
};

static void note_written(struct doing *doing, const struct object *result)
{
    if (result != NULL) {
        doing->revision = arena_str(doing->aftermath->arena, result->metadata.resource_version);
        *LIST_ADD(doing->aftermath->arena, &doing->aftermath->written) =
            (struct written){.kind = doing->action->kind, .revision = doing->revision};
    }
}

static void note_deleted(struct doing *doing)
{
    struct arena *arena = doing->aftermath->arena;
    const struct plan_action *action = doing->action;

    *LIST_ADD(arena, &doing->aftermath->written) = (struct written){
        .kind = action->kind,
        .key = action->namespace.n > 0
                   ? arena_printf(arena, "%.*s/%.*s", STR_ARG(action->namespace), STR_ARG(action->name))
                   : arena_str(arena, action->name),
        .uid = arena_str(arena, action->uid),
    };
}

static struct status *delete_object(struct doing *doing)
{
    const struct plan_action *action = doing->action;
    struct client_delete_options options = {
        .uid = action->uid,
        .resource_version = action->resource_version,
        .propagation = action->propagation,
        .grace_period_seconds = action->grace_seconds,
    };

    TRY(client_delete(doing->client, action->kind, action->namespace, action->name, &options));
    if (action->name.n > 0) {
        note_deleted(doing);
    }
    return NULL;
}

static struct status *act(struct doing *doing, struct arena *arena, struct object **ret_result)
{
    const struct plan_action *action = doing->action;

    switch (action->verb) {
    case PLAN_CREATE:
        return client_create(doing->client, action->kind, action->object, NULL, arena, (void **)ret_result);
    case PLAN_UPDATE:
        return client_update(doing->client, action->kind, action->subresource, action->object, NULL, arena,
                             (void **)ret_result);
    case PLAN_UPDATE_STATUS:
        return client_update(doing->client, action->kind, STR("status"), action->object, NULL, arena,
                             (void **)ret_result);
    case PLAN_PATCH:
        return client_patch(doing->client, action->kind, action->namespace, action->name, action->subresource,
                            action->strategic ? CLIENT_PATCH_STRATEGIC : CLIENT_PATCH_MERGE, action->patch, NULL,
                            arena, (void **)ret_result);
    case PLAN_DELETE:
        return delete_object(doing);
    case PLAN_EVENT:
        event_record(doing->recorder, action->kind, action->object, STR(""), action->event_type, action->event_reason,
                     "%.*s", STR_ARG(action->event_message));
        return NULL;
    case PLAN_TRACE:
        return NULL;
    }
    return NULL;
}

/* `child` is a part of the step; NULL failure: it went well. */
static void record(const struct plan_span *span, int64_t start, struct str child, const struct status *failure)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct object *about = span->about;

    if (span->step == 0) {
        return;
    }
    trace_emit(&(struct trace_span){
        .step = span->step,
        .outcome = failure != NULL ? TRACE_FAILED : TRACE_OK,
        .start = start,
        .end = env_wall(),
        .uid = about->metadata.uid,
        .object = arena_printf(arena, "%.*s/%.*s/%.*s", STR_ARG(span->kind->plural),
                               STR_ARG(about->metadata.namespace), STR_ARG(about->metadata.name)),
        .child = child,
        .detail = failure != NULL ? failure->message : child.n > 0 ? STR("") : span->detail,
    });
}

/* The formats of notes have one %s. */
static struct str fill(struct arena *arena, const char *format, struct str text)
{
    struct str all = str_of(format), what = STR("%s");
    size_t at = str_find(all, what);

    return at == SIZE_MAX ? all
                          : arena_printf(arena, "%.*s%.*s%.*s", STR_ARG(str_sub(all, 0, at)), STR_ARG(text),
                                         STR_ARG(str_from(all, at + what.n)));
}

static void tell(struct doing *doing, struct arena *arena, const struct object *result)
{
    const struct plan_note *note = &doing->action->note;

    if (note->about == NULL) {
        return;
    }
    if (doing->failure == NULL) {
        struct str name = result != NULL ? result->metadata.name : doing->action->name;

        event_record(doing->recorder, note->kind, note->about, STR(""), "Normal", note->done_reason, "%.*s",
                     STR_ARG(fill(arena, note->done_format, name)));
    } else if (!status_is(doing->failure, STATUS_NOT_FOUND) && !status_is(doing->failure, STATUS_CANCELLED) &&
               !(doing->action->may_exist && status_is(doing->failure, STATUS_ALREADY_EXISTS))) {
        event_record(doing->recorder, note->kind, note->about, STR(""), "Warning", note->failed_reason, "%.*s",
                     STR_ARG(fill(arena, note->failed_format, doing->failure->message)));
    }
}

/* Nothing can be made in a namespace that is being deleted, and no later try will mend that. */
static bool is_namespace_ending(const struct status *failure)
{
    for (size_t i = 0; i < failure->cause_count; i++) {
        if (str_is(failure->causes[i].reason, "NamespaceTerminating")) {
            return true;
        }
    }
    return false;
}

static bool is_forgiven(const struct plan_action *action, const struct status *failure)
{
    return action->may_fail || is_namespace_ending(failure) ||
           (action->may_exist && status_is(failure, STATUS_ALREADY_EXISTS)) ||
           ((action->verb == PLAN_DELETE || action->may_be_gone) && status_is(failure, STATUS_NOT_FOUND));
}

static void note_unsure(struct doing *doing)
{
    bool is_write = doing->action->verb != PLAN_EVENT && doing->action->verb != PLAN_TRACE;
    bool is_lost = status_is(doing->failure, STATUS_SERVICE_UNAVAILABLE) || status_is(doing->failure, STATUS_TIMEOUT);

    if (is_write && is_lost) {
        *LIST_ADD(doing->aftermath->arena, &doing->aftermath->unsure) = doing->action->kind;
    }
}

static void doing_run(void *arg)
{
    struct doing *doing = arg;
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct object *result = NULL;
    int64_t start = env_wall();

    doing->failure = act(doing, arena, &result);
    if (doing->failure == NULL) {
        note_written(doing, result);
    } else {
        note_unsure(doing);
    }
    tell(doing, arena, result);
    record(&doing->action->span, start,
           !doing->is_of_batch ? STR("")
           : result != NULL    ? result->metadata.name
                               : doing->action->name,
           doing->failure);
    if (doing->failure != NULL && is_forgiven(doing->action, doing->failure)) {
        status_freep(&doing->failure);
    }
}

static void keep_failure(struct aftermath *aftermath, struct doing *doing)
{
    if (aftermath->failure == NULL) {
        aftermath->failure = TAKE(doing->failure);
        aftermath->failed_verb = doing->action->verb;
    }
    status_freep(&doing->failure);
}

/* Slow start: one, two, four, ... at once, until one fails. What is no creation is done all at once. */
static void run_batch(const struct doing *model, const struct plan_action *actions, size_t count)
{
    size_t done = 0;

    size_t size = actions[0].verb == PLAN_CREATE ? 1 : count;

    for (; done < count && model->aftermath->failure == NULL; size *= 2) {
        size_t now = MIN(size, count - done);
        struct doing *doings = mem_zalloc_array(now, sizeof(*doings));
        struct task_group group;

        task_group_init(&group);
        for (size_t i = 0; i < now; i++) {
            doings[i] = *model;
            doings[i].action = &actions[done + i];
            doings[i].is_of_batch = true;
            task_group_spawn(&group, "plan action", doing_run, &doings[i]);
        }
        task_group_wait(&group);
        for (size_t i = 0; i < now; i++) {
            if (doings[i].failure != NULL) {
                keep_failure(model->aftermath, &doings[i]);
            }
        }
        free(doings);
        done += now;
    }
}

static size_t batch_length(const struct plan *plan, size_t from)
{
    size_t end = from + 1;

    while (end < plan->len && plan->items[from].batch > 0 && plan->items[end].batch == plan->items[from].batch) {
        end++;
    }
    return end - from;
}

/* A later action on the same object carries the version that this one left. */
static void pass_revision_on(const struct plan *plan, size_t at, struct str revision)
{
    const struct plan_action *action = &plan->items[at];

    if ((action->verb != PLAN_UPDATE && action->verb != PLAN_PATCH) || revision.n == 0) {
        return;
    }
    for (size_t i = at + 1; i < plan->len; i++) {
        const struct plan_action *later = &plan->items[i];

        if ((later->verb == PLAN_UPDATE || later->verb == PLAN_UPDATE_STATUS) && later->kind == action->kind &&
            later->object != NULL && str_eq(later->name, action->name) &&
            str_eq(later->namespace, action->namespace)) {
            /* The plan owns what it updates. */
            ((struct object *)(uintptr_t)later->object)->metadata.resource_version = revision;
        }
    }
}

void carry_out(struct client *client, struct event_recorder *recorder, const struct plan *plan,
               struct aftermath *aftermath)
{
    struct doing model = {.client = client, .recorder = recorder, .aftermath = aftermath};

    for (size_t i = 0; i < plan->len;) {
        size_t count = batch_length(plan, i);

        if (aftermath->failure != NULL && !plan->items[i].regardless) {
            i += count;
            continue;
        }
        if (plan->items[i].batch > 0) {
            int64_t start = env_wall();

            run_batch(&model, &plan->items[i], count);
            record(&plan->items[i].span, start, STR(""), aftermath->failure);
        } else {
            struct doing doing = model;

            doing.action = &plan->items[i];
            doing_run(&doing);
            if (doing.failure != NULL) {
                keep_failure(aftermath, &doing);
            } else {
                pass_revision_on(plan, i, doing.revision);
            }
        }
        i += count;
    }
}
