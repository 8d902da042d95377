/* Numbers or text: ports, counts and percentages. Any thread. */
#ifndef SCHEMA_INT_OR_STRING_H
#define SCHEMA_INT_OR_STRING_H

#include "base/arena.h"
#include "schema/scalars.h"

struct int_or_string int_or_string_of(int32_t number);
struct int_or_string int_or_string_text(struct str text);
/* "80" or "http". */
struct str int_or_string_format(struct arena *arena, const struct int_or_string *value);
/* The number, or that share of `total` for "25%", rounded up or down; false when it is neither. */
bool int_or_string_scaled(const struct int_or_string *value, int32_t total, bool round_up, int32_t *ret);
bool int_or_string_equal(const struct int_or_string *a, const struct int_or_string *b);

#endif
