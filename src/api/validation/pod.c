#include "api/validation/pod.h"

#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/network.h"
#include "schema/map_of.h"

#include <limits.h>

enum { NAMESERVERS_MAX = 3, SEARCHES_MAX = 32, SEARCH_BYTES_MAX = 2048 };

bool pod_has_container(const struct core_v1_pod_spec *spec, struct str name)
{
    LIST_EACH(container, &spec->containers) {
        if (str_eq(container->name, name)) {
            return true;
        }
    }
    LIST_EACH(container, &spec->init_containers) {
        if (str_eq(container->name, name)) {
            return true;
        }
    }
    return false;
}

static void check_claims(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                         struct pod_names *names)
{
    LIST_EACH(claim, &spec->resource_claims) {
        const struct path *one = ITEM(at, INDEX_OF(claim, &spec->resource_claims));

        if (check_present(to, AT(one, "name"), claim->name)) {
            check_name(to, AT(one, "name"), claim->name, name_is_dns1123_label);
        }
        if (seen_before(&names->claims, claim->name)) {
            check_duplicate(to, AT(one, "name"), claim->name);
        } else {
            *LIST_ADD(to->arena, &names->claim_list) = claim->name;
        }
        if (claim->resource_claim_name != NULL && claim->resource_claim_template_name != NULL) {
            check_invalid_struct(to, one, &core_v1_pod_resource_claim_type, claim,
                                 "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
        } else if (claim->resource_claim_name == NULL && claim->resource_claim_template_name == NULL) {
            check_invalid_struct(to, one, &core_v1_pod_resource_claim_type, claim,
                                 "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
        }
        if (claim->resource_claim_name != NULL) {
            check_name(to, AT(one, "resourceClaimName"), *claim->resource_claim_name, name_is_dns1123_subdomain);
        }
        if (claim->resource_claim_template_name != NULL) {
            check_name(to, AT(one, "resourceClaimTemplateName"), *claim->resource_claim_template_name,
                       name_is_dns1123_subdomain);
        }
    }
}

static void check_dns(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    const struct core_v1_pod_dns_config *config = spec->dns_config;
    size_t bytes = 0;

    if (str_is(spec->dns_policy, "None") && config == NULL) {
        check_required(to, at, "must provide `dnsConfig` when `dnsPolicy` is None");
        return;
    }
    if (str_is(spec->dns_policy, "None") && config->nameservers.len == 0) {
        check_required(to, AT(at, "nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None");
        return;
    }
    if (config == NULL) {
        return;
    }
    if (config->nameservers.len > NAMESERVERS_MAX) {
        check_invalid_json(to, AT(at, "nameservers"), dump_strings(to->arena, &config->nameservers),
                           "must not have more than %d nameservers", NAMESERVERS_MAX);
    }
    LIST_EACH(server, &config->nameservers) {
        check_ip(to, ITEM(AT(at, "nameservers"), INDEX_OF(server, &config->nameservers)), *server);
    }
    if (config->searches.len > SEARCHES_MAX) {
        check_invalid_json(to, AT(at, "searches"), dump_strings(to->arena, &config->searches),
                           "must not have more than %d search paths", SEARCHES_MAX);
    }
    LIST_EACH(search, &config->searches) {
        bytes += search->n + 1;
    }
    if (bytes > SEARCH_BYTES_MAX + 1) {
        check_invalid_json(to, AT(at, "searches"), dump_strings(to->arena, &config->searches),
                           "must not have more than %d characters (including spaces) in the search list",
                           SEARCH_BYTES_MAX);
    }
    LIST_EACH(search, &config->searches) {
        struct str name = str_has_suffix(*search, STR(".")) ? str_sub(*search, 0, search->n - 1) : *search;

        check_name(to, ITEM(AT(at, "searches"), INDEX_OF(search, &config->searches)), name,
                   name_is_dns1123_subdomain_with_underscore);
    }
    LIST_EACH(option, &config->options) {
        if (option->name.n == 0) {
            check_required(to, ITEM(AT(at, "options"), INDEX_OF(option, &config->options)), "must not be empty");
        }
    }
}

static void check_gates(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    LIST_EACH(gate, &spec->readiness_gates) {
        check_name(to, AT(ITEM(AT(at, "readinessGates"), INDEX_OF(gate, &spec->readiness_gates)), "conditionType"),
                   gate->condition_type, name_is_qualified);
    }
    OWNED(seen_done) struct seen seen = {0};

    LIST_EACH(gate, &spec->scheduling_gates) {
        const struct path *one = ITEM(AT(at, "schedulingGates"), INDEX_OF(gate, &spec->scheduling_gates));

        check_name(to, one, gate->name, name_is_qualified);
        if (seen_before(&seen, gate->name)) {
            check_duplicate(to, one, gate->name);
        }
    }
}

static void check_host_users(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    if (spec->host_users == NULL || *spec->host_users) {
        return;
    }
    if (spec->host_network) {
        check_forbidden(to, AT(at, "hostNetwork"), "when `hostUsers` is false");
    }
    if (spec->host_pid) {
        check_forbidden(to, AT(at, "hostPID"), "when `hostUsers` is false");
    }
    if (spec->host_ipc) {
        check_forbidden(to, AT(at, "hostIPC"), "when `hostUsers` is false");
    }
}

static void check_host_aliases(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    LIST_EACH(alias, &spec->host_aliases) {
        const struct path *one = ITEM(at, INDEX_OF(alias, &spec->host_aliases));

        check_ip(to, AT(one, "ip"), alias->ip);
        LIST_EACH(name, &alias->hostnames) {
            check_name(to, ITEM(AT(one, "hostnames"), INDEX_OF(name, &alias->hostnames)), *name,
                       name_is_dns1123_subdomain);
        }
    }
}

static void check_names(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    if (spec->service_account_name.n > 0) {
        check_name(to, AT(at, "serviceAccountName"), spec->service_account_name, name_is_dns1123_subdomain);
    }
    if (spec->node_name.n > 0) {
        check_name(to, AT(at, "nodeName"), spec->node_name, name_is_dns1123_subdomain);
    }
    if (spec->active_deadline_seconds != NULL &&
        (*spec->active_deadline_seconds < 1 || *spec->active_deadline_seconds > INT32_MAX)) {
        check_invalid_int(to, AT(at, "activeDeadlineSeconds"), *spec->active_deadline_seconds,
                          "must be between 1 and 2147483647, inclusive");
    }
    if (spec->hostname.n > 0) {
        check_name(to, AT(at, "hostname"), spec->hostname, name_is_dns1123_label);
    }
    if (spec->subdomain.n > 0) {
        check_name(to, AT(at, "subdomain"), spec->subdomain, name_is_dns1123_label);
    }
}

static void check_overhead(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    LIST_EACH(amount, &spec->overhead) {
        check_container_resource_name(to, KEY(AT(at, "overhead"), amount->key), amount->key);
        check_resource_amount(to, KEY(AT(at, "overhead"), amount->key), amount->key, amount->value);
    }
}

static void check_rest(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    static const char *const preemption_policies[] = {"PreemptLowerPriority", "Never", NULL};

    check_gates(to, at, spec);
    check_spread(to, AT(at, "topologySpreadConstraints"), spec);
    check_host_processes(to, at, spec);
    check_host_users(to, at, spec);
    check_names(to, at, spec);
    check_tolerations(to, AT(at, "tolerations"), spec);
    check_host_aliases(to, AT(at, "hostAliases"), spec);
    if (spec->priority_class_name.n > 0) {
        check_name(to, AT(at, "priorityClassName"), spec->priority_class_name, name_is_dns1123_subdomain);
    }
    if (spec->runtime_class_name != NULL) {
        check_name(to, AT(at, "runtimeClassName"), *spec->runtime_class_name, name_is_dns1123_subdomain);
    }
    if (spec->preemption_policy != NULL) {
        check_one_of(to, AT(at, "preemptionPolicy"), *spec->preemption_policy, preemption_policies);
    }
    check_overhead(to, at, spec);
    check_os(to, at, spec);
}

static void pod_names_done(struct pod_names *names)
{
    seen_done(&names->volumes);
    seen_done(&names->block_volumes);
    seen_done(&names->claims);
}

void check_pod_spec(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    static const char *const restart_policies[] = {"Always", "OnFailure", "Never", NULL};
    static const char *const dns_policies[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None", NULL};
    OWNED(pod_names_done) struct pod_names names = {0};

    check_volumes(to, AT(at, "volumes"), spec, &names);
    check_claims(to, AT(at, "resourceClaims"), spec, &names);
    check_containers(to, at, spec, &names);
    if (spec->resources != NULL) {
        check_resources(to, AT(at, "resources"), spec->resources, &names);
    }
    if (check_present(to, AT(at, "restartPolicy"), spec->restart_policy)) {
        check_one_of(to, AT(at, "restartPolicy"), spec->restart_policy, restart_policies);
    }
    if (check_present(to, AT(at, "dnsPolicy"), spec->dns_policy)) {
        check_one_of(to, AT(at, "dnsPolicy"), spec->dns_policy, dns_policies);
    }
    check_labels(to, AT(at, "nodeSelector"), &spec->node_selector);
    check_pod_security(to, at, spec);
    check_affinity(to, AT(at, "affinity"), spec->affinity);
    check_dns(to, AT(at, "dnsConfig"), spec);
    check_rest(to, at, spec);
}

void check_pod_annotations(struct status *to, const struct path *at, const struct str_map *annotations,
                           const struct core_v1_pod_spec *spec)
{
    struct str mirror = str_map_get(annotations, STR("kubernetes.io/config.mirror"));

    if (str_map_has(annotations, STR("kubernetes.io/config.mirror")) && spec->node_name.n == 0) {
        check_invalid_str(to, KEY(at, STR("kubernetes.io/config.mirror")), mirror,
                          "must set spec.nodeName if mirror pod annotation is set");
    }
}

void check_pod_template(struct status *to, const struct path *at, const struct core_v1_pod_template_spec *template)
{
    check_labels(to, AT(at, "labels"), &template->metadata.labels);
    check_annotations(to, AT(at, "annotations"), &template->metadata.annotations);
    check_pod_annotations(to, AT(at, "annotations"), &template->metadata.annotations, &template->spec);
    check_pod_spec(to, AT(at, "spec"), &template->spec);
    if (template->spec.ephemeral_containers.len > 0) {
        check_forbidden(to, AT(AT(at, "spec"), "ephemeralContainers"),
                        "ephemeral containers not allowed in pod template");
    }
}

/* A token is of an account, so there must be one. */
static void check_tokens(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec)
{
    LIST_EACH(volume, &spec->volumes) {
        const struct core_v1_projected_volume_source *projected = volume->volume_source.projected;

        if (projected == NULL || spec->service_account_name.n != 0) {
            continue;
        }
        LIST_EACH(source, &projected->sources) {
            if (source->service_account_token != NULL) {
                const struct path *one = ITEM(AT(at, "volumes"), INDEX_OF(volume, &spec->volumes));
                const struct path *sources = AT(AT(one, "projected"), "sources");

                check_forbidden(to, AT(ITEM(sources, INDEX_OF(source, &projected->sources)), "serviceAccountToken"),
                                "must not be specified when serviceAccountName is not set");
            }
        }
    }
}

void validate_pod(struct status *to, const void *object)
{
    const struct core_v1_pod *pod = object;
    const struct path *spec = AT(NULL, "spec");

    check_pod_annotations(to, AT(AT(NULL, "metadata"), "annotations"), &pod->metadata.annotations, &pod->spec);
    check_pod_spec(to, spec, &pod->spec);
    check_tokens(to, spec, &pod->spec);
    if (pod->spec.ephemeral_containers.len > 0) {
        check_forbidden(to, AT(spec, "ephemeralContainers"), "cannot be set on create");
    }
    if (pod->spec.node_name.n != 0 && pod->spec.scheduling_gates.len != 0) {
        check_forbidden(to, AT(spec, "nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
}

void validate_pod_template(struct status *to, const void *object)
{
    check_pod_template(to, AT(NULL, "template"), &((const struct core_v1_pod_template *)object)->template);
}

void validate_pod_template_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_pod_template(to, object);
}
