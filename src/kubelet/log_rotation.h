/* Cuts containers' logs that have grown too large into files of which only the newest are kept: NAME and NAME.TIME,
 * with the times of stock. (Stock compresses the older ones.) */
#ifndef KUBELET_LOG_ROTATION_H
#define KUBELET_LOG_ROTATION_H

#include "kubelet/context.h"

/* A task of the kubelet's. Does nothing when options.log_max_bytes is 0. */
void log_rotation_start(struct kubelet *kubelet);

/* Which of the files beside a log are older parts of it that must go, so that `keep` are left, the new one counted.
 * `names` are all of the directory, sorted; adds to `ret`. Pure. */
void log_rotation_decide(struct arena *arena, const struct host_names *names, struct str log, int64_t keep,
                         struct host_names *ret);

#endif
