/* What the kinds that make pods share. For src/api/validation* only. */
#ifndef API_VALIDATION_WORKLOADS_H
#define API_VALIDATION_WORKLOADS_H

#include "api/core_v1.h"
#include "api/validation/check.h"
#include "schema/meta_v1.h"

/* The template of pods that are replaced when they end; `kind` is for the message. Its labels must match unless the
 * selector is empty. */
void check_replaced_template(struct status *to, const struct path *at,
                             const struct core_v1_pod_template_spec *template,
                             const struct meta_v1_label_selector *selector, const char *kind);
/* A count that isn't negative, or a percentage. */
void check_int_or_percent(struct status *to, const struct path *at, const struct int_or_string *value);
void check_at_most_all(struct status *to, const struct path *at, const struct int_or_string *value);
/* True for 0 and "0%". */
bool int_or_percent_is_zero(const struct int_or_string *value);
bool template_matches(const struct meta_v1_label_selector *selector, const struct str_map *labels);
void check_template_labels(struct status *to, const struct path *at, const struct str_map *labels);

#endif
