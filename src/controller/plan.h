/* What a controller has decided to do, as data: an ordered list of actions on the API.
 *
 * Deciders add actions, controller/carry_out.c carries them out, tests read them. Everything lives in the plan's arena
 * or is borrowed from the world's objects, which live until the plan has been carried out. */
#ifndef CONTROLLER_PLAN_H
#define CONTROLLER_PLAN_H

#include "base/arena.h"
#include "base/trace.h"

#include <stdint.h>

struct kind;

enum plan_verb {
    PLAN_CREATE,
    PLAN_UPDATE,
    PLAN_UPDATE_STATUS,
    PLAN_PATCH,
    PLAN_DELETE,
    PLAN_EVENT,
    PLAN_TRACE, /* nothing is done: a decision is recorded */
};

/* The step that an action is (of a batch: that of its first), for the flight recorder; step 0: none. */
struct plan_span {
    enum trace_step step;
    const struct kind *kind;
    const void *about; /* the object the step belongs to */
    struct str detail;
};

/* The event about another object (the owner) that follows an action: formats with one %s, the name of the object made
 * or deleted, or the error. Without `about` there is none. */
struct plan_note {
    const struct kind *kind;
    const void *about;
    const char *done_reason, *done_format;
    const char *failed_reason, *failed_format;
};

struct plan_action {
    enum plan_verb verb;
    const struct kind *kind;
    struct str namespace, name;
    const void *object;         /* of a create or update; the object an event is about */
    struct str patch;           /* a JSON merge patch */
    struct str uid;             /* precondition of a delete or patch; empty: none */
    struct str propagation;     /* of a delete */
    struct str subresource;     /* of an update or patch; empty: the object itself */
    bool strategic;             /* the patch is a strategic merge patch */
    const int64_t *grace_seconds; /* of a delete; NULL: the object's own */
    const char *event_type, *event_reason;
    struct str event_message;
    int batch; /* neighbours with one number above 0 run beside each other: creates in slow start (1, 2, 4, ... at once;
                  a failure ends it and skips the rest), others all at once */
    bool may_fail; /* a failure (such as "not found") does not make the key come again */
    struct str resource_version; /* precondition of a delete; empty: none */
    bool may_be_gone; /* that the object is not there any more is no failure; so for every delete */
    bool may_exist; /* that the object to be created is there already is as good */
    bool regardless; /* carried out although an earlier action failed */
    struct plan_note note;
    struct plan_span span;
};

/* Numbers a decider may keep from one look at a key to the next, such as when it first saw something by its own clock;
 * all zero is nothing kept. */
enum { PLAN_MEMORY = 2 };

struct plan {
    struct arena *arena;
    int64_t memory[PLAN_MEMORY];
    struct plan_action *items;
    size_t len;
    int64_t requeue_after; /* ns; 0: only when something changes */
};

void plan_create(struct plan *plan, const struct kind *kind, const void *object);
/* An update already planned for the very same object is not added again: it is written as it is when the plan is
 * carried out, so an object that the plan owns may be changed after its update was planned. Returns that action. */
struct plan_action *plan_update(struct plan *plan, const struct kind *kind, const void *object);
/* Carried out regardless of what failed before. */
void plan_update_status(struct plan *plan, const struct kind *kind, const void *object);
void plan_patch(struct plan *plan, const struct kind *kind, const void *object, struct str merge_patch);
/* With the object's UID as precondition. */
void plan_delete(struct plan *plan, const struct kind *kind, const void *object);
/* All objects of the kind in a namespace. */
void plan_delete_all(struct plan *plan, const struct kind *kind, struct str namespace);
void plan_event(struct plan *plan, const struct kind *kind, const void *object, const char *type, const char *reason,
                const char *format, ...) PRINTF_LIKE(6, 7);
/* Records a decision about the object. */
void plan_trace(struct plan *plan, enum trace_step step, const struct kind *kind, const void *about,
                const char *format, ...) PRINTF_LIKE(5, 6);
/* Makes the action the step. */
void plan_span(struct plan *plan, struct plan_action *action, enum trace_step step, const struct kind *kind,
               const void *about, const char *format, ...) PRINTF_LIKE(6, 7);
/* Look again after that time at the latest; the soonest wish wins. */
void plan_requeue_after(struct plan *plan, int64_t delay);
/* The action just added. */
struct plan_action *plan_last(struct plan *plan);

#endif
