/* Values of any kind as Go prints them in error messages. In the arena. */
#ifndef SCHEMA_GO_VALUE_H
#define SCHEMA_GO_VALUE_H

#include "base/arena.h"
#include "schema/value.h"

/* As %v: x, 1, map[a:1 b:[x y]]; keys are sorted. */
struct str go_value_text(struct arena *arena, const struct value *value);
/* As %#v: "x", 1, map[string]interface {}{"a":1, "b":[]interface {}{"x", "y"}}. */
struct str go_value_syntax(struct arena *arena, const struct value *value);
/* Its type, as %T: string, int64, []interface {}. */
const char *go_value_type(const struct value *value);

#endif
