/* The loopback interface of a network namespace. */
#ifndef NETWORK_LOOPBACK_H
#define NETWORK_LOOPBACK_H

#include "base/status.h"

#include <stdbool.h>

/* Sets `lo` up or down in the namespace at that path. Blocks, and moves the calling thread there and back; any thread. */
MUST_USE struct status *loopback_set(const char *netns, bool up);
MUST_USE struct status *loopback_is_up(const char *netns, bool *ret);

#endif
