/* /c8s/trace/spans: the flight recorders of this machine (base/trace_rings.h), for those who may read the path.
 *
 *   GET ?uid=A,B&trace=ID,...   the spans of those objects and requests; neither: all
 *   POST                        spans of kubectl's own steps, 1 to 7
 *
 * The form is that of client/trace_spans.h. */
#ifndef APISERVER_TRACE_API_H
#define APISERVER_TRACE_API_H

#include "apiserver/server.h"

extern const struct apiserver_extension trace_api_extension;

#endif
