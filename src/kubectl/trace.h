/* kubectl's part of a pod's trace: steps 1 to 7, recorded while they happen and handed to the API server at the end. */
#ifndef KUBECTL_TRACE_H
#define KUBECTL_TRACE_H

#include "base/trace.h"
#include "kubectl/kubectl.h"

/* Starts a trace: the id that goes with every request in its `traceparent` header. */
void trace_begin(struct kubectl *k);
/* The header's value, in the arena. */
struct str trace_parent(struct kubectl *k);
int64_t trace_now(void);
/* A step that began at `start` has ended now. */
void trace_step(struct kubectl *k, enum trace_step step, int64_t start, const struct status *failure, const char *format,
                ...) PRINTF_LIKE(5, 6);
/* What api_call() tells: a request that changes something is steps 6 and 7. */
void trace_request(struct kubectl *k, const char *method, struct str path, size_t body_bytes);
void trace_answer(struct kubectl *k, const char *method, const struct status *failure, int code);
/* The object the run was about, once it is known. */
void trace_object(struct kubectl *k, const struct kind *kind, const struct value *object);
/* Posts the spans when the run made something; a server that has no place for them is not c8s, and that is fine. */
void trace_end(struct kubectl *k);

#endif
