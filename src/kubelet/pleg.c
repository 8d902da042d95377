#include "kubelet/pleg.h"

#include "base/env.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "kubelet/pod_workers.h"
#include "kubelet/runtime_fetch.h"
#include "schema/map_of.h"

#include <stdlib.h>

/* Stock's periods: without events, and beside them. */
#define RELIST_PERIOD ENV_SECOND
#define RELIST_PERIOD_WITH_EVENTS (300 * ENV_SECOND)

/* What the last listing had of one container or sandbox. */
struct seen {
    enum runtime_state state;
    bool is_here; /* found by this listing */
    char *pod_uid;
};

struct pleg {
    struct kubelet *kubelet;
    struct map seen; /* by ID */
    bool has_events;
    struct cond changed;
};

struct pleg *pleg_new(struct kubelet *kubelet)
{
    struct pleg *pleg = MEM_NEW(struct pleg);

    pleg->kubelet = kubelet;
    cond_init(&pleg->changed);
    return pleg;
}

static void seen_free(struct seen *seen)
{
    free(seen->pod_uid);
    free(seen);
}

void pleg_free(struct pleg *pleg)
{
    size_t at = 0;

    if (pleg == NULL) {
        return;
    }
    for (struct map_entry *e; (e = map_next(&pleg->seen, &at)) != NULL;) {
        seen_free(e->value);
    }
    map_done(&pleg->seen);
    free(pleg);
}

static void look_at(struct pleg *pleg, const struct runtime_items *items)
{
    LIST_EACH (item, items) {
        struct seen *seen = map_find(&pleg->seen, item->id);

        if (seen == NULL) {
            seen = MEM_NEW(struct seen);
            *seen = (struct seen){item->state, true, mem_zalloc(item->pod_uid.n + 1)};
            __builtin_memcpy(seen->pod_uid, item->pod_uid.p, item->pod_uid.n);
            map_set(&pleg->seen, item->id, seen);
            pod_workers_wake(pleg->kubelet->workers, item->pod_uid);
        } else if (seen->state != item->state) {
            seen->state = item->state;
            pod_workers_wake(pleg->kubelet->workers, item->pod_uid);
        }
        seen->is_here = true;
    }
}

static struct status *relist(struct pleg *pleg)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct runtime_items sandboxes, containers;
    size_t at = 0;

    TRY(runtime_list(pleg->kubelet, arena, &sandboxes, &containers));
    for (struct map_entry *e; (e = map_next(&pleg->seen, &at)) != NULL;) {
        ((struct seen *)e->value)->is_here = false;
    }
    look_at(pleg, &sandboxes);
    look_at(pleg, &containers);
    at = 0;
    for (struct map_entry *e; (e = map_next(&pleg->seen, &at)) != NULL;) {
        struct seen *seen = e->value;

        if (!seen->is_here) {
            pod_workers_wake(pleg->kubelet->workers, str_of(seen->pod_uid));
            map_remove(&pleg->seen, e->key);
            seen_free(seen);
        }
    }
    return NULL;
}

static void relist_task(void *arg)
{
    struct pleg *pleg = arg;

    while (!task_is_cancelled()) {
        struct status *error = relist(pleg);
        int64_t period = pleg->has_events && error == NULL ? RELIST_PERIOD_WITH_EVENTS : RELIST_PERIOD;

        if (error != NULL && !status_is(error, STATUS_CANCELLED)) {
            log_debug("listing containers: %.*s", STR_ARG(error->message));
        }
        status_free(error);
        cond_wait(&pleg->changed, env_mono() + period);
    }
}

static struct str uid_of(const struct cri_v1_container_event_response *event)
{
    if (event->pod_sandbox_status != NULL) {
        struct str uid = str_map_get(&event->pod_sandbox_status->labels, LABEL_POD_UID);

        if (uid.n > 0) {
            return uid;
        }
    }
    LIST_EACH (container, &event->containers_statuses) {
        struct str uid = str_map_get(&container->labels, LABEL_POD_UID);

        if (uid.n > 0) {
            return uid;
        }
    }
    return STR("");
}

/* The pod of an event that does not say whose it is, by what the last listing had. */
static void wake_by_event(struct pleg *pleg, const struct cri_v1_container_event_response *event)
{
    struct str uid = uid_of(event);
    const struct seen *seen = map_find(&pleg->seen, event->container_id);

    if (uid.n == 0 && seen != NULL) {
        uid = str_of(seen->pod_uid);
    }
    if (uid.n > 0) {
        pod_workers_wake(pleg->kubelet->workers, uid);
    } else {
        cond_signal(&pleg->changed);
    }
}

static struct status *read_events(struct pleg *pleg)
{
    struct cri_stream *stream;
    struct status *error = NULL;

    TRY(cri_events_open(pleg->kubelet->cri, &stream));
    pleg->has_events = true;
    cond_signal(&pleg->changed); /* what happened before the stream began */
    for (bool more = true; error == NULL && more;) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct cri_v1_container_event_response *event;

        error = cri_events_next(stream, arena, &event, &more);
        if (error == NULL && more) {
            wake_by_event(pleg, event);
        }
    }
    cri_stream_close(stream);
    pleg->has_events = false;
    cond_signal(&pleg->changed);
    return error;
}

static void events_task(void *arg)
{
    struct pleg *pleg = arg;
    int64_t delay = ENV_SECOND;

    do {
        struct status *error = read_events(pleg);
        bool is_unknown = status_is(error, STATUS_METHOD_NOT_ALLOWED);

        status_free(error);
        if (is_unknown) {
            return;
        }
    } while (task_sleep(delay));
}

void pleg_start(struct pleg *pleg)
{
    task_group_spawn(&pleg->kubelet->tasks, "pleg", relist_task, pleg);
    task_group_spawn(&pleg->kubelet->tasks, "pleg-events", events_task, pleg);
}
