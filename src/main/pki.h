/* The keys and certificates of a cluster under one directory, made where missing and renewed before they end.
 *
 *   ca.crt ca.key                     signs all others; in every kubeconfig
 *   sa.key sa.pub                     service account tokens
 *   apiserver.crt .key                serving
 *   kubelet-serving.crt .key          serving, of this node
 *   NAME.crt .key                     clients: admin, controller-manager, scheduler, kubelet, apiserver-kubelet-client
 *
 * Keys are ECDSA P-256. The CA lives ten years, all else one; what has less than 90 days left is made anew, as is a serving
 * certificate that lacks a wanted name. Files are written whole or not at all, keys with mode 0600. */
#ifndef MAIN_PKI_H
#define MAIN_PKI_H

#include "base/arena.h"
#include "base/status.h"

struct pki_options {
    const char *directory;
    struct str node_name;
    struct str_list server_names; /* DNS names and IPs of the API server beyond the usual ones */
    struct str_list node_names;   /* DNS names and IPs of this node */
    bool has_node;                /* make the kubelet's too */
};

/* Blocks (for some milliseconds of computing and file writing); call it on a worker or before a loop runs. */
MUST_USE struct status *pki_ensure(const struct pki_options *options);

/* DIRECTORY/NAME, for flags. */
struct str pki_path(struct arena *arena, const char *directory, const char *name);
/* The contents of DIRECTORY/NAME. */
MUST_USE struct status *pki_read(struct arena *arena, const char *directory, const char *name, struct str *ret);

#endif
