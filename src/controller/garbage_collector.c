#include "controller/garbage_collector.h"

#include "api/kinds.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/planted.h"
#include "base/task.h"
#include "client/event_recorder.h"
#include "client/work_queue.h"
#include "controller/carry_out.h"
#include "controller/custom_kind.h"
#include "controller/garbage_plan.h"
#include "schema/copy.h"

#include <stdlib.h>
#include <string.h>

#define ACCOUNT "generic-garbage-collector"

enum { ABSENT_MAX = 512, UID_BYTES = 64, KINDS_MAX = 900 };

struct collected {
    struct garbage_collector *collector;
    const struct kind *kind;
    struct informer *informer;
};

struct garbage_collector {
    struct accounts *accounts;
    struct client *client;
    struct watched_kinds *kinds;
    VEC(struct collected *) collected; /* the number of a kind is part of a key */
    struct arena *arena; /* kinds of custom resources */
    struct work_queue *queue;
    struct event_recorder *recorder;
    char absent[ABSENT_MAX][UID_BYTES]; /* UIDs of owners that the server has said are not there */
    size_t next_absent;
};

static void enqueue(struct garbage_collector *collector, const struct kind *kind, const struct object *object)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < collector->collected.len; i++) {
        if (collector->collected.items[i]->kind == kind) {
            struct str key = world_key(arena, object->metadata.namespace, object->metadata.name);

            work_queue_add(collector->queue, arena_printf(arena, "%zu:%.*s", i, STR_ARG(key)));
            return;
        }
    }
}

static const struct collected *collected_find(const struct garbage_collector *collector, struct str api_version,
                                              struct str kind)
{
    struct str group, version, group_of_kind = STR("");

    api_version_split(api_version, &group, &version);
    for (size_t i = 0; i < collector->collected.len; i++) {
        group_of_kind = collector->collected.items[i]->kind->group;
        if (str_eq(collector->collected.items[i]->kind->kind, kind) && str_eq(group_of_kind, group)) {
            return collector->collected.items[i];
        }
    }
    return NULL;
}

/* The owner as the cache has it; NULL when it is not there, or another has its name. */
static const struct object *owner_cached(const struct collected *owner, const struct object *dependent,
                                         const struct meta_v1_owner_reference *reference, struct arena *arena)
{
    struct str namespace = owner->kind->namespaced ? dependent->metadata.namespace : STR("");
    const struct object *object = informer_find_key(owner->informer, world_key(arena, namespace, reference->name));

    return object != NULL && (str_eq(object->metadata.uid, reference->uid) || planted(GARBAGE_GOES_BY_NAME)) ? object
                                                                                                            : NULL;
}

static struct garbage_item item_of(const struct garbage_collector *collector, const struct kind *kind,
                                   const struct object *object, struct arena *arena)
{
    struct garbage_item item = {.kind = kind, .object = object};

    for (size_t i = 0; i < collector->collected.len; i++) {
        const struct kind *of = collector->collected.items[i]->kind;
        struct object_pointers found = watched_kinds_find_owned(collector->kinds, of, object->metadata.uid, arena);

        for (size_t n = 0; n < found.len; n++) {
            *LIST_ADD(arena, &item.dependents) = (struct garbage_dependent){of, found.items[n]};
        }
    }
    return item;
}

static void enqueue_dependents(struct garbage_collector *collector, const struct kind *kind,
                               const struct object *object)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct garbage_item item = item_of(collector, kind, object, arena);

    LIST_EACH(dependent, &item.dependents)
    {
        enqueue(collector, dependent->kind, dependent->object);
    }
}

/* Owners that wait for this object; and whether some owner is not there as it should be. */
static bool enqueue_waiting_owners(struct garbage_collector *collector, const struct object *object)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    bool doubtful = false;

    LIST_EACH(reference, &object->metadata.owner_references)
    {
        const struct collected *of = collected_find(collector, reference->api_version, reference->kind);
        const struct object *owner = of != NULL ? owner_cached(of, object, reference, arena) : NULL;

        doubtful = doubtful || owner == NULL || garbage_is_waiting(owner);
        if (owner != NULL && garbage_is_waiting(owner)) {
            enqueue(collector, of->kind, owner);
        }
    }
    return doubtful;
}

static bool begins_to_end(const struct object *old, const struct object *new)
{
    return new->metadata.deletion_timestamp != NULL &&
           (old == NULL || old->metadata.deletion_timestamp == NULL ||
            old->metadata.finalizers.len != new->metadata.finalizers.len);
}

static void changed(void *arg, const void *old_object, const void *new_object)
{
    struct collected *collected = arg;
    struct garbage_collector *collector = collected->collector;
    const struct object *old = old_object, *new = new_object;

    if (old != NULL && (new == NULL || !str_eq(old->metadata.uid, new->metadata.uid))) {
        enqueue_dependents(collector, collected->kind, old);
        enqueue_waiting_owners(collector, old);
    }
    if (new == NULL) {
        return;
    }
    if (new->metadata.owner_references.len > 0 && enqueue_waiting_owners(collector, new)) {
        enqueue(collector, collected->kind, new);
    }
    if (begins_to_end(old, new) &&
        (garbage_has_finalizer(new, FINALIZER_ORPHAN) || garbage_has_finalizer(new, FINALIZER_FOREGROUND))) {
        enqueue(collector, collected->kind, new);
        enqueue_dependents(collector, collected->kind, new);
    }
}

static bool is_watched(const struct garbage_collector *collector, const struct kind *kind)
{
    for (size_t i = 0; i < collector->collected.len; i++) {
        const struct kind *other = collector->collected.items[i]->kind;

        if (str_eq(other->group, kind->group) && str_eq(other->plural, kind->plural)) {
            return true;
        }
    }
    return false;
}

static bool can_be_collected(const struct kind *kind)
{
    unsigned needed = VERB_LIST | VERB_WATCH | VERB_DELETE;

    return kind->plural.n > 0 && (kind->verbs & needed) == needed && !str_is(kind->kind, "Event");
}

static void collect_kind(struct garbage_collector *collector, const struct kind *kind)
{
    struct collected *collected = MEM_NEW(struct collected);

    *collected = (struct collected){collector, kind, watched_kinds_get(collector->kinds, kind)};
    informer_on_change(collected->informer, changed, collected);
    *VEC_ADD(&collector->collected) = collected;
    if (watched_kinds_are_started(collector->kinds)) {
        informer_start(collected->informer);
    }
}

/* A custom resource is followed from when it is served on. When its definition goes, so have its objects. */
static void definition_changed(void *arg, const void *old, const void *new)
{
    struct garbage_collector *collector = arg;

    if (new != NULL && custom_kind_is_established(new)) {
        struct kind *kind = custom_kind_of(collector->arena, new);

        if (kind != NULL && !is_watched(collector, kind) && collector->collected.len < KINDS_MAX) {
            collect_kind(collector, kind);
        }
    }
}

struct garbage_collector *garbage_collector_new(struct accounts *accounts, struct watched_kinds *kinds)
{
    struct garbage_collector *collector = MEM_NEW(struct garbage_collector);

    collector->accounts = accounts;
    collector->client = accounts_client(accounts, ACCOUNT);
    collector->kinds = kinds;
    collector->arena = arena_new();
    collector->queue = work_queue_new();
    collector->recorder = event_recorder_new(collector->client, STR("garbage-collector-controller"), STR(""));
    for (size_t i = 0; i < kinds_all_count; i++) {
        /* One version of each resource is enough. */
        if (can_be_collected(kinds_all[i]) && !is_watched(collector, kinds_all[i])) {
            collect_kind(collector, kinds_all[i]);
        }
    }
    informer_on_change(watched_kinds_get(kinds, &apiextensions_v1_custom_resource_definition_kind),
                       definition_changed, collector);
    return collector;
}

static bool is_known_absent(const struct garbage_collector *collector, struct str uid)
{
    for (size_t i = 0; i < ABSENT_MAX; i++) {
        if (uid.n < UID_BYTES && str_is(uid, collector->absent[i])) {
            return true;
        }
    }
    return false;
}

static void note_absent(struct garbage_collector *collector, struct str uid)
{
    if (uid.n > 0 && uid.n < UID_BYTES) {
        char *place = collector->absent[collector->next_absent++ % ABSENT_MAX];

        memcpy(place, uid.p, uid.n);
        place[uid.n] = '\0';
    }
}

static enum garbage_owner_state state_of(const struct object *owner)
{
    return garbage_is_waiting(owner) ? OWNER_WAITING : OWNER_THERE;
}

/* The cache may lag behind: only the server's word that an owner is absent counts. Parks. */
static struct status *ask_for_owner(struct garbage_collector *collector, const struct collected *of,
                                    const struct object *dependent, const struct meta_v1_owner_reference *reference,
                                    struct arena *arena, enum garbage_owner_state *ret)
{
    struct object *owner;
    struct status *status =
        client_get(collector->client, of->kind, of->kind->namespaced ? dependent->metadata.namespace : STR(""),
                   reference->name, arena, (void **)&owner);

    if (status == NULL && str_eq(owner->metadata.uid, reference->uid)) {
        *ret = state_of(owner);
        return NULL;
    }
    if (status != NULL && !status_free_if(&status, STATUS_NOT_FOUND)) {
        return status;
    }
    note_absent(collector, reference->uid);
    *ret = OWNER_ABSENT;
    return NULL;
}

/* Parks. An owner of a kind that is not watched counts as there. */
static struct status *find_owners(struct garbage_collector *collector, const struct object *object,
                                  struct arena *arena, enum garbage_owner_state **ret)
{
    enum garbage_owner_state *states =
        ARENA_ARRAY(arena, enum garbage_owner_state, object->metadata.owner_references.len);

    for (size_t i = 0; i < object->metadata.owner_references.len; i++) {
        const struct meta_v1_owner_reference *reference = &object->metadata.owner_references.items[i];
        const struct collected *of = collected_find(collector, reference->api_version, reference->kind);

        if (of == NULL || (of->kind->namespaced && object->metadata.namespace.n == 0)) {
            states[i] = OWNER_THERE;
            continue;
        }
        const struct object *owner = owner_cached(of, object, reference, arena);

        if (owner != NULL) {
            states[i] = state_of(owner);
        } else if (is_known_absent(collector, reference->uid)) {
            states[i] = OWNER_ABSENT;
        } else {
            TRY(ask_for_owner(collector, of, object, reference, arena, &states[i]));
        }
    }
    *ret = states;
    return NULL;
}

/* Every informer is complete. */
static bool knows_all(const struct garbage_collector *collector)
{
    for (size_t i = 0; i < collector->collected.len; i++) {
        if (!informer_is_synced(collector->collected.items[i]->informer)) {
            return false;
        }
    }
    return true;
}

static struct status *collect(struct garbage_collector *collector, const struct collected *collected,
                              struct str key, struct arena *arena)
{
    const struct object *found = informer_find_key(collected->informer, key);
    enum garbage_owner_state *owners;

    if (found == NULL) {
        return NULL;
    }
    if (found->metadata.deletion_timestamp != NULL && !knows_all(collector)) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "its dependents are not all known yet");
    }
    /* What follows parks: the object and its dependents are copied, with what is looked at of them. */
    struct object *object = schema_copy(arena, collected->kind->type, found);

    TRY(find_owners(collector, object, arena, &owners));
    struct garbage_item item = item_of(collector, collected->kind, object, arena);

    LIST_EACH(dependent, &item.dependents)
    {
        struct object *copy = ARENA_NEW(arena, struct object);

        copy->metadata = *(struct meta_v1_object_meta *)schema_copy(arena, &meta_v1_object_meta_type,
                                                                    &dependent->object->metadata);
        dependent->object = copy;
    }
    item.owners = owners;
    struct plan plan = {.arena = arena};
    struct aftermath *after = aftermath_new();

    garbage_plan(&item, &plan);
    carry_out(collector->client, collector->recorder, &plan, after);
    struct status *status = TAKE(after->failure);

    aftermath_free(after);
    return status;
}

/* Those of the built-in kinds; custom ones come later. */
static bool wait_synced(struct garbage_collector *collector)
{
    size_t count = collector->collected.len;

    for (size_t i = 0; i < count; i++) {
        if (!informer_wait_synced(collector->collected.items[i]->informer)) {
            return false;
        }
    }
    return true;
}

void garbage_collector_work(void *arg)
{
    struct garbage_collector *collector = arg;

    if (!wait_synced(collector) || !accounts_wait(collector->accounts, ACCOUNT)) {
        return;
    }
    for (;;) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct str item, number, key;
        uint64_t at;

        if (!work_queue_get(collector->queue, arena, &item)) {
            return;
        }
        str_cut(item, ':', &number, &key);
        struct status *status = str_to_u64(number, &at) && at < collector->collected.len
                                    ? collect(collector, collector->collected.items[at], key, arena)
                                    : NULL;

        if (status == NULL) {
            work_queue_forget(collector->queue, item);
            work_queue_done(collector->queue, item);
            continue;
        }
        if (!status_is(status, STATUS_CONFLICT) && !status_is(status, STATUS_CANCELLED)) {
            log_info("garbage collector: %.*s: %.*s", STR_ARG(key), STR_ARG(status->message));
        }
        if (status_is(status, STATUS_UNAUTHORIZED)) {
            accounts_refused(collector->accounts, ACCOUNT);
        }
        status_free(status);
        work_queue_retry(collector->queue, item);
    }
}

void garbage_collector_free(struct garbage_collector *collector)
{
    if (collector == NULL) {
        return;
    }
    for (size_t i = 0; i < collector->collected.len; i++) {
        free(collector->collected.items[i]);
    }
    free(collector->collected.items);
    arena_free(collector->arena);
    work_queue_free(collector->queue);
    event_recorder_free(collector->recorder);
    free(collector);
}
