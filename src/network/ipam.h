/* Addresses of a node's own ranges, handed out from files: what CNI's host-local does, on the same files
 * (DATA/NETWORK/ADDRESS holds "CONTAINER\r\nINTERFACE", last_reserved_ip.N the last one of range set N), so that either
 * can take over from the other.
 *
 * An address is taken by making its file, under a lock on the network's directory; the search goes on from the last one
 * taken, so a freed address comes back as late as possible. All calls block; any process, any thread. */
#ifndef NETWORK_IPAM_H
#define NETWORK_IPAM_H

#include "network/cni_invoker.h"
#include "schema/value.h"

struct ipam_range {
    struct cidr subnet;
    struct ip start, end; /* first and last to hand out */
    struct ip gateway;
};

/* Ranges of which one address is taken. */
struct ipam_range_set {
    struct ipam_range *items;
    size_t len;
};

struct ipam_conf {
    struct str directory; /* DATA/NETWORK */
    struct {
        struct ipam_range_set *items; /* one address of each: IPv4 and IPv6 */
        size_t len;
    } sets;
    struct {
        struct cni_route *items;
        size_t len;
    } routes;
    struct {
        struct ip *items; /* those asked for */
        size_t len;
    } wanted;
    struct str resolv_conf; /* path; empty: none */
};

/* Reads "ipam" of a plugin's configuration ("subnet" or "ranges", "routes", "dataDir", "resolvConf"), and the addresses
 * asked for by runtimeConfig.ips. BAD_REQUEST in host-local's words. */
MUST_USE struct status *ipam_conf_read(struct arena *arena, const struct value *input, struct ipam_conf *ret);

/* Takes one address of each set and appends to result's addresses (of no interface) and routes. Nothing stays taken when it
 * fails: SERVICE_UNAVAILABLE when a set is used up, ALREADY_EXISTS when the container has one already or a wanted one is
 * taken. */
MUST_USE struct status *ipam_take(struct arena *arena, const struct ipam_conf *conf, struct str container,
                                  struct str interface, struct cni_result *result);
/* Gives back whatever that interface of the container has; nothing is fine. */
MUST_USE struct status *ipam_give(const struct ipam_conf *conf, struct str container, struct str interface);
/* NOT_FOUND unless that interface of the container has an address. */
MUST_USE struct status *ipam_check(const struct ipam_conf *conf, struct str container, struct str interface);
/* Gives back all but those for which `is_valid` holds. */
MUST_USE struct status *ipam_collect(const struct ipam_conf *conf,
                                     bool (*is_valid)(void *arg, struct str container, struct str interface), void *arg);

#endif
