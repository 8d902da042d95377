#ifndef MAIN_NODE_ADDRESS_H
#define MAIN_NODE_ADDRESS_H

#include "base/arena.h"

/* The IPv4 address this machine has towards the default route; without one the first that is not loopback; 127.0.0.1 on
 * a machine with loopback only. Sends nothing. */
struct str node_address(struct arena *arena);

#endif
