/* IP addresses and CIDRs as text, by the rules of API fields. Messages are stock's. Any thread. */
#ifndef SCHEMA_IP_H
#define SCHEMA_IP_H

#include "base/arena.h"
#include "base/str.h"

struct ip {
    uint8_t bytes[16]; /* the first 4 of an IPv4 address */
    uint8_t length;    /* 4 or 16 */
};

struct cidr {
    struct ip ip; /* as written, with bits beyond the prefix */
    uint8_t prefix;
};

/* Leading zeros in IPv4 are decimal; "::ffff:1.2.3.4" is IPv4. False when it is no address. */
bool ip_parse(struct str text, struct ip *ret);
bool ip_equal(const struct ip *a, const struct ip *b);
/* Canonical (RFC 5952) text. */
struct str ip_format(struct arena *arena, const struct ip *ip);

bool cidr_parse(struct str text, struct cidr *ret);
/* With the bits beyond the prefix cleared. */
struct cidr cidr_masked(const struct cidr *cidr);
struct str cidr_format(struct arena *arena, const struct cidr *cidr);
bool cidr_contains(const struct cidr *cidr, const struct ip *ip);

/* What is wrong with the value of a field: "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)". Empty when
 * nothing is. `canonical` is for new fields, which also want the canonical form. */
struct str ip_check(struct arena *arena, struct str text, bool canonical);
struct str cidr_check(struct arena *arena, struct str text, bool canonical);

#endif
