/* Objects as rows of a Table, with the columns and cells that stock gives each built-in kind: what `kubectl get` shows.
 * Custom resources have their own columns, in their definition. Any thread. */
#ifndef API_TABLE_COLUMNS_H
#define API_TABLE_COLUMNS_H

#include "schema/object.h"
#include "schema/type.h"
#include "schema/value.h"

struct table_column {
    struct str name, type, format, description; /* as in a Table's columnDefinitions */
    int priority;                               /* above 0: shown only in wide output */
};

struct table_columns {
    const struct table_column *items;
    size_t len;
};

struct table_row {
    struct value *cells; /* an array with a string, number or boolean for each column */
    struct str completed; /* why the row is of no interest any more: "Succeeded", "Failed"; empty: it still is */
    struct str completed_message;
};

/* Of any kind (scales too); those that stock knows no columns for have Name and Created At. */
struct table_columns table_columns(const struct kind *kind);
/* The object's cells in the arena. Ages are from the object's times to `now`. */
struct table_row table_row(struct arena *arena, const struct kind *kind, const void *object, struct timestamp now);

#endif
