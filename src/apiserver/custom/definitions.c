#include "apiserver/custom/definitions.h"

#include "api/apiextensions_v1.h"
#include "apiserver/custom/conditions.h"
#include "apiserver/custom/serving.h"
#include "apiserver/registry/registry.h"
#include "base/env.h"
#include "base/log.h"
#include "schema/copy.h"

typedef struct apiextensions_v1_custom_resource_definition definition;

/* How long until what failed is tried again. */
static const int64_t retry = ENV_SECOND;

static const struct resource *definitions_resource(const struct apiserver *server)
{
    return apiserver_resource(server, "apiextensions.k8s.io", "v1", "customresourcedefinitions");
}

/* All definitions as of now, in the arena; they live as long as the snapshot. */
static struct status *list_all(struct apiserver *server, struct watch_snapshot *snapshot, struct arena *arena,
                               struct definitions *ret)
{
    struct watch_snapshot_walk walk;

    TRY(watch_cache_snapshot(definitions_resource(server)->cache, FRESH_LATEST, 0, snapshot));
    watch_snapshot_walk(&walk, snapshot, (struct str){0}, (struct str){0});
    for (struct stored *stored; (stored = watch_snapshot_next(&walk)) != NULL;) {
        const void *object;

        TRY(stored_object(stored, &object));
        *LIST_ADD(arena, ret) = object;
    }
    return NULL;
}

struct deciding {
    const struct definitions *all;
    bool finalized; /* the objects are gone: let it go */
};

static struct status *make_status(struct change_op *op, const struct object *current, struct object **ret)
{
    struct arena *arena = op->request->arena;
    const struct deciding *deciding = op->arg;
    definition *copy = schema_copy_shallow(arena, &apiextensions_v1_custom_resource_definition_type, current);

    if (deciding->finalized) {
        struct str_list kept = {0};

        LIST_EACH(finalizer, &copy->metadata.finalizers) {
            if (!str_eq(*finalizer, APIEXTENSIONS_V1_CUSTOM_RESOURCE_CLEANUP_FINALIZER)) {
                str_list_add(arena, &kept, *finalizer);
            }
        }
        copy->metadata.finalizers = kept;
        condition_set(arena, copy, "Terminating", "False", "InstanceDeletionCompleted", "removed all instances");
    } else {
        conditions_decide(arena, deciding->all, copy);
    }
    *ret = (struct object *)copy;
    return NULL;
}

static struct status *write_definition(struct apiserver *server, struct str name, struct deciding *deciding)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct write_options options = {.field_manager = STR("kube-apiserver")};
    const struct resource *resource = definitions_resource(server);
    struct change_op op = {.request = request_internal(server, arena, resource, "update"),
                           .resource = resource,
                           .subresource = deciding->finalized ? (struct str){0} : STR("status"),
                           .name = name,
                           .options = &options,
                           .make = make_status,
                           .arg = deciding,
                           .keeps_version = true,
                           .is_internal = true};
    struct status *status = registry_change(&op);

    return status_free_if(&status, STATUS_NOT_FOUND) ? NULL : status;
}

/* Deletes all objects; *ret_left says that some stay for their finalizers. */
static struct status *delete_objects(struct apiserver *server, const struct resource *resource, bool *ret_left)
{
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};
    struct watch_snapshot_walk walk;

    *ret_left = false;
    TRY(watch_cache_snapshot(resource->cache, FRESH_LATEST, 0, &snapshot));
    watch_snapshot_walk(&walk, &snapshot, (struct str){0}, (struct str){0});
    for (struct stored *stored; (stored = watch_snapshot_next(&walk)) != NULL;) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        const void *object;

        TRY(stored_object(stored, &object));
        const struct meta_v1_object_meta *meta = &((const struct object *)object)->metadata;
        struct delete_op op = {.request = request_internal(server, arena, resource, "delete"),
                               .resource = resource,
                               .namespace = meta->namespace,
                               .name = meta->name};
        struct status *status = meta->deletion_timestamp != NULL ? NULL : registry_remove(&op);

        *ret_left |= meta->deletion_timestamp != NULL || (status == NULL && !op.is_gone);
        if (!status_free_if(&status, STATUS_NOT_FOUND)) {
            TRY(status);
        }
    }
    return NULL;
}

/* Objects that finalizers hold are waited for. */
static struct status *finalize(struct apiserver *server, const definition *of, const struct definitions *all,
                               bool *ret_again)
{
    const struct resource *stored = serving_stored(server->serving, of->metadata.name);
    struct deciding deciding = {.all = all, .finalized = true};
    bool left = false;

    if (!str_list_has(&of->metadata.finalizers, APIEXTENSIONS_V1_CUSTOM_RESOURCE_CLEANUP_FINALIZER)) {
        return NULL;
    }
    if (stored != NULL) {
        TRY(delete_objects(server, stored, &left));
    }
    if (left) {
        *ret_again = true;
        return NULL;
    }
    return write_definition(server, of->metadata.name, &deciding);
}

static struct status *sync_one(struct apiserver *server, const definition *of, const struct definitions *all,
                               bool *ret_again)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    definition *copy = schema_copy_shallow(arena, &apiextensions_v1_custom_resource_definition_type, of);

    if (of->metadata.deletion_timestamp == NULL && conditions_decide(arena, all, copy)) {
        struct deciding deciding = {.all = all};

        *ret_again = true; /* what has been written comes back as news; the rest is done then */
        return write_definition(server, of->metadata.name, &deciding);
    }
    if (condition_is_true(of, "Established")) {
        serving_set(server->serving, of);
    }
    return of->metadata.deletion_timestamp != NULL ? finalize(server, of, all, ret_again) : NULL;
}

/* Goes through all definitions; *ret_again when some have more to come. */
static struct status *sync_all(struct apiserver *server, bool *ret_again)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};
    struct definitions all = {0};
    struct str_list names = {0};
    struct status *failed = NULL;

    TRY(list_all(server, &snapshot, arena, &all));
    for (size_t i = 0; i < all.len; i++) {
        str_list_add(arena, &names, all.items[i]->metadata.name);
    }
    serving_keep_only(server->serving, &names);
    for (size_t i = 0; i < all.len; i++) {
        struct status *status = sync_one(server, all.items[i], &all, ret_again);

        if (status != NULL) {
            status_free(failed);
            failed = status;
        }
    }
    return failed;
}

/* Waits for a change of some definition, or until it is time to try again. */
static struct status *wait_for_news(struct apiserver *server, struct watcher **watcher, int64_t deadline)
{
    struct watch_events events = {0};
    struct status *status = NULL;

    if (*watcher == NULL) {
        struct watch_options options = {.after = watch_cache_revision(definitions_resource(server)->cache)};

        return watch_cache_watch(definitions_resource(server)->cache, &options, watcher);
    }
    status = watcher_next(*watcher, deadline, &events);
    watch_events_done(&events);
    if (status != NULL) {
        watcher_stop(*watcher);
        *watcher = NULL;
    }
    return status_free_if(&status, STATUS_EXPIRED) ? NULL : status;
}

static void run(void *arg)
{
    struct apiserver *server = arg;
    struct watcher *watcher = NULL;

    while (!task_is_cancelled()) {
        bool again = false;
        struct status *status = NULL;

        /* the watch begins before the list, so that nothing is missed */
        if (watcher == NULL) {
            status = wait_for_news(server, &watcher, 0);
        }
        status = status != NULL ? status : sync_all(server, &again);
        bool failed = status != NULL;

        if (status == NULL) {
            status = wait_for_news(server, &watcher, again ? env_mono() + retry : INT64_MAX);
        }
        if (status != NULL && !status_is(status, STATUS_CANCELLED) && !server->is_stopping) {
            log_warn("custom resources: %.*s", STR_ARG(status->message));
        }
        status_free(status);
        if (failed) {
            task_sleep(retry);
        }
    }
    watcher_stop(watcher);
}

static struct status *open_definitions(struct apiserver *server)
{
    server->serving = serving_new(server);
    return NULL;
}

/* What was served before is served from the start. */
static struct status *bootstrap(struct apiserver *server)
{
    bool again = false;

    TRY(sync_all(server, &again));
    task_group_spawn(&server->background, "definitions", run, server);
    return NULL;
}

const struct apiserver_extension definitions_extension = {
    .name = "custom resources", .open = open_definitions, .bootstrap = bootstrap};
