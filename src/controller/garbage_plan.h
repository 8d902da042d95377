/* What becomes of an object whose owners are gone or going: stock's garbage collector's decisions. Pure. */
#ifndef CONTROLLER_GARBAGE_PLAN_H
#define CONTROLLER_GARBAGE_PLAN_H

#include "controller/plan.h"
#include "schema/object.h"

#define FINALIZER_ORPHAN "orphan"
#define FINALIZER_FOREGROUND "foregroundDeletion"

enum garbage_owner_state {
    OWNER_THERE,
    OWNER_WAITING, /* being deleted in the foreground: it waits for its dependents to go */
    OWNER_ABSENT,
};

struct garbage_dependent {
    const struct kind *kind;
    const struct object *object;
};

struct garbage_item {
    const struct kind *kind;
    const struct object *object;
    const enum garbage_owner_state *owners; /* one for each of its owner references */
    struct {
        struct garbage_dependent *items;
        size_t len;
    } dependents;
};

void garbage_plan(const struct garbage_item *item, struct plan *plan);

/* It is being deleted and waits for its dependents. */
bool garbage_is_waiting(const struct object *object);
bool garbage_has_finalizer(const struct object *object, const char *finalizer);
/* Its reference to the owner with that UID; NULL when there is none. */
const struct meta_v1_owner_reference *garbage_reference_to(const struct object *object, struct str uid);

#endif
