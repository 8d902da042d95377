#include "kubelet/pod_dns.h"

#include "api/node_v1.h"
#include "kubelet/resolv_conf.h"

enum { RESOLV_CONF_BYTES_MAX = 1 << 20 };

static struct str_list plain(const struct dns_list *list)
{
    return (struct str_list){.items = list->items, .len = list->len};
}

static void take_extra(struct arena *arena, const struct core_v1_pod_dns_config *from, struct dns_config *ret)
{
    LIST_EACH (server, &from->nameservers) {
        *LIST_ADD(arena, &ret->servers) = *server;
    }
    LIST_EACH (search, &from->searches) {
        *LIST_ADD(arena, &ret->searches) = *search;
    }
    LIST_EACH (option, &from->options) {
        *LIST_ADD(arena, &ret->options) =
            option->value != NULL && option->value->n > 0
                ? arena_printf(arena, "%.*s:%.*s", STR_ARG(option->name), STR_ARG(*option->value))
                : option->name;
    }
}

struct status *pod_dns_make(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena,
                            struct sandbox_facts *facts)
{
    struct dns_request request = {
        .policy = pod->spec.dns_policy,
        .is_host_network = pod->spec.host_network,
        .namespace = pod->metadata.namespace,
        .cluster_dns = {.items = kubelet->options.cluster_dns.items, .len = kubelet->options.cluster_dns.len},
        .cluster_domain = kubelet->options.cluster_domain,
    };
    struct dns_result result;
    struct str text;

    if (kubelet->options.resolv_conf.n > 0) {
        TRY(host_read(kubelet->host, arena_cstr(arena, kubelet->options.resolv_conf), RESOLV_CONF_BYTES_MAX, arena,
                      &text));
        resolv_conf_parse(arena, text, &request.node);
    }
    if (pod->spec.dns_config != NULL) {
        take_extra(arena, pod->spec.dns_config, &request.extra);
    }
    resolv_conf_decide(arena, &request, &result);
    LIST_EACH (warning, &result.warnings) {
        pod_event(kubelet, pod, "Warning", "DNSConfigForming", "%.*s", STR_ARG(*warning));
    }
    if (result.no_cluster_dns) {
        pod_event(kubelet, pod, "Warning", "MissingClusterDNS",
                  "pod: \"%.*s\". kubelet does not have ClusterDNS IP configured and cannot create Pod using "
                  "\"ClusterFirst\" policy. Falling back to \"Default\" policy.",
                  STR_ARG(pod_format(arena, pod)));
    }
    facts->dns_servers = plain(&result.config.servers);
    facts->dns_searches = plain(&result.config.searches);
    facts->dns_options = plain(&result.config.options);
    return NULL;
}

struct str pod_runtime_handler(struct kubelet *kubelet, const struct core_v1_pod *pod, struct arena *arena)
{
    void *found;

    if (pod->spec.runtime_class_name == NULL || pod->spec.runtime_class_name->n == 0) {
        return STR("");
    }
    if (kubelet->client != NULL) {
        struct status *error = client_get(kubelet->client, &node_v1_runtime_class_kind, STR(""),
                                          *pod->spec.runtime_class_name, arena, &found);

        if (error == NULL) {
            return ((const struct node_v1_runtime_class *)found)->handler;
        }
        status_free(error);
    }
    return *pod->spec.runtime_class_name;
}
