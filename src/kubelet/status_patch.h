/* Two-way strategic merge patches: what turns one object into another, as stock's clients make them for the status of
 * pods and nodes. Works by the tables of schema/type.h. Pure. */
#ifndef KUBELET_STATUS_PATCH_H
#define KUBELET_STATUS_PATCH_H

#include "base/buf.h"
#include "schema/type.h"

/* Appends the JSON object of the differences; "{}" when there are none, and then false is returned. Lists with a merge
 * key are merged item by item with their order kept ($setElementOrder), other lists are replaced. */
bool status_patch(const struct type *type, const void *old, const void *new, struct buf *out);

#endif
