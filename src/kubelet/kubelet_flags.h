/* The kubelet's command line, and the KubeletConfiguration file it may name. */
#ifndef KUBELET_KUBELET_FLAGS_H
#define KUBELET_KUBELET_FLAGS_H

#include "base/flags.h"
#include "kubelet/kubelet.h"

struct kubelet_settings {
    struct kubelet_options options;
    struct str kubeconfig, endpoint, config;
    struct str address;
    struct str tls_cert_file, tls_private_key_file, client_ca_file, cert_dir;
    struct str authorization_mode;
    bool anonymous_auth, token_webhook;
    int64_t authorized_ttl, unauthorized_ttl;
    struct str healthz_address;
    int64_t healthz_port;
    struct str log_max_size;
    int64_t verbosity;
    bool wants_help, wants_version;
    /* As text, before kubelet_settings_read() has understood it. */
    struct flag_strings node_labels, taints, system_reserved, kube_reserved, eviction_hard, eviction_soft,
        eviction_soft_grace, eviction_minimum_reclaim, cluster_dns;
    struct str node_ip;
};

/* Reads defaults, then the file --config names (which blocks), then the flags: what comes later wins. Texts are in the
 * arena or in args. BAD_REQUEST says what is wrong. */
MUST_USE struct status *kubelet_settings_read(char *const *args, size_t count, struct arena *arena,
                                              struct kubelet_settings *ret);
/* The same for the text of a configuration file, as flags "--name=value" in its place. Pure. */
MUST_USE struct status *kubelet_config_to_flags(struct str yaml, struct arena *arena, struct str_list *ret);
/* One line for each flag. */
struct str kubelet_flags_usage(struct arena *arena);

#endif
