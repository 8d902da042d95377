#include "scheduler/scheduler_trace.h"

#include "base/env.h"

void scheduler_trace(const struct core_v1_pod *pod, enum trace_step step, enum trace_outcome outcome, int64_t start,
               struct str detail)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    trace_emit(&(struct trace_span){
        .step = step,
        .outcome = outcome,
        .start = start,
        .end = env_wall(),
        .uid = pod->metadata.uid,
        .object = arena_printf(arena, "pods/%.*s/%.*s", STR_ARG(pod->metadata.namespace), STR_ARG(pod->metadata.name)),
        .detail = detail,
    });
}
