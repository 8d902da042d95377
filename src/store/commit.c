#include "base/limits.h"
#include "store/engine.h"

#include <stdlib.h>
#include <string.h>

/* How writing goes: operations queue; commit_begin() takes a run of them, decides each against what is current and the
 * run's own events, and hands the outcome to a worker as one transaction; meanwhile the next ones queue. Nothing of it
 * is visible, and nobody is answered, before the worker has made it durable. */

static struct op *op_new(enum op_kind kind, struct str key)
{
    struct op *op = mem_zalloc(sizeof(*op) + key.n);

    op->refs = 1;
    op->kind = kind;
    if (key.n > 0) {
        memcpy(op->bytes, key.p, key.n);
    }
    op->key = (struct str){op->bytes, key.n};
    return op;
}

static void op_unref(struct op *op)
{
    if (--op->refs == 0) {
        blob_unref(op->value);
        store_object_done(&op->result);
        status_free(op->status);
        free(op);
    }
}

/* Answers the caller and drops the queue's reference. */
static void op_finish(struct op *op)
{
    op->done = true;
    if (op->caller != NULL) {
        task_wake(op->caller);
    }
    op_unref(op);
}

void commit_done_(struct commit *commit)
{
    for (size_t i = 0; i < commit->ops.len; i++) {
        op_finish(commit->ops.items[i]);
    }
    for (size_t i = 0; i < commit->events.len; i++) {
        store_event_unref(commit->events.items[i]);
    }
    free(commit->ops.items);
    free(commit->events.items);
    free(commit->out.items);
    map_done(&commit->newest);
    status_free(commit->write.status);
    *commit = (struct commit){0};
}

void commit_drop_queue_(struct store *store)
{
    while (!list_empty(&store->queue)) {
        op_finish(CONTAINER_OF(list_pop(&store->queue), struct op, link));
    }
}

/* What the key is after the events of this transaction so far. */
static struct status *current_in(struct store *store, struct op *op, struct current *ret)
{
    struct store_event *event = map_find(&store->commit.newest, op->key);

    if (event == NULL) {
        return store_current_(store, op->key, ret);
    }
    op->depends = true;
    *ret = (struct current){event->type != STORE_DELETED, event->revision, event->create_revision, event};
    return NULL;
}

static struct status *refusal(const struct op *op, const struct current *current)
{
    if (op->kind == OP_CREATE) {
        return current->exists ? status_new(STATUS_ALREADY_EXISTS, "key exists: %.*s", STR_ARG(op->key)) : NULL;
    }
    if (!current->exists) {
        return status_new(STATUS_NOT_FOUND, "key not found: %.*s", STR_ARG(op->key));
    }
    if (op->expected != 0 && op->expected != current->mod_revision) {
        return status_new(STATUS_CONFLICT, "%.*s is at revision %lld, not %lld", STR_ARG(op->key),
                          (long long)current->mod_revision, (long long)op->expected);
    }
    return NULL;
}

/* Decides one operation: an event added to the transaction, or a refusal in op->status. */
static struct status *decide(struct store *store, struct op *op)
{
    static const enum store_event_type types[] = {STORE_CREATED, STORE_UPDATED, STORE_DELETED};
    struct commit *commit = &store->commit;
    struct current current;
    OWNED(blob_unrefp) struct blob *before = NULL;

    TRY(current_in(store, op, &current));
    if (current.exists) {
        if (current.event != NULL) {
            before = blob_ref(current.event->value);
        } else {
            TRY(store_value_(store, current.mod_revision, &before));
        }
    }
    struct status *refused = refusal(op, &current);

    if (refused != NULL) {
        op->result = (struct store_object){.value = TAKE(before), .create_revision = current.create_revision,
                                           .mod_revision = current.mod_revision};
        return refused;
    }
    struct store_event *event = event_new_(types[op->kind], op->key);

    event->revision = ++commit->revision;
    event->create_revision = op->kind == OP_CREATE ? event->revision : current.create_revision;
    event->previous_revision = current.mod_revision;
    event->value = blob_ref(op->value);
    op->result = (struct store_object){.value = blob_ref(op->kind == OP_DELETE ? before : op->value),
                                       .create_revision = event->create_revision, .mod_revision = event->revision};
    event->previous = TAKE(before);
    *VEC_ADD(&commit->events) = event;
    commit->bytes += event_bytes_(event);
    map_set(&commit->newest, event->key, event);
    op->depends = true;
    if ((op->flags & STORE_VOLATILE) != 0) {
        commit->has_volatile = true;
    } else {
        commit->durable = true;
    }
    return NULL;
}

static void gather(struct store *store)
{
    struct commit *commit = &store->commit;

    commit->revision = store->revision;
    commit->start = env_wall();
    while (!list_empty(&store->queue) && commit->ops.len < COMMIT_OPS_MAX && commit->bytes < COMMIT_BYTES_MAX) {
        struct op *op = CONTAINER_OF(list_pop(&store->queue), struct op, link);

        *VEC_ADD(&commit->ops) = op;
        if (op->kind == OP_FLUSH) {
            op->depends = true;
            commit->durable |= store->unflushed_bytes > 0 ||
                               (store->closing && store->durable.reserved > store->revision);
        } else {
            op->status = decide(store, op);
        }
    }
}

/* Answers all operations of the transaction; those that rest on it with `error` unless that is NULL. */
static void finish(struct store *store, const struct status *error)
{
    struct commit *commit = &store->commit;
    int64_t end = commit->busy ? env_wall() : commit->start;

    for (size_t i = 0; i < commit->ops.len; i++) {
        struct op *op = commit->ops.items[i];

        op->result.commit_start = commit->start;
        op->result.commit_end = end;
        if (error != NULL && op->depends) {
            status_free(op->status);
            op->status = status_copy(error);
            store_object_done(&op->result);
        }
    }
    commit_done_(commit);
    commit_kick_(store);
    if (!store->scheduled) {
        cond_broadcast(&store->idle);
    }
}

static void commit_begin(void *arg);

void commit_kick_(struct store *store)
{
    struct disk_state state;

    if (!store->scheduled && !store->commit.busy &&
        (!list_empty(&store->queue) || compact_step_(store, &state))) {
        store->scheduled = true;
        env_post(commit_begin, store); /* posted, so that what is ready to run now may join */
    }
}

static void enqueue(struct store *store, struct op *op)
{
    op->refs++;
    list_add_tail(&store->queue, &op->link);
    commit_kick_(store);
}

static void flush_timer_fired(void *arg)
{
    struct store *store = arg;

    struct op *op = op_new(OP_FLUSH, STR(""));

    store->flush_timer = NULL;
    enqueue(store, op);
    op_unref(op);
}

static void flush_later(struct store *store)
{
    if (store->flush_timer == NULL) {
        store->flush_timer = env_timer(store->options.volatile_delay, flush_timer_fired, store);
    }
}

/* Nothing in the transaction need be on disk now: its events only become visible. */
static void publish_volatile(struct store *store)
{
    struct commit *commit = &store->commit;

    for (size_t i = 0; i < commit->events.len; i++) {
        struct store_event *event = commit->events.items[i];

        map_set(&store->unflushed, event->key, event);
        store->unflushed_bytes += event_bytes_(event);
    }
    watch_publish_(store, commit->events.items, commit->events.len);
    commit->events.len = 0;
    if (store->unflushed_bytes > 0) {
        flush_later(store);
    }
}

static void wrote_events(struct store *store)
{
    struct commit *commit = &store->commit;

    store->unflushed_bytes = 0;
    map_done(&store->unflushed);
    env_timer_stop(TAKE(store->flush_timer));
    watch_publish_(store, commit->events.items, commit->events.len);
    commit->events.len = 0;
    watch_trim_(store);
}

static void commit_write(struct store *store);

/* When an error leaves open whether the write happened, the disk tells. */
static bool happened(struct store *store, const struct status *error)
{
    const struct disk_write *write = &store->commit.write;
    struct disk_state state;

    if (error == NULL || !write->uncertain || store->broken != NULL) {
        return error == NULL;
    }
    OWNED(status_freep) struct status *status = store->disk->ops->state(store->disk, &state);

    return status == NULL && memcmp(&state, &write->state, sizeof(state)) == 0;
}

static void commit_end(void *arg)
{
    struct store *store = arg;
    struct commit *commit = &store->commit;

    if (store->abandoned) {
        store_free_(store);
        return;
    }
    status_free(store->broken);
    store->broken = store->disk->ops->refresh(store->disk);
    if (commit->write.again && store->broken == NULL) {
        commit_write(store);
        return;
    }
    if (commit->write.again) {
        commit->write.status = status_copy(store->broken);
    }
    OWNED(status_freep) struct status *error = TAKE(commit->write.status);

    if (happened(store, error)) {
        store->durable = commit->write.state;
        if (!commit->sweeping) {
            wrote_events(store);
            compact_by_age_(store);
        }
    }
    status_free(TAKE(store->sweep_error));
    if (commit->sweeping && error != NULL) {
        store->sweep_error = status_copy(error);
    }
    store->swept_last = commit->sweeping;
    if (store->unflushed_bytes > 0) {
        flush_later(store);
    }
    finish(store, error);
    cond_broadcast(&store->swept);
}

static void commit_worked(void *arg)
{
    struct store *store = arg;
    int64_t latency = store->disk->ops->latency != NULL ? store->disk->ops->latency(store->disk) : 0;

    if (latency > 0) {
        env_timer(latency, commit_end, store);
    } else {
        commit_end(store);
    }
}

static void commit_work(void *arg)
{
    struct store *store = arg;

    store->disk->ops->write(store->disk, &store->commit.write);
}

static void commit_write(struct store *store)
{
    struct commit *commit = &store->commit;

    commit->write.again = commit->write.uncertain = false;
    commit->write.events = commit->out.items;
    commit->write.len = commit->out.len;
    commit->busy = true;
    env_offload(commit_work, commit_worked, store);
}

/* Volatile writes take revisions above what is on disk, so the disk must know first how far they may go. */
static int64_t reserve(const struct store *store, int64_t revision)
{
    bool used = store->commit.has_volatile || store->unflushed_bytes > 0;

    if (store->closing) {
        return revision; /* nothing will be written in memory alone any more */
    }
    if (used && store->durable.reserved < revision + RESERVE_REVISIONS / 2) {
        return revision + RESERVE_REVISIONS;
    }
    return MAX(store->durable.reserved, revision);
}

static void write_events(struct store *store)
{
    struct commit *commit = &store->commit;

    for (size_t i = store->window.first; i < store->window.len; i++) {
        if (store->window.items[i]->revision > store->durable.revision) {
            *VEC_ADD(&commit->out) = store->window.items[i];
        }
    }
    for (size_t i = 0; i < commit->events.len; i++) {
        *VEC_ADD(&commit->out) = commit->events.items[i];
    }
    commit->write.state = store->durable;
    if (commit->out.len > 0) {
        commit->write.state.revision = commit->revision;
    }
    commit->write.state.reserved = reserve(store, commit->revision);
    commit->write.state.compacted = store->compacted;
    commit_write(store);
}

static void commit_begin(void *arg)
{
    struct store *store = arg;
    struct commit *commit = &store->commit;

    store->scheduled = false;
    if (store->abandoned) {
        store_free_(store);
        return;
    }
    if (store->broken != NULL) {
        status_free(store->broken);
        store->broken = store->disk->ops->refresh(store->disk);
    }
    /* Sweeping takes turns with writing when there is both. */
    if ((list_empty(&store->queue) || !store->swept_last) && compact_step_(store, &commit->write.state)) {
        commit->sweeping = true;
        commit_write(store);
        return;
    }
    if (list_empty(&store->queue)) {
        return;
    }
    gather(store);
    if (commit->durable || commit->revision > store->durable.reserved ||
        store->unflushed_bytes + commit->bytes > UNFLUSHED_BYTES_MAX) {
        write_events(store);
        return;
    }
    publish_volatile(store);
    finish(store, NULL);
}

struct flush {
    struct store *store;
    struct status *status;
};

static void flush_run(void *arg)
{
    struct flush *flush = arg;
    struct store *store = flush->store;
    struct op *op = op_new(OP_FLUSH, STR(""));

    store->closing = true;
    op->caller = task_current();
    enqueue(store, op);
    while (!op->done) {
        task_park(TASK_FOREVER);
    }
    flush->status = TAKE(op->status);
    op_unref(op);
    while (store->scheduled || store->commit.busy || !list_empty(&store->queue)) {
        cond_wait(&store->idle, TASK_FOREVER);
    }
}

struct status *commit_flush_(struct store *store)
{
    struct flush flush = {store, NULL};
    struct task_group group;

    /* In a task of its own, which nobody cancels. */
    task_group_init(&group);
    task_group_spawn(&group, "store-flush", flush_run, &flush);
    task_group_wait(&group);
    return flush.status;
}

/* Queues an operation (taken over) and parks for its outcome. */
static struct status *op_run(struct store *store, struct op *op, struct store_object *ret)
{
    op->caller = task_current();
    enqueue(store, op);
    while (!op->done && !task_is_cancelled()) {
        task_park(TASK_FOREVER);
    }
    if (!op->done) {
        op->caller = NULL;
        op_unref(op);
        return status_new(STATUS_CANCELLED, "cancelled while writing to the store");
    }
    struct status *status = TAKE(op->status);

    if (ret != NULL && (status == NULL || op->result.value != NULL)) {
        *ret = op->result;
        op->result = (struct store_object){0};
    }
    op_unref(op);
    return status;
}

struct status *commit_sync_(struct store *store)
{
    return op_run(store, op_new(OP_FLUSH, STR("")), NULL);
}

static struct status *value_check(struct str key, const struct blob *value)
{
    TRY(store_key_check_(key));
    if (value->n > LIMIT_STORE_VALUE_BYTES) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "%.*s has %u bytes, more than the %zu that may be stored",
                          STR_ARG(key), value->n, LIMIT_STORE_VALUE_BYTES);
    }
    return NULL;
}

struct status *store_create(struct store *store, struct str key, struct blob *value, struct store_object *ret)
{
    TRY(value_check(key, value));
    struct op *op = op_new(OP_CREATE, key);

    op->value = blob_ref(value);
    return op_run(store, op, ret);
}

struct status *store_update(struct store *store, struct str key, struct blob *value, int64_t expected, unsigned flags,
                            struct store_object *ret)
{
    TRY(value_check(key, value));
    struct op *op = op_new(OP_UPDATE, key);

    op->value = blob_ref(value);
    op->expected = expected;
    op->flags = flags;
    return op_run(store, op, ret);
}

struct status *store_delete(struct store *store, struct str key, int64_t expected, struct store_object *ret)
{
    TRY(store_key_check_(key));
    struct op *op = op_new(OP_DELETE, key);

    op->expected = expected;
    return op_run(store, op, ret);
}
