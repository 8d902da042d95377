/* Validation of claims and of what names storage. For src/api/validation* only. */
#ifndef API_VALIDATION_STORAGE_H
#define API_VALIDATION_STORAGE_H

#include "api/core_v1.h"
#include "api/validation/check.h"

void check_claim_spec(struct status *to, const struct path *at,
                      const struct core_v1_persistent_volume_claim_spec *spec);
void check_claim_template(struct status *to, const struct path *at,
                          const struct core_v1_persistent_volume_claim_template *template);
void check_csi_driver_name(struct status *to, const struct path *at, struct str driver);

#endif
