/* Requests for certificates, of users and of pods. */
#include "api/certificates_v1.h"
#include "api/validation/check.h"
#include "api/validation/kinds.h"

enum {
    SIGNING_SECONDS_MIN = 600,
    POD_SECONDS_MIN = 3600,
    POD_SECONDS_MAX = 91 * 24 * 3600,
    POD_SECONDS_MAX_OF_KUBERNETES = 24 * 3600,
    UID_MAX = 128,
    SIGNER_DOMAIN_MAX = 253,
    SIGNER_PATH_MAX = 63 + 1 + 253,
    SIGNER_MAX = SIGNER_DOMAIN_MAX + 1 + SIGNER_PATH_MAX,
};

static void check_signer_labels(struct status *to, const struct path *at, struct str segment, name_check *check)
{
    for (struct str rest = segment, label; str_next(&rest, '.', &label);) {
        struct name_errors errors = {0};

        if (!check(label, &errors)) {
            for (size_t i = 0; i < errors.len; i++) {
                check_invalid_str(to, at, segment, "validating label \"%.*s\": %.*s", STR_ARG(label),
                                  STR_ARG(errors.items[i]));
            }
        }
    }
}

/* "example.com/signer-name". */
static void check_signer(struct status *to, const struct path *at, struct str signer)
{
    struct str domain, path;

    if (!check_present(to, at, signer)) {
        return;
    }
    if (!str_cut(signer, '/', &domain, &path) || str_index(path, '/') != SIZE_MAX) {
        check_invalid_str(to, at, signer,
                          "must be a fully qualified domain and path of the form 'example.com/signer-name'");
        return;
    }
    if (domain.n > SIGNER_DOMAIN_MAX) {
        check_too_long(to, at, SIGNER_DOMAIN_MAX);
    }
    if (str_index(domain, '.') == SIZE_MAX) {
        check_invalid_str(to, at, domain, "should be a domain with at least two segments separated by dots");
    }
    check_signer_labels(to, at, domain, name_is_dns1123_label);
    check_signer_labels(to, at, path, name_is_dns1123_subdomain);
    if (path.n > SIGNER_PATH_MAX) {
        check_too_long(to, at, SIGNER_PATH_MAX);
    }
    if (signer.n > SIGNER_MAX) {
        check_too_long(to, at, SIGNER_MAX);
    }
}

static void check_usages(struct status *to, const struct path *at, const struct str_list *usages)
{
    static const char *const known[] = {
        "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
        "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
        "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
        "server auth", "signing", "timestamping", NULL};
    OWNED(seen_done) struct seen seen = {0};

    if (usages->len == 0) {
        check_required(to, at, "%s", "");
    }
    LIST_EACH(usage, usages) {
        check_one_of(to, ITEM(at, INDEX_OF(usage, usages)), *usage, known);
        if (seen_before(&seen, *usage)) {
            check_duplicate(to, ITEM(at, INDEX_OF(usage, usages)), *usage);
        }
    }
}

void validate_signing_request(struct status *to, const void *object)
{
    const struct certificates_v1_certificate_signing_request_spec *spec =
        &((const struct certificates_v1_certificate_signing_request *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    if (!str_contains(spec->request, STR("-----BEGIN CERTIFICATE REQUEST-----"))) {
        check_invalid_json(to, AT(at, "request"),
                           dump_field(to->arena, &certificates_v1_certificate_signing_request_spec_type, "request",
                                      spec),
                           "PEM block type must be CERTIFICATE REQUEST");
    }
    check_usages(to, AT(at, "usages"), (const struct str_list *)&spec->usages);
    if (str_is(spec->signer_name, "kubernetes.io/legacy-unknown")) {
        check_invalid_str(to, AT(at, "signerName"), spec->signer_name,
                          "the legacy signerName is not allowed via this API version");
    } else {
        check_signer(to, AT(at, "signerName"), spec->signer_name);
    }
    if (spec->expiration_seconds != NULL && *spec->expiration_seconds < SIGNING_SECONDS_MIN) {
        check_invalid_int(to, AT(at, "expirationSeconds"), *spec->expiration_seconds,
                          "may not specify a duration less than 600 seconds (10 minutes)");
    }
}

/* One element of DER, taken off the front. False when there is none of that tag, whole. */
static bool take_element(struct str *rest, unsigned char tag, struct str *ret)
{
    const unsigned char *bytes = (const unsigned char *)rest->p;
    size_t head = 2, length;

    if (rest->n < 2 || bytes[0] != tag) {
        return false;
    }
    length = bytes[1];
    if (length & 0x80) {
        size_t more = length & 0x7f;

        if (more == 0 || more > 4 || rest->n < 2 + more) {
            return false;
        }
        length = 0;
        for (size_t i = 0; i < more; i++) {
            length = length << 8 | bytes[2 + i];
        }
        head += more;
    }
    if (length > rest->n - head) {
        return false;
    }
    *ret = str_sub(*rest, head, head + length);
    *rest = str_from(*rest, head + length);
    return true;
}

/* The shape of a PKCS #10 request: its info, an algorithm and a signature. */
static bool is_request(struct str der)
{
    enum { INTEGER = 0x02, BITS = 0x03, SEQUENCE = 0x30 };
    struct str whole, info, part;

    return take_element(&der, SEQUENCE, &whole) && der.n == 0 && take_element(&whole, SEQUENCE, &info) &&
           take_element(&whole, SEQUENCE, &part) && take_element(&whole, BITS, &part) && whole.n == 0 &&
           take_element(&info, INTEGER, &part) && take_element(&info, SEQUENCE, &part) &&
           take_element(&info, SEQUENCE, &part);
}

static void check_uid(struct status *to, const struct path *at, struct str uid)
{
    if (uid.n == 0) {
        check_invalid_str(to, at, uid, "must not be empty");
    } else if (uid.n > UID_MAX) {
        check_too_long(to, at, UID_MAX);
    }
}

static void check_pod_seconds(struct status *to, const struct path *at,
                              const struct certificates_v1_pod_certificate_request_spec *spec)
{
    int32_t max = str_has_prefix(spec->signer_name, STR("kubernetes.io/")) ? POD_SECONDS_MAX_OF_KUBERNETES
                                                                           : POD_SECONDS_MAX;

    if (spec->max_expiration_seconds == NULL) {
        check_required(to, at, "must be set");
    } else if (*spec->max_expiration_seconds < POD_SECONDS_MIN || *spec->max_expiration_seconds > max) {
        check_invalid_int(to, at, *spec->max_expiration_seconds, "must be in the range [%d, %d]", POD_SECONDS_MIN, max);
    }
}

void validate_pod_certificate_request(struct status *to, const void *object)
{
    const struct certificates_v1_pod_certificate_request_spec *spec =
        &((const struct certificates_v1_pod_certificate_request *)object)->spec;
    const struct path *at = AT(NULL, "spec");

    check_signer(to, AT(at, "signerName"), spec->signer_name);
    check_name(to, AT(at, "podName"), spec->pod_name, name_is_dns1123_subdomain);
    check_uid(to, AT(at, "podUID"), spec->pod_uid);
    check_name(to, AT(at, "serviceAccountName"), spec->service_account_name, name_is_dns1123_subdomain);
    check_uid(to, AT(at, "serviceAccountUID"), spec->service_account_uid);
    check_name(to, AT(at, "nodeName"), spec->node_name, name_is_dns1123_subdomain);
    check_uid(to, AT(at, "nodeUID"), spec->node_uid);
    check_pod_seconds(to, AT(at, "maxExpirationSeconds"), spec);
    if (spec->stub_pkcs10_request.n == 0) {
        check_invalid_json(to, at, (struct str){0},
                           "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set");
    } else if (!is_request(spec->stub_pkcs10_request)) {
        check_invalid_json(to, AT(at, "stubPKCS10Request"), (struct str){0}, "must be a valid PKCS#10 CSR");
    }
    LIST_EACH(entry, &spec->unverified_user_annotations) {
        if (str_index(entry->key, '/') == SIZE_MAX) {
            check_invalid_str(to, AT(at, "unverifiedUserAnnotations"), entry->key,
                              "must be a domain-prefixed key (such as \"acme.io/foo\")");
        }
    }
}

void validate_pod_certificate_request_update(struct status *to, const void *object, const void *old)
{
    check_immutable_struct(to, AT(NULL, "spec"), &certificates_v1_pod_certificate_request_spec_type,
                           &((const struct certificates_v1_pod_certificate_request *)object)->spec,
                           &((const struct certificates_v1_pod_certificate_request *)old)->spec);
}
