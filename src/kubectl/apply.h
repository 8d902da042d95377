/* What apply would make of an object, for `kubectl diff`. */
#ifndef KUBECTL_APPLY_H
#define KUBECTL_APPLY_H

#include "kubectl/selection.h"

/* *ret_live is what is there, or NULL; *ret_merged what an apply would make of it, by the server's dry run. */
MUST_USE struct status *apply_preview(struct kubectl *k, const struct selected *selected, bool server_side,
                                      bool force_conflicts, struct value **ret_live, struct value **ret_merged);

#endif
