/* GetContainerEvents: what happens to containers, as it happens. */
#include "runtime/service.h"

#include "base/env.h"
#include "base/mem.h"
#include "schema/copy.h"

#include <stdlib.h>

/* A subscriber that is so far behind must list anew. */
enum { PENDING_MAX = 4096 };

struct event {
    struct link link;
    struct arena *arena;
    struct cri_v1_container_event_response message;
};

/* On its handler's stack. */
struct subscriber {
    struct link link, pending;
    size_t pending_count;
    bool is_behind;
    struct cond changed;
};

static void fill(struct arena *arena, struct sandbox *sandbox, struct container *container, int32_t type,
                 struct cri_v1_container_event_response *ret)
{
    size_t at = 0;

    *ret = (struct cri_v1_container_event_response){
        .container_id = container != NULL ? container->record.id : sandbox->record.id, .container_event_type = type,
        .created_at = env_wall(), .pod_sandbox_status = ARENA_NEW(arena, struct cri_v1_pod_sandbox_status)};
    service_sandbox_status(arena, sandbox, ret->pod_sandbox_status);
    for (struct map_entry *entry; (entry = map_next(&sandbox->runtime->containers, &at)) != NULL;) {
        struct container *other = entry->value;

        if (other->sandbox == sandbox) {
            service_container_status(arena, other, LIST_ADD(arena, &ret->containers_statuses));
        }
    }
    schema_own(arena, &cri_v1_container_event_response_type, ret);
}

static void on_event(void *arg, struct sandbox *sandbox, struct container *container, int32_t type)
{
    struct runtime *runtime = arg;

    LINK_EACH(at, &runtime->subscribers) {
        struct subscriber *subscriber = CONTAINER_OF(at, struct subscriber, link);

        if (subscriber->pending_count >= PENDING_MAX) {
            subscriber->is_behind = true;
        } else {
            struct arena *arena = arena_new();
            struct event *event = ARENA_NEW(arena, struct event);

            event->arena = arena;
            fill(arena, sandbox, container, type, &event->message);
            list_add_tail(&subscriber->pending, &event->link);
            subscriber->pending_count++;
        }
        cond_signal(&subscriber->changed);
    }
}

void service_events_open(struct runtime *runtime)
{
    list_init(&runtime->subscribers);
    runtime->on_event = on_event;
    runtime->on_event_arg = runtime;
}

static struct status *send_pending(struct subscriber *subscriber,
                                   struct status *(*send)(void *sink, const void *response), void *sink)
{
    struct link *first;

    while ((first = list_pop(&subscriber->pending)) != NULL) {
        struct event *event = CONTAINER_OF(first, struct event, link);
        struct status *status = send(sink, &event->message);

        subscriber->pending_count--;
        arena_free(event->arena);
        TRY(status);
    }
    return subscriber->is_behind
               ? status_new(STATUS_TOO_MANY_REQUESTS, "events came faster than they were taken; list and ask again")
               : NULL;
}

static struct status *get_events(void *arg, struct arena *arena, const void *request,
                                 struct status *(*send)(void *sink, const void *response), void *sink)
{
    struct runtime *runtime = arg;
    struct subscriber subscriber = {0};
    struct status *status = NULL;

    list_init(&subscriber.pending);
    cond_init(&subscriber.changed);
    list_add_tail(&runtime->subscribers, &subscriber.link);
    while (status == NULL && !task_is_cancelled()) {
        status = send_pending(&subscriber, send, sink);
        if (status == NULL && list_empty(&subscriber.pending)) {
            cond_wait(&subscriber.changed, TASK_FOREVER);
        }
    }
    list_remove(&subscriber.link);
    for (struct link *link; (link = list_pop(&subscriber.pending)) != NULL;) {
        arena_free(CONTAINER_OF(link, struct event, link)->arena);
    }
    return status;
}

static const struct grpc_method methods[] = {
    {.rpc = &cri_v1_runtime_service_get_container_events_rpc, .stream = get_events},
};
const struct service_methods service_events_methods = {methods, COUNT_OF(methods)};
