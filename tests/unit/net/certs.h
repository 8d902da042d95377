/* A CA and what it signed, for tests over TLS. */
#ifndef TESTS_UNIT_NET_CERTS_H
#define TESTS_UNIT_NET_CERTS_H

#include "base/arena.h"

struct certs {
    struct str ca;
    struct str server, server_key; /* for localhost and 127.0.0.1 */
    struct str client, client_key; /* admin of system:masters */
};

void certs_make(struct arena *arena, struct certs *ret);

#endif
