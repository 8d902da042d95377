#include "client/event_recorder.h"

#include "api/core_v1.h"
#include "base/env.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "schema/object.h"
#include "schema/timestamp.h"
#include "schema/type.h"

#include <stdarg.h>
#include <stdlib.h>

/* Stock's spam filter: a burst about one object, then one event in five minutes. */
enum { BURST = 25, QUEUE_MAX = 1000, KNOWN_MAX = 4096 };
#define REFILL (300 * ENV_SECOND)
#define FLUSH_WITHIN (2 * ENV_SECOND)

/* An event on its way: its object lives in its arena. */
struct pending {
    struct link link;
    struct arena *arena;
    struct core_v1_event *event;
    struct str same;   /* what makes two events the same */
    struct str object; /* what the spam filter counts by */
};

/* An event that was written: the next same one raises its count. */
struct known {
    char *namespace, *name;
    int32_t count;
    struct timestamp first;
};

/* Tokens left for events about one object. */
struct bucket {
    int tokens;
    int64_t refilled;
};

struct event_recorder {
    struct client *client;
    struct arena *arena;
    struct str component, host;
    int64_t last_stamp; /* of the last event's name */
    struct link queue;
    size_t queued;
    struct cond filled, emptied;
    struct map known;   /* by `same` */
    struct map buckets; /* by `object` */
    struct task_group tasks;
};

static void recorder_run(void *arg);

struct event_recorder *event_recorder_new(struct client *client, struct str component, struct str host)
{
    struct event_recorder *recorder = MEM_NEW(struct event_recorder);

    recorder->client = client;
    recorder->arena = arena_new();
    recorder->component = arena_str(recorder->arena, component);
    recorder->host = arena_str(recorder->arena, host);
    list_init(&recorder->queue);
    cond_init(&recorder->filled);
    cond_init(&recorder->emptied);
    task_group_init(&recorder->tasks);
    task_group_spawn(&recorder->tasks, "event recorder", recorder_run, recorder);
    return recorder;
}

static void known_free(struct known *known)
{
    if (known != NULL) {
        free(known->namespace);
        free(known->name);
        free(known);
    }
}

static void known_clear(struct event_recorder *recorder)
{
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&recorder->known, &at)) != NULL;) {
        known_free(entry->value);
    }
    map_done(&recorder->known);
    at = 0;
    for (struct map_entry *entry; (entry = map_next(&recorder->buckets, &at)) != NULL;) {
        free(entry->value);
    }
    map_done(&recorder->buckets);
}

static void pending_free(struct pending *pending)
{
    arena_free(pending->arena); /* which holds `pending` too */
}

void event_recorder_free(struct event_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    int64_t deadline = env_mono() + FLUSH_WITHIN;

    while (recorder->queued > 0 && cond_wait(&recorder->emptied, deadline)) {
    }
    task_group_cancel(&recorder->tasks);
    for (struct link *link; (link = list_pop(&recorder->queue)) != NULL;) {
        pending_free(CONTAINER_OF(link, struct pending, link));
    }
    known_clear(recorder);
    arena_free(recorder->arena);
    free(recorder);
}

static bool may_pass(struct event_recorder *recorder, struct str object)
{
    struct bucket *bucket = map_find(&recorder->buckets, object);
    int64_t now = env_mono();

    if (bucket == NULL) {
        bucket = MEM_NEW(struct bucket);
        *bucket = (struct bucket){BURST, now};
        map_set(&recorder->buckets, object, bucket);
    }
    int64_t refill = (now - bucket->refilled) / REFILL;

    if (refill > 0) {
        bucket->tokens = (int)MIN(bucket->tokens + refill, (int64_t)BURST);
        bucket->refilled += refill * REFILL;
    }
    if (bucket->tokens == 0) {
        return false;
    }
    bucket->tokens--;
    return true;
}

static struct timestamp now_timestamp(void)
{
    int64_t now = env_wall();

    return (struct timestamp){.seconds = now / ENV_SECOND, .nanos = (int32_t)(now % ENV_SECOND), .is_set = true};
}

/* Events of cluster-scoped objects live in the namespace default. */
static struct str event_namespace(const struct object *object)
{
    return object->metadata.namespace.n > 0 ? object->metadata.namespace : STR("default");
}

/* Names of events end in the time, and no two are alike. */
static unsigned long long next_stamp(struct event_recorder *recorder)
{
    recorder->last_stamp = MAX(env_wall(), recorder->last_stamp + 1);
    return (unsigned long long)recorder->last_stamp;
}

static void fill(struct event_recorder *recorder, struct pending *pending, const struct kind *kind,
                 const struct object *object, struct str field_path)
{
    struct arena *arena = pending->arena;
    struct core_v1_event *event = pending->event;
    const struct meta_v1_object_meta *about = &object->metadata;
    struct timestamp now = now_timestamp();

    event->metadata.namespace = arena_str(arena, event_namespace(object));
    event->metadata.name = arena_printf(arena, "%.*s.%llx", STR_ARG(about->name), next_stamp(recorder));
    event->involved_object = (struct core_v1_object_reference){
        .kind = kind->kind,
        .api_version = kind->api_version,
        .namespace = arena_str(arena, about->namespace),
        .name = arena_str(arena, about->name),
        .uid = arena_str(arena, about->uid),
        .resource_version = arena_str(arena, about->resource_version),
        .field_path = arena_str(arena, field_path),
    };
    event->source.component = recorder->component;
    event->source.host = recorder->host;
    event->reporting_component = recorder->component;
    event->reporting_instance = recorder->host;
    event->count = 1;
    event->first_timestamp = event->last_timestamp = now;
    event->first_timestamp.nanos = event->last_timestamp.nanos = 0;
    pending->object = arena_printf(arena, "%.*s/%.*s/%.*s", STR_ARG(kind->kind), STR_ARG(about->namespace),
                                   STR_ARG(about->uid));
    pending->same = arena_printf(arena, "%.*s|%.*s|%.*s|%.*s|%.*s|%.*s", STR_ARG(pending->object), STR_ARG(about->name),
                                 STR_ARG(field_path), STR_ARG(event->type), STR_ARG(event->reason),
                                 STR_ARG(event->message));
}

void event_record(struct event_recorder *recorder, const struct kind *kind, const void *object, struct str field_path,
                  const char *type, const char *reason, const char *format, ...)
{
    struct arena *arena = arena_new();
    struct pending *pending = ARENA_NEW(arena, struct pending);
    va_list args;

    pending->arena = arena;
    pending->event = ARENA_NEW(arena, struct core_v1_event);
    pending->event->type = str_of(type);
    pending->event->reason = str_of(reason);
    va_start(args, format);
    pending->event->message = arena_vprintf(arena, format, args);
    va_end(args);
    fill(recorder, pending, kind, object, field_path);
    if (recorder->queued >= QUEUE_MAX || !may_pass(recorder, pending->object)) {
        pending_free(pending);
        return;
    }
    list_add_tail(&recorder->queue, &pending->link);
    recorder->queued++;
    cond_signal(&recorder->filled);
}

/* Raises the count of an event that was written before. */
static struct status *write_again(struct event_recorder *recorder, struct pending *pending, struct known *known)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct timestamp *last = &pending->event->last_timestamp;
    struct str patch = arena_printf(arena, "{\"count\":%d,\"lastTimestamp\":\"%.*s\"}", known->count + 1,
                                    STR_ARG(timestamp_format(arena, *last)));

    TRY(client_patch(recorder->client, &core_v1_event_kind, str_of(known->namespace), str_of(known->name), STR(""),
                     CLIENT_PATCH_STRATEGIC, patch, NULL, arena, NULL));
    known->count++;
    return NULL;
}

static void remember(struct event_recorder *recorder, const struct pending *pending)
{
    struct known *known = MEM_NEW(struct known);

    if (recorder->known.count >= KNOWN_MAX || recorder->buckets.count >= KNOWN_MAX) {
        known_clear(recorder); /* forgetting only makes an event appear twice */
    }
    known->namespace = mem_strdup(arena_cstr(pending->arena, pending->event->metadata.namespace));
    known->name = mem_strdup(arena_cstr(pending->arena, pending->event->metadata.name));
    known->count = 1;
    known_free(map_set(&recorder->known, pending->same, known));
}

static struct status *write_event(struct event_recorder *recorder, struct pending *pending)
{
    struct known *known = map_find(&recorder->known, pending->same);

    if (known != NULL) {
        struct status *status = write_again(recorder, pending, known);

        if (!status_free_if(&status, STATUS_NOT_FOUND)) {
            return status;
        }
    }
    TRY(client_create(recorder->client, &core_v1_event_kind, pending->event, NULL, pending->arena, NULL));
    remember(recorder, pending);
    return NULL;
}

static void recorder_run(void *arg)
{
    struct event_recorder *recorder = arg;

    while (!task_is_cancelled()) {
        struct link *link = list_pop(&recorder->queue);

        if (link == NULL) {
            cond_wait(&recorder->filled, TASK_FOREVER);
            continue;
        }
        struct pending *pending = CONTAINER_OF(link, struct pending, link);
        struct status *status = write_event(recorder, pending);

        for (int tries = 1; tries < 12 && status_is(status, STATUS_SERVICE_UNAVAILABLE) &&
                            task_sleep(10 * ENV_SECOND + (int64_t)env_random_below(ENV_SECOND));
             tries++) {
            status_free(status);
            status = write_event(recorder, pending);
        }
        if (status != NULL && !status_is(status, STATUS_CANCELLED)) {
            log_debug("event %.*s not written: %.*s", STR_ARG(pending->event->reason), STR_ARG(status->message));
        }
        status_free(status);
        pending_free(pending);
        if (--recorder->queued == 0) {
            cond_broadcast(&recorder->emptied);
        }
    }
}
