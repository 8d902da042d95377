/* The scheduler: takes pods without a node from its queue, decides (cycle.h), and binds. */
#ifndef SCHEDULER_SCHEDULER_H
#define SCHEDULER_SCHEDULER_H

#include "client/client.h"

struct scheduler;

/* Borrows the client. Pods whose schedulerName is `name` are its. */
struct scheduler *scheduler_new(struct client *client, struct str name);
/* Parks until the task is cancelled; then all has ended. */
void scheduler_run(struct scheduler *scheduler);
void scheduler_free(struct scheduler *scheduler);

#endif
