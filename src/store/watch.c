#include "store/engine.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* One batch, and how many records of others it may pass over before others run. */
    BATCH_EVENTS_MAX = 256,
    BATCH_BYTES_MAX = 1 << 20,
    BATCH_RECORDS_MAX = 4096,
};

struct store_watch {
    struct link link;
    struct store *store;
    int64_t after; /* everything up to here is delivered */
    bool ready;    /* there may be something above */
    struct cond wake;
    struct str prefix;
    char bytes[];
};

struct store_event *event_new_(enum store_event_type type, struct str key)
{
    struct store_event *event = mem_zalloc(sizeof(*event) + key.n + 1);

    event->refs = 1;
    event->type = type;
    memcpy(event->bytes, key.p, key.n);
    event->key = (struct str){event->bytes, key.n};
    return event;
}

size_t event_bytes_(const struct store_event *event)
{
    return sizeof(*event) + event->key.n + blob_str(event->value).n;
}

struct store_event *store_event_ref(struct store_event *event)
{
    __atomic_add_fetch(&event->refs, 1, __ATOMIC_RELAXED);
    return event;
}

void store_event_unref(struct store_event *event)
{
    if (event != NULL && __atomic_sub_fetch(&event->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        blob_unref(event->value);
        blob_unref(event->previous);
        free(event);
    }
}

static void events_clear(struct store_events *events)
{
    for (size_t i = 0; i < events->len; i++) {
        store_event_unref(events->items[i]);
    }
    events->len = 0;
}

void store_events_done(struct store_events *events)
{
    events_clear(events);
    free(events->items);
    *events = (struct store_events){0};
}

struct store_event *watch_recent_(const struct store *store, int64_t revision)
{
    if (revision <= store->window_after || revision > store->revision) {
        return NULL;
    }
    return store->window.items[store->window.first + (size_t)(revision - store->window_after - 1)];
}

/* A watch that is up to date and has nothing among the new events moves on without being woken. */
static void notify(struct store_watch *watch, struct store_event *const *events, size_t count)
{
    bool current = watch->after == watch->store->revision - (int64_t)count;

    for (size_t i = 0; i < count && current; i++) {
        current = !str_has_prefix(events[i]->key, watch->prefix);
    }
    if (current) {
        watch->after = watch->store->revision;
        return;
    }
    watch->ready = true;
    cond_broadcast(&watch->wake);
}

void watch_publish_(struct store *store, struct store_event *const *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *VEC_ADD(&store->window) = events[i];
        store->window_bytes += event_bytes_(events[i]);
        store->revision = events[i]->revision;
    }
    if (count > 0) {
        LINK_EACH(link, &store->watches)
        {
            notify(CONTAINER_OF(link, struct store_watch, link), events, count);
        }
        cond_broadcast(&store->moved);
    }
}

void watch_trim_(struct store *store)
{
    while (store->window.first < store->window.len) {
        struct store_event *first = store->window.items[store->window.first];
        size_t count = store->window.len - store->window.first;

        if (first->revision > store->durable.revision ||
            (count <= WINDOW_EVENTS_MAX && store->window_bytes <= WINDOW_BYTES_MAX)) {
            break;
        }
        store->window_bytes -= event_bytes_(first);
        store->window_after = first->revision;
        store_event_unref(first);
        store->window.first++;
    }
    if (store->window.first > store->window.len / 2) {
        store->window.len -= store->window.first;
        memmove(store->window.items, store->window.items + store->window.first,
                store->window.len * sizeof(store->window.items[0]));
        store->window.first = 0;
    }
}

void watch_wake_all_(struct store *store)
{
    LINK_EACH(link, &store->watches)
    {
        cond_broadcast(&CONTAINER_OF(link, struct store_watch, link)->wake);
    }
}

static struct status *expired(void)
{
    return status_new(STATUS_EXPIRED, "The resourceVersion for the provided watch is too old.");
}

struct status *store_watch_start(struct store *store, struct str prefix, int64_t after, struct store_watch **ret)
{
    if (after < 0) {
        after = store->revision;
    }
    if (after < store->compacted) {
        return expired();
    }
    struct store_watch *watch = mem_zalloc(sizeof(*watch) + prefix.n + 1);

    watch->store = store;
    watch->after = after;
    watch->ready = true;
    cond_init(&watch->wake);
    if (prefix.n > 0) {
        memcpy(watch->bytes, prefix.p, prefix.n);
    }
    watch->prefix = (struct str){watch->bytes, prefix.n};
    list_add_tail(&store->watches, &watch->link);
    *ret = watch;
    return NULL;
}

int64_t store_watch_revision(const struct store_watch *watch)
{
    return watch->after;
}

void store_watch_stop(struct store_watch *watch)
{
    if (watch != NULL) {
        list_remove(&watch->link);
        free(watch);
    }
}

struct batch {
    struct store_watch *watch;
    struct store_events *events;
    size_t bytes, records;
    int64_t up_to; /* where reading the log ends: memory has the rest */
    bool full;
    struct status *status;
};

/* Takes an event (a reference) into the batch; false when that is enough. */
static bool batch_add(struct batch *batch, struct store_event *event)
{
    batch->bytes += event_bytes_(event);
    *VEC_ADD(batch->events) = event;
    batch->full = batch->events->len >= BATCH_EVENTS_MAX || batch->bytes >= BATCH_BYTES_MAX;
    return !batch->full;
}

static bool read_version(void *arg, int64_t revision, const struct disk_version *version)
{
    struct batch *batch = arg;
    struct store *store = batch->watch->store;

    if (revision > batch->up_to) {
        return false;
    }
    if (!str_has_prefix(version->key, batch->watch->prefix)) {
        batch->watch->after = revision;
        batch->full = ++batch->records >= BATCH_RECORDS_MAX;
        return !batch->full;
    }
    struct store_event *event = event_new_(version->type, version->key);

    event->revision = revision;
    event->create_revision = version->create_revision;
    event->previous_revision = version->previous_revision;
    if (event->type != STORE_DELETED) {
        event->value = blob_of(version->value);
    }
    if (event->type != STORE_CREATED) {
        batch->status = store_value_(store, event->previous_revision, &event->previous);
    }
    if (batch->status != NULL) {
        store_event_unref(event);
        return false;
    }
    batch->watch->after = revision;
    return batch_add(batch, event);
}

/* Fills the batch with what is above watch->after: from the log as far as memory doesn't reach, then from memory. */
static struct status *read_events(struct batch *batch)
{
    struct store_watch *watch = batch->watch;
    struct store *store = watch->store;

    if (watch->after < store->window_after) {
        if (store->broken != NULL) {
            return status_copy(store->broken);
        }
        batch->up_to = store->window_after;
        TRY(store->disk->ops->log(store->disk, watch->after, read_version, batch));
        TRY(batch->status);
        if (batch->full) {
            return NULL;
        }
        watch->after = store->window_after;
    }
    struct store_event *event;

    while (!batch->full && (event = watch_recent_(store, watch->after + 1)) != NULL) {
        watch->after = event->revision;
        if (str_has_prefix(event->key, watch->prefix)) {
            batch_add(batch, store_event_ref(event));
        } else {
            batch->full = ++batch->records >= BATCH_RECORDS_MAX;
        }
    }
    return NULL;
}

struct status *store_watch_next(struct store_watch *watch, int64_t deadline, struct store_events *events)
{
    for (;;) {
        if (task_is_cancelled()) {
            return status_new(STATUS_CANCELLED, "cancelled while watching");
        }
        if (watch->after < watch->store->compacted && watch->after < watch->store->revision) {
            return expired();
        }
        if (watch->ready) {
            struct batch batch = {.watch = watch, .events = events};
            int64_t before = watch->after;

            events_clear(events);
            TRY(read_events(&batch));
            watch->ready = watch->after < watch->store->revision;
            events->revision = watch->after;
            if (events->len > 0) {
                return NULL;
            }
            if (!watch->ready && watch->after > before) {
                return NULL; /* those who wait for this revision get to know */
            }
            if (watch->ready) {
                task_yield();
            }
            continue;
        }
        if (env_mono() >= deadline) {
            events_clear(events);
            events->revision = watch->after;
            return NULL;
        }
        cond_wait(&watch->wake, deadline);
    }
}
