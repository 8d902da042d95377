#include "store/store.h"

#include "base/arena.h"
#include "base/limits.h"
#include "store/engine.h"

#include <stdlib.h>

void store_object_done(struct store_object *object)
{
    blob_unref(object->value);
    *object = (struct store_object){0};
}

struct status *store_open(struct disk *disk, const struct store_options *options, struct store **ret)
{
    struct disk_state state;
    struct status *status = disk->ops->state(disk, &state);

    if (status != NULL) {
        disk->ops->close(disk);
        return status;
    }
    struct store *store = MEM_NEW(struct store);

    store->disk = disk;
    store->options = *options;
    if (store->options.volatile_delay <= 0) {
        store->options.volatile_delay = 600 * ENV_SECOND;
    }
    store->durable = state;
    store->revision = store->window_after = MAX(state.revision, state.reserved);
    store->compacted = state.compacted;
    list_init(&store->queue);
    list_init(&store->watches);
    cond_init(&store->idle);
    cond_init(&store->swept);
    cond_init(&store->moved);
    *ret = store;
    commit_kick_(store); /* a sweep that was cut short goes on */
    return NULL;
}

void store_free_(struct store *store)
{
    env_timer_stop(store->flush_timer);
    for (size_t i = store->window.first; i < store->window.len; i++) {
        store_event_unref(store->window.items[i]);
    }
    free(store->window.items);
    map_done(&store->unflushed);
    commit_done_(&store->commit);
    commit_drop_queue_(store);
    status_free(store->broken);
    status_free(store->sweep_error);
    store->disk->ops->close(store->disk);
    free(store);
}

struct status *store_close(struct store *store)
{
    if (store == NULL) {
        return NULL;
    }
    struct status *status = commit_flush_(store);

    store_free_(store);
    return status;
}

void store_abandon(struct store *store)
{
    if (store->scheduled || store->commit.busy) {
        store->abandoned = true; /* calls are on their way that use it; the last frees it */
        return;
    }
    store_free_(store);
}

struct status *store_key_check_(struct str key)
{
    if (key.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "a storage key must not be empty");
    }
    if (key.n > LIMIT_STORE_KEY_BYTES) {
        return status_new(STATUS_BAD_REQUEST, "a storage key has %zu bytes, more than the %zu allowed: \"%.*s...\"",
                          key.n, LIMIT_STORE_KEY_BYTES, 80, key.p);
    }
    return NULL;
}

struct status *store_current_(struct store *store, struct str key, struct current *ret)
{
    struct store_event *event = map_find(&store->unflushed, key);

    if (event != NULL) {
        *ret = (struct current){true, event->revision, event->create_revision, event};
        return NULL;
    }
    if (store->broken != NULL) {
        return status_copy(store->broken);
    }
    struct disk_head head = {0};
    bool found = false;

    TRY(store->disk->ops->head(store->disk, key, &head, &found));
    *ret = (struct current){found && !head.deleted, head.mod_revision, head.create_revision, NULL};
    return NULL;
}

static struct status *damaged(struct status *status, int64_t revision)
{
    status_free(status);
    return status_new(STATUS_INTERNAL_ERROR, "the store's data is damaged: revision %lld is missing from the log",
                      (long long)revision);
}

struct status *store_value_(struct store *store, int64_t revision, struct blob **ret)
{
    struct store_event *event = watch_recent_(store, revision);

    if (event != NULL) {
        *ret = blob_ref(event->value);
        return NULL;
    }
    struct disk_version version;
    struct status *status = store->disk->ops->version(store->disk, revision, &version);

    if (status_is(status, STATUS_NOT_FOUND)) {
        return damaged(status, revision);
    }
    TRY(status);
    *ret = blob_of(version.value);
    return NULL;
}

/* The revision to read at, checked. */
static struct status *read_revision(const struct store *store, int64_t wanted, int64_t *ret)
{
    if (wanted < 0 || wanted > store->revision) {
        return status_new(STATUS_BAD_REQUEST, "revision %lld is yet to come, the store is at %lld", (long long)wanted,
                          (long long)store->revision);
    }
    if (wanted > 0 && wanted < store->compacted) {
        return status_new(STATUS_EXPIRED, "The resourceVersion for the provided list is too old.");
    }
    *ret = wanted > 0 ? wanted : store->revision;
    return NULL;
}

/* Follows a key's versions back to the one that was current at `at`: current->exists false when there was none. No
 * version that compaction may have swept is touched: those were replaced at or before store->compacted. */
static struct status *go_back(struct store *store, int64_t at, struct current *current)
{
    while (current->mod_revision > at) {
        struct store_event *event = watch_recent_(store, current->mod_revision);
        struct disk_version version;

        if (event != NULL) {
            version = (struct disk_version){.type = event->type, .previous_revision = event->previous_revision,
                                            .create_revision = event->create_revision};
        } else {
            struct status *status = store->disk->ops->version(store->disk, current->mod_revision, &version);

            if (status_is(status, STATUS_NOT_FOUND)) {
                return damaged(status, current->mod_revision);
            }
            TRY(status);
        }
        /* What precedes a creation is a deletion, or nothing; what precedes anything else is a value. */
        current->exists = version.type != STORE_CREATED;
        current->mod_revision = version.previous_revision;
        current->create_revision = version.create_revision;
        current->event = NULL;
    }
    return NULL;
}

static struct status *read_object(struct store *store, const struct current *current, struct store_object *ret)
{
    struct blob *value = NULL;

    if (current->event != NULL) {
        value = blob_ref(current->event->value);
    } else {
        TRY(store_value_(store, current->mod_revision, &value));
    }
    *ret = (struct store_object){.value = value, .create_revision = current->create_revision,
                                 .mod_revision = current->mod_revision};
    return NULL;
}

struct status *store_get(struct store *store, struct str key, int64_t revision, struct store_object *ret,
                         int64_t *ret_revision)
{
    struct current current;
    int64_t at = 0;

    TRY(store_key_check_(key));
    TRY(read_revision(store, revision, &at));
    TRY(store_current_(store, key, &current));
    TRY(go_back(store, at, &current));
    if (ret_revision != NULL) {
        *ret_revision = at;
    }
    if (!current.exists) {
        return status_new(STATUS_NOT_FOUND, "key not found: %.*s", STR_ARG(key));
    }
    return read_object(store, &current, ret);
}

struct listing {
    struct store *store;
    const struct store_list_options *options;
    struct store_list *list;
    struct status *status;
    bool count_only;
};

static bool list_head(void *arg, struct str key, const struct disk_head *head)
{
    struct listing *listing = arg;
    struct store_list *list = listing->list;
    struct store_event *event = map_find(&listing->store->unflushed, key);
    struct current current = {!head->deleted, head->mod_revision, head->create_revision, NULL};

    if (event != NULL) {
        current = (struct current){true, event->revision, event->create_revision, event};
    }
    listing->status = go_back(listing->store, list->revision, &current);
    if (listing->status != NULL || !current.exists) {
        return listing->status == NULL;
    }
    if (listing->count_only || (listing->options->limit > 0 && list->len == listing->options->limit)) {
        list->more = true;
        list->remaining++;
        return listing->count_only || listing->options->count_remaining;
    }
    struct store_list_item item = {.key = arena_str(list->arena, key)};

    listing->status = read_object(listing->store, &current, &item.object);
    if (listing->status == NULL) {
        *LIST_ADD(list->arena, list) = item;
    }
    return listing->status == NULL;
}

static struct status *list_run(struct listing *listing)
{
    struct store *store = listing->store;
    struct str prefix = listing->options->prefix, start = listing->options->start;

    if (store->broken != NULL) {
        return status_copy(store->broken);
    }
    if (str_cmp(start, prefix) < 0) {
        start = prefix;
    }
    TRY(store->disk->ops->heads(store->disk, prefix, start, list_head, listing));
    return listing->status;
}

struct status *store_list(struct store *store, const struct store_list_options *options, struct store_list *ret)
{
    struct store_list list = {0};
    struct listing listing = {.store = store, .options = options, .list = &list};

    TRY(read_revision(store, options->revision, &list.revision));
    list.arena = arena_new();
    struct status *status = list_run(&listing);

    if (status != NULL) {
        store_list_done(&list);
        return status;
    }
    *ret = list;
    return NULL;
}

void store_list_done(struct store_list *list)
{
    LIST_EACH(item, list)
    {
        store_object_done(&item->object);
    }
    arena_free(list->arena);
    *list = (struct store_list){0};
}

struct status *store_count(struct store *store, struct str prefix, size_t *ret)
{
    struct store_list list = {.revision = store->revision};
    struct store_list_options options = {.prefix = prefix};
    struct listing listing = {.store = store, .options = &options, .list = &list, .count_only = true};

    TRY(list_run(&listing));
    *ret = list.remaining;
    return NULL;
}

int64_t store_revision(const struct store *store)
{
    return store->revision;
}

bool store_wait_revision(struct store *store, int64_t revision, int64_t deadline)
{
    while (store->revision < revision) {
        if (task_is_cancelled() || env_mono() >= deadline) {
            return false;
        }
        cond_wait(&store->moved, deadline);
    }
    return true;
}

int64_t store_compacted(const struct store *store)
{
    return store->compacted;
}

void store_size(const struct store *store, uint64_t *ret_used, uint64_t *ret_file)
{
    uint64_t used = 0, file = 0;

    if (store->broken == NULL) {
        store->disk->ops->size(store->disk, &used, &file);
    }
    if (ret_used != NULL) {
        *ret_used = used;
    }
    if (ret_file != NULL) {
        *ret_file = file;
    }
}
