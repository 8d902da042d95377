/* Keys to be worked on: each key is in the queue at most once, and never worked on by two tasks at the same time. A key
 * added while it is being worked on comes again afterwards. Failed keys come back after a delay that doubles with each
 * failure (5 ms up to 1000 s, as stock's rate limiter). On the env's thread. */
#ifndef CLIENT_WORK_QUEUE_H
#define CLIENT_WORK_QUEUE_H

#include "base/arena.h"

#include <stdint.h>

struct work_queue;

struct work_queue *work_queue_new(void);
/* No task may be waiting any more. */
void work_queue_free(struct work_queue *queue);
void work_queue_add(struct work_queue *queue, struct str key);
/* Adds the key after `delay` nanoseconds; an earlier time already set stays. */
void work_queue_add_after(struct work_queue *queue, struct str key, int64_t delay);
/* Parks until there is a key, copies it into the arena. False when the queue is shut or the task cancelled. */
bool work_queue_get(struct work_queue *queue, struct arena *arena, struct str *ret_key);
/* The work on a key that work_queue_get() gave is over. */
void work_queue_done(struct work_queue *queue, struct str key);
/* Like done, but the key comes back with back-off. */
void work_queue_retry(struct work_queue *queue, struct str key);
/* The key went well: its failures are forgotten. */
void work_queue_forget(struct work_queue *queue, struct str key);
/* How often the key has failed in a row. */
int work_queue_failures(const struct work_queue *queue, struct str key);
size_t work_queue_length(const struct work_queue *queue);
/* Wakes all waiting tasks with false. */
void work_queue_shut(struct work_queue *queue);

#endif
