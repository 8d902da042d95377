/* What a container finds in /etc/resolv.conf, by the pod's dnsPolicy and dnsConfig. Pure. */
#ifndef KUBELET_RESOLV_CONF_H
#define KUBELET_RESOLV_CONF_H

#include "base/arena.h"
#include "base/status.h"

struct dns_list {
    struct str *items;
    size_t len;
};

struct dns_config {
    struct dns_list servers, searches, options;
};

/* Of the node's file; later search lines replace earlier ones, later options of one name the earlier. */
void resolv_conf_parse(struct arena *arena, struct str text, struct dns_config *ret);

struct dns_request {
    struct str policy;    /* spec.dnsPolicy */
    bool is_host_network;
    struct str namespace;
    struct dns_config node;     /* the node's own */
    struct dns_list cluster_dns; /* --cluster-dns */
    struct str cluster_domain;
    struct dns_config extra;    /* spec.dnsConfig; options as "name" or "name:value" */
};

/* Warnings are what stock records as events DNSConfigForming, and MissingClusterDNS when `no_cluster_dns`. */
struct dns_result {
    struct dns_config config;
    struct dns_list warnings;
    bool no_cluster_dns;
};

void resolv_conf_decide(struct arena *arena, const struct dns_request *request, struct dns_result *ret);

#endif
