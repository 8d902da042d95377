/* What the files of TLS share: tls_context.c has certificates and rules, tls.c the streams. */
#ifndef NET_TLS_PARTS_H
#define NET_TLS_PARTS_H

#include "base/buf.h"
#include "base/env.h"
#include "net/tls.h"

#include <openssl/ssl.h>

enum { TLS_DIRECTIONS = 2, TLS_HOST_MAX = 253 };

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
    char host[TLS_HOST_MAX + 1];
    struct env_timer *close_timer;
    struct {
        env_fn *fn;
        void *arg;
    } armed[TLS_DIRECTIONS];
    bool *gone; /* while a call is out that may close the stream: where to say so */
};

/* Why the other end's certificate was refused, in Go's words. */
struct status *tls_verify_error(struct tls_stream *tls, long result);

#endif
