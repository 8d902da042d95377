/* A client that watches one kind as components do, over the faulty network, and holds all that it is told against the
 * history: every change that concerns it comes, once, in order, as what it is (ADDED, MODIFIED, DELETED), also across
 * broken watches; no bookmark passes a change that has not come; a list shows what there was at its revision. */
#ifndef SIM_WITNESS_H
#define SIM_WITNESS_H

#include "sim/history.h"

struct witness;

/* Before the first change. Watches all objects of the kind (as it is stored), or with `node` the pods of that node, from
 * then on. `name` and `node` must outlive it. */
struct witness *witness_new(struct sim *sim, struct history *history, const char *name, const struct kind *kind,
                            const char *node);
/* Parks. */
void witness_free(struct witness *witness);
/* Changes that it has not been told of. */
size_t witness_missing(const struct witness *witness);

#endif
