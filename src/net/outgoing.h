/* Bytes on their way into a stream. What is added is sent soon, together with what else is added until then; nobody
 * waits but who wants to. The stream stays its owner's until outgoing_close(). */
#ifndef NET_OUTGOING_H
#define NET_OUTGOING_H

#include "base/buf.h"
#include "net/stream.h"

enum {
    OUTGOING_ENOUGH = 64 << 10, /* writers wait when so much is under way */
};

struct outgoing;

/* Asked for more bytes when few are left; adds none when there are none. May be NULL. */
typedef void outgoing_refill_fn(void *arg, struct buf *buf);

struct outgoing *outgoing_new(struct stream *stream, outgoing_refill_fn *refill, void *arg);
/* Where to add bytes; then say outgoing_send(). */
struct buf *outgoing_buf(struct outgoing *outgoing);
/* Sends from the event loop, after what runs now. */
void outgoing_send(struct outgoing *outgoing);
/* Parks while more than enough is under way. The error that broke the stream, if one did. */
MUST_USE struct status *outgoing_wait(struct outgoing *outgoing, int64_t deadline);
/* Parks until nothing is under way. */
MUST_USE struct status *outgoing_drain(struct outgoing *outgoing, int64_t deadline);
bool outgoing_is_broken(const struct outgoing *outgoing);
/* Sends what is left, within a few seconds, then closes the stream. With `lingers` it also waits a moment for the other
 * end to close first, throwing away what it still sends: closing with unread input would reset the connection and take
 * our last words with it. Frees; NULL is fine. */
void outgoing_close(struct outgoing *outgoing, bool lingers);
/* Frees without touching the stream, which goes on with somebody else. Nothing may be under way. */
void outgoing_release(struct outgoing *outgoing);

#endif
