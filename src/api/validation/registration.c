/* APIServices, certificate requests and trust bundles. */
#include "api/apiregistration_v1.h"
#include "api/certificates_v1.h"
#include "api/storagemigration_v1.h"
#include "api/validation/check.h"
#include "api/validation/kinds.h"
#include "api/validation/webhook.h"
#include "schema/copy.h"

enum { GROUP_PRIORITY_MAX = 20000, VERSION_PRIORITY_MAX = 1000 };

static void check_priority(struct status *to, const struct path *at, int32_t priority, int32_t max)
{
    if (priority <= 0 || priority > max) {
        check_invalid_int(to, at, priority, "must be positive and less than %d", max);
    }
}

void validate_api_service(struct status *to, const void *object)
{
    const struct apiregistration_v1_api_service *service = object;
    const struct apiregistration_v1_api_service_spec *spec = &service->spec;
    const struct path *at = AT(NULL, "spec");
    struct str name = arena_printf(to->arena, "%.*s.%.*s", STR_ARG(spec->version), STR_ARG(spec->group));

    if (!str_eq(service->metadata.name, name)) {
        check_invalid_str(to, AT(AT(NULL, "metadata"), "name"), service->metadata.name,
                          "must be `spec.version+\".\"+spec.group`: \"%.*s\"", STR_ARG(name));
    }
    if (spec->group.n > 0) {
        check_name(to, AT(at, "group"), spec->group, name_is_dns1123_subdomain);
    } else if (!str_is(spec->version, "v1")) {
        check_required(to, AT(at, "group"), "only v1 may have an empty group and it better be legacy kube");
    }
    check_name(to, AT(at, "version"), spec->version, name_is_dns1035_label);
    check_priority(to, AT(at, "groupPriorityMinimum"), spec->group_priority_minimum, GROUP_PRIORITY_MAX);
    check_priority(to, AT(at, "versionPriority"), spec->version_priority, VERSION_PRIORITY_MAX);
    if (spec->service == NULL) {
        if (spec->ca_bundle.n != 0) {
            check_invalid_json(to, AT(at, "caBundle"), dump_field(to->arena, &apiregistration_v1_api_service_spec_type,
                                                                  "caBundle", spec),
                               "local APIServices may not have a caBundle");
        }
        if (spec->insecure_skip_tls_verify) {
            check_invalid_bool(to, AT(at, "insecureSkipTLSVerify"), true,
                               "local APIServices may not have insecureSkipTLSVerify");
        }
        return;
    }
    const struct path *where = AT(at, "service");

    check_present(to, AT(where, "namespace"), spec->service->namespace);
    check_present(to, AT(where, "name"), spec->service->name);
    if (spec->service->port != NULL && !name_is_port_number(*spec->service->port, NULL)) {
        check_invalid_int(to, AT(where, "port"), *spec->service->port,
                          "port is not valid: must be between 1 and 65535, inclusive");
    }
    if (spec->insecure_skip_tls_verify && spec->ca_bundle.n > 0) {
        check_invalid_bool(to, AT(at, "insecureSkipTLSVerify"), true, "may not be true if caBundle is present");
    }
}

void validate_api_service_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_api_service(to, object);
}

static void check_conditions(struct status *to, const struct certificates_v1_certificate_signing_request *request)
{
    static const char *const only_true[] = {"True", NULL};
    static const char *const statuses[] = {"False", "True", "Unknown", NULL};
    const struct path *at = AT(AT(NULL, "status"), "conditions");
    bool approved = false, denied = false;

    LIST_EACH(condition, &request->status.conditions) {
        const struct path *one = ITEM(at, INDEX_OF(condition, &request->status.conditions));
        bool decides = str_is(condition->type, "Approved") || str_is(condition->type, "Denied") ||
                       str_is(condition->type, "Failed");

        check_present(to, AT(one, "type"), condition->type);
        if (check_present(to, AT(one, "status"), condition->status)) {
            check_one_of(to, AT(one, "status"), condition->status, decides ? only_true : statuses);
        }
        approved |= str_is(condition->type, "Approved");
        denied |= str_is(condition->type, "Denied");
    }
    if (approved && denied) {
        check_invalid_str(to, at, STR("Denied"), "Approved and Denied conditions are mutually exclusive");
    }
}

void validate_signing_request_approval(struct status *to, const void *object, const void *old)
{
    (void)old;
    check_conditions(to, object);
}

static bool has_condition(const struct certificates_v1_certificate_signing_request *request, const char *type)
{
    LIST_EACH(condition, &request->status.conditions) {
        if (str_is(condition->type, type)) {
            return true;
        }
    }
    return false;
}

/* Approving is for the subresource of that name; a certificate, once there, stays. */
void validate_signing_request_status(struct status *to, const void *object, const void *old_object)
{
    static const char *const decisions[] = {"Approved", "Denied"};
    const struct certificates_v1_certificate_signing_request *request = object, *old = old_object;
    const struct path *at = AT(NULL, "status");
    struct str certificate = request->status.certificate;

    if (certificate.n > 0 && !str_contains(certificate, STR("-----BEGIN CERTIFICATE-----"))) {
        check_invalid_str(to, AT(at, "certificate"), STR("<certificate data>"),
                          "must contain at least one CERTIFICATE PEM block");
    }
    check_conditions(to, request);
    for (size_t i = 0; i < COUNT_OF(decisions); i++) {
        bool is = has_condition(request, decisions[i]), was = has_condition(old, decisions[i]);

        if (is != was) {
            check_forbidden(to, AT(at, "conditions"), "updates may not %s a condition of type \"%s\"",
                            is ? "add" : "remove", decisions[i]);
        }
    }
    if (old->status.certificate.n > 0 && !str_eq(certificate, old->status.certificate)) {
        check_forbidden(to, AT(at, "certificate"), "updates may not set certificate content if it already exists");
    }
}

static struct str with_colons(struct arena *arena, struct str signer)
{
    char *name = arena_cstr(arena, signer);

    for (size_t i = 0; i < signer.n; i++) {
        name[i] = name[i] == '/' ? ':' : name[i];
    }
    return arena_printf(arena, "%s:", name);
}

void validate_trust_bundle(struct status *to, const void *object)
{
    const struct certificates_v1_cluster_trust_bundle *bundle = object;
    const struct path *name = AT(AT(NULL, "metadata"), "name");
    struct str signer = bundle->spec.signer_name, prefix = with_colons(to->arena, signer);

    if (signer.n == 0) {
        if (str_index(bundle->metadata.name, ':') != SIZE_MAX) {
            check_invalid_str(to, name, bundle->metadata.name,
                              "ClusterTrustBundle without signer name must not have \":\" in its name");
        }
    } else if (!str_has_prefix(bundle->metadata.name, prefix)) {
        check_invalid_str(to, name, bundle->metadata.name,
                          "ClusterTrustBundle for signerName %.*s must be named with prefix %.*s", STR_ARG(signer),
                          STR_ARG(prefix));
    }
    if (!str_contains(bundle->spec.trust_bundle, STR("-----BEGIN CERTIFICATE-----"))) {
        check_invalid_str(to, AT(AT(NULL, "spec"), "trustBundle"), STR("<value omitted>"),
                          "at least one trust anchor must be provided");
    }
}

void validate_trust_bundle_update(struct status *to, const void *object, const void *old)
{
    validate_trust_bundle(to, object);
    check_immutable_str(to, AT(AT(NULL, "spec"), "signerName"),
                        ((const struct certificates_v1_cluster_trust_bundle *)object)->spec.signer_name,
                        ((const struct certificates_v1_cluster_trust_bundle *)old)->spec.signer_name);
}

void validate_version_migration(struct status *to, const void *object)
{
    const struct storagemigration_v1_storage_version_migration *migration = object;

    if (migration->spec.resource.resource.n == 0) {
        check_required(to, AT(AT(AT(NULL, "spec"), "resource"), "resource"), "resource is required to be set");
    }
}

void validate_version_migration_update(struct status *to, const void *object, const void *old)
{
    const struct path *at = AT(AT(NULL, "spec"), "resource");

    validate_version_migration(to, object);
    check_immutable_struct(to, at, &meta_v1_group_resource_type,
                           &((const struct storagemigration_v1_storage_version_migration *)object)->spec.resource,
                           &((const struct storagemigration_v1_storage_version_migration *)old)->spec.resource);
}
