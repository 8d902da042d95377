/* Linux capabilities by name, and which of them a container gets. Pure. */
#ifndef RUNTIME_CAPABILITY_H
#define RUNTIME_CAPABILITY_H

#include "base/status.h"

#include <stdint.h>

/* Bit n is capability n, as in linux/capability.h. */
#define CAPABILITIES_ALL ((UINT64_C(1) << 41) - 1)
#define CAPABILITY_NET_RAW (UINT64_C(1) << 13)

/* What containers have unless their pod says otherwise; stock runtimes' set. */
uint64_t capabilities_default(void);
/* "NET_ADMIN" or "CAP_NET_ADMIN", whatever the case; "ALL" is all of them. INVALID. */
MUST_USE struct status *capability_parse(struct str name, uint64_t *ret);
/* Starting from `base`: ALL first, then single ones, added before dropped as stock does. Fills *ret. */
MUST_USE struct status *capabilities_apply(uint64_t base, const struct str_list *add, const struct str_list *drop,
                                           uint64_t *ret);
/* "CAP_CHOWN" of 0; NULL beyond the last. */
const char *capability_name(unsigned number);

#endif
