/* Whether a configuration that is applied has the shape of its type. */
#ifndef SCHEMA_FIELD_TYPED_H
#define SCHEMA_FIELD_TYPED_H

#include "base/status.h"
#include "schema/type.h"
#include "schema/value.h"

/* INVALID with all that is wrong, in the words of structured merge: `.spec.replicas: expected numeric (int or float), got
 * string`. Null is right everywhere. Quantities and the like are left to decoding. Any thread. */
MUST_USE struct status *field_typed_check(struct arena *arena, const struct type *type, const struct value *value);

#endif
