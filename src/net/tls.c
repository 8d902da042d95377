#include "net/tls_parts.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/task.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

enum { WRITE_MAX = 64 << 10 }; /* encrypted before the stream below is asked to take it */

#define CLOSE_TIMEOUT (5 * ENV_SECOND) /* for what was written before closing to be taken */

static struct tls_stream *self(struct stream *stream)
{
    return CONTAINER_OF(stream, struct tls_stream, stream);
}

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
        status = tls_verify_error(tls, SSL_get_verify_result(tls->ssl));
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

    memcpy(tls->host, server_name.p ? server_name.p : "", MIN(server_name.n, (size_t)TLS_HOST_MAX));
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
    ret->certificate =
        (struct str){(const char *)tls->peer_der, tls->peer_der_size > 0 ? (size_t)tls->peer_der_size : 0};
    ret->is_verified = ret->certificate.n > 0 && SSL_get_verify_result(tls->ssl) == X509_V_OK;
    ret->is_http2 = size == 2 && memcmp(protocol, "h2", 2) == 0;
}
