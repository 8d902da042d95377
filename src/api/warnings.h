/* What is allowed but hardly meant: stock's warnings about objects that are created or changed. Pure. */
#ifndef API_WARNINGS_H
#define API_WARNINGS_H

#include "base/arena.h"
#include "schema/type.h"

/* Adds a text for each; `old` is NULL at a create. */
void api_warnings(struct arena *arena, const struct kind *kind, const void *object, const void *old,
                  struct str_list *ret);

#endif
