/* Runs controllers: informers, work queues and the carrying out of plans, once for all of them.
 *
 * A controller is a row: the kind whose keys it works on, the kinds whose changes concern it, and a decider
 * `plan(world, key, plan)` that reads the informers and writes a plan, without clock, I/O or parks. The engine calls it
 * for one key at a time, carries the plan out, and calls it again when something changed, when the plan asked for it,
 * or, after a failure, with back-off.
 *
 * A key is not planned again before the informers have seen what its last plan wrote (compared by resourceVersion, at
 * most five minutes), so deciders never act twice on a stale cache: this is what expectations are for in stock. */
#ifndef CONTROLLER_ENGINE_H
#define CONTROLLER_ENGINE_H

#include "client/client.h"
#include "controller/accounts.h"
#include "controller/controller.h"
#include "controller/watched.h"

struct engine;

/* Reads with `client` (all that is watched), writes as the controllers' accounts. Borrows all. */
struct engine *engine_new(struct client *client, struct accounts *accounts,
                          const struct controller_settings *settings);
void engine_add(struct engine *engine, const struct controller *controller);
/* For what works beside the controllers: more handlers on its informers, more workers. Before engine_run(). */
struct watched_kinds *engine_kinds(struct engine *engine);
void engine_add_workers(struct engine *engine, const char *name, void (*work)(void *arg), void *arg, int count);
/* Starts informers and workers and parks until the task is cancelled; then all has ended. */
void engine_run(struct engine *engine);
void engine_free(struct engine *engine);

#endif
