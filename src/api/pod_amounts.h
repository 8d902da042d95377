/* What a whole pod asks for and may use, by stock's rules: containers add up, init containers run one after the
 * other, but sidecars among them stay; what the pod itself says counts instead, and its overhead comes on top. Pure. */
#ifndef API_POD_AMOUNTS_H
#define API_POD_AMOUNTS_H

#include "api/core_v1.h"

struct quantity_map pod_requests(struct arena *arena, const struct core_v1_pod_spec *spec);
struct quantity_map pod_limits(struct arena *arena, const struct core_v1_pod_spec *spec);

/* Adds the amounts of `more` to those of `sum`. */
void amounts_add(struct arena *arena, struct quantity_map *sum, const struct quantity_map *more);

#endif
