/* TLS over any stream.
 *
 * A context holds one side's certificates and rules, and serves any number of streams. A TLS stream shakes hands by itself
 * with its first read or write; tls_handshake() does it by name. TLS 1.2 and 1.3, session tickets, ALPN. */
#ifndef NET_TLS_H
#define NET_TLS_H

#include "net/stream.h"

struct tls_context;

struct tls_server_options {
    struct str certificate; /* PEM: the server's own first, then intermediates */
    struct str key;         /* PEM */
    struct str client_ca;   /* PEM bundle; a client is asked for a certificate when not empty */
    bool asks_client;       /* ask also without client_ca (what comes cannot be verified then) */
    bool requires_client;   /* a client without a verified certificate is turned away in the handshake; else it is let
                               in and tls_peer() tells what it showed */
    bool offers_http2;      /* by ALPN, before http/1.1 */
};

struct tls_client_options {
    struct str ca;          /* PEM bundle; empty: the system's */
    bool is_insecure;       /* take any server certificate */
    struct str certificate; /* PEM, shown when the server asks; with `key` */
    struct str key;
    bool offers_http2;
};

/* BAD_REQUEST when the PEM is not right, with what is wrong. */
MUST_USE struct status *tls_server_new(const struct tls_server_options *options, struct tls_context **ret);
MUST_USE struct status *tls_client_new(const struct tls_client_options *options, struct tls_context **ret);
/* New connections use these from now on; on an error all stays as it was. */
MUST_USE struct status *tls_server_reload(struct tls_context *context, const struct tls_server_options *options);
struct tls_context *tls_context_ref(struct tls_context *context);
/* NULL is fine. */
void tls_context_unref(struct tls_context *context);

/* Takes `inner`, which is closed with the TLS stream. Neither parks. */
struct stream *tls_accept(struct tls_context *context, struct stream *inner);
/* `server_name`, a host name or an IP address, is what the server's certificate must be for. */
struct stream *tls_connect(struct tls_context *context, struct stream *inner, struct str server_name);
/* Before the handshake: HTTP/1.1 only, whatever the context offers. */
void tls_offer_http1(struct stream *stream);
/* Parks until the handshake is done. What went wrong is told in Go's words ("x509: certificate signed by unknown
 * authority"). */
MUST_USE struct status *tls_handshake(struct stream *stream, int64_t deadline);

/* Known once the handshake is done, which the first byte read shows. */
struct tls_peer {
    struct str certificate; /* the leaf's DER, borrowed from the stream; empty when none was shown */
    bool is_verified;       /* its chain leads to one of our CAs, is valid now and for this use */
    bool is_http2;          /* what ALPN chose */
};

void tls_peer(struct stream *stream, struct tls_peer *ret);

#endif
