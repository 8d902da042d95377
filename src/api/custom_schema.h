/* What structural schemas do to trees of JSON values: pruning, defaults, validation. Pure. */
#ifndef API_CUSTOM_SCHEMA_H
#define API_CUSTOM_SCHEMA_H

#include "api/apiextensions_v1.h"
#include "schema/json.h"
#include "schema/value.h"

typedef const struct apiextensions_v1_json_schema_props *custom_schema_ref;

/* NULL when the schema names none such. */
custom_schema_ref custom_schema_property(custom_schema_ref schema, struct str name);
/* The schema of members without one of their own; NULL: none. */
custom_schema_ref custom_schema_additional(custom_schema_ref schema);
/* Of the elements of a list; NULL: none. */
custom_schema_ref custom_schema_items(custom_schema_ref schema);
bool custom_schema_preserves(custom_schema_ref schema);

/* Takes away what the schema doesn't know; `path` is where the value stands, for the problems (NULL is fine). */
void custom_schema_prune(struct arena *arena, custom_schema_ref schema, struct value *value, struct str path,
                         struct json_problems *problems);
/* Fills defaults into what is there, after taking away nulls that may not be. */
void custom_schema_default(struct arena *arena, custom_schema_ref schema, struct value *value);

/* Validation by OpenAPI. `old` may be NULL; `path` is "spec.a[0]", empty at the root. */
void custom_schema_validate(custom_schema_ref schema, const struct value *value, const struct value *old,
                            struct str path, struct status *causes);
/* What a list that is a set or map holds twice; and embedded resources. */
void custom_schema_validate_lists(custom_schema_ref schema, const struct value *value, const struct value *old,
                                  struct str path, struct status *causes);

#endif
