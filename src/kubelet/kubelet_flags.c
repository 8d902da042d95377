#include "kubelet/kubelet_flags.h"

#include "base/env.h"
#include "base/file.h"
#include "kubelet/eviction_text.h"
#include "schema/map_of.h"
#include "schema/quantity.h"
#include "schema/value.h"
#include "schema/yaml.h"

enum { CONFIG_BYTES_MAX = 1 << 20 };

#define OPTION(kind, member, name, help) FLAG(kind, struct kubelet_settings, member, name, 0, help)

static const struct flag flags[] = {
    OPTION(STRING, kubeconfig, "kubeconfig", "how to reach the API server; without it only static pods run"),
    OPTION(STRING, config, "config", "a KubeletConfiguration file; flags win over it"),
    OPTION(STRING, endpoint, "container-runtime-endpoint", "the unix socket of a CRI runtime"),
    OPTION(STRING, options.node_name, "hostname-override", "the node's name instead of the machine's"),
    OPTION(STRING, node_ip, "node-ip", "the node's address"),
    OPTION(STRING, options.root_dir, "root-dir", "directory for pods' volumes and other state"),
    OPTION(STRING, options.pod_logs_dir, "pod-logs-dir", "directory for containers' logs"),
    OPTION(STRING, options.container_logs_dir, "container-logs-dir", "directory for links to logs; empty: none"),
    OPTION(STRINGS, cluster_dns, "cluster-dns", "addresses of the cluster's DNS servers"),
    OPTION(STRING, options.cluster_domain, "cluster-domain", "the cluster's DNS domain"),
    OPTION(STRING, options.resolv_conf, "resolv-conf", "resolver configuration that pods' is made from"),
    OPTION(STRING, options.manifest_path, "pod-manifest-path", "directory (or file) of static pods"),
    OPTION(STRING, options.cgroup_root, "cgroup-root", "cgroup under which kubepods is made"),
    OPTION(STRING, options.pod_cidr, "pod-cidr", "addresses for pods, when there is no API server to say"),
    OPTION(STRING, options.provider_id, "provider-id", "the node's identity at its cloud"),
    OPTION(STRINGS, node_labels, "node-labels", "labels to register the node with: k=v,..."),
    OPTION(STRINGS, taints, "register-with-taints", "taints to register the node with: k=v:effect,..."),
    OPTION(BOOL, options.register_node, "register-node", "make the Node object"),
    OPTION(BOOL, options.cgroups_per_qos, "cgroups-per-qos", "a cgroup for each pod and QoS class"),
    OPTION(BOOL, options.cpu_cfs_quota, "cpu-cfs-quota", "enforce CPU limits"),
    OPTION(DURATION, options.cpu_cfs_quota_period, "cpu-cfs-quota-period", "period of CPU limits"),
    OPTION(BOOL, options.serialize_image_pulls, "serialize-image-pulls", "pull one image at a time"),
    OPTION(BOOL, options.enable_server, "enable-server", "serve HTTPS"),
    OPTION(INT, options.port, "port", "port to serve on"),
    OPTION(STRING, address, "address", "address to serve on"),
    OPTION(INT, options.max_pods, "max-pods", "how many pods may run here"),
    OPTION(INT, options.pods_per_core, "pods-per-core", "how many pods may run for each CPU; 0: no limit"),
    OPTION(INT, options.pod_pids_limit, "pod-max-pids", "processes in a pod; -1: no limit"),
    OPTION(DURATION, options.node_status_update_frequency, "node-status-update-frequency",
           "how often the node's status is looked at"),
    OPTION(INT, options.node_status_max_images, "node-status-max-images", "images in the node's status; -1: all"),
    OPTION(DURATION, options.sync_frequency, "sync-frequency", "how often a pod is looked at without need"),
    OPTION(DURATION, options.file_check_frequency, "file-check-frequency", "how often static pods are looked for"),
    OPTION(INT, options.image_gc_high, "image-gc-high-threshold", "percent of disk in use that starts removing images"),
    OPTION(INT, options.image_gc_low, "image-gc-low-threshold", "percent of disk in use that ends it"),
    OPTION(DURATION, options.image_minimum_age, "minimum-image-ttl-duration", "age of an image before it may go"),
    OPTION(STRINGS, system_reserved, "system-reserved", "resources kept from pods for the system: cpu=200m,..."),
    OPTION(STRINGS, kube_reserved, "kube-reserved", "resources kept from pods for Kubernetes: cpu=200m,..."),
    OPTION(STRINGS, eviction_hard, "eviction-hard", "thresholds: memory.available<100Mi,..."),
    OPTION(STRINGS, eviction_soft, "eviction-soft", "thresholds that must hold for a while"),
    OPTION(STRINGS, eviction_soft_grace, "eviction-soft-grace-period", "how long: memory.available=1m30s,..."),
    OPTION(STRINGS, eviction_minimum_reclaim, "eviction-minimum-reclaim", "how much more: memory.available=100Mi,..."),
    OPTION(DURATION, options.eviction_pressure_transition, "eviction-pressure-transition-period",
           "how long a pressure condition stays"),
    OPTION(INT, options.eviction_max_pod_grace_seconds, "eviction-max-pod-grace-period",
           "seconds an evicted pod gets at most"),
    OPTION(STRING, tls_cert_file, "tls-cert-file", "certificate to serve with"),
    OPTION(STRING, tls_private_key_file, "tls-private-key-file", "its key"),
    OPTION(STRING, cert_dir, "cert-dir", "where a certificate is made when none is given"),
    OPTION(STRING, client_ca_file, "client-ca-file", "CAs of clients' certificates"),
    OPTION(STRING, authorization_mode, "authorization-mode", "AlwaysAllow or Webhook"),
    OPTION(BOOL, anonymous_auth, "anonymous-auth", "serve clients without credentials as system:anonymous"),
    OPTION(BOOL, token_webhook, "authentication-token-webhook", "ask the API server about bearer tokens"),
    OPTION(DURATION, authorized_ttl, "authorization-webhook-cache-authorized-ttl", "how long a yes is remembered"),
    OPTION(DURATION, unauthorized_ttl, "authorization-webhook-cache-unauthorized-ttl", "how long a no is remembered"),
    OPTION(STRING, healthz_address, "healthz-bind-address", "address of the plain /healthz server"),
    OPTION(INT, healthz_port, "healthz-port", "its port; 0: none"),
    OPTION(STRING, log_max_size, "container-log-max-size", "size at which a container's log is rotated"),
    OPTION(INT, options.log_max_files, "container-log-max-files", "how many files of a log are kept"),
    FLAG(INT, struct kubelet_settings, verbosity, "v", 'v', "log level; 4 and more shows what is done"),
    OPTION(BOOL, wants_version, "version", "print the version"),
    FLAG_IGNORE("allowed-unsafe-sysctls"),
    FLAG_IGNORE("authentication-token-webhook-cache-ttl"),
    FLAG_IGNORE("bootstrap-kubeconfig"),
    FLAG_IGNORE("cgroup-driver"),
    FLAG_IGNORE("cloud-provider"),
    FLAG_IGNORE("config-dir"),
    FLAG_IGNORE_BOOL("contention-profiling"),
    FLAG_IGNORE("cpu-manager-policy"),
    FLAG_IGNORE_BOOL("enable-controller-attach-detach"),
    FLAG_IGNORE_BOOL("enable-debugging-handlers"),
    FLAG_IGNORE("enforce-node-allocatable"),
    FLAG_IGNORE("event-burst"),
    FLAG_IGNORE("event-qps"),
    FLAG_IGNORE_BOOL("fail-cgroupv1"),
    FLAG_IGNORE_BOOL("fail-swap-on"),
    FLAG_IGNORE("feature-gates"),
    FLAG_IGNORE("hairpin-mode"),
    FLAG_IGNORE("housekeeping-interval"),
    FLAG_IGNORE("http-check-frequency"),
    FLAG_IGNORE("image-service-endpoint"),
    FLAG_IGNORE("kube-api-burst"),
    FLAG_IGNORE("kube-api-content-type"),
    FLAG_IGNORE("kube-api-qps"),
    FLAG_IGNORE("kube-reserved-cgroup"),
    FLAG_IGNORE("kubelet-cgroups"),
    FLAG_IGNORE("log-flush-frequency"),
    FLAG_IGNORE("logging-format"),
    FLAG_IGNORE_BOOL("make-iptables-util-chains"),
    FLAG_IGNORE("max-open-files"),
    FLAG_IGNORE("memory-manager-policy"),
    FLAG_IGNORE("oom-score-adj"),
    FLAG_IGNORE_BOOL("protect-kernel-defaults"),
    FLAG_IGNORE("read-only-port"),
    FLAG_IGNORE("registry-burst"),
    FLAG_IGNORE("registry-qps"),
    FLAG_IGNORE_BOOL("rotate-certificates"),
    FLAG_IGNORE_BOOL("rotate-server-certificates"),
    FLAG_IGNORE("runtime-cgroups"),
    FLAG_IGNORE("runtime-request-timeout"),
    FLAG_IGNORE_BOOL("seccomp-default"),
    FLAG_IGNORE("streaming-connection-idle-timeout"),
    FLAG_IGNORE("system-cgroups"),
    FLAG_IGNORE("system-reserved-cgroup"),
    FLAG_IGNORE("tls-cipher-suites"),
    FLAG_IGNORE("tls-min-version"),
    FLAG_IGNORE("topology-manager-policy"),
    FLAG_IGNORE("topology-manager-scope"),
    FLAG_IGNORE("vmodule"),
    FLAG_IGNORE("volume-plugin-dir"),
    FLAG_IGNORE("volume-stats-agg-period"),
};

/* Fields of KubeletConfiguration that are flags by other names. */
static const struct {
    const char *field, *flag;
} fields[] = {
    {"address", "address"},
    {"port", "port"},
    {"staticPodPath", "pod-manifest-path"},
    {"syncFrequency", "sync-frequency"},
    {"fileCheckFrequency", "file-check-frequency"},
    {"tlsCertFile", "tls-cert-file"},
    {"tlsPrivateKeyFile", "tls-private-key-file"},
    {"authentication.x509.clientCAFile", "client-ca-file"},
    {"authentication.anonymous.enabled", "anonymous-auth"},
    {"authentication.webhook.enabled", "authentication-token-webhook"},
    {"authorization.mode", "authorization-mode"},
    {"authorization.webhook.cacheAuthorizedTTL", "authorization-webhook-cache-authorized-ttl"},
    {"authorization.webhook.cacheUnauthorizedTTL", "authorization-webhook-cache-unauthorized-ttl"},
    {"healthzPort", "healthz-port"},
    {"healthzBindAddress", "healthz-bind-address"},
    {"clusterDomain", "cluster-domain"},
    {"clusterDNS", "cluster-dns"},
    {"nodeStatusUpdateFrequency", "node-status-update-frequency"},
    {"imageMinimumGCAge", "minimum-image-ttl-duration"},
    {"imageGCHighThresholdPercent", "image-gc-high-threshold"},
    {"imageGCLowThresholdPercent", "image-gc-low-threshold"},
    {"cgroupRoot", "cgroup-root"},
    {"cgroupsPerQOS", "cgroups-per-qos"},
    {"maxPods", "max-pods"},
    {"podsPerCore", "pods-per-core"},
    {"podCIDR", "pod-cidr"},
    {"podPidsLimit", "pod-max-pids"},
    {"resolvConf", "resolv-conf"},
    {"cpuCFSQuota", "cpu-cfs-quota"},
    {"cpuCFSQuotaPeriod", "cpu-cfs-quota-period"},
    {"nodeStatusMaxImages", "node-status-max-images"},
    {"serializeImagePulls", "serialize-image-pulls"},
    {"evictionHard", "eviction-hard"},
    {"evictionSoft", "eviction-soft"},
    {"evictionSoftGracePeriod", "eviction-soft-grace-period"},
    {"evictionMinimumReclaim", "eviction-minimum-reclaim"},
    {"evictionPressureTransitionPeriod", "eviction-pressure-transition-period"},
    {"evictionMaxPodGracePeriod", "eviction-max-pod-grace-period"},
    {"systemReserved", "system-reserved"},
    {"kubeReserved", "kube-reserved"},
    {"providerID", "provider-id"},
    {"registerNode", "register-node"},
    {"enableServer", "enable-server"},
    {"containerRuntimeEndpoint", "container-runtime-endpoint"},
    {"containerLogMaxSize", "container-log-max-size"},
    {"containerLogMaxFiles", "container-log-max-files"},
    {"podLogsDir", "pod-logs-dir"},
};

static struct str scalar_text(struct arena *arena, const struct value *value)
{
    return value->type == VALUE_STRING ? value->string : value_json(arena, value);
}

/* A list is joined by commas, a map of thresholds or amounts is written as its flag is. */
static struct str flag_text(struct arena *arena, const struct value *value, const char *between)
{
    struct str text = STR("");

    VALUE_EACH_ITEM (item, value) {
        text = arena_printf(arena, "%.*s%s%.*s", STR_ARG(text), text.n > 0 ? "," : "",
                            STR_ARG(scalar_text(arena, *item)));
    }
    VALUE_EACH_MEMBER (member, value) {
        text = arena_printf(arena, "%.*s%s%.*s%s%.*s", STR_ARG(text), text.n > 0 ? "," : "", STR_ARG(member->key),
                            between, STR_ARG(scalar_text(arena, member->value)));
    }
    return value->type == VALUE_ARRAY || value->type == VALUE_OBJECT ? text : scalar_text(arena, value);
}

static void add_taints(struct arena *arena, const struct value *taints, struct str_list *ret)
{
    VALUE_EACH_ITEM (taint, taints) {
        *LIST_ADD(arena, ret) =
            arena_printf(arena, "--register-with-taints=%.*s=%.*s:%.*s", STR_ARG(value_str_at(*taint, "key")),
                         STR_ARG(value_str_at(*taint, "value")), STR_ARG(value_str_at(*taint, "effect")));
    }
}

struct status *kubelet_config_to_flags(struct str yaml, struct arena *arena, struct str_list *ret)
{
    struct value *root;

    *ret = (struct str_list){0};
    TRY(yaml_read(arena, yaml, true, &root));
    if (!str_is(value_str_at(root, "kind"), "KubeletConfiguration") ||
        !str_has_prefix(value_str_at(root, "apiVersion"), STR("kubelet.config.k8s.io/"))) {
        return status_new(STATUS_BAD_REQUEST, "no kind \"%.*s\" is registered for version \"%.*s\": want "
                                              "KubeletConfiguration of kubelet.config.k8s.io/v1beta1",
                          STR_ARG(value_str_at(root, "kind")), STR_ARG(value_str_at(root, "apiVersion")));
    }
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        const struct value *value = value_find_path(root, fields[i].field);
        bool is_threshold = str_has_prefix(str_of(fields[i].flag), STR("eviction-hard")) ||
                            str_is(str_of(fields[i].flag), "eviction-soft");

        if (value != NULL && value->type != VALUE_NULL) {
            *LIST_ADD(arena, ret) = arena_printf(arena, "--%s=%.*s", fields[i].flag,
                                                 STR_ARG(flag_text(arena, value, is_threshold ? "<" : "=")));
        }
    }
    add_taints(arena, value_find(root, STR("registerWithTaints")), ret);
    return NULL;
}

static void defaults(struct kubelet_settings *settings)
{
    *settings = (struct kubelet_settings){
        .endpoint = STR("unix:///run/containerd/containerd.sock"),
        .address = STR("0.0.0.0"),
        .cert_dir = STR("/var/lib/kubelet/pki"),
        .authorization_mode = STR("AlwaysAllow"),
        .anonymous_auth = true,
        .authorized_ttl = 300 * ENV_SECOND,
        .unauthorized_ttl = 30 * ENV_SECOND,
        .healthz_address = STR("127.0.0.1"),
        .healthz_port = 10248,
        .log_max_size = STR("10Mi"),
    };
    kubelet_options_default(&settings->options);
}

static struct status *parse(struct kubelet_settings *settings, char *const *args, size_t count, struct arena *arena)
{
    struct flag_table table = {flags, COUNT_OF(flags), settings};
    struct flags_result result;

    TRY(flags_parse(&table, 1, args, count, true, arena, &result));
    if (result.positional.len > 0) {
        return status_new(STATUS_BAD_REQUEST, "unknown command %.*s", STR_ARG(result.positional.items[0]));
    }
    settings->wants_help |= result.wants_help;
    return NULL;
}

static struct status *read_config(struct kubelet_settings *settings, struct arena *arena)
{
    struct str text;
    struct str_list lines;

    TRY(file_read(arena, arena_cstr(arena, settings->config), CONFIG_BYTES_MAX, &text));
    TRY(kubelet_config_to_flags(text, arena, &lines));
    char **args = ARENA_ARRAY(arena, char *, lines.len + 1);

    for (size_t i = 0; i < lines.len; i++) {
        args[i] = arena_cstr(arena, lines.items[i]);
    }
    return parse(settings, args, lines.len, arena);
}

static struct status *read_labels(struct arena *arena, const struct flag_strings *texts, struct str_map *ret)
{
    LIST_EACH (text, texts) {
        struct str key, value;

        if (!str_cut(*text, '=', &key, &value) || key.n == 0) {
            return status_new(STATUS_BAD_REQUEST, "%.*s must be formatted as key=value", STR_ARG(*text));
        }
        str_map_set(arena, ret, key, value);
    }
    return NULL;
}

static struct status *read_amounts(struct arena *arena, const struct flag_strings *texts, struct quantity_map *ret)
{
    LIST_EACH (text, texts) {
        struct str key, value;
        struct quantity amount;

        if (!str_cut(*text, '=', &key, &value)) {
            return status_new(STATUS_BAD_REQUEST, "%.*s must be formatted as key=value", STR_ARG(*text));
        }
        TRY(quantity_parse(arena, value, &amount));
        quantity_map_set(arena, ret, key, amount);
    }
    return NULL;
}

static struct status *read_taints(struct arena *arena, const struct flag_strings *texts,
                                  struct kubelet_options *options)
{
    LIST_EACH (text, texts) {
        struct str label, effect, key, value;

        if (!str_cut(*text, ':', &label, &effect) ||
            !(str_is(effect, "NoSchedule") || str_is(effect, "PreferNoSchedule") || str_is(effect, "NoExecute"))) {
            return status_new(STATUS_BAD_REQUEST, "invalid taint spec: %.*s, want key=value:effect", STR_ARG(*text));
        }
        str_cut(label, '=', &key, &value);
        *LIST_ADD(arena, &options->taints) = (struct kubelet_taint){key, value, effect};
    }
    return NULL;
}

/* What needs more than the flags' own types. */
static struct status *understand(struct kubelet_settings *settings, struct arena *arena)
{
    struct kubelet_options *options = &settings->options;
    struct eviction_texts texts = {&settings->eviction_hard, &settings->eviction_soft, &settings->eviction_soft_grace,
                                   &settings->eviction_minimum_reclaim};
    struct quantity log_size;
    struct str rest;

    TRY(quantity_parse(arena, settings->log_max_size, &log_size));
    options->log_max_bytes = quantity_value(log_size);
    if (options->log_max_files < 2) {
        return status_new(STATUS_BAD_REQUEST, "--container-log-max-files must be at least 2");
    }
    TRY(read_labels(arena, &settings->node_labels, &options->node_labels));
    TRY(read_taints(arena, &settings->taints, options));
    TRY(read_amounts(arena, &settings->system_reserved, &options->system_reserved));
    TRY(read_amounts(arena, &settings->kube_reserved, &options->kube_reserved));
    TRY(eviction_thresholds_parse(arena, &texts, &options->eviction));
    options->cluster_dns = (struct str_list){settings->cluster_dns.items, settings->cluster_dns.len};
    str_cut(settings->node_ip, ',', &options->node_ip, &rest);
    if (!str_is(settings->authorization_mode, "AlwaysAllow") && !str_is(settings->authorization_mode, "Webhook")) {
        return status_new(STATUS_BAD_REQUEST, "unknown authorization mode %.*s", STR_ARG(settings->authorization_mode));
    }
    return NULL;
}

struct status *kubelet_settings_read(char *const *args, size_t count, struct arena *arena,
                                     struct kubelet_settings *ret)
{
    struct kubelet_settings settings, named;

    defaults(&named);
    TRY(parse(&named, args, count, arena)); /* only to find --config */
    defaults(&settings);
    if (named.config.n > 0) {
        settings.config = named.config;
        struct status *error = read_config(&settings, arena);

        if (error != NULL) {
            return status_while(error, "failed to load kubelet config file, path: %.*s", STR_ARG(named.config));
        }
    }
    TRY(parse(&settings, args, count, arena));
    TRY(understand(&settings, arena));
    *ret = settings;
    return NULL;
}

struct str kubelet_flags_usage(struct arena *arena)
{
    struct flag_table table = {flags, COUNT_OF(flags), NULL};

    return flags_usage(&table, arena);
}
