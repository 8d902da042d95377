/* Certificates: who may approve and sign requests for a signer, and whom requests may not be about. */
#include "api/certificates_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/authz/authorize.h"
#include "apiserver/resource.h"
#include "apiserver/server.h"
#include "net/certificate.h"
#include "schema/copy.h"

static struct status *may(const struct admission_request *admission, const char *verb, struct str name, bool *ret)
{
    struct request *request = admission->request;
    const struct authz_attributes attributes = {.user = request->user,
                                                .verb = str_of(verb),
                                                .is_resource = true,
                                                .group = STR("certificates.k8s.io"),
                                                .version = STR("*"),
                                                .resource = STR("signers"),
                                                .name = name};
    struct authz_decision decision = {0};

    TRY(authorize(request->server, &attributes, request->arena, &decision));
    *ret = decision.verdict == AUTHZ_ALLOW;
    return NULL;
}

/* For this signer, or for all of its domain ("example.com/" and a star). */
static struct status *check_signer(const struct admission_request *admission, const char *verb, const char *deed,
                                   struct str signer)
{
    struct str domain, name;
    bool allowed;

    TRY(may(admission, verb, signer, &allowed));
    if (!allowed) {
        str_cut(signer, '/', &domain, &name);
        TRY(may(admission, verb, arena_printf(admission->request->arena, "%.*s/*", STR_ARG(domain)), &allowed));
    }
    return allowed ? NULL
                   : admission_forbidden(admission, "user not permitted to %s requests with signerName \"%.*s\"", deed,
                                         STR_ARG(signer));
}

static bool is_about(const struct admission_request *admission, const char *subresource)
{
    return admission->resource->kind == &certificates_v1_certificate_signing_request_kind &&
           str_is(admission->subresource, subresource);
}

static struct status *check_approval(struct admission_request *admission)
{
    const struct certificates_v1_certificate_signing_request *old = admission->old_object;

    return is_about(admission, "approval") ? check_signer(admission, "approve", "approve", old->spec.signer_name)
                                           : NULL;
}

/* Anyone who may write the status may write all of it but what signing makes. */
static struct status *check_signing(struct admission_request *admission)
{
    const struct certificates_v1_certificate_signing_request *csr = admission->object, *old = admission->old_object;

    if (!is_about(admission, "status")) {
        return NULL;
    }
    const struct field *conditions = type_field(&certificates_v1_certificate_signing_request_status_type,
                                                STR("conditions"));

    if (str_eq(csr->status.certificate, old->status.certificate) &&
        schema_field_equal(conditions, &csr->status.conditions, &old->status.conditions)) {
        return NULL;
    }
    return check_signer(admission, "sign", "sign", old->spec.signer_name);
}

/* A client certificate with this group would be above all authorization. */
static struct status *check_subject(struct admission_request *admission)
{
    const struct certificates_v1_certificate_signing_request *csr = admission->object;
    struct certificate_subject subject;

    if (!admission_is_about(admission, &certificates_v1_certificate_signing_request_kind) ||
        !str_is(csr->spec.signer_name, "kubernetes.io/kube-apiserver-client")) {
        return NULL;
    }
    struct status *status = certificate_request_parse(csr->spec.request, admission->request->arena, &subject, NULL);

    if (status != NULL) {
        status = status_while(status, "failed to parse CSR");
        struct str why = arena_str(admission->request->arena, status->message);

        status_free(status);
        return admission_forbidden(admission, "%.*s", STR_ARG(why));
    }
    LIST_EACH(group, &subject.organizations) {
        if (str_is(*group, GROUP_MASTERS)) {
            return admission_forbidden(admission, "use of %.*s signer with %s group is not allowed",
                                       STR_ARG(csr->spec.signer_name), GROUP_MASTERS);
        }
    }
    return NULL;
}

const struct admission_plugin certificate_approval_plugin = {
    .name = "CertificateApproval",
    .operations = ADMIT_UPDATE,
    .validate = check_approval,
};

const struct admission_plugin certificate_signing_plugin = {
    .name = "CertificateSigning",
    .operations = ADMIT_UPDATE,
    .validate = check_signing,
};

const struct admission_plugin certificate_subject_restriction_plugin = {
    .name = "CertificateSubjectRestriction",
    .operations = ADMIT_CREATE,
    .validate = check_subject,
};
