/* Requests of kubectl: values out, values in, warnings shown, errors marked with where they come from. */
#ifndef KUBECTL_REQUEST_H
#define KUBECTL_REQUEST_H

#include "kubectl/kubectl.h"

#define ACCEPT_JSON STR("application/json")
#define ACCEPT_TABLE                                                                                        \
    STR("application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io," \
        "application/json")

struct api_request {
    const char *method;
    struct str path;              /* "/api/v1/pods", perhaps with a query */
    struct str accept;            /* empty: JSON */
    struct str content_type;      /* of the body; empty: JSON */
    const struct value *body;     /* NULL: none... */
    struct str raw_body;          /* ...or this text */
};

/* `ret` may be NULL. */
MUST_USE struct status *api_call(struct kubectl *k, const struct api_request *request, struct value **ret);
MUST_USE struct status *api_get(struct kubectl *k, struct str path, struct value **ret);
/* A text as it comes. */
MUST_USE struct status *api_get_text(struct kubectl *k, struct str path, struct str accept, struct str *ret);
/* Opens a response to be read as it comes; it is 2xx. */
MUST_USE struct status *api_open(struct kubectl *k, struct str path, struct str accept, struct http_response **ret);
/* "?a=b" or "&a=b", nothing when the value is empty. */
struct str path_with(struct kubectl *k, struct str path, const char *name, struct str value);
/* The path of a resource with the usual parameters of a write: dryRun, fieldManager, fieldValidation. */
struct str path_of_write(struct kubectl *k, const struct kind *kind, struct str namespace, struct str name,
                         struct str subresource, const char *manager);

/* Creating, and patching a resource. A patch that is a string goes as it is. */
MUST_USE struct status *api_create(struct kubectl *k, const struct kind *kind, struct str namespace,
                                   const struct value *object, const char *manager, struct value **ret);
MUST_USE struct status *api_patch(struct kubectl *k, const struct kind *kind, struct str namespace, struct str name,
                                  struct str subresource, enum client_patch_type type, const struct value *patch,
                                  const char *manager, struct value **ret);

/* A watch of one resource or a list, as values. */
struct api_watch;
MUST_USE struct status *api_watch_open(struct kubectl *k, struct str path, struct str accept, struct api_watch **ret);
/* Parks for the next event; its type and object (borrowed from `arena`). TIMEOUT at the deadline; SERVICE_UNAVAILABLE at
 * the end of the watch. */
MUST_USE struct status *api_watch_next(struct api_watch *watch, struct arena *arena, int64_t deadline,
                                       struct str *ret_type, struct value **ret_object);
void api_watch_close(struct api_watch *watch);

#endif
