/* Pods waiting for a node: active ones by priority, then age; failed ones in back-off (1 s doubling to 10 s), and
 * unschedulable ones until something that could help them happens, or five minutes pass (stock's three queues).
 * On the scheduler's thread. */
#ifndef SCHEDULER_QUEUE_H
#define SCHEDULER_QUEUE_H

#include "api/core_v1.h"
#include "client/informer.h"

#include <stdint.h>

struct queue;

struct queued_pod {
    struct cached *held; /* the pod as last seen */
    int64_t added;       /* env_wall() when first queued */
    int attempts;
};

struct queue *queue_new(void);
void queue_free(struct queue *queue);
/* A pod without a node appeared or changed. Takes the reference. */
void queue_put(struct queue *queue, struct cached *pod);
/* It has a node, is finished or gone. */
void queue_remove(struct queue *queue, struct str uid);
/* Parks until a pod is active and takes it out. False when cancelled. The reference in it is the caller's. */
bool queue_take(struct queue *queue, struct queued_pod *ret);
/* The attempt failed: back with it (and its reference). With `is_unschedulable` it waits for queue_stir(). */
void queue_put_back(struct queue *queue, struct queued_pod *pod, bool is_unschedulable);
/* Something in the cluster changed that may help: unschedulable pods are tried again after their back-off. */
void queue_stir(struct queue *queue);

#endif
