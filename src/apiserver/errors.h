/* Stock's error answers: constructors with its reasons, details and words. Every one returns a status that the caller
 * returns further. Resources are named by group and resource ("deployments.apps"). */
#ifndef APISERVER_ERRORS_H
#define APISERVER_ERRORS_H

#include "base/status.h"

/* pods "a" not found */
MUST_USE struct status *error_not_found(struct str group, struct str resource, struct str name);
/* pods "a" already exists */
MUST_USE struct status *error_already_exists(struct str group, struct str resource, struct str name);
/* Operation cannot be fulfilled on pods "a": WHY */
MUST_USE struct status *error_conflict(struct str group, struct str resource, struct str name, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* pods "a" is forbidden: WHY */
MUST_USE struct status *error_forbidden(struct str group, struct str resource, struct str name, const char *format, ...)
    PRINTF_LIKE(4, 5);
MUST_USE struct status *error_bad_request(const char *format, ...) PRINTF_LIKE(1, 2);
/* Internal error occurred: WHY */
MUST_USE struct status *error_internal(const char *format, ...) PRINTF_LIKE(1, 2);
/* 404 for a path or a resource that isn't served; 405 for a method it doesn't take. */
MUST_USE struct status *error_no_such_resource(void);
MUST_USE struct status *error_method_not_allowed(void);

/* Validation: start with an INVALID status without causes, add causes (status_add_cause), and finish with the kind's
 * group, kind and the object's name, which writes the message. A status without causes ends as NULL. */
struct status *error_invalid_start(void);
void error_invalid_value(struct status *status, struct str field, struct str value, const char *format, ...)
    PRINTF_LIKE(4, 5);
void error_required(struct status *status, struct str field, const char *format, ...) PRINTF_LIKE(3, 4);
void error_field_forbidden(struct status *status, struct str field, const char *format, ...) PRINTF_LIKE(3, 4);
void error_not_supported(struct status *status, struct str field, struct str value, const char *const *supported,
                         size_t count);
MUST_USE struct status *error_invalid_finish(struct status *status, struct str group, struct str kind,
                                             struct str name);

#define OPTIMISTIC_LOCK_MESSAGE \
    "the object has been modified; please apply your changes to the latest version and try again"

#endif
