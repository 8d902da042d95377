/* What lies in the simulated cluster's store, followed change by change right there, past the API server and the
 * network: the truth that everything else is held against. It outlives crashes of the server, and blames it for writes
 * that were there before and are lost after. */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include "schema/object.h"
#include "schema/type.h"
#include "store/store.h"

struct apiserver;
struct history;
struct sim;

struct history_object {
    struct str key; /* in the store: "/registry/pods/default/a" */
    const struct kind *kind; /* as it is stored */
    int64_t revision;
    struct object *object; /* as stored, with its resourceVersion */
    struct arena *arena;   /* of all that */
};

/* One change, as soon as it can be seen by anyone. `old` is NULL when the object is new, `new` when it is gone; `revision`
 * is that of the change. Must not park. */
typedef void history_fn(void *arg, const struct history_object *old, const struct history_object *new, int64_t revision);

struct history *history_new(struct sim *sim);
void history_free(struct history *history);
/* Before the first change; a few. */
void history_on_change(struct history *history, history_fn *fn, void *arg);
/* Follows a server's store until the task is cancelled. Parks. */
void history_follow(struct history *history, struct apiserver *server);

/* Everything up to here is known. */
int64_t history_revision(const struct history *history);
/* Knows all that is in the store of the server, which runs. */
bool history_is_current(const struct history *history);
/* NULL when there is none. Borrowed until the next change. */
const struct history_object *history_find(const struct history *history, struct str key);
/* Walks the objects, by age: size_t at = 0; for (const struct history_object *o; (o = history_next(history, &at));) */
const struct history_object *history_next(const struct history *history, size_t *at);
/* Of all changes: the same for the same run. */
uint64_t history_digest(const struct history *history);
size_t history_changes(const struct history *history);

#endif
