/* Amounts of resources as whole numbers. Rounded up, as Kubernetes rounds; 0 when absent. */
#ifndef KUBELET_AMOUNTS_H
#define KUBELET_AMOUNTS_H

#include "base/arena.h"
#include "schema/scalars.h"

bool amount_has(const struct quantity_map *map, struct str name);
/* Thousandths (of a CPU), and whole units (bytes). */
int64_t amount_milli(const struct quantity_map *map, struct str name);
int64_t amount_value(const struct quantity_map *map, struct str name);
struct quantity amount_of_value(struct arena *arena, int64_t value);     /* 110 */
struct quantity amount_of_milli(struct arena *arena, int64_t milli);     /* 1500m, 2 */
struct quantity amount_of_kibibytes(struct arena *arena, int64_t bytes); /* 2Gi, 12Ki */

#endif
