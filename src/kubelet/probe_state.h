/* Decides, from one probe result after another, whether a container counts as started, ready or alive. Pure. */
#ifndef KUBELET_PROBE_STATE_H
#define KUBELET_PROBE_STATE_H

#include "base/attr.h"

#include <stdbool.h>
#include <stdint.h>

enum probe_kind { PROBE_STARTUP, PROBE_READINESS, PROBE_LIVENESS };
enum probe_result { PROBE_UNKNOWN, PROBE_SUCCESS, PROBE_FAILURE };

struct probe_state {
    enum probe_kind kind;
    int32_t success_threshold, failure_threshold;
    enum probe_result result; /* what counts now */
    enum probe_result last;   /* of the last probe */
    int32_t run;              /* how many probes in a row gave `last` */
    bool is_on_hold;          /* a failed liveness or startup probe: wait for the next container */
};

/* For a new container. The result before the first probe: readiness fails, liveness succeeds, startup is unknown. */
void probe_state_start(struct probe_state *state, enum probe_kind kind, int32_t success_threshold,
                       int32_t failure_threshold);
/* Takes the result of one probe. True when what counts has changed. */
bool probe_state_take(struct probe_state *state, enum probe_result result);
/* "Startup", "Readiness", "Liveness", as in events. */
const char *probe_kind_name(enum probe_kind kind);

#endif
