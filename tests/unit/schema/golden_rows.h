/* Rows of tests/golden/schema: a JSON array of strings a line, the input first and what stock made of it last. */
#ifndef TESTS_UNIT_SCHEMA_GOLDEN_ROWS_H
#define TESTS_UNIT_SCHEMA_GOLDEN_ROWS_H

#include "schema/value.h"

/* Calls `got` for each row (of `count` strings) and compares what it returns with the row's last string. The first
 * string of a row may name what is to be done; `only` picks those rows (NULL: all). Fails when no row matched. */
void golden_rows(const char *path, const char *only, size_t count,
                 struct str (*got)(struct arena *arena, const struct str *row));
/* "ERR " and the message, for a failed status (freed), else NULL-less success text. */
struct str golden_result(struct arena *arena, struct status *status, struct str success);
/* The whole file, in the arena. */
struct str golden_file(struct arena *arena, const char *path);
/* JSON text of a test; fails the test when it is wrong. */
struct value *golden_json(struct arena *arena, struct str text);

#endif
