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

#include "client/informer.h"
#include "client/event_recorder.h"
#include "client/work_queue.h"
#include "controller/plan.h"

struct engine;

/* What deciders may read. */
struct world {
    struct engine *engine;
    int64_t now; /* env_wall() at the start of the pass */
    struct arena *arena;
    /* What went wrong when this key's last plan was carried out; NULL when nothing did. */
    const struct status *failure;
    enum plan_verb failed_verb;
};

/* Puts the keys that a change of `object` (of a watched kind) concerns into `ret`. */
typedef void controller_map_fn(const struct world *world, const void *object, struct str_list *ret);

struct controller_watch {
    const struct kind *kind;
    controller_map_fn *map; /* NULL: the object's controller reference, when it is of the reconciled kind */
};

enum { CONTROLLER_WATCHES_MAX = 8 };

struct controller {
    const char *name;      /* "deployment-controller": source of events, user agent */
    const struct kind *kind; /* keys are NAMESPACE/NAME of this kind */
    struct controller_watch watches[CONTROLLER_WATCHES_MAX];
    int workers; /* 0: 5 */
    /* Fails only for what a later try can mend. */
    struct status *(*plan)(const struct world *world, struct str key, struct plan *plan);
};

/* One engine over one client, which it borrows. */
struct engine *engine_new(struct client *client);
void engine_add(struct engine *engine, const struct controller *controller);
/* Starts informers and workers and parks until the task is cancelled; then all has ended. */
void engine_run(struct engine *engine);
void engine_free(struct engine *engine);

/* For deciders: the informer of a kind that some controller watches. */
struct informer *engine_informer(const struct engine *engine, const struct kind *kind);
/* Objects of `kind` whose controller is the object with that UID. */
struct object_pointers world_owned(const struct world *world, const struct kind *kind, struct str uid);
/* All objects of a kind in a namespace. */
struct object_pointers world_in_namespace(const struct world *world, const struct kind *kind, struct str namespace);
struct object_pointers world_all(const struct world *world, const struct kind *kind);
/* NULL when absent. */
const void *world_find(const struct world *world, const struct kind *kind, struct str key);

#endif
