/* Spans of the scheduler's steps (base/trace.h). */
#ifndef SCHEDULER_SCHEDULER_TRACE_H
#define SCHEDULER_SCHEDULER_TRACE_H

#include "api/core_v1.h"
#include "base/trace.h"

/* A step from `start` until now. */
void scheduler_trace(const struct core_v1_pod *pod, enum trace_step step, enum trace_outcome outcome, int64_t start,
               struct str detail);

#endif
