/* What is done with the objects of a resource, verb by verb. Each handler answers the request, or returns the error that
 * is to be answered. request->resource (and subresource) is set, the verb is allowed, the user is authorized. */
#ifndef APISERVER_REGISTRY_REGISTRY_H
#define APISERVER_REGISTRY_REGISTRY_H

#include "apiserver/query.h"
#include "apiserver/registry/storage.h"
#include "apiserver/request.h"
#include "schema/value.h"

MUST_USE struct status *registry_get(struct request *request);
MUST_USE struct status *registry_list(struct request *request);
MUST_USE struct status *registry_watch(struct request *request);
MUST_USE struct status *registry_create(struct request *request);
MUST_USE struct status *registry_update(struct request *request);
MUST_USE struct status *registry_patch(struct request *request);
/* A PATCH whose body is an apply configuration. */
MUST_USE struct status *registry_apply(struct request *request);
MUST_USE struct status *registry_delete(struct request *request);
MUST_USE struct status *registry_delete_collection(struct request *request);

/* For parts of the server that write on a request's behalf. */

/* Creates the object as registry_create does, from metadata to the store; admission included. */
MUST_USE struct status *registry_store_new(struct request *request, const struct resource *resource,
                                           const struct write_options *options, struct object *object);

/* One change of one object, tried again when another writer was faster. */
struct change_op {
    struct request *request;
    const struct resource *resource;
    struct str subresource; /* empty: the object itself */
    struct str namespace, name;
    const struct write_options *options;
    /* The object as it is to be, made from what is there (never changed; its resourceVersion is the store's). Called anew
     * at each try. */
    struct status *(*make)(struct change_op *op, const struct object *current, struct object **ret);
    void *arg;
    bool creates;       /* a missing object is created, if its kind allows that: make() is called with NULL */
    bool applies;       /* make() has seen to managedFields itself; any kind is created */
    bool keeps_version; /* a resourceVersion that is the current one comes from make(): it is no wish of the client */
    bool is_internal;   /* no admission: a part of another operation that has passed it */
    /* the outcome */
    struct object *object;
    bool created;
};

MUST_USE struct status *registry_change(struct change_op *op);

/* The request's body as a patch for objects of the kind, and what it makes of one (left alone). For subresources whose
 * objects aren't stored, such as scales. */
struct patch_op;
MUST_USE struct status *registry_read_patch(struct request *request, const struct write_options *options,
                                            const struct kind *kind, struct patch_op **ret);
MUST_USE struct status *registry_apply_patch(struct request *request, const struct patch_op *op, const void *current,
                                             void **ret);

/* The request's body as an apply configuration of the kind; and its outcome on the request's object, whose fields it
 * names. */
MUST_USE struct status *registry_read_configuration(struct request *request, const struct kind *kind,
                                                    struct write_options *ret_options, struct value **ret);
MUST_USE struct status *registry_apply_configuration(struct request *request, const struct value *configuration,
                                                     const struct write_options *options, struct change_op *op);

struct delete_op {
    struct request *request;
    const struct resource *resource;
    struct str namespace, name;
    struct delete_options options;
    /* the outcome */
    struct object *object; /* as it was, or as it is now that it is being deleted */
    bool is_gone;
};

MUST_USE struct status *registry_remove(struct delete_op *op);
/* The object is free to go: deleted, nothing holds it. */
bool registry_should_be_gone(const struct resource *resource, const struct object *object);
/* Options of a delete: of the body when there is one, else of the query. */
MUST_USE struct status *registry_delete_options(struct request *request, struct str body, struct delete_options *ret);
/* Those of a DeleteOptions object. */
struct meta_v1_delete_options;
MUST_USE struct status *registry_convert_delete_options(const struct meta_v1_delete_options *from,
                                                        struct delete_options *ret);

#endif
