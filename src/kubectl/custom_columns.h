/* -o custom-columns=NAME:.path,...: a table of one's own. */
#ifndef KUBECTL_CUSTOM_COLUMNS_H
#define KUBECTL_CUSTOM_COLUMNS_H

#include "kubectl/kubectl.h"

/* Whether the description can be read: "NAME:.path,..." or a file's two lines. */
MUST_USE struct status *custom_columns_check(struct kubectl *k, struct str text, bool is_file);
/* Prints the objects, with a line of names unless `no_headers`. */
MUST_USE struct status *custom_columns_print(struct kubectl *k, struct str text, bool no_headers,
                                             struct value *const *objects, size_t count);

#endif
