/* What is wrong with an object, in stock's words and order. Pure; any thread.
 *
 * Each finding becomes a cause of `causes` (an INVALID status the caller made): its reason is stock's CauseType
 * (FieldValueInvalid), its field a path such as spec.containers[0].image, its message all of stock's text
 * (`Invalid value: "x": must be ...`). The object has its defaults already, and the metadata that the server sets. */
#ifndef API_VALIDATION_H
#define API_VALIDATION_H

#include "base/status.h"
#include "schema/type.h"

void api_validate_create(const struct kind *kind, const void *object, struct status *causes);
/* `old` is what the store holds. */
void api_validate_update(const struct kind *kind, const void *object, const void *old, struct status *causes);
/* An update of a subresource that takes the kind itself ("status", "ephemeralcontainers", ...): other rules hold. */
void api_validate_update_subresource(const struct kind *kind, struct str subresource, const void *object,
                                     const void *old, struct status *causes);

#endif
