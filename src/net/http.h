/* HTTP as the rest of c8s sees it: one request and its answer, whatever carried it (HTTP/1.1, HTTP/2, or a call inside
 * the process under simulation).
 *
 * Server side: a handler gets a `struct http_exchange` in a task of its own, reads the body, starts the answer, writes,
 * and returns. Client side: http_do() on a `struct http_client` (net/http_client.h) gives a `struct http_response`
 * whose body is read as it comes. Names of headers are lower case. */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include "base/arena.h"
#include "base/status.h"
#include "net/stream.h"

struct http_header {
    struct str name; /* lower case */
    struct str value;
};

struct http_headers {
    struct http_header *items;
    size_t len;
};

/* The first value; empty (p NULL) when absent. */
struct str http_header_find(const struct http_headers *headers, struct str name);
void http_header_add(struct arena *arena, struct http_headers *headers, struct str name, struct str value);
/* Removes every one with that name. */
void http_header_remove(struct http_headers *headers, struct str name);
/* Whether one of the comma-separated tokens of the headers with that name is `token`, whatever the case:
 * http_header_has_token(&headers, STR("connection"), STR("upgrade")). */
bool http_header_has_token(const struct http_headers *headers, struct str name, struct str token);
/* "Not Found" for 404; empty for a code without a text. */
struct str http_code_text(int code);

/* Who is at the other end. */
struct http_peer {
    struct str address;     /* "127.0.0.1:4711"; "@" for a unix socket or in-process call */
    bool is_tls;
    struct str certificate; /* the client's leaf certificate, DER; empty when it sent none. The chain has been verified
                               against the server's client CAs when is_verified. */
    bool is_verified;
};

struct http_exchange;

struct http_exchange_ops {
    struct status *(*read)(struct http_exchange *exchange, void *bytes, size_t size, size_t *ret_size);
    struct status *(*start)(struct http_exchange *exchange, int code, const struct http_headers *headers);
    struct status *(*write)(struct http_exchange *exchange, struct str bytes);
    struct status *(*end)(struct http_exchange *exchange, const struct http_headers *trailers);
    struct status *(*upgrade)(struct http_exchange *exchange, const struct http_headers *headers,
                              struct stream **ret_stream);
    bool (*is_gone)(struct http_exchange *exchange);
};

/* One request being served. Everything borrowed lives until the handler returns. */
struct http_exchange {
    const struct http_exchange_ops *ops;
    struct arena *arena; /* the request's memory, freed after the handler returns */
    struct str method;   /* "GET" */
    struct str path;     /* as sent, still percent-encoded, without the query */
    struct str query;    /* without "?", still encoded */
    struct str authority; /* Host or :authority */
    struct http_headers headers;
    struct http_peer peer;
    int version; /* 11 or 20 */
    /* What has been done so far, kept by the functions below. */
    bool is_started, is_ended;
    int code; /* of the answer once started */
};

/* Called in a task of its own, which is cancelled when the client goes away. */
typedef void http_handler(struct http_exchange *exchange, void *arg);

/* Reads more of the body; *ret_size is 0 at its end. */
MUST_USE struct status *http_read(struct http_exchange *exchange, void *bytes, size_t size, size_t *ret_size);
/* The whole body into the exchange's arena; REQUEST_ENTITY_TOO_LARGE beyond `max` bytes. */
MUST_USE struct status *http_read_all(struct http_exchange *exchange, size_t max, struct str *ret_body);
/* Sends code and headers. A body of unknown length follows unless there is a content-length. */
MUST_USE struct status *http_start(struct http_exchange *exchange, int code, const struct http_headers *headers);
/* Sends part of the body; parks while the client is slower than we are. The bytes are copied or sent before it returns.
 * Data is flushed at once: what is written reaches the client without waiting for more. */
MUST_USE struct status *http_write(struct http_exchange *exchange, struct str bytes);
/* Ends the answer; trailers may be NULL. Done by the server itself when the handler returns without it. */
MUST_USE struct status *http_end(struct http_exchange *exchange, const struct http_headers *trailers);
/* Start, write and end in one go, with content-length. */
MUST_USE struct status *http_respond(struct http_exchange *exchange, int code, const struct http_headers *headers,
                                     struct str body);
/* HTTP/1.1 only: answers 101 with `headers` (which must name the protocol in `upgrade`; `connection` is added) and
 * hands over the connection, bytes already read included. The stream is the caller's, and may outlive the exchange. */
MUST_USE struct status *http_upgrade(struct http_exchange *exchange, const struct http_headers *headers,
                                     struct stream **ret_stream);
/* The client is gone; nothing more need be computed. */
bool http_is_gone(struct http_exchange *exchange);

/* Decodes %XX (and "+" as a space when `is_form`) into the arena; BAD_REQUEST for a broken escape. */
MUST_USE struct status *http_unescape(struct arena *arena, struct str text, bool is_form, struct str *ret);
/* The first value of a query parameter, decoded; false when absent. */
bool http_query_find(struct arena *arena, struct str query, struct str name, struct str *ret_value);
/* The next one: for (struct str rest = query, name, value; http_query_next(arena, &rest, &name, &value);) */
bool http_query_next(struct arena *arena, struct str *rest, struct str *ret_name, struct str *ret_value);
/* Escapes all but letters, digits and "-_.~"; good for a path segment and for a query value. */
struct str http_escape(struct arena *arena, struct str text);

/* What a client sends. */
struct http_request {
    struct str method;
    struct str target; /* path and query, encoded */
    struct http_headers headers;
    struct str body;      /* sent whole with content-length, unless... */
    bool wants_upgrade;   /* HTTP/1.1 with `connection: upgrade`; the response then carries a stream */
    int64_t deadline;     /* env_mono() until the response has started; 0 or TASK_FOREVER: none */
};

struct http_response;

struct http_response_ops {
    struct status *(*read)(struct http_response *response, void *bytes, size_t size, int64_t deadline,
                           size_t *ret_size);
    void (*close)(struct http_response *response);
};

struct http_response {
    const struct http_response_ops *ops;
    struct arena *arena; /* the response's own; freed by http_response_close() */
    int code;
    struct http_headers headers;
    struct http_headers trailers; /* complete once reading has reached the end */
    struct stream *upgraded;      /* after 101; closed with the response */
};

/* *ret_size is 0 at the end of the body. */
MUST_USE struct status *http_response_read(struct http_response *response, void *bytes, size_t size, int64_t deadline,
                                           size_t *ret_size);
/* The rest of the body into `arena`, at most `max` bytes. */
MUST_USE struct status *http_response_read_all(struct http_response *response, struct arena *arena, size_t max,
                                               struct str *ret_body);
/* Gives the connection back for other requests, or drops it when the body was not read to its end. NULL is fine. */
void http_response_close(struct http_response *response);

/* Something that carries requests to one server: http_client_new() over the network, or a call in-process (sim/). */
struct http_client;

struct http_client_ops {
    struct status *(*call)(struct http_client *client, const struct http_request *request,
                         struct http_response **ret_response);
    void (*free)(struct http_client *client);
};

struct http_client {
    const struct http_client_ops *ops;
};

/* Sends the request and parks until the response has started. The response is the caller's. */
MUST_USE struct status *http_do(struct http_client *client, const struct http_request *request,
                                struct http_response **ret_response);
void http_client_free(struct http_client *client);

#endif
