#include "scheduler/queue.h"

#include "base/env.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"

#include <stdlib.h>

#define BACKOFF_FIRST ENV_SECOND
#define BACKOFF_MAX (10 * ENV_SECOND)
#define UNSCHEDULABLE_MAX (300 * ENV_SECOND)

enum place { PLACE_ACTIVE, PLACE_BACKOFF, PLACE_UNSCHEDULABLE };

struct entry {
    struct queue *queue;
    struct queued_pod pod;
    enum place place;
    int64_t backoff_until; /* env_mono */
    struct env_timer *timer;
    uint64_t order; /* of arrival */
};

struct queue {
    struct map entries; /* uid -> entry */
    VEC(struct entry *) active; /* a heap, first to be taken at 0 */
    uint64_t next_order;
    struct cond filled;
};

struct queue *queue_new(void)
{
    struct queue *queue = MEM_NEW(struct queue);

    cond_init(&queue->filled);
    return queue;
}

static const struct core_v1_pod *pod_of(const struct entry *entry)
{
    return entry->pod.held->object;
}

static bool before(const struct entry *a, const struct entry *b)
{
    const int32_t *x = pod_of(a)->spec.priority, *y = pod_of(b)->spec.priority;
    int32_t first = x ? *x : 0, second = y ? *y : 0;

    if (first != second) {
        return first > second;
    }
    return a->pod.added != b->pod.added ? a->pod.added < b->pod.added : a->order < b->order;
}

static void heap_down(struct queue *queue, size_t at)
{
    for (;;) {
        size_t child = at * 2 + 1;

        if (child + 1 < queue->active.len && before(queue->active.items[child + 1], queue->active.items[child])) {
            child++;
        }
        if (child >= queue->active.len || !before(queue->active.items[child], queue->active.items[at])) {
            return;
        }
        struct entry *swap = queue->active.items[at];

        queue->active.items[at] = queue->active.items[child];
        queue->active.items[child] = swap;
        at = child;
    }
}

static void heap_up(struct queue *queue, size_t at)
{
    while (at > 0 && before(queue->active.items[at], queue->active.items[(at - 1) / 2])) {
        struct entry *swap = queue->active.items[at];

        queue->active.items[at] = queue->active.items[(at - 1) / 2];
        queue->active.items[(at - 1) / 2] = swap;
        at = (at - 1) / 2;
    }
}

static void heap_remove(struct queue *queue, size_t at)
{
    queue->active.items[at] = queue->active.items[--queue->active.len];
    if (at < queue->active.len) {
        heap_down(queue, at);
        heap_up(queue, at);
    }
}

static void activate(struct entry *entry)
{
    struct queue *queue = entry->queue;

    env_timer_stop(TAKE(entry->timer));
    entry->place = PLACE_ACTIVE;
    *VEC_ADD(&queue->active) = entry;
    heap_up(queue, queue->active.len - 1);
    cond_signal(&queue->filled);
}

static void entry_due(void *arg)
{
    struct entry *entry = arg;

    entry->timer = NULL;
    activate(entry);
}

static void wait_until(struct entry *entry, enum place place, int64_t until)
{
    env_timer_stop(entry->timer);
    entry->place = place;
    entry->timer = env_timer(until - env_mono(), entry_due, entry);
}

static void leave_active(struct entry *entry)
{
    struct queue *queue = entry->queue;

    for (size_t i = 0; entry->place == PLACE_ACTIVE && i < queue->active.len; i++) {
        if (queue->active.items[i] == entry) {
            heap_remove(queue, i);
            return;
        }
    }
}

void queue_put(struct queue *queue, struct cached *held)
{
    const struct core_v1_pod *pod = held->object;
    struct entry *entry = map_find(&queue->entries, pod->metadata.uid);

    if (entry == NULL) {
        entry = MEM_NEW(struct entry);
        *entry = (struct entry){.queue = queue, .pod = {held, env_wall(), 0}, .order = queue->next_order++};
        map_set(&queue->entries, pod->metadata.uid, entry);
        activate(entry);
        return;
    }
    leave_active(entry);
    bool was_active = entry->place == PLACE_ACTIVE;

    cached_unref(entry->pod.held);
    entry->pod.held = held;
    if (was_active || entry->place == PLACE_UNSCHEDULABLE) {
        if (was_active || env_mono() >= entry->backoff_until) {
            activate(entry);
        } else {
            wait_until(entry, PLACE_BACKOFF, entry->backoff_until);
        }
    }
}

static void entry_free(struct entry *entry)
{
    env_timer_stop(entry->timer);
    cached_unref(entry->pod.held);
    free(entry);
}

void queue_remove(struct queue *queue, struct str uid)
{
    struct entry *entry = map_remove(&queue->entries, uid);

    if (entry != NULL) {
        leave_active(entry);
        entry_free(entry);
    }
}

bool queue_take(struct queue *queue, struct queued_pod *ret)
{
    while (queue->active.len == 0) {
        if (!cond_wait(&queue->filled, TASK_FOREVER)) {
            return false;
        }
    }
    struct entry *entry = queue->active.items[0];

    heap_remove(queue, 0);
    *ret = entry->pod;
    ret->attempts++;
    map_remove(&queue->entries, pod_of(entry)->metadata.uid);
    free(entry);
    return true;
}

void queue_put_back(struct queue *queue, struct queued_pod *pod, bool is_unschedulable)
{
    struct str uid = ((const struct core_v1_pod *)pod->held->object)->metadata.uid;

    if (map_find(&queue->entries, uid) != NULL) { /* a newer one came meanwhile */
        cached_unref(pod->held);
        return;
    }
    struct entry *entry = MEM_NEW(struct entry);
    int doublings = MIN(pod->attempts - 1, 10);
    int64_t backoff = MIN(BACKOFF_FIRST << doublings, BACKOFF_MAX);

    *entry = (struct entry){.queue = queue, .pod = *pod, .order = queue->next_order++};
    entry->backoff_until = env_mono() + backoff;
    map_set(&queue->entries, uid, entry);
    if (is_unschedulable) {
        wait_until(entry, PLACE_UNSCHEDULABLE, env_mono() + UNSCHEDULABLE_MAX);
    } else {
        wait_until(entry, PLACE_BACKOFF, entry->backoff_until);
    }
}

void queue_stir(struct queue *queue)
{
    size_t at = 0;

    for (struct map_entry *item; (item = map_next(&queue->entries, &at)) != NULL;) {
        struct entry *entry = item->value;

        if (entry->place != PLACE_UNSCHEDULABLE) {
            continue;
        }
        if (env_mono() >= entry->backoff_until) {
            activate(entry);
        } else {
            wait_until(entry, PLACE_BACKOFF, entry->backoff_until);
        }
    }
}

void queue_free(struct queue *queue)
{
    size_t at = 0;

    if (queue == NULL) {
        return;
    }
    for (struct map_entry *item; (item = map_next(&queue->entries, &at)) != NULL;) {
        entry_free(item->value);
    }
    map_done(&queue->entries);
    free(queue->active.items);
    free(queue);
}
