/* Spans of the flight recorder as JSON, as `/c8s/trace/spans` takes and gives them:
 *
 *   {"spans":[{"step":15,"outcome":"ok","start":1767225600000000000,"end":...,"uid":"...","traceID":"...",
 *              "object":"pods/default/nginx","child":"","detail":"..."}]}
 *
 * Empty texts are left out. Any thread. */
#ifndef CLIENT_TRACE_SPANS_H
#define CLIENT_TRACE_SPANS_H

#include "base/buf.h"
#include "base/trace_rings.h"

enum { TRACE_SPANS_MAX = 256 }; /* that one POST may bring */

void trace_spans_encode(struct buf *out, const struct trace_span_list *spans);
/* BAD_REQUEST names what is wrong; also for more than `max`. */
MUST_USE struct status *trace_spans_decode(struct arena *arena, struct str json, size_t max, struct trace_span_list *ret);

#endif
