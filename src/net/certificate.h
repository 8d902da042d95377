/* X.509 certificates and certificate requests: making, reading and verifying them. Any thread. */
#ifndef NET_CERTIFICATE_H
#define NET_CERTIFICATE_H

#include "net/crypto.h"

#include <stdint.h>

/* Who a certificate or a request is about. */
struct certificate_subject {
    struct str common_name;
    struct str_list organizations; /* Kubernetes' groups */
    struct str_list dns_names;
    struct str_list ips; /* in text */
    struct str_list uris;
    struct str_list emails;
};

enum {
    CERTIFICATE_SERVER = 1, /* server auth */
    CERTIFICATE_CLIENT = 2, /* client auth */
};

struct certificate_options {
    struct certificate_subject subject;
    unsigned usages; /* CERTIFICATE_SERVER and CERTIFICATE_CLIENT */
    bool is_ca;
    int64_t not_before, not_after; /* env_wall() */
};

struct certificate {
    struct str der;
    struct certificate_subject subject;
    struct str issuer_common_name;
    struct str serial;      /* decimal, as stock's audit and credential ids have it */
    struct str fingerprint; /* SHA-256 of the DER, hexadecimal */
    int64_t not_before, not_after; /* ns since 1970 */
    bool is_ca;
    unsigned usages; /* those of CERTIFICATE_...; 0 when it has no extended key usage */
    bool has_other_usages;
};

/* A self-signed CA. PEM into the arena. */
MUST_USE struct status *certificate_make_ca(const struct crypto_key *key, const struct certificate_options *options,
                                            struct arena *arena, struct str *ret_pem);
/* A certificate for `key` (its public half), signed by the CA. */
MUST_USE struct status *certificate_make(const struct crypto_key *key, const struct certificate_options *options,
                                         struct str ca_pem, const struct crypto_key *ca_key, struct arena *arena,
                                         struct str *ret_pem);
/* The DER of each certificate in a PEM bundle. BAD_REQUEST when one is broken or there is none. */
MUST_USE struct status *certificate_split(struct str pem, struct arena *arena, struct str_list *ret_ders);
/* Reads a DER certificate, or the first of a PEM bundle. All goes into the arena. */
MUST_USE struct status *certificate_parse(struct str der_or_pem, struct arena *arena, struct certificate *ret);
/* Whether the certificate, perhaps by way of `intermediates` (DERs, may be NULL), leads to a CA of the bundle, is valid at
 * `now`, and is good for all of `usages`. UNAUTHORIZED with Go's words otherwise ("x509: certificate signed by unknown
 * authority"). */
MUST_USE struct status *certificate_verify(struct str der_or_pem, const struct str_list *intermediates, struct str ca_pem,
                                           unsigned usages, int64_t now);
/* Whether the certificate is for that host name or IP address. */
bool certificate_matches_host(struct str der_or_pem, struct str host);
struct str certificate_pem(struct arena *arena, struct str der);

/* A request (PKCS #10), PEM. */
MUST_USE struct status *certificate_request_make(const struct crypto_key *key, const struct certificate_subject *subject,
                                                 struct arena *arena, struct str *ret_pem);
/* Checks the request's own signature. The key, in *ret_key when not NULL, is the caller's. */
MUST_USE struct status *certificate_request_parse(struct str pem, struct arena *arena, struct certificate_subject *ret,
                                                  struct crypto_key **ret_key);

#endif
