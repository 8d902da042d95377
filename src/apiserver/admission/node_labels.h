/* Which labels a kubelet may give its own node. Pure. */
#ifndef APISERVER_ADMISSION_NODE_LABELS_H
#define APISERVER_ADMISSION_NODE_LABELS_H

#include "base/arena.h"
#include "schema/scalars.h"

/* The keys that were added, changed or removed and aren't a kubelet's to touch: "a, b"; empty when there are none. */
struct str node_labels_forbidden(struct arena *arena, const struct str_map *old, const struct str_map *labels);

#endif
