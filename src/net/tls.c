#include "net/tls.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/task.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIRECTIONS = 2,
    WRITE_MAX = 64 << 10, /* encrypted before the stream below is asked to take it */
    HOST_MAX = 253,
};
#define CLOSE_TIMEOUT (5 * ENV_SECOND) /* for what was written before closing to be taken */

struct tls_context {
    int refs;
    SSL_CTX *ssl; /* replaced by a reload; streams keep their own reference */
    BIO_METHOD *bio;
    bool offers_http2;
    bool is_insecure;
};

struct tls_stream {
    struct stream stream;
    struct stream *inner;
    struct tls_context *context;
    SSL *ssl;
    struct buf out;        /* encrypted, not yet taken by `inner` */
    bool read_blocked;     /* all that came has been decrypted and read */
    bool pumping;          /* waiting for `inner` to take more of `out` */
    bool posted;           /* a call of tls_tell() is on its way */
    bool closed;           /* by its owner */
    bool eof;              /* `inner` has ended */
    bool shut;
    struct status *failed; /* of `inner`, to be told by the call that met it */
    X509 *refused;         /* the server's certificate, when it is for another name */
    unsigned char *peer_der;
    int peer_der_size;
    char host[HOST_MAX + 1];
    struct env_timer *close_timer;
    struct {
        env_fn *fn;
        void *arg;
    } armed[DIRECTIONS];
    bool *gone; /* while a call is out that may close the stream: where to say so */
};

static struct tls_stream *self(struct stream *stream)
{
    return CONTAINER_OF(stream, struct tls_stream, stream);
}

/* Contexts */

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

/* Streams */

static void tls_free(struct tls_stream *tls)
{
    env_timer_stop(tls->close_timer);
    stream_close(tls->inner);
    SSL_free(tls->ssl);
    X509_free(tls->refused);
    OPENSSL_free(tls->peer_der);
    status_free(tls->failed);
    buf_done(&tls->out);
    tls_context_unref(tls->context);
    free(tls);
}

/* The call that was armed. True when it closed the stream, which may be freed then. */
static bool fire(struct tls_stream *tls, unsigned event)
{
    env_fn *fn = tls->armed[event - 1].fn;
    bool gone = false;

    if (fn == NULL) {
        return false;
    }
    tls->armed[event - 1].fn = NULL;
    tls->gone = &gone;
    fn(tls->armed[event - 1].arg);
    if (!gone) {
        tls->gone = NULL;
    }
    return gone;
}

static void pump(void *arg);

/* Gives `inner` what it takes of the encrypted bytes, and asks to be called for the rest. */
static struct status *flush(struct tls_stream *tls)
{
    size_t done = 0, taken = 1;
    struct status *status = NULL;

    while (status == NULL && done < tls->out.n && taken > 0) {
        status = stream_write_now(tls->inner, tls->out.p + done, tls->out.n - done, &taken);
        done += status == NULL ? taken : 0;
    }
    if (status != NULL || done == tls->out.n) {
        buf_done(&tls->out); /* an idle connection holds no buffer */
        if (tls->pumping) {
            tls->pumping = false;
            stream_arm(tls->inner, ENV_WRITABLE, NULL, NULL);
        }
        return status;
    }
    buf_consume(&tls->out, done);
    if (!tls->pumping) {
        tls->pumping = true;
        stream_arm(tls->inner, ENV_WRITABLE, pump, tls);
    }
    return NULL;
}

static void pump(void *arg)
{
    struct tls_stream *tls = arg;

    tls->pumping = false;
    status_free(flush(tls)); /* a broken stream tells so again when it is next written */
    if (tls->out.n > 0) {
        return;
    }
    if (!tls->closed) {
        fire(tls, ENV_WRITABLE);
    } else if (!tls->posted) {
        tls_free(tls);
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

static struct status *verify_error(struct tls_stream *tls, long result)
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

/* A client that speaks plain HTTP is told so, as Go's server does. */
static void answer_plain_http(struct tls_stream *tls)
{
    static const char answer[] = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

    buf_clear(&tls->out);
    buf_add(&tls->out, answer, sizeof(answer) - 1);
    status_free(flush(tls));
}

/* The status of a call that failed for good. */
static struct status *failure(struct tls_stream *tls)
{
    unsigned long error = ERR_peek_error();
    int reason = ERR_GET_REASON(error);
    struct status *status;

    ERR_clear_error();
    if (tls->failed != NULL) {
        return TAKE(tls->failed);
    }
    if (error == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, SSL_is_init_finished(tls->ssl) ? "unexpected EOF" : "EOF");
    }
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        status = verify_error(tls, SSL_get_verify_result(tls->ssl));
    } else if (reason == SSL_R_HTTP_REQUEST) {
        answer_plain_http(tls);
        return status_new(STATUS_SERVICE_UNAVAILABLE, "client sent an HTTP request to an HTTPS server");
    } else if (reason == SSL_R_WRONG_VERSION_NUMBER) {
        status = status_new(STATUS_SERVICE_UNAVAILABLE, "tls: first record does not look like a TLS handshake");
    } else {
        const char *text = ERR_reason_error_string(error);

        status = status_new(STATUS_SERVICE_UNAVAILABLE, "tls: %s", text != NULL ? text : "protocol error");
    }
    status_free(flush(tls)); /* the alert that tells the other end */
    return status;
}

/* What an SSL call that gave nothing means: NULL with *ret_blocked or without (the orderly end), or the failure. */
static struct status *settle(struct tls_stream *tls, int result, bool *ret_blocked)
{
    int error = SSL_get_error(tls->ssl, result);

    *ret_blocked = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    if (*ret_blocked) {
        tls->read_blocked = true;
        return flush(tls);
    }
    return error == SSL_ERROR_ZERO_RETURN ? NULL : failure(tls);
}

static struct status *tls_read_now(struct stream *stream, void *bytes, size_t size, size_t *ret_size)
{
    struct tls_stream *tls = self(stream);
    size_t got = 0;
    bool blocked = false;

    ERR_clear_error();
    int result = SSL_read_ex(tls->ssl, bytes, size, &got);

    if (result != 1) {
        TRY(settle(tls, result, &blocked));
    } else if (tls->out.n > 0 && !tls->pumping) {
        status_free(flush(tls)); /* the end of a handshake */
    }
    *ret_size = blocked ? STREAM_BLOCKED : got;
    return NULL;
}

static struct status *tls_write_now(struct stream *stream, const void *bytes, size_t size, size_t *ret_size)
{
    struct tls_stream *tls = self(stream);
    size_t done = 0;
    bool blocked = false;

    if (tls->out.n > 0) {
        TRY(flush(tls));
    }
    while (tls->out.n < WRITE_MAX && done < MIN(size, (size_t)WRITE_MAX) && !blocked && !tls->pumping) {
        size_t taken = 0;

        ERR_clear_error();
        int result = SSL_write_ex(tls->ssl, (const char *)bytes + done, MIN(size, (size_t)WRITE_MAX) - done, &taken);

        if (result != 1) {
            TRY(settle(tls, result, &blocked));
            blocked = true;
        }
        done += taken;
    }
    if (tls->out.n > 0 && !tls->pumping) {
        TRY(flush(tls));
    }
    *ret_size = done;
    return NULL;
}

static void tell(void *arg)
{
    struct tls_stream *tls = arg;

    tls->posted = false;
    if (tls->closed) {
        if (!tls->pumping) {
            tls_free(tls);
        }
        return;
    }
    if (!tls->read_blocked && fire(tls, ENV_READABLE)) {
        return;
    }
    if (tls->out.n == 0) {
        fire(tls, ENV_WRITABLE);
    }
}

static void tell_soon(struct tls_stream *tls)
{
    if (!tls->posted) {
        tls->posted = true;
        env_post(tell, tls);
    }
}

static void inner_readable(void *arg)
{
    struct tls_stream *tls = arg;

    tls->read_blocked = false;
    if (!fire(tls, ENV_READABLE) && tls->armed[ENV_WRITABLE - 1].fn != NULL && tls->out.n == 0) {
        fire(tls, ENV_WRITABLE); /* a writer waits for the handshake */
    }
}

static void tls_arm(struct stream *stream, unsigned event, env_fn *fn, void *arg)
{
    struct tls_stream *tls = self(stream);
    bool is_write = event == ENV_WRITABLE;

    tls->armed[event - 1].fn = fn;
    tls->armed[event - 1].arg = arg;
    if (fn == NULL || (is_write && tls->out.n > 0)) {
        return;
    }
    if (tls->read_blocked && (!is_write || !SSL_is_init_finished(tls->ssl))) {
        stream_arm(tls->inner, ENV_READABLE, inner_readable, tls);
    } else {
        tell_soon(tls);
    }
}

static void tls_shut(struct stream *stream)
{
    struct tls_stream *tls = self(stream);

    if (!tls->shut && SSL_is_init_finished(tls->ssl)) {
        tls->shut = true;
        ERR_clear_error();
        SSL_shutdown(tls->ssl);
        ERR_clear_error();
        status_free(flush(tls));
    }
}

static void close_timed_out(void *arg)
{
    struct tls_stream *tls = arg;

    tls->close_timer = NULL;
    tls->pumping = false;
    if (!tls->posted) {
        tls_free(tls);
    }
}

static void tls_close(struct stream *stream)
{
    struct tls_stream *tls = self(stream);

    tls_shut(stream);
    if (tls->gone != NULL) {
        *tls->gone = true;
    }
    tls->closed = true;
    stream_arm(tls->inner, ENV_READABLE, NULL, NULL);
    if (tls->out.n > 0 && tls->pumping) {
        tls->close_timer = env_timer(CLOSE_TIMEOUT, close_timed_out, tls);
    } else if (!tls->posted) {
        tls_free(tls);
    }
}

static const struct stream_ops tls_ops = {tls_read_now, tls_write_now, tls_arm, tls_shut, tls_close};

static struct tls_stream *tls_new(struct tls_context *context, struct stream *inner)
{
    struct tls_stream *tls = MEM_NEW(struct tls_stream);
    BIO *bio = BIO_new(context->bio);

    tls->stream.ops = &tls_ops;
    tls->inner = inner;
    tls->context = tls_context_ref(context);
    tls->ssl = SSL_new(context->ssl);
    if (tls->ssl == NULL || bio == NULL) {
        mem_die("out of memory");
    }
    SSL_set_app_data(tls->ssl, tls);
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->ssl, bio, bio);
    return tls;
}

struct stream *tls_accept(struct tls_context *context, struct stream *inner)
{
    struct tls_stream *tls = tls_new(context, inner);

    SSL_set_accept_state(tls->ssl);
    return &tls->stream;
}

struct stream *tls_connect(struct tls_context *context, struct stream *inner, struct str server_name)
{
    struct tls_stream *tls = tls_new(context, inner);
    X509_VERIFY_PARAM *rules = SSL_get0_param(tls->ssl);
    struct in6_addr ip;

    memcpy(tls->host, server_name.p ? server_name.p : "", MIN(server_name.n, (size_t)HOST_MAX));
    SSL_set_connect_state(tls->ssl);
    if (context->offers_http2) {
        SSL_set_alpn_protos(tls->ssl, (const unsigned char *)"\x02h2\x08http/1.1", 12);
    } else {
        SSL_set_alpn_protos(tls->ssl, (const unsigned char *)"\x08http/1.1", 9);
    }
    bool is_ip = inet_pton(AF_INET, tls->host, &ip) == 1 || inet_pton(AF_INET6, tls->host, &ip) == 1;

    if (!is_ip && tls->host[0] != '\0') {
        SSL_set_tlsext_host_name(tls->ssl, tls->host);
    }
    if (!context->is_insecure) {
        X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        if ((is_ip ? X509_VERIFY_PARAM_set1_ip_asc(rules, tls->host)
                   : X509_VERIFY_PARAM_set1_host(rules, tls->host, strlen(tls->host))) != 1) {
            mem_die("out of memory");
        }
    }
    return &tls->stream;
}

void tls_offer_http1(struct stream *stream)
{
    SSL_set_alpn_protos(self(stream)->ssl, (const unsigned char *)"\x08http/1.1", 9);
}

struct status *tls_handshake(struct stream *stream, int64_t deadline)
{
    struct tls_stream *tls = self(stream);

    for (;;) {
        bool blocked = true;

        ERR_clear_error();
        int result = SSL_do_handshake(tls->ssl);

        if (result == 1) {
            return flush(tls);
        }
        TRY(settle(tls, result, &blocked));
        if (!blocked) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "EOF");
        }
        TRY(stream_wait(stream, ENV_READABLE, deadline));
    }
}

void tls_peer(struct stream *stream, struct tls_peer *ret)
{
    struct tls_stream *tls = self(stream);
    const unsigned char *protocol;
    unsigned int size;

    if (tls->peer_der == NULL) {
        X509 *leaf = SSL_get0_peer_certificate(tls->ssl);

        tls->peer_der_size = leaf != NULL ? i2d_X509(leaf, &tls->peer_der) : 0;
    }
    SSL_get0_alpn_selected(tls->ssl, &protocol, &size);
    ret->certificate = (struct str){(const char *)tls->peer_der, tls->peer_der_size > 0 ? (size_t)tls->peer_der_size : 0};
    ret->is_verified = ret->certificate.n > 0 && SSL_get_verify_result(tls->ssl) == X509_V_OK;
    ret->is_http2 = size == 2 && memcmp(protocol, "h2", 2) == 0;
}
