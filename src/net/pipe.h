/* Two connected streams in memory. Each direction holds a bounded number of bytes; a writer waits for the reader.
 * Works on any env, so under simulation too. */
#ifndef NET_PIPE_H
#define NET_PIPE_H

#include "net/stream.h"

/* `capacity` bytes each way, at least 1. */
void pipe_new(size_t capacity, struct stream **ret_a, struct stream **ret_b);

#endif
