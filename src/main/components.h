/* The components of `c8s server` with their arguments. */
#ifndef MAIN_COMPONENTS_H
#define MAIN_COMPONENTS_H

#include "main/places.h"
#include "main/server_options.h"
#include "main/supervisor.h"

enum { COMPONENTS_MAX = 8 };

struct cluster {
    const struct server_options *options;
    const struct places *places;
    struct str node_ip;
    struct str advertise_address;
    int port;      /* the API server's, now that it is known */
    int listen_fd; /* its listening socket, which outlives its restarts: connections wait meanwhile */
    uid_t uid;     /* of the components that need no power; 0: as we are */
    struct str box; /* the seccomp filter of these components (main/box.h); empty: none */
};

/* In the order they are started. Arguments are in the arena. CONFLICT when one gets too many. */
MUST_USE struct status *components_of(const struct cluster *cluster, struct arena *arena,
                                      struct component components[COMPONENTS_MAX], size_t *ret_count);

#endif
