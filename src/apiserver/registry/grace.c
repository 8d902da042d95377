#include "apiserver/registry/grace.h"

#include "api/core_v1.h"
#include "apiserver/registry/strategy.h"
#include "apiserver/user.h"
#include "base/env.h"
#include "schema/timestamp.h"

static const struct str orphan = STR_INIT("orphan"), foreground = STR_INIT("foregroundDeletion");

static struct timestamp whole_seconds(int64_t nanos)
{
    return (struct timestamp){.seconds = nanos / ENV_SECOND, .is_set = true};
}

static void set_deletion(struct arena *arena, struct meta_v1_object_meta *meta, struct timestamp time, int64_t grace)
{
    meta->deletion_timestamp = ARENA_NEW(arena, struct timestamp);
    *meta->deletion_timestamp = time;
    meta->deletion_grace_period_seconds = ARENA_NEW(arena, int64_t);
    *meta->deletion_grace_period_seconds = grace;
}

/* How long the pod may take to end. */
static int64_t pod_grace(const struct core_v1_pod *pod, const struct delete_options *options)
{
    int64_t period = 0;

    if (options->grace_period_seconds != NULL) {
        period = *options->grace_period_seconds;
    } else if (pod->spec.termination_grace_period_seconds != NULL) {
        period = *pod->spec.termination_grace_period_seconds;
    }
    if (pod->spec.node_name.n == 0 || str_is(pod->status.phase, "Failed") || str_is(pod->status.phase, "Succeeded")) {
        return 0;
    }
    return period < 0 ? 1 : period;
}

enum graceful { GRACEFUL_NOT, GRACEFUL_PENDING, GRACEFUL_YES };

/* A second delete may only shorten the time that the first gave. One that finds the time to be none comes after a deletion
 * that was marked and then failed, and finishes it. */
static enum graceful shorten(struct arena *arena, struct meta_v1_object_meta *meta, const struct delete_options *options)
{
    if (meta->deletion_grace_period_seconds == NULL || *meta->deletion_grace_period_seconds == 0) {
        return GRACEFUL_NOT;
    }
    int64_t given = *meta->deletion_grace_period_seconds;

    if (options->grace_period_seconds == NULL) {
        return GRACEFUL_PENDING;
    }
    int64_t wanted = *options->grace_period_seconds < 0 ? 1 : *options->grace_period_seconds;

    if (wanted >= given) {
        return GRACEFUL_PENDING;
    }
    struct timestamp time = *meta->deletion_timestamp;

    time.seconds += wanted - given;
    set_deletion(arena, meta, time, wanted);
    return GRACEFUL_YES;
}

static enum graceful begin_graceful(struct arena *arena, const struct resource *resource,
                                    const struct delete_options *options, int64_t now, struct object *object)
{
    struct meta_v1_object_meta *meta = &object->metadata;

    if ((resource->strategy->flags & STRATEGY_GRACEFUL) == 0) {
        return GRACEFUL_NOT;
    }
    if (meta->deletion_timestamp != NULL) {
        return shorten(arena, meta, options);
    }
    int64_t grace = pod_grace((const struct core_v1_pod *)object, options);

    set_deletion(arena, meta, whole_seconds(now + grace * ENV_SECOND), grace);
    if (meta->generation > 0) {
        meta->generation++;
    }
    return GRACEFUL_YES;
}

static bool wants_orphans(const struct resource *resource, const struct delete_options *options,
                          const struct meta_v1_object_meta *meta)
{
    if (options->orphan_dependents != NULL) {
        return *options->orphan_dependents;
    }
    if (options->propagation_policy.n != 0) {
        return str_is(options->propagation_policy, "Orphan");
    }
    LIST_EACH(finalizer, &meta->finalizers) {
        if (str_eq(*finalizer, orphan) || str_eq(*finalizer, foreground)) {
            return str_eq(*finalizer, orphan);
        }
    }
    return (resource->strategy->flags & STRATEGY_ORPHANS) != 0;
}

static bool wants_foreground(const struct delete_options *options, const struct meta_v1_object_meta *meta)
{
    if (options->orphan_dependents != NULL) {
        return false;
    }
    if (options->propagation_policy.n != 0) {
        return str_is(options->propagation_policy, "Foreground");
    }
    LIST_EACH(finalizer, &meta->finalizers) {
        if (str_eq(*finalizer, orphan) || str_eq(*finalizer, foreground)) {
            return str_eq(*finalizer, foreground);
        }
    }
    return false;
}

/* Sets the garbage collector's finalizers as the options want them. */
static void set_collection(struct arena *arena, const struct resource *resource, const struct delete_options *options,
                           struct meta_v1_object_meta *meta)
{
    bool orphans, waits;
    struct str_list finalizers = {0};

    if ((resource->strategy->flags & STRATEGY_NO_COLLECTION) != 0) {
        return;
    }
    orphans = wants_orphans(resource, options, meta);
    waits = wants_foreground(options, meta);
    if (str_list_has(&meta->finalizers, orphan) == orphans && str_list_has(&meta->finalizers, foreground) == waits) {
        return;
    }
    LIST_EACH(finalizer, &meta->finalizers) {
        if (!str_eq(*finalizer, orphan) && !str_eq(*finalizer, foreground)) {
            str_list_add(arena, &finalizers, *finalizer);
        }
    }
    if (orphans) {
        str_list_add(arena, &finalizers, orphan);
    }
    if (waits) {
        str_list_add(arena, &finalizers, foreground);
    }
    meta->finalizers = finalizers;
}

/* Finalizers hold an object that needs no time by itself. */
static void mark_deleting(struct arena *arena, struct meta_v1_object_meta *meta, int64_t now)
{
    struct timestamp time = whole_seconds(now);

    if (meta->deletion_timestamp == NULL && meta->generation > 0) {
        meta->generation++;
    }
    if (meta->deletion_timestamp != NULL && timestamp_cmp(*meta->deletion_timestamp, time) <= 0) {
        time = *meta->deletion_timestamp;
    }
    set_deletion(arena, meta, time, 0);
}

enum grace_verdict grace_decide(struct arena *arena, const struct resource *resource,
                                const struct delete_options *options, int64_t now, struct object *object)
{
    struct meta_v1_object_meta *meta = &object->metadata;
    enum graceful graceful = begin_graceful(arena, resource, options, now, object);

    if (graceful == GRACEFUL_PENDING) {
        return GRACE_ALREADY;
    }
    set_collection(arena, resource, options, meta);
    bool held = meta->finalizers.len != 0 || (resource->strategy->holds != NULL && resource->strategy->holds(object));

    if (graceful == GRACEFUL_NOT) {
        if (!held) {
            return GRACE_DELETE_NOW;
        }
        mark_deleting(arena, meta, now);
        if (resource->strategy->deleting != NULL) {
            resource->strategy->deleting(arena, object);
        }
        return GRACE_UPDATE;
    }
    return held || *meta->deletion_grace_period_seconds > 0 ? GRACE_UPDATE : GRACE_LAST_UPDATE;
}
