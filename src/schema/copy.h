/* Copying and comparing objects by the tables of schema/type.h. Any thread. */
#ifndef SCHEMA_COPY_H
#define SCHEMA_COPY_H

#include "base/arena.h"
#include "schema/type.h"

/* A copy that stands alone in the arena, text too. Its lists may be grown by LIST_ADD. */
void *schema_copy(struct arena *arena, const struct type *type, const void *object);
/* Makes the object stand alone in place: what it borrowed is copied into the arena. */
void schema_own(struct arena *arena, const struct type *type, void *object);
/* A copy of the lists, maps and structs behind pointers; text and bytes stay borrowed from the original. */
void *schema_copy_shallow(struct arena *arena, const struct type *type, const void *object);
/* As apiequality.Semantic.DeepEqual: nil and empty lists and maps are equal, quantities and times by value. */
bool schema_equal(const struct type *type, const void *a, const void *b);
/* The same for one field at its place in two structs. */
bool schema_field_equal(const struct field *field, const void *a, const void *b);
/* All fields are zero, absent or nil. */
bool schema_is_zero(const struct type *type, const void *object);
bool schema_field_is_zero(const struct field *field, const void *place);

#endif
