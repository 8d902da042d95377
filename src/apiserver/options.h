/* What a kube-apiserver can be told on its command line, under stock's flag names. Plain data; texts are borrowed from
 * the command line or constant. */
#ifndef APISERVER_OPTIONS_H
#define APISERVER_OPTIONS_H

#include "base/flags.h"

struct apiserver_options {
    /* where it listens */
    struct str bind_address;
    int64_t secure_port;
    int64_t listen_fd; /* a listening socket that was inherited; -1: none */
    struct str advertise_address, external_hostname;
    struct str tls_cert_file, tls_private_key_file;
    /* where it stores: a directory for the embedded store, or etcd */
    struct str data_dir;
    struct str storage; /* "memory": nothing is kept; for tests */
    struct flag_strings etcd_servers;
    struct str etcd_cafile, etcd_certfile, etcd_keyfile, etcd_prefix;
    int64_t compaction_interval;
    /* authentication */
    bool anonymous_auth, enable_bootstrap_token_auth;
    struct str client_ca_file, token_auth_file, basic_auth_file;
    struct str requestheader_client_ca_file;
    struct flag_strings requestheader_allowed_names, requestheader_extra_headers_prefix, requestheader_group_headers,
        requestheader_uid_headers, requestheader_username_headers;
    struct flag_strings service_account_issuer, service_account_key_file, api_audiences;
    struct str service_account_signing_key_file, service_account_jwks_uri;
    int64_t service_account_max_token_expiration;
    bool service_account_lookup, service_account_extend_token_expiration;
    /* authorization */
    struct flag_strings authorization_mode;
    struct str authorization_policy_file, authorization_webhook_config_file, authorization_webhook_version;
    int64_t authorization_webhook_cache_authorized_ttl, authorization_webhook_cache_unauthorized_ttl;
    /* admission */
    struct flag_strings enable_admission_plugins, disable_admission_plugins;
    struct str admission_control_config_file;
    int64_t default_not_ready_toleration_seconds, default_unreachable_toleration_seconds;
    bool allow_privileged;
    /* services */
    struct str service_cluster_ip_range, service_node_port_range;
    /* kubelets */
    struct str kubelet_certificate_authority, kubelet_client_certificate, kubelet_client_key;
    struct flag_strings kubelet_preferred_address_types;
    int64_t kubelet_timeout;
    /* requests */
    int64_t max_requests_inflight, max_mutating_requests_inflight, min_request_timeout;
    int64_t request_timeout;
    int64_t event_ttl;
    bool profiling;
    struct str trace_dir; /* of the flight recorder; empty: none is kept */
};

/* Stock's defaults. */
void apiserver_options_init(struct apiserver_options *options);
struct flag_table apiserver_options_flags(struct apiserver_options *options);
/* BAD_REQUEST naming the flag whose value makes no sense, also together with others. */
MUST_USE struct status *apiserver_options_check(const struct apiserver_options *options);

#endif
