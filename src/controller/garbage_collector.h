/* Deletes what its owners have left behind (background, foreground), or lets it go (orphan). Watches all kinds that can
 * be listed, watched and deleted, but Events. */
#ifndef CONTROLLER_GARBAGE_COLLECTOR_H
#define CONTROLLER_GARBAGE_COLLECTOR_H

#include "controller/accounts.h"
#include "controller/watched.h"

struct garbage_collector;

/* Borrows both. Before the informers are started. */
struct garbage_collector *garbage_collector_new(struct accounts *accounts, struct watched_kinds *kinds);
/* A worker: parks until the task is cancelled. Run as many as wanted. */
void garbage_collector_work(void *collector);
/* After all workers have ended. */
void garbage_collector_free(struct garbage_collector *collector);

#endif
