/* The frames of a watch response. Pure; fuzzed. */
#ifndef CLIENT_WATCH_FRAME_H
#define CLIENT_WATCH_FRAME_H

#include "client/client.h"

/* The first event in `bytes`, and how many bytes it takes with its delimiter; false when it is not all there.
 * JSON events end with a newline; the first `scanned` bytes are known to hold none. */
bool watch_frame_json(struct str bytes, size_t scanned, struct str *ret_frame, size_t *ret_used);
/* Protobuf events have their length before them, four bytes, big-endian. */
bool watch_frame_protobuf(struct str bytes, struct str *ret_frame, size_t *ret_used);

/* One event's type and object, in the arena; `frame` must live as long. An event of type ERROR is the status it carries. */
MUST_USE struct status *watch_frame_decode(const struct kind *kind, bool is_protobuf, struct str frame,
                                           struct arena *arena, struct client_event *ret_event);

#endif
