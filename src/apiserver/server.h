/* The API server's own state, for the files of this room. One event-loop thread owns it. */
#ifndef APISERVER_SERVER_H
#define APISERVER_SERVER_H

#include "apiserver/authn/service_account.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/options.h"
#include "apiserver/request.h"
#include "apiserver/resource.h"
#include "base/map.h"
#include "base/task.h"

struct openapi;
struct serving;
struct tls_context;
struct webhook;

struct apiserver {
    const struct apiserver_options *options;
    struct store *store;
    struct resources resources;
    struct map paths; /* of what is no resource -> struct path */
    struct serving *serving; /* of custom resources (custom/serving.h) */
    struct openapi *openapi; /* what openapi/openapi.c keeps */
    /* authentication */
    struct authn_file *tokens, *passwords; /* NULL: none */
    struct authn_certificates *certificates;
    struct str_list issuers, audiences;
    struct crypto_key **verify_keys;
    size_t verify_key_count;
    struct crypto_key *sign_key; /* NULL: no tokens are made */
    /* authorization */
    struct abac *abac;
    struct webhook *webhook; /* NULL: none is asked */
    /* kubelets */
    struct tls_context *kubelet_tls;
    struct task_lock service_lock; /* one allocation of addresses and ports at a time */
    struct str advertised;         /* address at which the cluster reaches this server; empty before it listens */
    int port;                      /* where it listens */
    bool is_ready;                 /* what a cluster needs from the start is there */
    bool is_stopping;
    size_t reading, writing;       /* requests being served, long-running ones and those of system:masters not counted */
    struct task_group background;  /* what the server does by itself */
    struct arena *arena; /* lives as long as the server */
};

/* What an answer to a path that is no resource is made by. request->accepted is JSON unless the handler negotiates. An
 * error is answered as a Status. */
typedef struct status *path_handler(struct request *request);

/* Serves `path` (without a slash at its end) by the handler; one that ends in a slash takes everything below it too, and
 * the longest such path counts. The text must live on. All methods come to the handler. Authentication and authorization
 * have been done. */
void apiserver_handle(struct apiserver *server, const char *path, path_handler *handler);

/* Parts of the server that its core knows nothing of: discovery, OpenAPI, what a fresh cluster holds. The list is in
 * extensions.c. Any function may be NULL. */
struct apiserver_extension {
    const char *name;
    /* Once, when options and resources are known: registers paths. */
    struct status *(*open)(struct apiserver *server);
    /* In a task of the running server, before it says that it is ready: writes what must be there. */
    struct status *(*bootstrap)(struct apiserver *server);
};

extern const struct apiserver_extension *const apiserver_extensions[]; /* ends with NULL */

/* Reads the files that the options name and opens the caches; takes `store`. `options` must live as long as the server.
 * May be called before the loop runs. */
MUST_USE struct status *apiserver_new(const struct apiserver_options *options, struct store *store,
                                      struct apiserver **ret);
/* Runs the extensions' bootstraps, then is_ready. Parks. */
MUST_USE struct status *apiserver_bootstrap(struct apiserver *server);
/* The handler (net/http.h) of all requests; `arg` is the server. */
void apiserver_serve(struct http_exchange *exchange, void *arg);
/* Watches end from now on. */
void apiserver_stop(struct apiserver *server);
/* No request may be left. Closes the store. Parks. */
MUST_USE struct status *apiserver_free(struct apiserver *server);

/* Drops the server as a crash would: what the store had not written is lost. For simulation. Parks. */
void apiserver_abandon(struct apiserver *server);

/* A resource of the built-in kinds by version and plural; never NULL. */
const struct resource *apiserver_resource(const struct apiserver *server, const char *group, const char *version,
                                          const char *plural);
/* A request that the server makes to itself, as system:apiserver (in system:masters): for registry_store_new() and
 * registry_change(). Its objects are kept in the arena. `verb` is create, update, ...; the resource is set. */
struct request *request_internal(struct apiserver *server, struct arena *arena, const struct resource *resource,
                                 const char *verb);

#endif
