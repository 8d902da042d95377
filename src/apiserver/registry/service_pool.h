/* Addresses and node ports of services: what is taken, and what to take next. Everything is worked out from the services
 * that are there, so nothing can be lost or leak. */
#ifndef APISERVER_REGISTRY_SERVICE_POOL_H
#define APISERVER_REGISTRY_SERVICE_POOL_H

#include "api/core_v1.h"
#include "apiserver/server.h"
#include "schema/ip.h"

enum { SERVICE_RANGES_MAX = 2 };

struct service_pool {
    struct arena *arena;
    struct str range_texts[SERVICE_RANGES_MAX];
    struct cidr ranges[SERVICE_RANGES_MAX]; /* the first one is for services that don't ask for a family */
    size_t range_count;
    int port_first, port_last;
    bool is_dry_run; /* what is taken is the same each time */
    struct map addresses; /* those of all services but one, as canonical text */
    uint8_t ports[8192];  /* a bit each */
};

/* All services but the one with this uid. Release by service_pool_done(), also after an error. */
MUST_USE struct status *service_pool_open(struct service_pool *pool, struct apiserver *server, struct arena *arena,
                                          struct str uid);
void service_pool_done(struct service_pool *pool);
bool service_pool_has_port(const struct service_pool *pool, int port);
void service_pool_use_port(struct service_pool *pool, int port);
/* A free port, marked as used; 0 when there is none. */
int service_pool_take_port(struct service_pool *pool);
/* A free address of the range, in text; empty when there is none. */
struct str service_pool_take_address(struct service_pool *pool, size_t range);

#endif
