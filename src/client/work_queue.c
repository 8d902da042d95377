#include "client/work_queue.h"

#include "base/env.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"

#include <stdlib.h>

#define RETRY_BASE (5 * ENV_MS)
#define RETRY_MAX (1000 * ENV_SECOND)

/* What is known of one key; an entry that is in no state is freed. */
struct item {
    struct work_queue *queue;
    struct link in_ready; /* linked while waiting to be taken */
    char *key;
    size_t key_size;
    bool is_active; /* a task works on it */
    bool is_dirty;  /* comes again after the work */
    int failures;
    int64_t due; /* of the timer */
    struct env_timer *timer;
};

struct work_queue {
    struct map items; /* key -> item */
    struct link ready;
    size_t ready_count;
    struct cond filled;
    bool is_shut;
};

struct work_queue *work_queue_new(void)
{
    struct work_queue *queue = MEM_NEW(struct work_queue);

    list_init(&queue->ready);
    cond_init(&queue->filled);
    return queue;
}

static struct str item_key(const struct item *item)
{
    return (struct str){item->key, item->key_size};
}

static void item_free(struct item *item)
{
    env_timer_stop(item->timer);
    free(item->key);
    free(item);
}

void work_queue_free(struct work_queue *queue)
{
    if (queue == NULL) {
        return;
    }
    size_t at = 0;

    for (struct map_entry *entry; (entry = map_next(&queue->items, &at)) != NULL;) {
        item_free(entry->value);
    }
    map_done(&queue->items);
    free(queue);
}

static struct item *item_get(struct work_queue *queue, struct str key)
{
    struct item *item = map_find(&queue->items, key);

    if (item == NULL) {
        item = MEM_NEW(struct item);
        item->queue = queue;
        item->key = mem_zalloc(mem_add(key.n, 1));
        item->key_size = key.n;
        if (key.n > 0) {
            __builtin_memcpy(item->key, key.p, key.n);
        }
        map_set(&queue->items, key, item);
    }
    return item;
}

/* Forgets the item when nothing is left to remember. */
static void item_settle(struct item *item)
{
    if (item->in_ready.next == NULL && !item->is_active && item->failures == 0 && item->timer == NULL) {
        map_remove(&item->queue->items, item_key(item));
        item_free(item);
    }
}

static void item_make_ready(struct item *item)
{
    struct work_queue *queue = item->queue;

    if (queue->is_shut || item->in_ready.next != NULL) {
        return;
    }
    if (item->is_active) {
        item->is_dirty = true;
        return;
    }
    list_add_tail(&queue->ready, &item->in_ready);
    queue->ready_count++;
    cond_signal(&queue->filled);
}

void work_queue_add(struct work_queue *queue, struct str key)
{
    if (!queue->is_shut) {
        item_make_ready(item_get(queue, key));
    }
}

static void item_due(void *arg)
{
    struct item *item = arg;

    item->timer = NULL;
    item_make_ready(item);
}

void work_queue_add_after(struct work_queue *queue, struct str key, int64_t delay)
{
    if (queue->is_shut) {
        return;
    }
    if (delay <= 0) {
        work_queue_add(queue, key);
        return;
    }
    struct item *item = item_get(queue, key);
    int64_t due = env_mono() + delay;

    if (item->timer != NULL && item->due <= due) {
        return;
    }
    env_timer_stop(item->timer);
    item->due = due;
    item->timer = env_timer(delay, item_due, item);
}

bool work_queue_get(struct work_queue *queue, struct arena *arena, struct str *ret_key)
{
    while (!queue->is_shut) {
        struct link *link = list_pop(&queue->ready);

        if (link != NULL) {
            struct item *item = CONTAINER_OF(link, struct item, in_ready);

            queue->ready_count--;
            item->is_active = true;
            *ret_key = arena_str(arena, item_key(item));
            return true;
        }
        if (!cond_wait(&queue->filled, TASK_FOREVER)) {
            return false;
        }
    }
    return false;
}

void work_queue_done(struct work_queue *queue, struct str key)
{
    struct item *item = map_find(&queue->items, key);

    if (item == NULL || !item->is_active) {
        return;
    }
    item->is_active = false;
    if (item->is_dirty) {
        item->is_dirty = false;
        item_make_ready(item);
    }
    item_settle(item);
}

void work_queue_retry(struct work_queue *queue, struct str key)
{
    if (!queue->is_shut) {
        struct item *item = item_get(queue, key);
        int doublings = MIN(item->failures, 30);

        item->failures++;
        work_queue_add_after(queue, key, MIN(RETRY_BASE << doublings, RETRY_MAX));
    }
    work_queue_done(queue, key);
}

void work_queue_forget(struct work_queue *queue, struct str key)
{
    struct item *item = map_find(&queue->items, key);

    if (item != NULL) {
        item->failures = 0;
        item_settle(item);
    }
}

int work_queue_failures(const struct work_queue *queue, struct str key)
{
    const struct item *item = map_find(&queue->items, key);

    return item != NULL ? item->failures : 0;
}

size_t work_queue_length(const struct work_queue *queue)
{
    return queue->ready_count;
}

void work_queue_shut(struct work_queue *queue)
{
    queue->is_shut = true;
    cond_broadcast(&queue->filled);
}
