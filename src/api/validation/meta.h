/* Validation of what all kinds share: metadata, labels, selectors. For src/api/validation* only. */
#ifndef API_VALIDATION_META_H
#define API_VALIDATION_META_H

#include "api/validation/check.h"
#include "schema/meta_v1.h"

/* metadata of a new object. Finalizers of custom resources and the like need no domain (`any_finalizer`). */
void check_object_meta(struct status *to, const struct meta_v1_object_meta *meta, bool namespaced, name_check *name,
                       bool any_finalizer);
void check_object_meta_update(struct status *to, const struct meta_v1_object_meta *meta,
                              const struct meta_v1_object_meta *old, bool any_finalizer);
void check_labels(struct status *to, const struct path *at, const struct str_map *labels);
void check_annotations(struct status *to, const struct path *at, const struct str_map *annotations);
/* NULL is fine. */
void check_label_selector(struct status *to, const struct path *at, const struct meta_v1_label_selector *selector);
/* "spec.finalizers[0]": no domain, and none of stock's own. */
void check_finalizer_domain(struct status *to, const struct path *at, struct str finalizer);
/* "must be less than 64..." of metadata.v1.Condition lists and so on are left to the kinds. */
bool selector_is_empty(const struct meta_v1_label_selector *selector);

#endif
