/* What the host translates for the pods of one CNI network, by nftables: their traffic to the outside leaves under the
 * host's address, the host's ports lead to theirs, and a pod reaches itself through either.
 *
 * Each network has a table of its own in each family with fixed chains, sets and maps; a pod is elements of these, marked
 * with its container and interface, and costs the same however many there are. All calls block; any thread. */
#ifndef NETWORK_HOST_NAT_H
#define NETWORK_HOST_NAT_H

#include "network/cni_invoker.h"

struct host_nat_cidrs {
    struct cidr *items;
    size_t len;
};

struct host_nat {
    struct str table;              /* "c8s-cni-NETWORK" */
    struct host_nat_cidrs subnets; /* where the pods are */
    bool masquerades;              /* pods' traffic to elsewhere than `near` and the subnets */
    struct host_nat_cidrs near;
    /* Pods reach each other without passing the host's IP layer, so what is translated between them has to be answered
     * through the host: masquerade it. */
    bool is_bridged;
};

struct host_nat_pod {
    struct str container, interface;
    struct {
        struct ip *items;
        size_t len;
    } addresses;
    struct {
        struct cni_port_mapping *items;
        size_t len;
    } ports;
};

/* Makes or changes the tables as needed, and adds the pod. ALREADY_EXISTS when a port is another pod's. */
MUST_USE struct status *host_nat_add(const struct host_nat *nat, const struct host_nat_pod *pod);
/* Nothing to remove is fine. */
MUST_USE struct status *host_nat_remove(struct str table, struct str container, struct str interface);
/* Removes all for which `is_valid` does not hold. */
MUST_USE struct status *host_nat_collect(struct str table,
                                         bool (*is_valid)(void *arg, struct str container, struct str interface),
                                         void *arg);
/* NOT_FOUND, saying what, unless all that host_nat_add() made is there. */
MUST_USE struct status *host_nat_check(const struct host_nat *nat, const struct host_nat_pod *pod);

#endif
