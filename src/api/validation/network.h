/* Validation of addresses and ports. For src/api/validation* only. */
#ifndef API_VALIDATION_NETWORK_H
#define API_VALIDATION_NETWORK_H

#include "api/validation/check.h"

/* "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"; true when it is one. */
bool check_ip(struct status *to, const struct path *at, struct str ip);
bool check_cidr(struct status *to, const struct path *at, struct str cidr);
/* Addresses that aren't those of an endpoint: loopback, link-local, ... */
void check_endpoint_ip(struct status *to, const struct path *at, struct str ip);
void check_port_number(struct status *to, const struct path *at, int64_t port);
/* Required, and SCTP, TCP or UDP. */
void check_protocol(struct status *to, const struct path *at, struct str protocol);

#endif
