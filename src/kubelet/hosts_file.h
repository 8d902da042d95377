/* A pod's hostname, and what its containers find in /etc/hosts. Pure. */
#ifndef KUBELET_HOSTS_FILE_H
#define KUBELET_HOSTS_FILE_H

#include "api/core_v1.h"
#include "base/status.h"

/* Hostname and, for a pod with a subdomain, its domain. */
MUST_USE struct status *pod_hostname(struct arena *arena, const struct core_v1_pod *pod, struct str cluster_domain,
                                     struct str *ret_hostname, struct str *ret_domain);
/* `node_hosts` is the node's own file, used for pods on the host network. */
struct str hosts_file_make(struct arena *arena, const struct core_v1_pod *pod, const struct str_list *pod_ips,
                           struct str hostname, struct str domain, struct str node_hosts);

#endif
