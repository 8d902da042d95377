/* Running something in another network namespace. */
#ifndef NETWORK_NETNS_H
#define NETWORK_NETNS_H

#include "base/status.h"

#include <stdbool.h>

/* Moves the calling thread into the namespace at `path`, calls fn(arg), and moves it back; the thread must not wait for
 * the event loop inside. NOT_FOUND when there is none. Blocks; any thread that may (CAP_SYS_ADMIN). */
MUST_USE struct status *netns_do(const char *path, struct status *(*fn)(void *arg), void *arg);
/* False also when the path exists but is no network namespace (a mount point left behind). */
bool netns_exists(const char *path);
/* Whether it is the one the calling thread is in. */
bool netns_is_own(const char *path);

#endif
