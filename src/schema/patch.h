/* Patches over value trees: JSON Patch (RFC 6902), JSON merge patch (RFC 7386), and Kubernetes' strategic merge patch,
 * which goes by the tables' patch strategies and merge keys; and the making of merge patches from what was, what is and
 * what is wanted, as `kubectl apply` does. Inputs are not changed, outputs may share parts with them. Any thread.
 *
 * Errors are BAD_REQUEST with stock's words. */
#ifndef SCHEMA_PATCH_H
#define SCHEMA_PATCH_H

#include "schema/type.h"
#include "schema/value.h"

/* `operations` is the array of a JSON Patch. INVALID when an operation does not apply. */
MUST_USE struct status *patch_json(struct arena *arena, const struct value *document, const struct value *operations,
                                   struct value **ret);
struct value *patch_merge(struct arena *arena, const struct value *document, const struct value *patch);
/* `type` describes the document; NULL merges as if nothing were known of it. */
MUST_USE struct status *patch_strategic(struct arena *arena, const struct type *type, const struct value *document,
                                        const struct value *patch, struct value **ret);

/* The merge patch that makes `to` of `from`; an empty object when they are the same. */
struct value *patch_merge_diff(struct arena *arena, const struct value *from, const struct value *to);
/* What `kubectl apply` sends: deletes what the last configuration had and the modified one has not, and sets what differs
 * from the current object. `original` may be NULL. */
struct value *patch_merge_three_way(struct arena *arena, const struct value *original, const struct value *modified,
                                    const struct value *current);
/* The same as a strategic merge patch. BAD_REQUEST when list elements lack their merge key. */
MUST_USE struct status *patch_strategic_three_way(struct arena *arena, const struct type *type,
                                                  const struct value *original, const struct value *modified,
                                                  const struct value *current, struct value **ret);

#endif
