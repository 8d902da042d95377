#include "apiserver/options.h"

#include "base/env.h"

#define OPTION(kind, member, name, help) FLAG(kind, struct apiserver_options, member, name, 0, help)

/* All of stock's flags. Those without a member are taken so that command lines made for stock work, and have no
 * effect. */
static const struct flag flags[] = {
    OPTION(STRING, data_dir, "data-dir", "directory of the embedded store"),
    OPTION(STRING, storage, "storage", NULL),
    OPTION(INT, listen_fd, "listen-fd", NULL),
    OPTION(STRING, basic_auth_file, "basic-auth-file", "CSV file of passwords"),
    OPTION(STRING, trace_dir, "trace-dir", "directory of the flight recorder"),
    OPTION(STRING, advertise_address, "advertise-address", "address at which members of the cluster reach this server"),
    FLAG_IGNORE("cors-allowed-origins"),
    FLAG_IGNORE("emulated-version"),
    FLAG_IGNORE_BOOL("emulation-forward-compatible"),
    OPTION(STRING, external_hostname, "external-hostname", "host name for URLs handed out to clients"),
    FLAG_IGNORE("feature-gates"),
    FLAG_IGNORE("goaway-chance"),
    FLAG_IGNORE("livez-grace-period"),
    OPTION(INT, max_mutating_requests_inflight, "max-mutating-requests-inflight", "writing requests served at once; 0: no limit"),
    OPTION(INT, max_requests_inflight, "max-requests-inflight", "reading requests served at once; 0: no limit"),
    FLAG_IGNORE("min-compatibility-version"),
    OPTION(INT, min_request_timeout, "min-request-timeout", "watches last at least this many seconds"),
    OPTION(DURATION, request_timeout, "request-timeout", "longest time of a request that does not watch"),
    FLAG_IGNORE_BOOL("runtime-config-emulation-forward-compatible"),
    FLAG_IGNORE("shutdown-delay-duration"),
    FLAG_IGNORE_BOOL("shutdown-send-retry-after"),
    FLAG_IGNORE("shutdown-watch-termination-grace-period"),
    FLAG_IGNORE("storage-initialization-timeout"),
    FLAG_IGNORE("strict-transport-security-directives"),
    FLAG_IGNORE("delete-collection-workers"),
    FLAG_IGNORE_BOOL("enable-garbage-collector"),
    FLAG_IGNORE("encryption-provider-config"),
    FLAG_IGNORE_BOOL("encryption-provider-config-automatic-reload"),
    OPTION(STRING, etcd_cafile, "etcd-cafile", "authorities that etcd's certificates are checked with"),
    OPTION(STRING, etcd_certfile, "etcd-certfile", "client certificate for etcd"),
    OPTION(DURATION, compaction_interval, "etcd-compaction-interval", "how long old revisions are kept"),
    FLAG_IGNORE("etcd-count-metric-poll-period"),
    FLAG_IGNORE("etcd-db-metric-poll-interval"),
    FLAG_IGNORE("etcd-healthcheck-timeout"),
    OPTION(STRING, etcd_keyfile, "etcd-keyfile", "key of --etcd-certfile"),
    OPTION(STRING, etcd_prefix, "etcd-prefix", "start of every key in etcd"),
    FLAG_IGNORE("etcd-readycheck-timeout"),
    OPTION(STRINGS, etcd_servers, "etcd-servers", "etcd servers to store in, instead of --data-dir"),
    FLAG_IGNORE("etcd-servers-overrides"),
    FLAG_IGNORE("lease-reuse-duration-seconds"),
    FLAG_IGNORE("storage-backend"),
    FLAG_IGNORE("storage-media-type"),
    FLAG_IGNORE_BOOL("watch-cache"),
    FLAG_IGNORE("watch-cache-sizes"),
    OPTION(STRING, bind_address, "bind-address", "address to listen on"),
    FLAG_IGNORE("cert-dir"),
    FLAG_IGNORE_BOOL("disable-http2-serving"),
    FLAG_IGNORE("http2-max-streams-per-connection"),
    FLAG_IGNORE_BOOL("permit-address-sharing"),
    FLAG_IGNORE_BOOL("permit-port-sharing"),
    OPTION(INT, secure_port, "secure-port", "port to serve HTTPS on; 0 picks one"),
    OPTION(STRING, tls_cert_file, "tls-cert-file", "certificate of the server, PEM, with its chain"),
    FLAG_IGNORE("tls-cipher-suites"),
    FLAG_IGNORE("tls-curve-preferences"),
    FLAG_IGNORE("tls-min-version"),
    OPTION(STRING, tls_private_key_file, "tls-private-key-file", "key that belongs to --tls-cert-file"),
    FLAG_IGNORE("tls-sni-cert-key"),
    FLAG_IGNORE("audit-log-batch-buffer-size"),
    FLAG_IGNORE("audit-log-batch-max-size"),
    FLAG_IGNORE("audit-log-batch-max-wait"),
    FLAG_IGNORE("audit-log-batch-throttle-burst"),
    FLAG_IGNORE_BOOL("audit-log-batch-throttle-enable"),
    FLAG_IGNORE("audit-log-batch-throttle-qps"),
    FLAG_IGNORE_BOOL("audit-log-compress"),
    FLAG_IGNORE("audit-log-format"),
    FLAG_IGNORE("audit-log-maxage"),
    FLAG_IGNORE("audit-log-maxbackup"),
    FLAG_IGNORE("audit-log-maxsize"),
    FLAG_IGNORE("audit-log-mode"),
    FLAG_IGNORE("audit-log-path"),
    FLAG_IGNORE_BOOL("audit-log-truncate-enabled"),
    FLAG_IGNORE("audit-log-truncate-max-batch-size"),
    FLAG_IGNORE("audit-log-truncate-max-event-size"),
    FLAG_IGNORE("audit-log-version"),
    FLAG_IGNORE("audit-policy-file"),
    FLAG_IGNORE("audit-webhook-batch-buffer-size"),
    FLAG_IGNORE("audit-webhook-batch-max-size"),
    FLAG_IGNORE("audit-webhook-batch-max-wait"),
    FLAG_IGNORE("audit-webhook-batch-throttle-burst"),
    FLAG_IGNORE_BOOL("audit-webhook-batch-throttle-enable"),
    FLAG_IGNORE("audit-webhook-batch-throttle-qps"),
    FLAG_IGNORE("audit-webhook-config-file"),
    FLAG_IGNORE("audit-webhook-initial-backoff"),
    FLAG_IGNORE("audit-webhook-mode"),
    FLAG_IGNORE_BOOL("audit-webhook-truncate-enabled"),
    FLAG_IGNORE("audit-webhook-truncate-max-batch-size"),
    FLAG_IGNORE("audit-webhook-truncate-max-event-size"),
    FLAG_IGNORE("audit-webhook-version"),
    FLAG_IGNORE_BOOL("contention-profiling"),
    FLAG_IGNORE("debug-socket-path"),
    FLAG_IGNORE_BOOL("enable-priority-and-fairness"),
    OPTION(BOOL, profiling, "profiling", "serve /debug/pprof"),
    OPTION(BOOL, anonymous_auth, "anonymous-auth", "let requests without credentials in as system:anonymous"),
    OPTION(STRINGS, api_audiences, "api-audiences", "audiences of this server; the issuer when empty"),
    FLAG_IGNORE("authentication-config"),
    FLAG_IGNORE("authentication-token-webhook-cache-ttl"),
    FLAG_IGNORE("authentication-token-webhook-config-file"),
    FLAG_IGNORE("authentication-token-webhook-version"),
    OPTION(STRING, client_ca_file, "client-ca-file", "authorities whose client certificates authenticate by common name"),
    OPTION(BOOL, enable_bootstrap_token_auth, "enable-bootstrap-token-auth", "accept bootstrap tokens from secrets in kube-system"),
    FLAG_IGNORE("oidc-ca-file"),
    FLAG_IGNORE("oidc-client-id"),
    FLAG_IGNORE("oidc-groups-claim"),
    FLAG_IGNORE("oidc-groups-prefix"),
    FLAG_IGNORE("oidc-issuer-url"),
    FLAG_IGNORE("oidc-required-claim"),
    FLAG_IGNORE("oidc-signing-algs"),
    FLAG_IGNORE("oidc-username-claim"),
    FLAG_IGNORE("oidc-username-prefix"),
    OPTION(STRINGS, requestheader_allowed_names, "requestheader-allowed-names", "common names of those proxies; empty: any"),
    OPTION(STRING, requestheader_client_ca_file, "requestheader-client-ca-file", "authorities of proxies that may name users in headers"),
    OPTION(STRINGS, requestheader_extra_headers_prefix, "requestheader-extra-headers-prefix", "prefixes of headers with extra information"),
    OPTION(STRINGS, requestheader_group_headers, "requestheader-group-headers", "headers that name groups"),
    OPTION(STRINGS, requestheader_uid_headers, "requestheader-uid-headers", "headers that name the user's UID"),
    OPTION(STRINGS, requestheader_username_headers, "requestheader-username-headers", "headers that name the user"),
    OPTION(BOOL, service_account_extend_token_expiration, "service-account-extend-token-expiration", "injected tokens live longer than they say"),
    OPTION(ARRAY, service_account_issuer, "service-account-issuer", "issuer of service account tokens; the first one signs"),
    OPTION(STRING, service_account_jwks_uri, "service-account-jwks-uri", "where relying parties find the keys"),
    OPTION(ARRAY, service_account_key_file, "service-account-key-file", "keys that service account tokens are verified with"),
    OPTION(BOOL, service_account_lookup, "service-account-lookup", "tokens end with the account, secret or pod they are bound to"),
    OPTION(DURATION, service_account_max_token_expiration, "service-account-max-token-expiration", "longest life of a token that can be asked for"),
    OPTION(STRING, token_auth_file, "token-auth-file", "CSV file of static bearer tokens"),
    FLAG_IGNORE("authorization-config"),
    OPTION(STRINGS, authorization_mode, "authorization-mode", "authorizers in order: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node"),
    OPTION(STRING, authorization_policy_file, "authorization-policy-file", "policy of mode ABAC, one JSON object a line"),
    OPTION(DURATION, authorization_webhook_cache_authorized_ttl, "authorization-webhook-cache-authorized-ttl", "how long a webhook's yes is remembered"),
    OPTION(DURATION, authorization_webhook_cache_unauthorized_ttl, "authorization-webhook-cache-unauthorized-ttl", "how long its no is"),
    OPTION(STRING, authorization_webhook_config_file, "authorization-webhook-config-file", "kubeconfig of mode Webhook"),
    OPTION(STRING, authorization_webhook_version, "authorization-webhook-version", "version of SubjectAccessReview to send"),
    FLAG_IGNORE("runtime-config"),
    FLAG_IGNORE("egress-selector-config-file"),
    FLAG_IGNORE("admission-control"),
    OPTION(STRING, admission_control_config_file, "admission-control-config-file", "configuration of admission plugins"),
    OPTION(INT, default_not_ready_toleration_seconds, "default-not-ready-toleration-seconds", "of the toleration added to pods"),
    OPTION(INT, default_unreachable_toleration_seconds, "default-unreachable-toleration-seconds", "of the toleration added to pods"),
    OPTION(STRINGS, disable_admission_plugins, "disable-admission-plugins", "default admission plugins that are not wanted"),
    OPTION(STRINGS, enable_admission_plugins, "enable-admission-plugins", "admission plugins besides the default ones"),
    FLAG_IGNORE("allow-metric-labels"),
    FLAG_IGNORE("allow-metric-labels-manifest"),
    FLAG_IGNORE("disabled-metrics"),
    FLAG_IGNORE("show-hidden-metrics-for-version"),
    FLAG_IGNORE("log-flush-frequency"),
    FLAG_IGNORE("log-json-info-buffer-size"),
    FLAG_IGNORE_BOOL("log-json-split-stream"),
    FLAG_IGNORE("log-text-info-buffer-size"),
    FLAG_IGNORE_BOOL("log-text-split-stream"),
    FLAG_IGNORE("logging-format"),
    {"v", 'v', FLAG_TYPE_IGNORED, 0, NULL, NULL},
    FLAG_IGNORE("vmodule"),
    FLAG_IGNORE("tracing-config-file"),
    FLAG_IGNORE_BOOL("aggregator-reject-forwarding-redirect"),
    OPTION(BOOL, allow_privileged, "allow-privileged", "let pods have privileged containers"),
    FLAG_IGNORE("coordinated-leadership-lease-duration"),
    FLAG_IGNORE("coordinated-leadership-renew-deadline"),
    FLAG_IGNORE("coordinated-leadership-retry-period"),
    FLAG_IGNORE_BOOL("enable-aggregator-routing"),
    FLAG_IGNORE_BOOL("enable-logs-handler"),
    FLAG_IGNORE("endpoint-reconciler-type"),
    OPTION(DURATION, event_ttl, "event-ttl", "how long events are kept"),
    OPTION(STRING, kubelet_certificate_authority, "kubelet-certificate-authority", "authorities that kubelets' certificates are checked with"),
    OPTION(STRING, kubelet_client_certificate, "kubelet-client-certificate", "client certificate for kubelets"),
    OPTION(STRING, kubelet_client_key, "kubelet-client-key", "key of --kubelet-client-certificate"),
    OPTION(STRINGS, kubelet_preferred_address_types, "kubelet-preferred-address-types", "which address of a node to use, best first"),
    OPTION(DURATION, kubelet_timeout, "kubelet-timeout", "how long a kubelet may take to answer"),
    FLAG_IGNORE("kubernetes-service-node-port"),
    FLAG_IGNORE("max-connection-bytes-per-sec"),
    FLAG_IGNORE("peer-advertise-ip"),
    FLAG_IGNORE("peer-advertise-port"),
    FLAG_IGNORE("peer-ca-file"),
    FLAG_IGNORE("proxy-client-cert-file"),
    FLAG_IGNORE("proxy-client-key-file"),
    FLAG_IGNORE("service-account-signing-endpoint"),
    OPTION(STRING, service_account_signing_key_file, "service-account-signing-key-file", "private key that signs service account tokens"),
    OPTION(STRING, service_cluster_ip_range, "service-cluster-ip-range", "addresses of services, as CIDR; two for two families"),
    OPTION(STRING, service_node_port_range, "service-node-port-range", "ports of services on nodes"),
};

static struct flag_strings list_of(const struct str *items, size_t count)
{
    /* Never written through: what a flag gives replaces the list. */
    return (struct flag_strings){.items = (struct str *)(uintptr_t)items, .len = count};
}

void apiserver_options_init(struct apiserver_options *options)
{
    static const struct str modes[] = {STR_INIT("AlwaysAllow")};
    static const struct str addresses[] = {STR_INIT("Hostname"), STR_INIT("InternalDNS"), STR_INIT("InternalIP"),
                                           STR_INIT("ExternalDNS"), STR_INIT("ExternalIP")};

    *options = (struct apiserver_options){
        .bind_address = STR("0.0.0.0"),
        .secure_port = 6443,
        .listen_fd = -1,
        .etcd_prefix = STR("/registry"),
        .compaction_interval = 300 * ENV_SECOND,
        .anonymous_auth = true,
        .service_account_lookup = true,
        .service_account_extend_token_expiration = true,
        .authorization_mode = list_of(modes, COUNT_OF(modes)),
        .authorization_webhook_version = STR("v1beta1"),
        .authorization_webhook_cache_authorized_ttl = 300 * ENV_SECOND,
        .authorization_webhook_cache_unauthorized_ttl = 30 * ENV_SECOND,
        .default_not_ready_toleration_seconds = 300,
        .default_unreachable_toleration_seconds = 300,
        .service_cluster_ip_range = STR("10.0.0.0/24"),
        .service_node_port_range = STR("30000-32767"),
        .kubelet_preferred_address_types = list_of(addresses, COUNT_OF(addresses)),
        .kubelet_timeout = 5 * ENV_SECOND,
        .max_requests_inflight = 400,
        .max_mutating_requests_inflight = 200,
        .min_request_timeout = 1800,
        .request_timeout = 60 * ENV_SECOND,
        .event_ttl = 3600 * ENV_SECOND,
        .profiling = true,
    };
}

struct flag_table apiserver_options_flags(struct apiserver_options *options)
{
    return (struct flag_table){flags, COUNT_OF(flags), options};
}

static struct status *modes_check(const struct apiserver_options *options)
{
    static const char *const known[] = {"AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"};

    LIST_EACH(mode, &options->authorization_mode) {
        bool found = false;

        for (size_t i = 0; i < COUNT_OF(known); i++) {
            found |= str_is(*mode, known[i]);
        }
        if (!found) {
            return status_new(STATUS_BAD_REQUEST, "--authorization-mode: \"%.*s\" is not a valid mode", STR_ARG(*mode));
        }
        if (str_is(*mode, "ABAC") && options->authorization_policy_file.n == 0) {
            return status_new(STATUS_BAD_REQUEST,
                              "authorization-mode ABAC's authorization policy file not passed "
                              "(--authorization-policy-file)");
        }
        if (str_is(*mode, "Webhook") && options->authorization_webhook_config_file.n == 0) {
            return status_new(STATUS_BAD_REQUEST,
                              "authorization-mode Webhook's authorization config file not passed "
                              "(--authorization-webhook-config-file)");
        }
    }
    if (options->authorization_mode.len == 0) {
        return status_new(STATUS_BAD_REQUEST, "at least one authorization-mode must be passed");
    }
    return NULL;
}

struct status *apiserver_options_check(const struct apiserver_options *options)
{
    TRY(modes_check(options));
    if (options->secure_port < 0 || options->secure_port > 65535) {
        return status_new(STATUS_BAD_REQUEST, "--secure-port %lld must be between 0 and 65535",
                          (long long)options->secure_port);
    }
    if ((options->tls_cert_file.n == 0) != (options->tls_private_key_file.n == 0)) {
        return status_new(STATUS_BAD_REQUEST, "--tls-cert-file and --tls-private-key-file go together");
    }
    if (options->data_dir.n != 0 && options->etcd_servers.len != 0) {
        return status_new(STATUS_BAD_REQUEST, "--data-dir and --etcd-servers exclude each other");
    }
    if (options->service_account_max_token_expiration != 0 &&
        options->service_account_max_token_expiration < 3600 * ENV_SECOND) {
        return status_new(STATUS_BAD_REQUEST,
                          "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds");
    }
    return NULL;
}
