/* CustomResourceDefinitions in parts. For src/api/validation* only. */
#ifndef API_VALIDATION_CRD_H
#define API_VALIDATION_CRD_H

#include "api/apiextensions_v1.h"
#include "api/validation/check.h"

/* A structural schema: every field says its type (crd_schema.c). `at` is openAPIV3Schema. */
void check_structural(struct status *to, const struct path *at,
                      const struct apiextensions_v1_json_schema_props *schema);
/* What ".spec.a.b" leads to; NULL when it leads nowhere. */
const struct apiextensions_v1_json_schema_props *schema_at(const struct apiextensions_v1_json_schema_props *schema,
                                                           struct str path);

#endif
