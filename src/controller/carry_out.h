/* Carries a plan out through a client: the only place where controllers act. Parks. */
#ifndef CONTROLLER_CARRY_OUT_H
#define CONTROLLER_CARRY_OUT_H

#include "client/client.h"
#include "client/event_recorder.h"
#include "controller/plan.h"

/* One write that informers will show: of a deletion the key and UID, of all others the resourceVersion. */
struct written {
    const struct kind *kind;
    struct str revision, key, uid;
};

/* What a plan left behind. */
struct aftermath {
    struct arena *arena;
    struct {
        struct written *items;
        size_t len;
    } written;
    /* Kinds of writes that failed so that nobody knows whether they happened: the connection broke, time was up. */
    struct {
        const struct kind **items;
        size_t len;
    } unsure;
    int64_t memory[PLAN_MEMORY]; /* the plan's */
    struct status *failure; /* the first; NULL when all went well */
    enum plan_verb failed_verb;
};

struct aftermath *aftermath_new(void);
void aftermath_free(struct aftermath *aftermath);

/* In order, batches as plan.h says; stops at the first failure that is not a `may_fail`. */
void carry_out(struct client *client, struct event_recorder *recorder, const struct plan *plan,
               struct aftermath *aftermath);

#endif
