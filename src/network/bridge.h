/* The steps of the bridge plugin on interfaces: what bridge.c puts in order. All calls block. */
#ifndef NETWORK_BRIDGE_H
#define NETWORK_BRIDGE_H

#include "network/cni_plugin.h"
#include "network/netlink.h"

struct bridge_conf {
    struct str bridge; /* name of the interface */
    bool is_gateway, is_default_gateway, force_address, masquerades, hairpin, promiscuous, maps_ports;
    /* Pods get their address alone and send everything to the gateway, so that even what two pods of this node say to
     * each other passes the host's IP layer: Services and policies hold for it without br_netfilter. */
    bool is_routed;
    unsigned mtu; /* 0: the kernel's choice */
    uint8_t mac[6];
    bool has_mac, has_ipam;
    struct ipam_conf ipam;
    struct host_nat_cidrs near; /* destinations that are not masqueraded, besides the subnets */
};

/* METHOD_NOT_ALLOWED for what c8s does not do. `is_c8s`: for the plugin c8s-cni, where isGateway, isDefaultGateway,
 * ipMasq, hairpinMode and routed are true unless said otherwise. */
MUST_USE struct status *bridge_conf_read(const struct cni_call *call, bool is_c8s, struct bridge_conf *ret);

/* The bridge, made when missing, and up. */
MUST_USE struct status *bridge_ensure(struct netlink *host, const struct bridge_conf *conf, struct netlink_link *ret);
/* Gives the bridge the gateways' addresses, and lets the host forward. */
MUST_USE struct status *bridge_be_gateway(struct netlink *host, const struct bridge_conf *conf,
                                          const struct netlink_link *bridge, const struct cni_result *result);
/* The pair of interfaces: the host's end is a port of the bridge. */
MUST_USE struct status *bridge_plug(struct netlink *host, const struct bridge_conf *conf, const struct cni_call *call,
                                    const struct netlink_link *bridge, struct netlink_link *ret_host_end);
/* Name of the host's end: it follows from network, container and interface. */
struct str bridge_host_end(const struct cni_call *call);
/* Addresses and routes of `result` on the pod's interface. */
MUST_USE struct status *bridge_configure_pod(const struct cni_call *call, const struct cni_result *result,
                                             struct netlink_link *ret_pod_end);
/* NOT_FOUND, saying what, unless the pod's interface has the result's addresses and routes. */
MUST_USE struct status *bridge_check_pod(const struct cni_call *call, const struct cni_result *result);

#endif
