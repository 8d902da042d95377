/* The rules that stand in the descriptions (required, min, max, max-items, format, one-of, ...), applied to any type.
 * Kinds whose rules stock declares so use it; the older ones have functions, since their words differ. For
 * src/api/validation* only. */
#ifndef API_VALIDATION_DECLARED_H
#define API_VALIDATION_DECLARED_H

#include "api/validation/check.h"

/* `at` NULL: the object itself, of which metadata and status are left out. */
void check_declared(struct status *to, const struct path *at, const struct type *type, const void *object);
/* Fields marked immutable must be as they were. */
void check_declared_update(struct status *to, const struct path *at, const struct type *type, const void *object,
                           const void *old);

#endif
