/* One request on its way through the API server: what every room of it gets to see. Lives in the exchange's arena. */
#ifndef APISERVER_REQUEST_H
#define APISERVER_REQUEST_H

#include "apiserver/negotiate.h"
#include "apiserver/route.h"
#include "apiserver/user.h"

#include "base/trace.h"
#include "net/http.h"
#include "schema/type.h"

struct apiserver;
struct resource;

struct request {
    struct apiserver *server;
    struct http_exchange *exchange;
    struct arena *arena;
    struct request_info info;
    const struct user *user; /* who counts: the impersonated one, if any */
    const struct resource *resource;      /* NULL: none of that name */
    const struct subresource *subresource; /* NULL: the resource itself */
    struct accepted accepted;
    struct str_list warnings; /* texts of Warning headers, in order */
    struct str continue_token; /* of an error that tells where to go on */
    struct str audit_id;      /* a UUID of this request */
    struct str trace_id;      /* of the traceparent header; empty: none */
    struct request_spans {
        struct trace_span *items;
        size_t len;
    } spans; /* emitted at the end, when the object's uid is known */
    struct str uid;           /* of the object this is about, once known; for the trace */
    int64_t start;            /* env_wall() */
    bool holds_service_lock;  /* between a service's allocate and finish */
    bool is_long_running;     /* watches, logs, upgrades: outside of limits */
};

struct str request_header(const struct request *request, const char *name);
/* Keeps the span until the request ends; `end` 0 means now, text is copied. Of reads and heartbeats only failures are
 * kept, lest they push the steps of pods out of the ring. */
void request_trace(struct request *request, const struct trace_span *span);
/* Emits what was kept, with what the request knows by now: its trace id, the object's uid and place. */
void request_trace_emit(struct request *request);
/* Adds a warning once; `format` as printf's. */
void request_warn(struct request *request, const char *format, ...) PRINTF_LIKE(2, 3);
/* The manager that field ownership is written under: the one asked for, else the user agent's first part. */
struct str request_field_manager(const struct request *request, struct str asked);

#endif
