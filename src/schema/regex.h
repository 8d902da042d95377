/* Regular expressions in RE2's syntax, which is Go's: linear time whatever the pattern. The adapter of RE2. Any thread. */
#ifndef SCHEMA_REGEX_H
#define SCHEMA_REGEX_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

struct regex;

/* BAD_REQUEST in Go's words: "error parsing regexp: missing closing ): `(a`". Release with regex_free(). */
MUST_USE struct status *regex_new(struct str pattern, struct regex **ret);
/* NULL is fine. */
void regex_free(struct regex *regex);
/* Whether it matches anywhere in the text. */
bool regex_matches(const struct regex *regex, struct str text);
/* The first match at or after `from`, in *ret_at and *ret_size; false when there is none. */
bool regex_find(const struct regex *regex, struct str text, size_t from, size_t *ret_at, size_t *ret_size);

#endif
