/* Makes shims: a small process forked off before the runtime has threads, connections or secrets, so that a shim, forked
 * off it, shares its pages and holds nothing else. Shims are no children of the runtime and outlive it. */
#ifndef RUNTIME_SHIM_SPAWNER_H
#define RUNTIME_SHIM_SPAWNER_H

#include "base/status.h"

/* Before the event loop and any thread. *ret_socket is the runtime's end; the spawner ends when it is closed. */
MUST_USE struct status *spawner_start(int *ret_socket);
/* Makes a shim that listens at DIRECTORY/shim.sock (which exists when this returns). Blocks for less than a
 * millisecond; one thread at a time. */
MUST_USE struct status *spawner_spawn(int socket, const char *directory);

#endif
