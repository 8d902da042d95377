/* One request on its way through the API server: what every room of it gets to see. Lives in the exchange's arena. */
#ifndef APISERVER_REQUEST_H
#define APISERVER_REQUEST_H

#include "apiserver/negotiate.h"
#include "apiserver/route.h"
#include "apiserver/user.h"

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
    struct str trace_id;      /* of the traceparent header; empty: none */
    struct str uid;           /* of the object this is about, once known; for the trace */
    int64_t start;            /* env_wall() */
    bool is_long_running;     /* watches, logs, upgrades: outside of limits */
};

struct str request_header(const struct request *request, const char *name);
/* Adds a warning once; `format` as printf's. */
void request_warn(struct request *request, const char *format, ...) PRINTF_LIKE(2, 3);
/* The manager that field ownership is written under: the one asked for, else the user agent's first part. */
struct str request_field_manager(const struct request *request, struct str asked);

#endif
