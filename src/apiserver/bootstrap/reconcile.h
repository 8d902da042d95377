/* What is left of a cluster's own objects after others have changed them: the server adds what is missing and takes
 * nothing away. Pure. */
#ifndef APISERVER_BOOTSTRAP_RECONCILE_H
#define APISERVER_BOOTSTRAP_RECONCILE_H

#include "apiserver/bootstrap/initial_objects.h"

/* Adds to `have` (a copy that may be changed) what `wanted` has beyond it. False: nothing to do. */
bool reconcile(struct arena *arena, const struct initial_object *wanted, struct object *have);

#endif
