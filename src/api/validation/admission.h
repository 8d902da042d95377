/* What configurations of webhooks and admission policies share. For src/api/validation* only. */
#ifndef API_VALIDATION_ADMISSION_H
#define API_VALIDATION_ADMISSION_H

#include "api/admissionregistration_v1.h"
#include "api/validation/check.h"

void check_admission_rule(struct status *to, const struct path *at,
                          const struct admissionregistration_v1_rule_with_operations *rule);
void check_match_conditions(struct status *to, const struct path *at,
                            const struct admissionregistration_v1_match_condition *conditions, size_t len);

#endif
