/* What definitions say of tables and field selectors of custom resources: printer columns by JSONPath, selectable fields.
 * Any thread. */
#ifndef API_CUSTOM_COLUMNS_H
#define API_CUSTOM_COLUMNS_H

#include "api/table_columns.h"

/* Name, then those of the definition; Age when it has none. */
struct table_columns custom_columns(struct arena *arena, const struct kind *kind);
/* Adds the object's cells. */
void custom_cells(struct arena *arena, const struct kind *kind, const void *object, struct timestamp now,
                  struct value *cells);

/* The definition makes the field selectable ("spec.color"). */
bool custom_is_selectable(const struct kind *kind, struct str field);
/* The object's value at the field is that text; absent counts as empty. */
bool custom_field_is(const struct kind *kind, const void *object, struct str field, struct str wanted);

#endif
