/* Contexts: certificates, whom to trust, and how OpenSSL reads and writes. */
#include "net/tls_parts.h"

#include "base/arena.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

static struct status *ssl_error(const char *what)
{
    unsigned long error = ERR_peek_last_error();
    const char *reason = error != 0 ? ERR_reason_error_string(error) : NULL;
    struct status *status = status_new(STATUS_BAD_REQUEST, "tls: %s: %s", what, reason ? reason : "not valid");

    ERR_clear_error();
    return status;
}

static BIO *pem_bio(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p, (int)MIN(pem.n, (size_t)INT32_MAX));

    if (bio == NULL) {
        mem_die("out of memory");
    }
    return bio;
}

static struct status *use_certificate(SSL_CTX *ssl, struct str certificate, struct str key)
{
    BIO *bio = pem_bio(certificate);
    X509 *leaf = PEM_read_bio_X509_AUX(bio, NULL, NULL, NULL), *more;
    bool good = leaf != NULL && SSL_CTX_use_certificate(ssl, leaf) == 1;

    X509_free(leaf);
    while (good && (more = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        good = SSL_CTX_add0_chain_cert(ssl, more) == 1; /* takes it */
    }
    BIO_free(bio);
    if (!good) {
        return ssl_error("failed to find certificate PEM data in certificate input");
    }
    ERR_clear_error(); /* the end of the PEM was told as one */
    bio = pem_bio(key);
    EVP_PKEY *private = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

    BIO_free(bio);
    if (private == NULL) {
        return ssl_error("failed to find any PEM data in key input");
    }
    good = SSL_CTX_use_PrivateKey(ssl, private) == 1 && SSL_CTX_check_private_key(ssl) == 1;
    EVP_PKEY_free(private);
    return good ? NULL : ssl_error("private key does not match public key");
}

/* Adds a PEM bundle to the trusted ones; `names` also gets their subjects when not NULL. */
static struct status *use_ca(SSL_CTX *ssl, struct str bundle, STACK_OF(X509_NAME) * names)
{
    X509_STORE *store = SSL_CTX_get_cert_store(ssl);
    BIO *bio = pem_bio(bundle);
    size_t count = 0;
    X509 *ca;

    while ((ca = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        X509_STORE_add_cert(store, ca);
        if (names != NULL) {
            sk_X509_NAME_push(names, X509_NAME_dup(X509_get_subject_name(ca)));
        }
        X509_free(ca);
        count++;
    }
    BIO_free(bio);
    if (count == 0) {
        return ssl_error("unable to load root certificates: no certificate PEM data");
    }
    ERR_clear_error();
    return NULL;
}

static SSL_CTX *ssl_context_new(const SSL_METHOD *method)
{
    SSL_CTX *ssl = SSL_CTX_new(method);

    if (ssl == NULL) {
        mem_die("no TLS context");
    }
    SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ssl, 1);
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF); /* tickets need none */
    /* Forward secret AEAD suites, which is also all that HTTP/2 allows (RFC 9113, appendix A). */
    SSL_CTX_set_cipher_list(ssl, "ECDHE+AESGCM:ECDHE+CHACHA20");
    return ssl;
}

static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_size, const unsigned char *offered,
                           unsigned int size, void *arg)
{
    static const unsigned char both[] = "\x02h2\x08http/1.1", http1[] = "\x08http/1.1";
    struct tls_context *context = arg;
    const unsigned char *ours = context->offers_http2 ? both : http1;
    unsigned int our_size = context->offers_http2 ? sizeof(both) - 1 : sizeof(http1) - 1;

    (void)ssl;
    return SSL_select_next_proto((unsigned char **)ret, ret_size, ours, our_size, offered, size) ==
                   OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
}

/* Lets the handshake go on whatever the certificate is worth; SSL_get_verify_result() keeps what was found. */
static int accept_any(int verified, X509_STORE_CTX *store)
{
    (void)verified, (void)store;
    return 1;
}

static struct status *server_rules(SSL_CTX *ssl, const struct tls_server_options *options)
{
    static const unsigned char session_context[] = "c8s";

    TRY(use_certificate(ssl, options->certificate, options->key));
    SSL_CTX_set_session_id_context(ssl, session_context, sizeof(session_context) - 1);
    SSL_CTX_set_num_tickets(ssl, 1);
    if (options->client_ca.n > 0) {
        STACK_OF(X509_NAME) *names = sk_X509_NAME_new_null();

        SSL_CTX_set_client_CA_list(ssl, names);
        TRY(use_ca(ssl, options->client_ca, names));
    }
    if (options->requires_client) {
        SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    } else if (options->client_ca.n > 0 || options->asks_client) {
        SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, accept_any);
    }
    return NULL;
}

/* How OpenSSL reads and writes: from `inner` as far as it gives, into `out`, which takes everything. */

static int bio_read(BIO *bio, char *bytes, int size)
{
    struct tls_stream *tls = BIO_get_data(bio);
    size_t got;

    BIO_clear_retry_flags(bio);
    if (tls->failed != NULL) {
        return -1;
    }
    tls->failed = stream_read_now(tls->inner, bytes, (size_t)size, &got);
    if (tls->failed != NULL) {
        return -1;
    }
    if (got == STREAM_BLOCKED) {
        BIO_set_retry_read(bio);
        return -1;
    }
    tls->eof = got == 0;
    return (int)got;
}

static int bio_write(BIO *bio, const char *bytes, int size)
{
    struct tls_stream *tls = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    buf_add(&tls->out, bytes, (size_t)size);
    return size;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)number, (void)pointer;
    if (command == BIO_CTRL_EOF) {
        return ((struct tls_stream *)BIO_get_data(bio))->eof;
    }
    return command == BIO_CTRL_FLUSH;
}

static struct tls_context *context_new(SSL_CTX *ssl)
{
    struct tls_context *context = MEM_NEW(struct tls_context);

    context->refs = 1;
    context->ssl = ssl;
    context->bio = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "c8s stream");
    BIO_meth_set_read(context->bio, bio_read);
    BIO_meth_set_write(context->bio, bio_write);
    BIO_meth_set_ctrl(context->bio, bio_control);
    return context;
}

struct status *tls_server_new(const struct tls_server_options *options, struct tls_context **ret)
{
    struct tls_context *context = context_new(NULL);
    struct status *status = tls_server_reload(context, options);

    if (status != NULL) {
        tls_context_unref(context);
        return status;
    }
    *ret = context;
    return NULL;
}

struct status *tls_server_reload(struct tls_context *context, const struct tls_server_options *options)
{
    SSL_CTX *ssl = ssl_context_new(TLS_server_method());
    struct status *status = server_rules(ssl, options);

    if (status != NULL) {
        SSL_CTX_free(ssl);
        return status;
    }
    SSL_CTX_set_alpn_select_cb(ssl, choose_protocol, context);
    SSL_CTX_free(context->ssl);
    context->ssl = ssl;
    context->offers_http2 = options->offers_http2;
    return NULL;
}

/* Keeps the server's certificate, which OpenSSL lets go when it is refused, for the error message. */
static int keep_refused(int verified, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls_stream *tls = SSL_get_app_data(ssl);

    if (!verified && tls->refused == NULL) {
        tls->refused = X509_STORE_CTX_get0_cert(store);
        X509_up_ref(tls->refused);
    }
    return verified;
}

struct status *tls_client_new(const struct tls_client_options *options, struct tls_context **ret)
{
    SSL_CTX *ssl = ssl_context_new(TLS_client_method());
    struct status *status = NULL;

    if (options->certificate.n > 0) {
        status = use_certificate(ssl, options->certificate, options->key);
    }
    if (status == NULL && !options->is_insecure) {
        SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, keep_refused);
        if (options->ca.n > 0) {
            status = use_ca(ssl, options->ca, NULL);
        } else {
            SSL_CTX_set_default_verify_paths(ssl);
        }
    }
    if (status != NULL) {
        SSL_CTX_free(ssl);
        return status;
    }
    struct tls_context *context = context_new(ssl);

    context->offers_http2 = options->offers_http2;
    context->is_insecure = options->is_insecure;
    *ret = context;
    return NULL;
}

struct tls_context *tls_context_ref(struct tls_context *context)
{
    context->refs++;
    return context;
}

void tls_context_unref(struct tls_context *context)
{
    if (context != NULL && --context->refs == 0) {
        SSL_CTX_free(context->ssl);
        BIO_meth_free(context->bio);
        free(context);
    }
}

/* What the certificate is good for, as Go says it: "10.0.0.1, kubernetes". */
static struct str names_text(struct arena *arena, X509 *leaf)
{
    GENERAL_NAMES *names = leaf != NULL ? X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL) : NULL;
    struct str text = {0};

    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        const ASN1_STRING *string = name->type == GEN_DNS || name->type == GEN_IPADD ? name->d.ia5 : NULL;
        char ip[INET6_ADDRSTRLEN];

        if (string == NULL || text.n > 1000) {
            continue;
        }
        if (name->type == GEN_IPADD) {
            inet_ntop(ASN1_STRING_length(string) == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(string), ip, sizeof(ip));
            text = arena_printf(arena, "%.*s%s%s", STR_ARG(text), text.n ? ", " : "", ip);
        } else {
            text = arena_printf(arena, "%.*s%s%.*s", STR_ARG(text), text.n ? ", " : "", ASN1_STRING_length(string),
                                (const char *)ASN1_STRING_get0_data(string));
        }
    }
    GENERAL_NAMES_free(names);
    return text;
}

struct status *tls_verify_error(struct tls_stream *tls, long result)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str names;

    switch (result) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        names = names_text(arena, tls->refused);
        return names.n > 0 ? status_new(STATUS_SERVICE_UNAVAILABLE,
                                        "tls: failed to verify certificate: x509: certificate is valid for %.*s, not %s",
                                        STR_ARG(names), tls->host)
                           : status_new(STATUS_SERVICE_UNAVAILABLE,
                                        "tls: failed to verify certificate: x509: certificate is not valid for any "
                                        "names, but wanted to match %s",
                                        tls->host);
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return status_new(STATUS_SERVICE_UNAVAILABLE,
                          "tls: failed to verify certificate: x509: certificate has expired or is not yet valid");
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        return status_new(STATUS_SERVICE_UNAVAILABLE,
                          "tls: failed to verify certificate: x509: certificate signed by unknown authority");
    default:
        return status_new(STATUS_SERVICE_UNAVAILABLE, "tls: failed to verify certificate: x509: %s",
                          X509_verify_cert_error_string(result));
    }
}
