/* A controller as a row: the kind whose keys it works on, the kinds whose changes concern it, and a decider. */
#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "controller/world.h"

/* Puts the keys that a change of `object` (of a watched kind) concerns into `ret`. */
typedef void controller_map_fn(const struct world *world, const void *object, struct str_list *ret);

struct controller_watch {
    const struct kind *kind;
    controller_map_fn *map; /* NULL: the object's controller reference, when it is of the reconciled kind */
};

enum { CONTROLLER_WATCHES_MAX = 16 };

struct controller {
    const char *name;        /* "deployment-controller": source of events */
    const char *account;     /* the service account it acts as, in kube-system */
    const struct kind *kind; /* keys are NAMESPACE/NAME of this kind */
    controller_map_fn *map;  /* of that kind itself; NULL: each object's own key */
    struct controller_watch watches[CONTROLLER_WATCHES_MAX];
    int workers; /* 0: 5 */
    enum trace_step observed; /* the step of seeing a new object, or a new generation of one; 0: none */
    bool serial; /* one worker, and no key is planned before the informers show what all earlier plans wrote */
    /* Asks the server for what no informer shows, before the plan, which finds it in world->gathered. Parks.
     * NULL: nothing to ask. */
    struct status *(*gather)(struct client *client, const struct world *world, struct str key, void **ret);
    /* Reads the world and writes a plan, without clock, I/O or parks. Fails only for what a later try can mend. */
    struct status *(*plan)(const struct world *world, struct str key, struct plan *plan);
};

#endif
