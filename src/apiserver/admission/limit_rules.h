/* What LimitRanges say: amounts that containers get, and bounds that pods and claims must keep. Pure. */
#ifndef APISERVER_ADMISSION_LIMIT_RULES_H
#define APISERVER_ADMISSION_LIMIT_RULES_H

#include "api/core_v1.h"

/* Fills in what containers don't say, and notes in an annotation what was filled. */
void limit_range_fill(struct arena *arena, const struct core_v1_limit_range *range, struct core_v1_pod *pod);
/* What is wrong, in stock's words; empty when nothing is. */
struct str limit_range_check_pod(struct arena *arena, const struct core_v1_limit_range *range,
                                 const struct core_v1_pod *pod);
struct str limit_range_check_claim(struct arena *arena, const struct core_v1_limit_range *range,
                                   const struct core_v1_persistent_volume_claim *claim);

#endif
