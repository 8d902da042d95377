#include "api/warnings.h"

#include "api/apps_v1.h"
#include "api/batch_v1.h"
#include "api/discovery_v1.h"
#include "api/networking_v1.h"
#include "api/storage_v1.h"
#include "api/warnings/parts.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/names.h"

void warn(const struct warnings *warnings, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    *LIST_ADD(warnings->arena, warnings->texts) = arena_vprintf(warnings->arena, format, args);
    va_end(args);
}

/* `use` says what for the name is used. */
static void warn_of_name(const struct warnings *warnings, struct str name, const char *use)
{
    struct name_errors errors = {0};

    if (!name_is_dns1123_label(name, &errors)) {
        struct str why = str_index(name, '.') == SIZE_MAX ? name_errors_join(warnings->arena, &errors, " ")
                                                          : STR("must not contain dots");

        warn(warnings,
             "metadata.name: this is used in %s, which can result in surprising behavior; a DNS label is recommended: "
             "[%.*s]",
             use, STR_ARG(why));
    }
}

static void warn_of_new_pod(const struct warnings *warnings, const struct core_v1_pod *pod)
{
    warn_of_name(warnings, pod->metadata.name, "the Pod's hostname");
    warn_of_pod_template(warnings, "", &pod->metadata, &pod->spec);
}

static void warn_of_service(const struct warnings *warnings, const struct core_v1_service *service)
{
    const struct core_v1_service_spec *spec = &service->spec;
    bool is_headless = str_is(spec->cluster_ip, "None");

    if (spec->external_ips.len != 0) {
        warn(warnings, is_headless
                           ? "spec.externalIPs is ignored when spec.clusterIP is \"None\""
                           : "spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    if (is_headless && spec->load_balancer_ip.n != 0) {
        warn(warnings, "spec.loadBalancerIP is ignored when spec.clusterIP is \"None\"");
    }
    if (is_headless && str_is(spec->session_affinity, "ClientIP")) {
        warn(warnings, "spec.SessionAffinity is ignored for headless services");
    }
    if (spec->traffic_distribution != NULL && str_is(*spec->traffic_distribution, "PreferClose")) {
        warn(warnings, "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
}

static void warn_of_account(const struct warnings *warnings, const struct core_v1_service_account *account)
{
    if (str_map_has(&account->metadata.annotations, STR("kubernetes.io/enforce-mountable-secrets"))) {
        warn(warnings, "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer "
                       "separate namespaces to isolate access to mounted secrets");
    }
}

static void warn_of_volume(const struct warnings *warnings, const struct core_v1_persistent_volume *volume)
{
    if (str_is(volume->spec.persistent_volume_reclaim_policy, "Recycle")) {
        warn(warnings, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the "
                       "recommended approach is to use dynamic provisioning.");
    }
}

static void warn_of_ingress(const struct warnings *warnings, const struct networking_v1_ingress *ingress)
{
    if (str_map_has(&ingress->metadata.annotations, STR("kubernetes.io/ingress.class"))) {
        warn(warnings,
             "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead");
    }
}

static void warn_of_driver(const struct warnings *warnings, const struct storage_v1_csi_driver *driver)
{
    if (driver->spec.token_requests.len != 0 && driver->spec.service_account_token_in_secrets == NULL) {
        warn(warnings, "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to "
                       "prevent possible logging of tokens in volume attributes");
    }
}

#define PEM_BEGIN STR("-----BEGIN ")

/* Map values of bytes have the layout of texts. */
static struct str data_of(const struct core_v1_secret *secret, const char *key)
{
    LIST_EACH(entry, &secret->data) {
        if (str_is(entry->key, key)) {
            return entry->value;
        }
    }
    return (struct str){0};
}

static void warn_of_secret(const struct warnings *warnings, const struct core_v1_secret *secret)
{
    if (!str_is(secret->type, "kubernetes.io/tls")) {
        return;
    }
    if (!str_contains(data_of(secret, "tls.crt"), PEM_BEGIN)) {
        warn(warnings, "tls: failed to find any PEM data in certificate input");
    } else if (!str_contains(data_of(secret, "tls.key"), PEM_BEGIN)) {
        warn(warnings, "tls: failed to find any PEM data in key input");
    }
}

static void warn_of_template(const struct warnings *warnings, const struct core_v1_pod_template_spec *template,
                             const char *path)
{
    warn_of_pod_template(warnings, path, &template->metadata, &template->spec);
}

static void warn_of_workload(const struct warnings *warnings, const struct kind *kind, const void *object)
{
    if (kind == &apps_v1_deployment_kind) {
        warn_of_template(warnings, &((const struct apps_v1_deployment *)object)->spec.template, "spec.template.");
    } else if (kind == &apps_v1_replica_set_kind) {
        warn_of_template(warnings, &((const struct apps_v1_replica_set *)object)->spec.template, "spec.template.");
    } else if (kind == &apps_v1_stateful_set_kind) {
        warn_of_template(warnings, &((const struct apps_v1_stateful_set *)object)->spec.template, "spec.template.");
    } else if (kind == &apps_v1_daemon_set_kind) {
        warn_of_template(warnings, &((const struct apps_v1_daemon_set *)object)->spec.template, "spec.template.");
    } else if (kind == &batch_v1_job_kind) {
        warn_of_template(warnings, &((const struct batch_v1_job *)object)->spec.template, "spec.template.");
    } else if (kind == &batch_v1_cron_job_kind) {
        warn_of_template(warnings, &((const struct batch_v1_cron_job *)object)->spec.job_template.spec.template,
                         "spec.jobTemplate.spec.template.");
    } else if (kind == &core_v1_pod_template_kind) {
        warn_of_template(warnings, &((const struct core_v1_pod_template *)object)->template, "template.");
    }
}

static void warn_of_new(const struct warnings *warnings, const struct kind *kind, const void *object)
{
    if (kind == &core_v1_pod_kind) {
        warn_of_new_pod(warnings, object);
    } else if (kind == &batch_v1_job_kind) {
        warn_of_name(warnings, ((const struct batch_v1_job *)object)->metadata.name, "Pod names and hostnames");
    } else if (kind == &networking_v1_ingress_kind) {
        warn_of_ingress(warnings, object);
    }
}

static void warn_of_any(const struct warnings *warnings, const struct kind *kind, const void *object)
{
    if (kind == &core_v1_service_kind) {
        warn_of_service(warnings, object);
    } else if (kind == &core_v1_service_account_kind) {
        warn_of_account(warnings, object);
    } else if (kind == &core_v1_persistent_volume_kind) {
        warn_of_volume(warnings, object);
    } else if (kind == &core_v1_secret_kind) {
        warn_of_secret(warnings, object);
    } else if (kind == &storage_v1_csi_driver_kind) {
        warn_of_driver(warnings, object);
    } else if (kind == &discovery_v1_endpoint_slice_kind &&
               str_is(((const struct discovery_v1_endpoint_slice *)object)->address_type, "FQDN")) {
        warn(warnings, "spec.addressType: FQDN endpoints are deprecated");
    } else {
        warn_of_workload(warnings, kind, object);
    }
}

/* Status writers and the like need not hear what the author has been told. */
static bool is_spec_the_same(const struct kind *kind, const void *object, const void *old)
{
    const struct field *spec = type_field(kind->type, STR("spec"));

    return spec != NULL &&
           schema_field_equal(spec, (const char *)object + spec->offset, (const char *)old + spec->offset);
}

void api_warnings(struct arena *arena, const struct kind *kind, const void *object, const void *old,
                  struct str_list *ret)
{
    struct warnings warnings = {arena, ret};

    if (old == NULL) {
        warn_of_new(&warnings, kind, object);
    } else if (is_spec_the_same(kind, object, old)) {
        return;
    }
    warn_of_any(&warnings, kind, object);
}
