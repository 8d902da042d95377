/* The network of the simulation: connections in memory that are slow, stall and break, from the env's random numbers. */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include "net/stream.h"

struct network;

struct network_faults {
    int64_t latency_max;     /* ns; each piece takes up to that, in order */
    unsigned stalls_in_1000; /* pieces that take up to `stall_max` instead: late watches */
    int64_t stall_max;
};

struct network *network_new(void);
/* No connection may be left. */
void network_free(struct network *network);
void network_set_faults(struct network *network, const struct network_faults *faults);
/* A connection of `from`, a name for network_break(); `from` must outlive it. */
void network_connect(struct network *network, const char *from, struct stream **ret_a, struct stream **ret_b);
/* Breaks the connections of `from`; NULL: all. What is on its way is lost, both ends get errors. */
void network_break(struct network *network, const char *from);

#endif
