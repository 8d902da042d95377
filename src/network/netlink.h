/* Network interfaces, addresses and routes by rtnetlink (libmnl).
 *
 * A socket belongs to the network namespace it was opened in and works there from anywhere. An interface, address or
 * route that is there already is ALREADY_EXISTS, one that is not NOT_FOUND. All calls block for as long as the kernel
 * works; one thread at a time. */
#ifndef NETWORK_NETLINK_H
#define NETWORK_NETLINK_H

#include "base/arena.h"
#include "base/status.h"
#include "schema/ip.h"

struct netlink;

/* In the calling thread's namespace, or in the one at `netns` when that is not NULL. */
MUST_USE struct status *netlink_open(const char *netns, struct netlink **ret);
void netlink_close(struct netlink *netlink);
/* For OWNED(netlink_closep). */
void netlink_closep(struct netlink **netlink);

struct netlink_link {
    unsigned index, master; /* master 0: none */
    unsigned flags;         /* IFF_UP, ... */
    unsigned mtu;
    uint8_t mac[6];
    char name[16];
    char kind[16]; /* "bridge", "veth"; empty for a real one */
};

MUST_USE struct status *netlink_link_find(struct netlink *netlink, const char *name, struct netlink_link *ret);
struct netlink_links {
    struct netlink_link *items;
    size_t len;
};
MUST_USE struct status *netlink_link_list(struct netlink *netlink, struct arena *arena, struct netlink_links *ret);
/* "0a:58:0a:2a:00:05" */
struct str netlink_mac_text(struct arena *arena, const uint8_t mac[6]);
bool netlink_mac_parse(struct str text, uint8_t ret[6]);

/* Made up already; mtu 0: the kernel's choice. */
MUST_USE struct status *netlink_bridge_add(struct netlink *netlink, const char *name, unsigned mtu);
struct netlink_veth {
    const char *name, *peer_name;
    unsigned master;         /* a bridge's index; 0: none */
    unsigned mtu;            /* 0: the kernel's choice */
    int peer_netns_fd;       /* where the other end goes */
    const uint8_t *peer_mac; /* NULL: the kernel's choice */
};
/* This end is up, the peer is not yet. */
MUST_USE struct status *netlink_veth_add(struct netlink *netlink, const struct netlink_veth *veth);
MUST_USE struct status *netlink_link_up(struct netlink *netlink, unsigned index);
MUST_USE struct status *netlink_link_mac(struct netlink *netlink, unsigned index, const uint8_t mac[6]);
MUST_USE struct status *netlink_link_promiscuous(struct netlink *netlink, unsigned index);
/* Lets a bridge's port send back what came from it. */
MUST_USE struct status *netlink_port_hairpin(struct netlink *netlink, unsigned index);
MUST_USE struct status *netlink_link_delete(struct netlink *netlink, unsigned index);

/* IPv6 addresses are usable at once (no duplicate address detection). */
MUST_USE struct status *netlink_address_add(struct netlink *netlink, unsigned index, const struct cidr *address);
MUST_USE struct status *netlink_address_delete(struct netlink *netlink, unsigned index, const struct cidr *address);
struct netlink_addresses {
    struct cidr *items;
    size_t len;
};
MUST_USE struct status *netlink_address_list(struct netlink *netlink, unsigned index, struct arena *arena,
                                             struct netlink_addresses *ret);

struct netlink_route {
    struct cidr destination;
    struct ip gateway; /* length 0: on the link */
};
struct netlink_routes {
    struct netlink_route *items;
    size_t len;
};
MUST_USE struct status *netlink_route_add(struct netlink *netlink, unsigned index, const struct netlink_route *route);
/* Of the main table, through that interface. */
MUST_USE struct status *netlink_route_list(struct netlink *netlink, unsigned index, struct arena *arena,
                                           struct netlink_routes *ret);

#endif
