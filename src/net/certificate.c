#include "net/certificate.h"

#include "base/base64.h"
#include "base/env.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <limits.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

enum { SERIAL_BITS = 159, NAMES_MAX = 1000, CERTIFICATES_MAX = 1000 };

/* Making */

static void add_name(X509_NAME *name, int kind, struct str text)
{
    X509_NAME_add_entry_by_NID(name, kind, MBSTRING_UTF8, (const unsigned char *)text.p, (int)text.n, -1, 0);
}

static void fill_name(X509_NAME *name, const struct certificate_subject *subject)
{
    LIST_EACH(organization, &subject->organizations)
    {
        add_name(name, NID_organizationName, *organization);
    }
    if (subject->common_name.n > 0) {
        add_name(name, NID_commonName, subject->common_name);
    }
}

static void add_alternative(GENERAL_NAMES *names, int type, const void *bytes, size_t size)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *string = ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);

    if (name == NULL || string == NULL || ASN1_STRING_set(string, bytes, (int)size) != 1) {
        mem_die("out of memory");
    }
    GENERAL_NAME_set0_value(name, type, string);
    sk_GENERAL_NAME_push(names, name);
}

static struct status *fill_alternatives(GENERAL_NAMES *names, const struct certificate_subject *subject)
{
    LIST_EACH(dns_name, &subject->dns_names)
    {
        add_alternative(names, GEN_DNS, dns_name->p, dns_name->n);
    }
    LIST_EACH(email, &subject->emails)
    {
        add_alternative(names, GEN_EMAIL, email->p, email->n);
    }
    LIST_EACH(ip, &subject->ips)
    {
        char text[INET6_ADDRSTRLEN] = "";
        struct in6_addr bytes;

        memcpy(text, ip->p, MIN(ip->n, sizeof(text) - 1));
        if (inet_pton(AF_INET, text, &bytes) == 1) {
            add_alternative(names, GEN_IPADD, &bytes, 4);
        } else if (inet_pton(AF_INET6, text, &bytes) == 1) {
            add_alternative(names, GEN_IPADD, &bytes, 16);
        } else {
            return status_new(STATUS_BAD_REQUEST, "certificate: %.*s is not an IP address", STR_ARG(*ip));
        }
    }
    LIST_EACH(uri, &subject->uris)
    {
        add_alternative(names, GEN_URI, uri->p, uri->n);
    }
    return NULL;
}

/* The subject alternative names, or *ret NULL when there are none; release with GENERAL_NAMES_free(). */
static struct status *make_alternatives(const struct certificate_subject *subject, GENERAL_NAMES **ret)
{
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    struct status *status = fill_alternatives(names, subject);

    if (status != NULL || sk_GENERAL_NAME_num(names) == 0) {
        GENERAL_NAMES_free(names);
        names = NULL;
    }
    *ret = names;
    return status;
}

static void add_extension(X509 *certificate, X509 *issuer, int kind, const char *value)
{
    X509V3_CTX context;

    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);

    if (extension == NULL || X509_add_ext(certificate, extension, -1) != 1) {
        mem_die("a certificate extension cannot be made");
    }
    X509_EXTENSION_free(extension);
}

static void add_usages(X509 *certificate, X509 *issuer, const struct certificate_options *options)
{
    bool server = (options->usages & CERTIFICATE_SERVER) != 0, client = (options->usages & CERTIFICATE_CLIENT) != 0;

    add_extension(certificate, issuer, NID_key_usage,
                  options->is_ca ? "critical,digitalSignature,keyEncipherment,keyCertSign"
                                 : "critical,digitalSignature,keyEncipherment");
    if (server || client) {
        add_extension(certificate, issuer, NID_ext_key_usage,
                      server && client ? "serverAuth,clientAuth"
                      : server         ? "serverAuth"
                                       : "clientAuth");
    }
    add_extension(certificate, issuer, NID_basic_constraints, options->is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (options->is_ca) {
        add_extension(certificate, issuer, NID_subject_key_identifier, "hash");
    } else {
        add_extension(certificate, issuer, NID_authority_key_identifier, "keyid");
    }
}

static void set_serial(X509 *certificate)
{
    BIGNUM *serial = BN_new();

    BN_rand(serial, SERIAL_BITS, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY);
    BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate));
    BN_free(serial);
}

static struct str bio_text(struct arena *arena, BIO *bio)
{
    char *p;
    long n = BIO_get_mem_data(bio, &p);
    struct str text = arena_str(arena, (struct str){p, n > 0 ? (size_t)n : 0});

    BIO_free(bio);
    return text;
}

/* Signs a certificate for `key`; issuer NULL: by itself. */
static struct status *make(const struct crypto_key *key, const struct certificate_options *options, X509 *issuer,
                           const struct crypto_key *issuer_key, struct arena *arena, struct str *ret_pem)
{
    GENERAL_NAMES *names;

    TRY(make_alternatives(&options->subject, &names));
    X509 *certificate = X509_new();

    X509_set_version(certificate, X509_VERSION_3);
    set_serial(certificate);
    fill_name(X509_get_subject_name(certificate), &options->subject);
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer ? issuer : certificate));
    ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)(options->not_before / ENV_SECOND));
    ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)(options->not_after / ENV_SECOND));
    X509_set_pubkey(certificate, crypto_key_native(key));
    add_usages(certificate, issuer ? issuer : certificate, options);
    if (names != NULL) {
        X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT);
        GENERAL_NAMES_free(names);
    }
    BIO *bio = BIO_new(BIO_s_mem());
    bool good = X509_sign(certificate, crypto_key_native(issuer_key), EVP_sha256()) > 0 &&
                PEM_write_bio_X509(bio, certificate) == 1;
    struct str pem = bio_text(arena, bio);

    X509_free(certificate);
    ERR_clear_error();
    if (!good) {
        return status_new(STATUS_INTERNAL_ERROR, "signing a certificate failed");
    }
    *ret_pem = pem;
    return NULL;
}

struct status *certificate_make_ca(const struct crypto_key *key, const struct certificate_options *options,
                                   struct arena *arena, struct str *ret_pem)
{
    struct certificate_options as_ca = *options;

    as_ca.is_ca = true;
    return make(key, &as_ca, NULL, key, arena, ret_pem);
}

/* The first certificate of the PEM, or the DER; NULL when it is neither. */
static X509 *load(struct str der_or_pem)
{
    const unsigned char *at = (const unsigned char *)der_or_pem.p;
    X509 *certificate;

    if (der_or_pem.n == 0 || der_or_pem.n > INT_MAX) {
        return NULL;
    }
    if (str_contains(der_or_pem, STR("-----BEGIN"))) {
        BIO *bio = BIO_new_mem_buf(der_or_pem.p, (int)der_or_pem.n);

        certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        BIO_free(bio);
    } else {
        certificate = d2i_X509(NULL, &at, (long)der_or_pem.n);
    }
    ERR_clear_error();
    return certificate;
}

struct status *certificate_make(const struct crypto_key *key, const struct certificate_options *options,
                                struct str ca_pem, const struct crypto_key *ca_key, struct arena *arena,
                                struct str *ret_pem)
{
    X509 *issuer = load(ca_pem);

    if (issuer == NULL) {
        return status_new(STATUS_BAD_REQUEST, "the CA certificate is not a PEM certificate");
    }
    struct status *status = X509_check_private_key(issuer, crypto_key_native(ca_key)) == 1
                                ? make(key, options, issuer, ca_key, arena, ret_pem)
                                : status_new(STATUS_BAD_REQUEST, "the CA's key does not belong to its certificate");

    X509_free(issuer);
    ERR_clear_error();
    return status;
}

/* Reading */

static struct str asn1_text(struct arena *arena, const ASN1_STRING *string)
{
    return arena_str(arena, (struct str){(const char *)ASN1_STRING_get0_data(string), (size_t)ASN1_STRING_length(string)});
}

static struct str name_entry_text(struct arena *arena, X509_NAME_ENTRY *entry)
{
    unsigned char *utf8 = NULL;
    int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
    struct str text = size >= 0 ? arena_str(arena, (struct str){(const char *)utf8, (size_t)size}) : STR("");

    OPENSSL_free(utf8);
    ERR_clear_error();
    return text;
}

static void read_name(struct arena *arena, const X509_NAME *name, struct certificate_subject *ret)
{
    for (int i = 0; i < X509_NAME_entry_count(name) && i < NAMES_MAX; i++) {
        X509_NAME_ENTRY *entry = X509_NAME_get_entry(name, i);
        int kind = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));

        if (kind == NID_commonName) {
            ret->common_name = name_entry_text(arena, entry);
        } else if (kind == NID_organizationName) {
            *LIST_ADD(arena, &ret->organizations) = name_entry_text(arena, entry);
        }
    }
}

static void read_alternatives(struct arena *arena, const GENERAL_NAMES *names, struct certificate_subject *ret)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && i < NAMES_MAX; i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        char ip[INET6_ADDRSTRLEN];
        int size;

        switch (name->type) {
        case GEN_DNS:
            *LIST_ADD(arena, &ret->dns_names) = asn1_text(arena, name->d.dNSName);
            break;
        case GEN_EMAIL:
            *LIST_ADD(arena, &ret->emails) = asn1_text(arena, name->d.rfc822Name);
            break;
        case GEN_URI:
            *LIST_ADD(arena, &ret->uris) = asn1_text(arena, name->d.uniformResourceIdentifier);
            break;
        case GEN_IPADD:
            size = ASN1_STRING_length(name->d.iPAddress);
            if (size == 4 || size == 16) {
                inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress), ip, sizeof(ip));
                *LIST_ADD(arena, &ret->ips) = arena_str(arena, str_of(ip));
            }
            break;
        default:
            break;
        }
    }
}

static int64_t read_time(const ASN1_TIME *time)
{
    struct tm parts = {0};

    return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) * ENV_SECOND : 0;
}

static void read_usages(X509 *x509, struct certificate *ret)
{
    EXTENDED_KEY_USAGE *usages = X509_get_ext_d2i(x509, NID_ext_key_usage, NULL, NULL);

    for (int i = 0; i < sk_ASN1_OBJECT_num(usages); i++) {
        int kind = OBJ_obj2nid(sk_ASN1_OBJECT_value(usages, i));

        ret->usages |= kind == NID_server_auth ? CERTIFICATE_SERVER : kind == NID_client_auth ? CERTIFICATE_CLIENT : 0;
        ret->has_other_usages |= kind != NID_server_auth && kind != NID_client_auth;
    }
    sk_ASN1_OBJECT_pop_free(usages, ASN1_OBJECT_free);
}

static struct str der_of(struct arena *arena, X509 *x509)
{
    unsigned char *der = NULL;
    int size = i2d_X509(x509, &der);
    struct str copy = arena_str(arena, (struct str){(const char *)der, size > 0 ? (size_t)size : 0});

    OPENSSL_free(der);
    return copy;
}

struct status *certificate_parse(struct str der_or_pem, struct arena *arena, struct certificate *ret)
{
    X509 *x509 = load(der_or_pem);
    struct certificate_subject issuer = {0};

    if (x509 == NULL) {
        return status_new(STATUS_BAD_REQUEST, "x509: malformed certificate");
    }
    *ret = (struct certificate){.der = der_of(arena, x509)};
    read_name(arena, X509_get_subject_name(x509), &ret->subject);
    read_name(arena, X509_get_issuer_name(x509), &issuer);
    ret->issuer_common_name = issuer.common_name;
    GENERAL_NAMES *names = X509_get_ext_d2i(x509, NID_subject_alt_name, NULL, NULL);

    read_alternatives(arena, names, &ret->subject);
    GENERAL_NAMES_free(names);
    BIGNUM *serial = ASN1_INTEGER_to_BN(X509_get0_serialNumber(x509), NULL);
    char *decimal = serial != NULL ? BN_bn2dec(serial) : NULL;

    ret->serial = arena_str(arena, str_of(decimal));
    OPENSSL_free(decimal);
    BN_free(serial);
    ret->fingerprint = crypto_sha256_hex(arena, ret->der);
    ret->not_before = read_time(X509_get0_notBefore(x509));
    ret->not_after = read_time(X509_get0_notAfter(x509));
    ret->is_ca = X509_check_ca(x509) == 1;
    read_usages(x509, ret);
    X509_free(x509);
    ERR_clear_error();
    return NULL;
}

struct status *certificate_split(struct str pem, struct arena *arena, struct str_list *ret_ders)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)MIN(pem.n, (size_t)INT_MAX));
    struct str_list ders = {0};
    X509 *x509;

    while (ders.len < CERTIFICATES_MAX && (x509 = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        *LIST_ADD(arena, &ders) = der_of(arena, x509);
        X509_free(x509);
    }
    unsigned long error = ERR_peek_last_error();

    BIO_free(bio);
    ERR_clear_error();
    if (ders.len == 0 || (error != 0 && ERR_GET_REASON(error) != PEM_R_NO_START_LINE)) {
        return status_new(STATUS_BAD_REQUEST, "data does not contain any valid certificates");
    }
    *ret_ders = ders;
    return NULL;
}

struct str certificate_pem(struct arena *arena, struct str der)
{
    BIO *bio = BIO_new(BIO_s_mem());

    PEM_write_bio(bio, PEM_STRING_X509, "", (const unsigned char *)der.p, (long)der.n);
    return bio_text(arena, bio);
}

/* Verifying */

static struct status *verify_status(int error)
{
    switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return status_new(STATUS_UNAUTHORIZED, "x509: certificate has expired or is not yet valid");
    case X509_V_ERR_INVALID_PURPOSE:
        return status_new(STATUS_UNAUTHORIZED, "x509: certificate specifies an incompatible key usage");
    default:
        return status_new(STATUS_UNAUTHORIZED, "x509: certificate signed by unknown authority");
    }
}

static STACK_OF(X509) * load_all(const struct str_list *ders)
{
    STACK_OF(X509) *stack = sk_X509_new_null();

    if (ders != NULL) {
        LIST_EACH(der, ders)
        {
            X509 *x509 = load(*der);

            if (x509 != NULL) {
                sk_X509_push(stack, x509);
            }
        }
    }
    return stack;
}

static X509_STORE *store_of(struct str ca_pem)
{
    X509_STORE *store = X509_STORE_new();
    BIO *bio = BIO_new_mem_buf(ca_pem.p ? ca_pem.p : "", (int)MIN(ca_pem.n, (size_t)INT_MAX));
    X509 *ca;

    while ((ca = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        X509_STORE_add_cert(store, ca);
        X509_free(ca);
    }
    BIO_free(bio);
    ERR_clear_error();
    return store;
}

static int verify_once(X509 *x509, STACK_OF(X509) * intermediates, X509_STORE *store, int purpose, int64_t now)
{
    X509_STORE_CTX *context = X509_STORE_CTX_new();

    X509_STORE_CTX_init(context, store, x509, intermediates);
    if (purpose != 0) {
        X509_STORE_CTX_set_purpose(context, purpose);
    }
    X509_STORE_CTX_set_time(context, 0, (time_t)(now / ENV_SECOND));
    int error = X509_verify_cert(context) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(context);

    X509_STORE_CTX_free(context);
    return error;
}

struct status *certificate_verify(struct str der_or_pem, const struct str_list *intermediates, struct str ca_pem,
                                  unsigned usages, int64_t now)
{
    X509 *x509 = load(der_or_pem);
    int error = X509_V_OK;

    if (x509 == NULL) {
        return status_new(STATUS_UNAUTHORIZED, "x509: malformed certificate");
    }
    X509_STORE *store = store_of(ca_pem);
    STACK_OF(X509) *stack = load_all(intermediates);

    if (usages == 0) {
        error = verify_once(x509, stack, store, 0, now);
    }
    if ((usages & CERTIFICATE_SERVER) != 0) {
        error = verify_once(x509, stack, store, X509_PURPOSE_SSL_SERVER, now);
    }
    if (error == X509_V_OK && (usages & CERTIFICATE_CLIENT) != 0) {
        error = verify_once(x509, stack, store, X509_PURPOSE_SSL_CLIENT, now);
    }
    sk_X509_pop_free(stack, X509_free);
    X509_STORE_free(store);
    X509_free(x509);
    ERR_clear_error();
    return error == X509_V_OK ? NULL : verify_status(error);
}

bool certificate_matches_host(struct str der_or_pem, struct str host)
{
    X509 *x509 = load(der_or_pem);
    char text[256] = "";

    if (x509 == NULL || host.n >= sizeof(text)) {
        X509_free(x509);
        return false;
    }
    memcpy(text, host.p ? host.p : "", host.n);
    bool matches = X509_check_ip_asc(x509, text, 0) == 1 ||
                   X509_check_host(x509, text, host.n, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1;

    X509_free(x509);
    ERR_clear_error();
    return matches;
}

/* Requests */

struct status *certificate_request_make(const struct crypto_key *key, const struct certificate_subject *subject,
                                        struct arena *arena, struct str *ret_pem)
{
    GENERAL_NAMES *names;

    TRY(make_alternatives(subject, &names));
    X509_REQ *request = X509_REQ_new();
    STACK_OF(X509_EXTENSION) *extensions = NULL;

    X509_REQ_set_version(request, X509_REQ_VERSION_1);
    fill_name(X509_REQ_get_subject_name(request), subject);
    X509_REQ_set_pubkey(request, crypto_key_native(key));
    if (names != NULL) {
        X509V3_add1_i2d(&extensions, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT);
        X509_REQ_add_extensions(request, extensions);
        sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
        GENERAL_NAMES_free(names);
    }
    BIO *bio = BIO_new(BIO_s_mem());
    bool good = X509_REQ_sign(request, crypto_key_native(key), EVP_sha256()) > 0 &&
                PEM_write_bio_X509_REQ(bio, request) == 1;
    struct str pem = bio_text(arena, bio);

    X509_REQ_free(request);
    ERR_clear_error();
    if (!good) {
        return status_new(STATUS_INTERNAL_ERROR, "signing a certificate request failed");
    }
    *ret_pem = pem;
    return NULL;
}

struct status *certificate_request_parse(struct str pem, struct arena *arena, struct certificate_subject *ret,
                                         struct crypto_key **ret_key)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)MIN(pem.n, (size_t)INT_MAX));
    X509_REQ *request = PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL);
    EVP_PKEY *key = request != NULL ? X509_REQ_get_pubkey(request) : NULL;

    BIO_free(bio);
    if (key == NULL || X509_REQ_verify(request, key) != 1) {
        EVP_PKEY_free(key);
        X509_REQ_free(request);
        ERR_clear_error();
        return request == NULL ? status_new(STATUS_BAD_REQUEST, "PEM block type must be CERTIFICATE REQUEST")
                               : status_new(STATUS_BAD_REQUEST, "x509: the request's signature is not valid");
    }
    STACK_OF(X509_EXTENSION) *extensions = X509_REQ_get_extensions(request);
    GENERAL_NAMES *names = X509V3_get_d2i(extensions, NID_subject_alt_name, NULL, NULL);

    *ret = (struct certificate_subject){0};
    read_name(arena, X509_REQ_get_subject_name(request), ret);
    read_alternatives(arena, names, ret);
    GENERAL_NAMES_free(names);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    X509_REQ_free(request);
    ERR_clear_error();
    if (ret_key != NULL) {
        *ret_key = crypto_key_of_native(key);
    } else {
        EVP_PKEY_free(key);
    }
    return NULL;
}
