#include "apiserver/event_ttl.h"

#include "apiserver/server.h"
#include "base/env.h"
#include "base/log.h"
#include "schema/timestamp.h"

/* Those that end within so much of each other go together: a write wakes the disk. */
static const int64_t together = 60 * ENV_SECOND;

static int64_t later(int64_t time, struct timestamp other)
{
    return other.is_set ? MAX(time, timestamp_nanos(other)) : time;
}

int64_t event_last_seen(const struct core_v1_event *event)
{
    int64_t time = later(0, event->metadata.creation_timestamp);

    time = later(time, event->first_timestamp);
    time = later(time, event->last_timestamp);
    time = later(time, event->event_time);
    return event->series == NULL ? time : later(time, event->series->last_observed_time);
}

static struct status *remove_event(struct apiserver *server, const struct resource *resource, struct stored *stored)
{
    OWNED(store_object_done) struct store_object gone = {0};
    OWNED(buf_done) struct buf key = {0};

    buf_add_str(&key, resource->prefix);
    buf_add_str(&key, stored_key(stored));
    struct status *status = store_delete(server->store, buf_str(&key), stored_revision(stored), &gone);

    /* someone was faster, or has just written it again */
    return status_free_if(&status, STATUS_NOT_FOUND) || status_free_if(&status, STATUS_CONFLICT) ? NULL : status;
}

/* Removes what is too old; *ret_next is when the next one will be. */
static struct status *sweep(struct apiserver *server, int64_t *ret_next)
{
    const struct resource *resource = apiserver_resource(server, "", "v1", "events");
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};
    struct watch_snapshot_walk walk;
    int64_t ttl = server->options->event_ttl, now = env_wall();

    *ret_next = now + ttl;
    TRY(watch_cache_snapshot(resource->cache, FRESH_ANY, 0, &snapshot));
    watch_snapshot_walk(&walk, &snapshot, (struct str){0}, (struct str){0});
    for (struct stored *stored; (stored = watch_snapshot_next(&walk)) != NULL;) {
        const void *object;

        TRY(stored_object(stored, &object));
        int64_t ends = event_last_seen(object) + ttl;

        if (ends <= now) {
            TRY(remove_event(server, resource, stored));
        } else {
            *ret_next = MIN(*ret_next, ends);
        }
    }
    return NULL;
}

void event_ttl_run(void *arg)
{
    struct apiserver *server = arg;

    while (!task_is_cancelled()) {
        int64_t next = env_wall() + together;
        struct status *status = sweep(server, &next);

        if (status != NULL && !status_is(status, STATUS_CANCELLED)) {
            log_warn("removing old events: %.*s", STR_ARG(status->message));
        }
        status_free(status);
        task_sleep(next - env_wall() + together);
    }
}
