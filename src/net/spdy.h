/* SPDY/3.1, as Kubernetes clients before WebSocket speak it for exec, attach and port-forward, after an upgrade to
 * "SPDY/3.1". The client opens streams; each carries bytes both ways.
 *
 * There is no flow control but the connection's own: clients send no window updates and heed none (neither do stock's
 * servers), so a stream that nobody reads holds up the others after SPDY_STREAM_BYTES. */
#ifndef NET_SPDY_H
#define NET_SPDY_H

#include "net/http.h"

enum { SPDY_STREAM_BYTES = 64 << 10, SPDY_STREAMS_MAX = 256 };

struct spdy;
struct spdy_stream;

/* Takes the upgraded connection and reads it in a task of its own. */
struct spdy *spdy_new(struct stream *stream);
/* Parks until the client opens the next stream, and accepts it. SERVICE_UNAVAILABLE when the connection ended, TIMEOUT at
 * the deadline. The stream lives as long as the connection. */
MUST_USE struct status *spdy_accept(struct spdy *spdy, int64_t deadline, struct spdy_stream **ret);
/* The client's end: opens a stream with these headers (their names in lower case). */
MUST_USE struct status *spdy_open(struct spdy *spdy, const struct http_headers *headers, struct spdy_stream **ret);
/* Those the client sent, names in lower case. */
const struct http_headers *spdy_stream_headers(const struct spdy_stream *stream);
/* What the other end sends, as a stream to read from; still the SPDY stream's. */
struct stream *spdy_stream_input(struct spdy_stream *stream);
MUST_USE struct status *spdy_stream_write(struct spdy_stream *stream, struct str bytes);
/* Nothing more will be written. */
MUST_USE struct status *spdy_stream_end(struct spdy_stream *stream);
/* Parks until the other end has ended the connection, or the deadline. True when it has. */
bool spdy_wait(struct spdy *spdy, int64_t deadline);
/* Ends and frees all. Parks. NULL is fine. */
void spdy_free(struct spdy *spdy);

#endif
