/* What is filled in where a client said nothing: stock's defaults. Constants stand in the descriptions (`default=` and
 * `fill=`), the rest are functions in src/api/defaults/. Any thread. */
#ifndef API_DEFAULTS_H
#define API_DEFAULTS_H

#include "base/arena.h"
#include "schema/type.h"

/* Fills the object in place. What is added lives in the arena or is constant; what is there stays as it is. Filling
 * twice is as filling once. Objects of a built-in kind only: a custom resource's defaults are its schema's. */
void api_defaults_apply(const struct type *type, void *object, struct arena *arena);

#endif
