/* Joins the spans that all components recorded into the one story of a pod: what `c8s trace` shows. Pure. */
#ifndef TRACE_POD_TRACE_H
#define TRACE_POD_TRACE_H

#include "base/buf.h"
#include "base/trace_rings.h"

/* The objects a pod came from. */
struct pod_trace_chain {
    struct str pod_uid;
    struct str replicaset_uid; /* empty: the pod was made by itself */
    struct str deployment_uid;
};

struct pod_trace_line {
    enum trace_step step;
    const struct trace_span *span; /* NULL: nothing is recorded */
    struct trace_span_list children; /* its parts, by start */
    const char *skipped; /* why a step does not apply although nothing recorded it; NULL else */
};

/* One line a step. Where a step happened more than once (a Deployment's status is written often), the line is the one that
 * led to this pod: the last before the pod was made for what comes before it, else the first.
 * Lines after a step that failed, and was not done again, have neither span nor reason: the flow ended there. */
struct pod_trace {
    struct pod_trace_line lines[TRACE_STEP_COUNT]; /* by step; 0 is empty */
    enum trace_step failed; /* 0: none */
};

struct pod_trace pod_trace_join(const struct trace_span_list *spans, const struct pod_trace_chain *chain,
                                struct arena *arena);
/* The story of one request, of which only the trace id is known: it failed before there was an object. */
struct pod_trace pod_trace_of_request(const struct trace_span_list *spans, struct str trace_id, struct arena *arena);

/* The trace id of the request that made the object; empty when none is recorded. */
struct str pod_trace_origin(const struct trace_span_list *spans, struct str uid);

/* "STEP LANE NAME WHAT TOOK" lines with a heading, children indented below. */
struct str pod_trace_text(const struct pod_trace *trace, struct arena *arena);
/* The same as JSON: {"steps":[{"step","lane","name","outcome","start","duration","detail","children":[...]}]}. */
void pod_trace_json(struct buf *out, const struct pod_trace *trace);

#endif
