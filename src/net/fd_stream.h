/* A stream over a file descriptor the kernel can poll: socket, pipe, terminal.
 *
 * The end of a terminal (EIO) reads as the end of the stream. stream_shut() shuts down a socket's sending half and does
 * nothing to other descriptors. */
#ifndef NET_FD_STREAM_H
#define NET_FD_STREAM_H

#include "net/stream.h"

/* Takes `fd`, which becomes non-blocking and close-on-exec. */
struct stream *fd_stream_new(int fd);
/* The descriptor, still the stream's. */
int fd_stream_fd(struct stream *stream);
/* Two connected streams (a socket pair); for tests and helpers. */
MUST_USE struct status *fd_stream_pair(struct stream **ret_a, struct stream **ret_b);

#endif
