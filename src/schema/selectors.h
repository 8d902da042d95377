/* LabelSelector and friends of API objects as selectors (schema/selector.h). Any thread. */
#ifndef SCHEMA_SELECTORS_H
#define SCHEMA_SELECTORS_H

#include "schema/meta_v1.h"
#include "schema/selector.h"

/* NULL selects nothing, an empty one everything. The error is stock's, as BAD_REQUEST. */
MUST_USE struct status *label_selector_of(struct arena *arena, const struct meta_v1_label_selector *from,
                                          struct label_selector *ret);
/* Of a plain map, such as a Service's. */
struct label_selector label_selector_of_map(struct arena *arena, const struct str_map *map);
bool label_selector_matches_map(const struct label_selector *selector, const struct str_map *labels);

#endif
