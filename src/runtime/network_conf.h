/* The network of a node that has none configured: one conflist of our own CNI plugin, made from the node's pod CIDR. */
#ifndef RUNTIME_NETWORK_CONF_H
#define RUNTIME_NETWORK_CONF_H

#include "base/arena.h"
#include "base/status.h"

#define NETWORK_CONF_NAME "10-c8s.conflist"
#define NETWORK_PLUGIN_NAME "c8s-cni"

struct network_conf {
    struct str conf_dir, bin_dir;
    struct str cluster_cidrs; /* "10.42.0.0/16", or two with a comma: what is never masqueraded */
    struct str addresses_dir; /* where the addresses in use are kept */
};

/* The conflist's text. Pure. `pod_cidrs` as the kubelet gives them: one or two with a comma. BAD_REQUEST for what is
 * none. */
MUST_USE struct status *network_conf_text(struct arena *arena, const struct network_conf *conf, struct str pod_cidrs,
                                          struct str *ret);
/* Writes the conflist and links the plugin to this program, unless someone else's configuration is there. Blocks for a
 * glance at the directory. */
MUST_USE struct status *network_conf_write(const struct network_conf *conf, struct str pod_cidrs);

#endif
