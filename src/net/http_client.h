/* Requests over the network to one server: TCP or a unix socket, TLS or plain, HTTP/1.1 or HTTP/2.
 *
 * Connects when first needed, keeps connections for later requests, and connects again after one broke. Any number of
 * tasks may ask at once: HTTP/2 carries them over one connection, HTTP/1.1 takes one each. A request that the server
 * surely did not begin with is sent again; for others a broken connection is SERVICE_UNAVAILABLE. All on one thread. */
#ifndef NET_HTTP_CLIENT_H
#define NET_HTTP_CLIENT_H

#include "net/http.h"
#include "net/tls.h"

enum http_client_protocol {
    HTTP_CLIENT_AUTO, /* what ALPN chooses, HTTP/1.1 without TLS; upgrades are asked for over HTTP/1.1 always */
    HTTP_CLIENT_1,
    HTTP_CLIENT_2, /* also without TLS and ALPN: gRPC */
};

/* The zero value of each but the address is a good one. */
struct http_client_options {
    struct str address;      /* socket_dial()'s: "127.0.0.1:6443", "unix:/run/x.sock" */
    struct tls_context *tls; /* shared; NULL: plain. HTTP/2 by ALPN only when it offers that. */
    struct str server_name;  /* whom the certificate must be for (and SNI); empty: the address's host */
    struct str authority;    /* the Host header; empty: the address ("localhost" for a unix socket) */
    enum http_client_protocol protocol;
    int64_t dial_timeout; /* for connecting and the TLS handshake; 0: 30 s */
    int64_t idle_timeout; /* until an unused connection is closed; 0: 90 s */
    /* Instead of dialling the address: simulation, tunnels. */
    struct status *(*dial)(void *arg, int64_t deadline, struct stream **ret);
    void *dial_arg;
};

/* Copies the options. Never connects. For http_do() and http_client_free() (net/http.h); all responses must be closed
 * before the latter. */
struct http_client *http_client_new(const struct http_client_options *options);
/* New connections use this context (shared) from now on; responses that are open go on over the old. For certificates
 * that were renewed. */
void http_client_set_tls(struct http_client *client, struct tls_context *tls);
/* Closes connections without a request under way. */
void http_client_close_idle(struct http_client *client);

#endif
