#include "kubelet/probe_state.h"

const char *probe_kind_name(enum probe_kind kind)
{
    static const char *const names[] = {"Startup", "Readiness", "Liveness"};

    return names[kind];
}

void probe_state_start(struct probe_state *state, enum probe_kind kind, int32_t success_threshold,
                       int32_t failure_threshold)
{
    static const enum probe_result first[] = {PROBE_UNKNOWN, PROBE_FAILURE, PROBE_SUCCESS};

    *state = (struct probe_state){
        .kind = kind,
        .success_threshold = MAX(success_threshold, 1),
        .failure_threshold = MAX(failure_threshold, 1),
        .result = first[kind],
        .last = PROBE_UNKNOWN,
    };
}

bool probe_state_take(struct probe_state *state, enum probe_result result)
{
    if (state->is_on_hold || result == PROBE_UNKNOWN) {
        return false;
    }
    state->run = result == state->last ? state->run + 1 : 1;
    state->last = result;
    if (state->run < (result == PROBE_SUCCESS ? state->success_threshold : state->failure_threshold)) {
        return false; /* success and failure are steady until the threshold is reached */
    }
    bool changed = state->result != result;

    state->result = result;
    if (state->kind != PROBE_READINESS && result == PROBE_FAILURE) {
        /* The container is going to be restarted. */
        state->is_on_hold = true;
        state->run = 0;
    }
    return changed;
}
