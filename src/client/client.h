/* The one door between components: typed requests to a Kubernetes API server.
 *
 * Every call parks the running task until the server has answered. Objects are the generated structs of api/; results
 * are decoded into the caller's arena. Built-in kinds travel as protobuf, all others as JSON. A failure carries the
 * server's Status (reason, message, causes); when no answer came the reason is SERVICE_UNAVAILABLE (not reached),
 * TIMEOUT or CANCELLED. A client may be used by any number of tasks on its thread. */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "base/arena.h"
#include "base/status.h"
#include "net/http.h"

struct client;
struct kind; /* schema/type.h */

struct client_options {
    struct str user_agent;     /* also the default field manager; "c8s-kubelet" */
    struct str authorization;  /* value of the header, such as "Bearer ..."; empty: none */
    struct str token_path;     /* file of a bearer token that is renewed there: read again every minute; empty: none */
    struct str impersonate;    /* user name; empty: none */
    struct str field_manager;  /* for writes; empty: the user agent */
    struct str path_prefix;    /* before every path; usually empty */
    struct str traceparent;    /* header that joins the server's trace to the caller's; empty: none */
    bool json_only;            /* never protobuf */
};

/* Takes `http`, copies the options. */
struct client *client_new(struct http_client *http, const struct client_options *options);
/* Another user over the connection of `with`, which must outlive it; only what says who asks is taken of the options. */
struct client *client_new_sharing(struct client *with, const struct client_options *options);
/* From the next request on. */
void client_set_authorization(struct client *client, struct str authorization);
void client_free(struct client *client);

/* Parameters of a list or watch; the zero value asks for everything. */
struct client_list_options {
    struct str label_selector, field_selector;
    struct str resource_version, resource_version_match, continue_token;
    int64_t limit;
    int64_t timeout_seconds; /* of a watch: the server ends it then; 0: the server's choice */
};

/* Parameters of a write; the zero value is the usual write. */
struct client_write_options {
    bool dry_run;
    bool force;                  /* server-side apply */
    struct str field_manager;    /* instead of the client's */
    struct str field_validation; /* Strict, Warn, Ignore; empty: none sent */
};

struct client_delete_options {
    bool dry_run;
    const int64_t *grace_period_seconds; /* NULL: the object's own */
    struct str propagation;              /* Background, Foreground, Orphan; empty: the kind's default */
    struct str uid, resource_version;    /* preconditions; empty: none */
};

enum client_patch_type { CLIENT_PATCH_JSON, CLIENT_PATCH_MERGE, CLIENT_PATCH_STRATEGIC, CLIENT_PATCH_APPLY };

/* Namespaces are empty for cluster-scoped kinds; for a list, empty means all namespaces. `ret_object` may be NULL when
 * the answer does not matter. */
MUST_USE struct status *client_get(struct client *client, const struct kind *kind, struct str namespace,
                                   struct str name, struct arena *arena, void **ret_object);
/* *ret_list is the kind's list struct, all pages together unless options->limit is set. options may be NULL. */
MUST_USE struct status *client_list(struct client *client, const struct kind *kind, struct str namespace,
                                    const struct client_list_options *options, struct arena *arena, void **ret_list);
/* Namespace and name are those in the object's metadata. options may be NULL. */
MUST_USE struct status *client_create(struct client *client, const struct kind *kind, const void *object,
                                      const struct client_write_options *options, struct arena *arena,
                                      void **ret_object);
/* subresource: empty, "status", ... */
MUST_USE struct status *client_update(struct client *client, const struct kind *kind, struct str subresource,
                                      const void *object, const struct client_write_options *options,
                                      struct arena *arena, void **ret_object);
MUST_USE struct status *client_patch(struct client *client, const struct kind *kind, struct str namespace,
                                     struct str name, struct str subresource, enum client_patch_type type,
                                     struct str patch, const struct client_write_options *options,
                                     struct arena *arena, void **ret_object);
MUST_USE struct status *client_delete(struct client *client, const struct kind *kind, struct str namespace,
                                      struct str name, const struct client_delete_options *options);
/* POST of `object` (of kind `sub_kind`) to a subresource of kind/name: binding, eviction, token. The answer, if wanted,
 * is of `sub_kind` too. */
MUST_USE struct status *client_create_sub(struct client *client, const struct kind *kind, struct str namespace,
                                          struct str name, struct str subresource, const struct kind *sub_kind,
                                          const void *object, struct arena *arena, void **ret_object);

/* A running watch. */
struct client_watch;

enum client_event_type { CLIENT_ADDED, CLIENT_MODIFIED, CLIENT_DELETED, CLIENT_BOOKMARK };

struct client_event {
    enum client_event_type type;
    struct arena *arena; /* holds the object; the receiver's to free */
    void *object;
};

MUST_USE struct status *client_watch_open(struct client *client, const struct kind *kind, struct str namespace,
                                          const struct client_list_options *options, struct client_watch **ret_watch);
/* Parks until an event comes. TIMEOUT at the deadline, EXPIRED when the server says so (list again), SERVICE_UNAVAILABLE
 * when the connection or the watch ended (watch again from the last resourceVersion). */
MUST_USE struct status *client_watch_next(struct client_watch *watch, int64_t deadline,
                                          struct client_event *ret_event);
void client_watch_close(struct client_watch *watch);

/* Any request, with the client's credentials: discovery, raw paths, logs. The response is the caller's, whatever its
 * code; client_error() makes a status of one that is not 2xx (reads its body). */
MUST_USE struct status *client_request(struct client *client, struct http_request *request,
                                       struct http_response **ret_response);
MUST_USE struct status *client_error(struct http_response *response);
/* For connections that are upgraded: gives the request the client's headers and path, in the arena, and says whom to send
 * it by. May park. */
struct http_client *client_dress(struct client *client, struct arena *arena, struct http_request *request);
/* As client_request(), reading the whole body (at most 64 MiB) and turning codes outside 2xx into a status. `accept` may be
 * empty (JSON). */
MUST_USE struct status *client_get_raw(struct client *client, struct str path, struct str accept, struct arena *arena,
                                       struct str *ret_body);

/* The path of a resource: /apis/apps/v1/namespaces/NS/deployments/NAME/SUB, leaving out what is empty. */
struct str client_path(struct arena *arena, const struct kind *kind, struct str namespace, struct str name,
                       struct str subresource);

#endif
