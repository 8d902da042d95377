/* Types as Go prints them in error messages: "[]v1.Container", "map[string]string", "int32". In the arena or constant. */
#ifndef SCHEMA_GO_TYPE_H
#define SCHEMA_GO_TYPE_H

#include "base/arena.h"
#include "schema/type.h"

/* "v1.PodSpec". */
struct str go_type_of_struct(struct arena *arena, const struct type *type);
/* Of one T of the field. */
struct str go_type_of_item(struct arena *arena, const struct field *field);
/* Of the field as a whole, pointers left out. */
struct str go_type_of_field(struct arena *arena, const struct field *field);

#endif
