/* Eviction thresholds as the flags have them. Pure. */
#ifndef KUBELET_EVICTION_TEXT_H
#define KUBELET_EVICTION_TEXT_H

#include "base/flags.h"
#include "kubelet/eviction.h"

struct eviction_texts {
    const struct flag_strings *hard, *soft; /* "memory.available<100Mi", "nodefs.available<10%" */
    const struct flag_strings *soft_grace;  /* "memory.available=1m30s" */
    const struct flag_strings *minimum_reclaim;
};

/* Without any hard threshold stock's stay (ret is left empty when nothing at all is given). */
MUST_USE struct status *eviction_thresholds_parse(struct arena *arena, const struct eviction_texts *texts,
                                                  struct eviction_thresholds *ret);

#endif
