#include "kubelet/hosts_file.h"

#include "base/buf.h"

enum { HOSTNAME_MAX_CHARS = 63 };

static bool is_label(struct str text)
{
    if (text.n == 0 || text.n > 63 || text.p[0] == '-' || text.p[text.n - 1] == '-') {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) {
            return false;
        }
    }
    return true;
}

static struct status *truncate_hostname(struct str name, struct str *ret)
{
    struct str cut = str_sub(name, 0, HOSTNAME_MAX_CHARS);

    while (name.n > HOSTNAME_MAX_CHARS && cut.n > 0 && (cut.p[cut.n - 1] == '-' || cut.p[cut.n - 1] == '.')) {
        cut.n--;
    }
    if (cut.n == 0) {
        return status_new(STATUS_INVALID, "hostname for pod was invalid: \"%.*s\"", STR_ARG(name));
    }
    *ret = cut;
    return NULL;
}

struct status *pod_hostname(struct arena *arena, const struct core_v1_pod *pod, struct str cluster_domain,
                            struct str *ret_hostname, struct str *ret_domain)
{
    struct str name = pod->metadata.name;

    *ret_domain = STR("");
    if (pod->spec.hostname_override != NULL) {
        return truncate_hostname(*pod->spec.hostname_override, ret_hostname);
    }
    if (pod->spec.hostname.n > 0) {
        if (!is_label(pod->spec.hostname)) {
            return status_new(STATUS_INVALID, "pod Hostname \"%.*s\" is not a valid DNS label",
                              STR_ARG(pod->spec.hostname));
        }
        name = pod->spec.hostname;
    }
    TRY(truncate_hostname(name, ret_hostname));
    if (pod->spec.subdomain.n > 0) {
        if (!is_label(pod->spec.subdomain)) {
            return status_new(STATUS_INVALID, "pod Subdomain \"%.*s\" is not a valid DNS label",
                              STR_ARG(pod->spec.subdomain));
        }
        *ret_domain = arena_printf(arena, "%.*s.%.*s.svc.%.*s", STR_ARG(pod->spec.subdomain),
                                   STR_ARG(pod->metadata.namespace), STR_ARG(cluster_domain));
    }
    if (pod->spec.set_hostname_as_fqdn != NULL && *pod->spec.set_hostname_as_fqdn && ret_domain->n > 0) {
        struct str fqdn = arena_printf(arena, "%.*s.%.*s", STR_ARG(*ret_hostname), STR_ARG(*ret_domain));

        if (fqdn.n > 64) {
            return status_new(STATUS_INVALID,
                              "failed to construct FQDN from pod hostname and cluster domain, FQDN %.*s is too long "
                              "(64 "
                              "characters is the max, %zu characters requested)",
                              STR_ARG(fqdn), fqdn.n);
        }
    }
    return NULL;
}

struct str hosts_file_make(struct arena *arena, const struct core_v1_pod *pod, const struct str_list *pod_ips,
                           struct str hostname, struct str domain, struct str node_hosts)
{
    struct buf out = {0};

    if (pod->spec.host_network) {
        buf_add_str(&out, STR("# Kubernetes-managed hosts file (host network).\n"));
        buf_add_str(&out, node_hosts);
    } else {
        buf_add_str(&out, STR("# Kubernetes-managed hosts file.\n"
                              "127.0.0.1\tlocalhost\n"
                              "::1\tlocalhost ip6-localhost ip6-loopback\n"
                              "fe00::0\tip6-localnet\n"
                              "fe00::0\tip6-mcastprefix\n"
                              "fe00::1\tip6-allnodes\n"
                              "fe00::2\tip6-allrouters\n"));
        LIST_EACH (ip, pod_ips) {
            if (domain.n > 0) {
                buf_printf(&out, "%.*s\t%.*s.%.*s\t%.*s\n", STR_ARG(*ip), STR_ARG(hostname), STR_ARG(domain),
                           STR_ARG(hostname));
            } else {
                buf_printf(&out, "%.*s\t%.*s\n", STR_ARG(*ip), STR_ARG(hostname));
            }
        }
    }
    if (pod->spec.host_aliases.len > 0) {
        buf_add_str(&out, STR("\n# Entries added by HostAliases.\n"));
    }
    LIST_EACH (alias, &pod->spec.host_aliases) {
        buf_add_str(&out, alias->ip);
        LIST_EACH (name, &alias->hostnames) {
            buf_printf(&out, "\t%.*s", STR_ARG(*name));
        }
        buf_add_char(&out, '\n');
    }
    struct str text = arena_str(arena, buf_str(&out));

    buf_done(&out);
    return text;
}
