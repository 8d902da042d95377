/* The certificate and key the kubelet serves with, and the CAs of its clients, from the files its flags name. */
#ifndef KUBELET_SERVING_FILES_H
#define KUBELET_SERVING_FILES_H

#include "kubelet/kubelet_flags.h"
#include "kubelet/server.h"

/* Without --tls-cert-file a certificate signed by itself is kept in --cert-dir (kubelet.crt, kubelet.key), as stock
 * does. Blocks for some milliseconds. */
MUST_USE struct status *serving_files_read(const struct kubelet_settings *settings, struct str node_name,
                                           struct str node_ip, struct arena *arena,
                                           struct kubelet_server_options *options);

#endif
