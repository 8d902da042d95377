/* Admission: what may come in, beyond what authorization and validation say. Plugins are asked in stock's order;
 * mutating ones first, before the object is validated, then validating ones with the object as it will be stored. */
#ifndef APISERVER_ADMISSION_ADMISSION_H
#define APISERVER_ADMISSION_ADMISSION_H

#include "apiserver/request.h"

struct apiserver_extension;
struct apiserver_options;
struct delete_options;

enum admission_operation { ADMIT_CREATE = 1, ADMIT_UPDATE = 2, ADMIT_DELETE = 4, ADMIT_CONNECT = 8 };
enum admission_phase { ADMIT_MUTATE, ADMIT_VALIDATE };

struct admission_request {
    struct request *request;
    enum admission_operation operation;
    const struct resource *resource;
    struct str subresource;    /* empty: the resource itself */
    const struct kind *kind;   /* of object and old_object; that of a subresource may be another than the resource's */
    struct str namespace, name; /* the name may be empty at a create */
    void *object;           /* NULL at deletes; may be changed in the mutating phase, strings in request->arena */
    const void *old_object; /* NULL at creates */
    const struct delete_options *delete_options; /* of a delete */
    bool dry_run;
    bool was_changed; /* by a webhook: plugins look at the object again */
};

struct admission_plugin {
    const char *name;
    unsigned operations; /* of enum admission_operation; it isn't asked about others */
    bool is_optional;    /* asked only when --enable-admission-plugins names it; others unless disabled */
    /* NULL: not of that phase. An error ends the request; FORBIDDEN in stock's words comes from
     * admission_forbidden(). */
    struct status *(*mutate)(struct admission_request *admission);
    struct status *(*validate)(struct admission_request *admission);
};

/* In the order they are asked. Ends with NULL. */
extern const struct admission_plugin *const admission_plugins[];

MUST_USE struct status *admission_run(struct admission_request *admission, enum admission_phase phase);
/* `pods "a" is forbidden: WHY` */
MUST_USE struct status *admission_forbidden(const struct admission_request *admission, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* BAD_REQUEST when the flags name plugins that there are not. */
MUST_USE struct status *admission_check_flags(const struct apiserver_options *options);

/* Checks the flags. */
extern const struct apiserver_extension admission_extension;

#endif
